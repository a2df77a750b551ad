"""A gateway on memory adapters, as its composition root builds it, and a hand that writes runs as a worker would."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from starlette.applications import Starlette

from client.sse import ServerEvent
from gateway.bootstrap import build
from gateway.feeds import Feeds
from shared.adapters.clock import MovedClock
from shared.adapters.memory import MemoryBus, MemoryInputQueue, MemoryMarks, MemoryOutputStream, MemoryStore
from shared.bootstrap import Ports
from shared.events import Event, EventKind, encode_data
from shared.exercises import Exercises, load
from shared.ports import Ending, Message
from shared.questions import Question
from shared.run import Run, RunStatus
from shared.settings import Settings

_ROOT = Path(__file__).parents[2]
SOLUTION = load(_ROOT / "solution", _ROOT / "solution").exercises
STARTER = load(_ROOT / "starter", _ROOT / "starter").exercises

SETTINGS = Settings()
LEASE = timedelta(hours=1)


@dataclass(slots=True)
class House:
    """One gateway with all that is behind it. Its bus and its store can be sent away; its clock is moved."""

    store: MemoryStore
    bus: MemoryBus
    output: MemoryOutputStream
    queue: MemoryInputQueue
    marks: MemoryMarks
    clock: MovedClock
    feeds: Feeds
    app: Starlette

    async def run(self, run_id: str = "r", session_id: str = "s") -> None:
        """Open a run with one message, whose id is `m-` and the run's."""
        self.clock.advance(timedelta(milliseconds=1))
        at = self.clock.now()
        opened = Run(run_id, session_id, "u", RunStatus.PENDING, 0, at, at)
        await self.store.open_run(opened, Message(f"m-{run_id}", session_id, "u", "hello", at))

    async def streaming(self, run_id: str = "r", session_id: str = "s") -> None:
        """Open a run and bring it to streaming, attempt 1."""
        await self.run(run_id, session_id)
        claim = await self.store.claim("w", LEASE, session_id)
        assert claim is not None and claim.run.id == run_id, "nothing else of the session was to be claimed"
        assert await self.store.move(run_id, 1, RunStatus.RUNNING, RunStatus.STREAMING, "first fragment")

    async def ask(self, question_id: str = "q", run_id: str = "r", number: int = 0) -> Question:
        """Have a streaming run ask its user something."""
        until = self.clock.now() + timedelta(minutes=2)
        return await self.store.ask(question_id, run_id, 1, number, f"{question_id}?", "no", until)

    async def ended(self, events: Sequence[Event], session_id: str = "s") -> None:
        """Open a run and end it with these events, the last of them terminal. The stream has none of them."""
        run_id = events[0].run_id
        await self.streaming(run_id, session_id)
        await self.end(events)

    async def end(self, events: Sequence[Event]) -> None:
        """End a streaming run in the store: the events that it has not got yet, the last of them terminal."""
        target = RunStatus(events[-1].kind.value)
        run_id = events[0].run_id
        ending = await self.store.finish(run_id, 1, RunStatus.STREAMING, target, events, None, "end")
        assert ending is Ending.ENDED

    async def publish(self, *events: Event) -> None:
        """Write events to the output stream alone, in this order of arrival."""
        await self.output.append(events, 1)

    async def flush(self, *events: Event) -> None:
        """Write events to the store alone."""
        await self.store.append(events[0].run_id, 1, events)

    async def write(self, *events: Event) -> None:
        """Write events as a worker does: to the stream and to the store."""
        await self.publish(*events)
        await self.flush(*events)


class CrashingOnce(MemoryOutputStream):
    """Crashes under its first follower, after the first batch."""

    sound = False

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Follow; the first one does not get far."""
        async for events in super().follow(run_id):
            yield events
            if not self.sound:
                self.sound = True
                raise RuntimeError("a fault in the adapter")


def house(
    exercises: Exercises = SOLUTION,
    store: Callable[[MovedClock], MemoryStore] = MemoryStore,
    output: Callable[[MemoryBus], MemoryOutputStream] = MemoryOutputStream,
    settings: Settings = SETTINGS,
) -> House:
    """Build a gateway. A test that needs a store or a stream with a fault gives a class of its own."""
    clock, bus = MovedClock(), MemoryBus()
    memory, stream, queue, marks = store(clock), output(bus), MemoryInputQueue(bus), MemoryMarks(bus)
    gateway, feeds = build(Ports(memory, stream, queue, marks, memory, memory), exercises, clock, settings)
    return House(memory, bus, stream, queue, marks, clock, feeds, gateway.app())


def delta(seq: int, text: str = "", run_id: str = "r") -> Event:
    """Return a fragment; its text defaults to one that tells its seq."""
    return Event(run_id, seq, EventKind.DELTA, encode_data({"text": text or f"{seq} "}))


def deltas(start: int, end: int, run_id: str = "r") -> list[Event]:
    """Return the fragments with the seqs of `range(start, end)`."""
    return [delta(seq, run_id=run_id) for seq in range(start, end)]


def rerun(seq: int, run_id: str = "r") -> Event:
    """Return the event that voids the text so far."""
    return Event(run_id, seq, EventKind.RERUN, encode_data({"reason": "merge", "attempt": 1}))


def done(seq: int, run_id: str = "r") -> Event:
    """Return the event that ends a run."""
    return Event(run_id, seq, EventKind.DONE, encode_data({"usage": {}}))


def log(count: int, run_id: str = "r") -> list[Event]:
    """Return a whole run of `count` events, the last of them `done`."""
    return [*deltas(0, count - 1, run_id), done(count - 1, run_id)]


def as_sent(events: Sequence[Event]) -> list[ServerEvent]:
    """Return events as a client reads them."""
    return [ServerEvent(event.kind.value, event.data, str(event.seq), has_id=True) for event in events]
