"""Agents under mayhem: conversations whose runs think, split off and ask, and what has to hold of them in the end."""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import psycopg
from psycopg import sql

from shared.errors import Unavailable
from shared.events import TERMINAL, Event, EventKind, decode_data
from shared.forks import SEPARATOR
from shared.ports import StoredRun
from shared.run import ENDED
from tests.support.conversations import END_S
from tests.support.fleet import TRY_EVERY_S, Fleet
from tests.support.onlooking import Onlooker, question_of
from tests.support.patience import lapse, until
from tests.support.watching import WAITER, all_events, judged

TEXTS: Final = ("#agent", "#agent-fail", "#ask", "#fork")
PLOTS: Final = ("plain", "merge", "interrupt", "enqueue", "cancel", "cut", "late")
"""What happens besides, when some frames have come: a message, the stop button, a lost socket, another onlooker."""


class Agents:
    """Has conversations with agents, all at once; `wrong` says what did not hold."""

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self.wrong: list[str] = []
        self.ends: Counter[str] = Counter()
        self._fleet = fleet
        self._seed = seed
        self._onlookers: dict[str, list[Onlooker]] = {}
        self._streamed: dict[str, set[Event]] = {}
        self._stopped: set[str] = set()

    # what mayhem wants to know

    def seen(self) -> Mapping[str, int]:
        """Return the newest seq that an onlooker has, by run."""
        newest: dict[str, int] = {}
        for frame in (frame for some in self._onlookers.values() for each in some for frame in each.frames):
            if isinstance(seq := frame["seq"], int):
                newest[str(frame["run_id"])] = max(seq, newest.get(str(frame["run_id"]), -1))
        return newest

    async def look(self) -> None:
        """Keep what the streams hold now, for the bus may be emptied before the end."""
        for run_id in self.seen():
            with suppress(Unavailable):
                self._streamed.setdefault(run_id, set()).update(await self._fleet.ports.output.entries(run_id))

    # conversations

    async def converse(self, count: int) -> None:
        """Have so many conversations, and wait for their ends."""
        await asyncio.gather(*map(self._conversation, range(count)))

    async def _conversation(self, number: int) -> None:
        chance, session_id = random.Random(f"{self._seed} {number}"), f"s{number}"
        text, plot = TEXTS[number % len(TEXTS)], PLOTS[number % len(PLOTS)]
        onlookers = self._onlookers[session_id] = [self._onlooker(session_id, turn) for turn in range(2)]
        answering = asyncio.create_task(self._answer_all(chance, onlookers), name=WAITER)
        try:
            async with asyncio.timeout(END_S):
                run_ids = {await self._send(session_id, 0, text)}
                await _comes_to(onlookers[0], chance.randint(0, 20))
                run_ids |= await self._turn(plot, session_id, *run_ids)
                ended = await until("all has ended", lambda: self._ended(session_id, len(run_ids)), END_S)
                for onlooker in onlookers:
                    await onlooker.told_ends(ended)
        except (TimeoutError, AssertionError) as stuck:
            self.wrong.append(f"{session_id}, {text}, {plot}: {stuck}")
        finally:
            answering.cancel()

    def _onlooker(self, session_id: str, turn: int) -> Onlooker:
        return Onlooker(lambda: [f"http://{one.address}" for one in self._fleet.gateways], session_id, turn)

    async def _turn(self, plot: str, session_id: str, run_id: str) -> set[str]:
        """Let happen what happens; return the runs that it opened."""
        match plot:
            case "merge":
                return {await self._send(session_id, 1, "and hurry")}
            case "interrupt" | "enqueue":
                if plot == "interrupt":
                    self._stopped.add(run_id)
                return {await self._send(session_id, 1, "#ask", plot)}
            case "cancel":
                self._stopped.add(run_id)
                await self._fleet.ask(f"/runs/{run_id}/cancel", None, {200, 202, 409})
            case "cut":
                self._onlookers[session_id][0].cut()
            case "late":
                self._onlookers[session_id].append(self._onlooker(session_id, 0))
        return set()

    async def _send(self, session_id: str, number: int, text: str, if_active: str = "merge") -> str:
        body = {"session_id": session_id, "message_id": f"m{number}", "text": text, "if_active": if_active}
        return str((await self._fleet.ask("/chat", body, {202})).json()["run_id"])

    async def _answer_all(self, chance: random.Random, onlookers: list[Onlooker]) -> None:
        """Answer each question as often as it is asked, in one way, the other, or both at once."""
        answered: set[tuple[str, str]] = set()
        while True:
            for frame in onlookers[0].of("question"):
                asked = question_of(frame), str(frame["cursor"])
                if asked not in answered:
                    answered.add(asked)
                    await lapse(chance.choice([0.0, 0.0, 1.0]))
                    body = {"question_id": asked[0], "text": f"word {chance.randint(0, 9)}"}
                    with suppress(Exception):  # the connection may be lost; then the other way is left
                        await onlookers[0].answer(frame, "the green one")
                    await self._fleet.ask(f"/runs/{frame['run_id']}/answers", body, {200, 404, 409})
            await lapse(TRY_EVERY_S)

    async def _ended(self, session_id: str, least: int) -> int | None:
        runs = await self._fleet.ports.store.runs_of(session_id)
        return len(runs) if len(runs) >= least and all(stored.run.status in ENDED for stored in runs) else None

    # adding up

    async def add_up(self) -> None:
        """Judge all that came of it, when everything is repaired."""
        sub_runs = await self._rows("SELECT run_id, parent_id FROM {}.forks")
        for run_id, parent_id in sub_runs:
            if run_id not in _named(await all_events(self._fleet.ports.store, parent_id)):
                self.wrong.append(f"{run_id} was not announced by {parent_id}")
            await until(f"{run_id} ends", lambda: self._over(run_id))  # noqa: B023
        for run_id, session_id in await self._rows("SELECT id, session_id FROM {}.runs"):
            await self._add_run(run_id, SEPARATOR in session_id)
        if open_still := await self._rows("SELECT id, run_id FROM {}.asked WHERE state = 'open'"):
            self.wrong.append(f"questions are open: {open_still}")
        for session_id, onlookers in self._onlookers.items():
            runs = await self._fleet.ports.store.runs_of(session_id)
            logs = [(stored, await all_events(self._fleet.ports.store, stored.run.id)) for stored in runs]
            self.wrong += [f"{session_id}: {fault}" for onlooker in onlookers for fault in onlooker.faults(logs)]

    async def _over(self, run_id: str) -> StoredRun | None:
        stored = await self._fleet.ports.store.run(run_id)
        return stored if stored is not None and stored.run.status in ENDED else None

    async def _add_run(self, run_id: str, is_sub_run: bool) -> None:
        stored, log = await self._over(run_id), await all_events(self._fleet.ports.store, run_id)
        verdict = await judged(self._fleet.ports, run_id, [], self._streamed.get(run_id, set()))
        self.wrong += [*verdict.lost, *verdict.duplicated, *verdict.stuck]
        if stored is None or is_sub_run:
            return
        self.ends[stored.run.status] += 1
        if log[-1].kind is not EventKind.DONE and run_id not in self._stopped:
            self.wrong.append(f"{run_id} ended with {log[-1]}")
        last = max((event.seq for event in log if event.kind is EventKind.RERUN), default=-1)
        answers = Counter(decode_data(event.data)["question_id"] for event in log[last + 1 :] if event.kind == "answer")
        if any(count > 1 for count in answers.values()):
            self.wrong.append(f"{run_id} was answered twice: {answers}")

    async def _rows(self, query: str) -> list[tuple[str, str]]:
        statement = sql.SQL(query).format(sql.Identifier(self._fleet.prefix))
        async with await psycopg.AsyncConnection.connect(self._fleet.services.database_url) as connection:
            return [(str(one), str(other)) for one, other in await (await connection.execute(statement)).fetchall()]


async def _comes_to(onlooker: Onlooker, count: int) -> None:
    """Return when so many frames have come, or a run has ended."""
    await onlooker.has(lambda one: len(one.frames) > count or any(frame["kind"] in TERMINAL for frame in one.frames))


def _named(log: list[Event]) -> set[str]:
    """Return the sub-runs that a log names."""
    return {str(decode_data(event.data)["run_id"]) for event in log if event.kind is EventKind.FORKED}
