"""Workers on memory adapters in moved time, and a model that says what the test has it say.

Everything of one workshop lives on one time: leases, marks, ages and timers go by the loop's, which jumps. Every worker
has ports of its own on the same data, so that a test can trouble one of them (`tests.support.taps`) and not the others.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shared.adapters.memory import MemoryBus, MemoryInputQueue, MemoryMarks, MemoryOutputStream, MemoryStore
from shared.bootstrap import Ports
from shared.events import Event, EventKind, Json, encode_data
from shared.exercises import Exercises, load
from shared.ledger import Ledger
from shared.ports import Accepted, Claim, Mark, StoredRun
from shared.run import RunStatus
from shared.settings import MERGE_WINDOW, Settings
from tests.support.moved_loop import now, pass_time, settle
from tests.support.notes import Notes, noting
from worker.archivist import Archivist
from worker.consumer import Consumer
from worker.executor import Executor
from worker.models.port import Fragment, Model, Piece, Request, Usage
from worker.orphans import Orphans

_SOLUTION = Path(__file__).parents[2] / "solution"
RULES = load(_SOLUTION, _SOLUTION).exercises
LEASE = timedelta(seconds=15)


class LoopClock:
    """The loop's time as a time of day."""

    def now(self) -> datetime:
        """Return it."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=now())


@dataclass(slots=True)
class Workshop:
    """What the workers of a test share, and a gateway's hand. `bus` can be sent away."""

    bus: MemoryBus
    store: MemoryStore
    ports: Ports
    ledger: Ledger
    settings: Settings
    notes: Notes
    messages: int = 0

    def door(self) -> Ports:
        """Return ports of somebody's own on the same data."""
        store = MemoryStore(LoopClock(), now)
        store._tables = self.store._tables
        bus = self.bus
        return Ports(store, MemoryOutputStream(bus), MemoryInputQueue(bus), MemoryMarks(bus), store, store)

    async def accept(self, text: str = "hello", session_id: str = "s", *, told: bool = True) -> Accepted:
        """Take a message as the gateway does. Not `told`: its doorbell or mark is lost."""
        self.messages += 1
        accepted = await self.ledger.accept(f"m{self.messages}", session_id, "u", text)
        if told and accepted.merged:
            await self.ports.marks.set(accepted.run_id, Mark.RERUN, MERGE_WINDOW)
        elif told:
            await self.ports.queue.put(session_id)
        return accepted

    async def claimed(self, session_id: str = "s") -> Claim:
        """Take a message and claim its run."""
        await self.accept(session_id=session_id, told=False)
        claim = await self.ledger.claim("w", LEASE, session_id)
        assert claim is not None, "nothing else of the session is active"
        return claim

    async def cancel(self, run_id: str, *, told: bool = True) -> None:
        """Ask a run to stop as the gateway does."""
        await self.ledger.cancel(run_id)
        if told:
            await self.ports.marks.set(run_id, Mark.CANCEL, MERGE_WINDOW)

    async def stored(self, run_id: str) -> StoredRun:
        """Return a run that is there."""
        found = await self.store.run(run_id)
        assert found is not None
        return found

    async def status(self, run_id: str) -> RunStatus:
        """Return where a run stands."""
        return (await self.stored(run_id)).run.status

    async def log(self, run_id: str) -> list[Event]:
        """Return what the store has of a run."""
        return list(await self.store.events(run_id, 0, 100_000))

    async def stream(self, run_id: str) -> list[Event]:
        """Return what the output stream has of a run."""
        return list(await MemoryOutputStream(self.bus).entries(run_id))


@asynccontextmanager
async def open_workshop(settings: Settings | None = None, rules: Exercises = RULES) -> AsyncIterator[Workshop]:
    """Open an empty workshop."""
    bus, store = MemoryBus(seconds=now), MemoryStore(LoopClock(), now)
    ports = Ports(store, MemoryOutputStream(bus), MemoryInputQueue(bus), MemoryMarks(bus), store, store)
    ledger = Ledger(store, LoopClock(), rules)
    with noting() as notes:
        yield Workshop(bus, store, ports, ledger, settings if settings is not None else Settings(), notes)


async def taken_over(shop: Workshop) -> Claim:
    """Have somebody else claim the run when its lease, or its pause, has passed."""
    await pass_time(LEASE.total_seconds())
    claim = await shop.ledger.take_over("w2", LEASE)
    assert claim is not None
    return claim


def store_away(ports: Ports, away: bool) -> None:
    """Begin or end an outage of the store for whoever has these ports."""
    assert isinstance(ports.store, MemoryStore)
    ports.store.away(away)


# --- Events -----------------------------------------------------------------------------------------------------------


def delta(run_id: str, seq: int, text: str) -> Event:
    """Return a fragment."""
    return Event(run_id, seq, EventKind.DELTA, encode_data({"text": text}))


def deltas(run_id: str, start: int, *texts: str) -> list[Event]:
    """Return fragments from seq `start` on."""
    return [delta(run_id, seq, text) for seq, text in enumerate(texts, start)]


def rerun(run_id: str, seq: int, reason: str, attempt: int) -> Event:
    """Return the event that voids the text."""
    return Event(run_id, seq, EventKind.RERUN, encode_data({"reason": reason, "attempt": attempt}))


def tool(run_id: str, seq: int, key: str, name: str, arguments: dict[str, Json]) -> Event:
    """Return the event that says a tool is to be called."""
    return Event(run_id, seq, EventKind.TOOL, encode_data({"key": key, "name": name, "arguments": arguments}))


def done(run_id: str, seq: int, usage: dict[str, Json] | None = None, **more: Json) -> Event:
    """Return the event that ends a run well."""
    return Event(run_id, seq, EventKind.DONE, encode_data({"usage": usage or {}, **more}))


def cancelled(run_id: str, seq: int) -> Event:
    """Return the event that ends a run as its user wished."""
    return Event(run_id, seq, EventKind.CANCELLED, encode_data({"reason": "cancelled by the user"}))


def failed(run_id: str, seq: int, error: str) -> Event:
    """Return the event that ends a run badly."""
    return Event(run_id, seq, EventKind.FAILED, encode_data({"error": error}))


def first_of_each(events: Sequence[Event]) -> list[Event]:
    """Return what a reader of the stream keeps: the first copy of each seq."""
    kept: dict[int, Event] = {}
    for event in events:
        kept.setdefault(event.seq, event)
    return list(kept.values())


# --- Models -----------------------------------------------------------------------------------------------------------


class Call:
    """One call of the puppet. It says what it is told to, in that order, and then waits."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.closed = False
        self._script: asyncio.Queue[Piece | BaseException | None] = asyncio.Queue()

    @property
    def texts(self) -> list[str]:
        """The messages it was given."""
        return [message.text for message in self.request.messages]

    async def say(self, *texts: str) -> None:
        """Have it say fragments; returns when everything that follows from them has happened."""
        for text in texts:
            self._script.put_nowait(Fragment(text))
        await settle()

    async def give(self, *pieces: Piece) -> None:
        """Have it give pieces of any kind; returns when everything that follows from them has happened."""
        for piece in pieces:
            self._script.put_nowait(piece)
        await settle()

    async def end(self, usage: Usage | None = None) -> None:
        """Have it end its reply; returns when everything that follows has happened."""
        if usage is not None:
            self._script.put_nowait(usage)
        self._script.put_nowait(None)
        await settle()

    async def fail(self, error: BaseException) -> None:
        """Have it raise; returns when everything that follows has happened."""
        self._script.put_nowait(error)
        await settle()

    async def stream(self) -> AsyncGenerator[Piece]:
        """Be the model."""
        try:
            while (piece := await self._script.get()) is not None:
                if isinstance(piece, BaseException):
                    raise piece
                yield piece
        finally:
            self.closed = True


class Puppet:
    """A model that says nothing by itself."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._called = asyncio.Condition()

    async def call(self, number: int) -> Call:
        """Return the model's call of this number (0, 1 …), as soon as it has come."""
        async with self._called:
            await self._called.wait_for(lambda: len(self.calls) > number)
        return self.calls[number]

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Be called."""
        call = Call(request)
        async with self._called:
            self.calls.append(call)
            self._called.notify_all()
        pieces = call.stream()
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()


class Speaker:
    """A model that says the same to everybody, one fragment every `pace_s` seconds."""

    def __init__(self, *texts: str, pace_s: float = 0.0) -> None:
        self.requests: list[Request] = []
        self._texts = texts
        self._pace_s = pace_s

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Say it."""
        self.requests.append(request)
        for text in self._texts:
            await asyncio.sleep(self._pace_s)
            yield Fragment(text)


# --- Workers ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Worker:
    """One worker at work, under a name and with ports of its own."""

    name: str
    ports: Ports
    consumer: Consumer
    running: asyncio.Task[None]
    _left: bool = field(default=False)

    async def die(self) -> None:
        """End at once and leave everything as it stands, as a killed process does."""
        self.running.cancel()
        await asyncio.wait((self.running,))

    async def drain(self) -> None:
        """End as asked; returns when it has."""
        self.consumer.drain()
        await self.running


@asynccontextmanager
async def working(
    shop: Workshop, model: Model, name: str = "w", ports: Ports | None = None, rules: Exercises = RULES
) -> AsyncIterator[Worker]:
    """Have a worker work inside the block. It ends with it, at once."""
    door = shop.door() if ports is None else ports
    ledger = Ledger(door.store, LoopClock(), rules)
    executor = Executor(ledger, door, LoopClock(), model, shop.settings)
    archivist = Archivist(door.store, LoopClock(), shop.settings)
    orphans = Orphans(door.forks, ledger, door.marks)
    consumer = Consumer(name, ledger, door.store, door.queue, executor, archivist, orphans, shop.settings)
    worker = Worker(name, door, consumer, asyncio.create_task(consumer.run()))
    await settle()
    try:
        yield worker
    finally:
        await worker.die()


def with_settings(shop: Workshop, **changes: int | timedelta) -> None:
    """Change settings of a workshop before anybody works in it."""
    shop.settings = replace(shop.settings, **changes)  # type: ignore[arg-type]
