"""Conversations with a fleet, whatever becomes of it meanwhile: messages, waiters of every kind, what they come to."""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import httpx
import msgspec

from shared.errors import Unavailable
from shared.events import Event, EventKind, reply_text
from shared.ports import StoredRun
from shared.run import ENDED, RunStatus
from tests.support.fleet import Fleet
from tests.support.watching import Verdict, Waiter, all_events, judged
from worker.models.script import Say
from worker.models.scripted import chosen

CORRECTION: Final = "please send another one instead"
PLOTS: Final = ("plain", "plain", "joined", "cancelled", "late", "cut")
"""What happens in a conversation: nothing besides, a second message, the stop button, a waiter who comes late, a waiter
who loses everything but what it was given."""

TRY_S: Final = 60.0
END_S: Final = 300.0  # a run ends when its owners are left alone for as long as it takes, and that is chance


class Sent(msgspec.Struct):
    """The answer to a message."""

    run_id: str


@dataclass(slots=True)
class Tally:
    """What a crowd of conversations came to."""

    runs: int = 0
    waiters: int = 0
    take_overs: int = 0
    reruns: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    wrong: Verdict = field(default_factory=Verdict)


class Crowd:
    """Has conversations, some at once, and adds them up in `tally`."""

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self.tally = Tally()
        self._fleet = fleet
        self._seed = seed
        self._sent: dict[str, dict[str, str]] = {}  # runs by message, by session
        self._watched: dict[str, list[Waiter]] = {}
        self._streamed: dict[str, set[Event]] = {}
        self._cancelled: set[str] = set()

    def seen(self) -> Mapping[str, int]:
        """Return the newest seq that a waiter has, by run; runs that somebody still follows."""
        going = {run_id: waiters for run_id, waiters in self._watched.items() if not all(each.over for each in waiters)}
        return {run_id: max(waiter.seen for waiter in waiters) for run_id, waiters in going.items()}

    async def converse(self, count: int, at_once: int) -> None:
        """Have `count` conversations."""
        numbers = iter(range(count))

        async def one_by_one() -> None:
            for number in numbers:
                await self._conversation(number)

        await asyncio.gather(*(one_by_one() for _ in range(at_once)))

    async def _conversation(self, number: int) -> None:
        chance = random.Random(f"{self._seed} {number}")
        session_id, plot = f"s{number}", chance.choice(PLOTS)
        sent = self._sent[session_id] = {}
        try:
            async with asyncio.timeout(END_S):
                sent["m0"] = await self._send(session_id, "m0", "hello")
                waiters = [self._watch(sent["m0"]) for _ in range(chance.randint(1, 3))]
                await self._turn(plot, chance.randint(0, 25), session_id, sent, waiters[0])
                for each in set(sent.values()):
                    for waiter in self._watched.get(each) or [self._watch(each)]:
                        await waiter.ended()
        except TimeoutError:
            self.tally.wrong.stuck.append(f"the conversation {session_id}, {plot}: {sent}")

    async def _turn(self, plot: str, seq: int, session_id: str, sent: dict[str, str], waiter: Waiter) -> None:
        """Let happen what happens when an event has come."""
        run_id = sent["m0"]
        await waiter.came_to(seq)
        match plot:
            case "joined":
                sent["m1"] = await self._send(session_id, "m1", CORRECTION)
            case "cancelled":
                await self._cancel(run_id)
            case "late":
                self._watch(run_id)
            case "cut":
                await waiter.cut(self._fleet.client)

    def _watch(self, run_id: str) -> Waiter:
        waiter = Waiter(self._fleet.client, run_id)
        self._watched.setdefault(run_id, []).append(waiter)
        return waiter

    async def _send(self, session_id: str, message_id: str, text: str) -> str:
        """Send a message until it is taken."""
        body = {"session_id": session_id, "message_id": message_id, "text": text}
        answer = await self._ask("/chat", body, {202})
        return msgspec.json.decode(answer.content, type=Sent).run_id

    async def _cancel(self, run_id: str) -> None:
        """Press the stop button until that is noted, or the run has ended."""
        self._cancelled.add(run_id)
        await self._ask(f"/runs/{run_id}/cancel", None, {200, 202, 409})

    async def _ask(self, path: str, body: Mapping[str, str] | None, final: set[int]) -> httpx.Response:
        async with asyncio.timeout(TRY_S):
            return await self._fleet.ask(path, body, final)

    async def look(self) -> None:
        """Keep what the streams hold now, for the bus may be emptied before the end."""
        for run_id in list(self._watched):
            with suppress(Unavailable):
                entries = await self._fleet.ports.output.entries(run_id)
                self._streamed.setdefault(run_id, set()).update(entries)

    async def leave(self) -> None:
        """Have all waiters leave, wherever they are."""
        await asyncio.gather(*(waiter.stop() for waiters in self._watched.values() for waiter in waiters))

    # adding up

    async def add_up(self) -> Tally:
        """Judge all that was said, when everything is repaired."""
        for session_id, sent in self._sent.items():
            await self._add_messages(session_id, sent)
            for stored in await self._fleet.ports.store.runs_of(session_id):
                await self._add_run(stored)
        return self.tally

    async def _add_messages(self, session_id: str, sent: dict[str, str]) -> None:
        """Every message is in exactly one run."""
        inputs = Counter(accepted.message.id for accepted in await self._fleet.ports.store.inputs_of(session_id))
        wrong = self.tally.wrong
        wrong.lost += [f"message {name} of {session_id}" for name in sent.keys() - inputs.keys()]
        wrong.duplicated += [f"message {name} of {session_id}" for name, count in inputs.items() if count > 1]

    async def _add_run(self, stored: StoredRun) -> None:
        run, tally = stored.run, self.tally
        waiters = self._watched.get(run.id, [])
        tally.runs += 1
        tally.waiters += len(waiters)
        tally.take_overs += max(run.attempt - 1, 0)
        tally.ends[run.status] += 1
        replayed = Waiter(self._fleet.client, run.id)
        if run.status in ENDED:
            await replayed.ended()
        tally.wrong.add(
            await judged(self._fleet.ports, run.id, [*waiters, replayed], self._streamed.get(run.id, set()))
        )
        await self._check_reply(stored)
        await replayed.stop()

    async def _check_reply(self, stored: StoredRun) -> None:
        """The reply is the one to the messages; only what the user cancelled is not done."""
        run, ports = stored.run, self._fleet.ports
        log = await all_events(ports.store, run.id)
        self.tally.reruns += sum(event.kind is EventKind.RERUN for event in log)
        if run.status is RunStatus.DONE:
            said = chosen(await ports.store.messages_of(run.id)).steps[0]
            assert isinstance(said, Say)
            if reply_text(log) != said.text:
                self.tally.wrong.lost.append(f"{run.id} should have said {said.text!r}, and said {reply_text(log)!r}")
        elif run.status is not RunStatus.CANCELLED or run.id not in self._cancelled:
            self.tally.wrong.lost.append(f"{run.id} is {run.status}: {log[-1:]}")
