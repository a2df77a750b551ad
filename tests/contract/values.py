"""Values and small steps that the contract tests are told with."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from shared.events import Event, EventKind, encode_data
from shared.ports import Claim, Message, OutputStream
from shared.run import Run, RunStatus
from tests.contract.adapters import Ports

NOTHING = timedelta(0)
A_MOMENT = timedelta(milliseconds=1)
AN_HOUR = timedelta(hours=1)
BEGINNING = (0, -1)


def delta(run_id: str, seq: int, text: str = "wa") -> Event:
    """Return a fragment."""
    return Event(run_id, seq, EventKind.DELTA, encode_data({"text": text}))


def deltas(run_id: str, start: int, end: int) -> list[Event]:
    """Return the fragments with the seqs of `range(start, end)`, each with a text of its own."""
    return [delta(run_id, seq, f"{seq} ") for seq in range(start, end)]


def done(run_id: str, seq: int) -> Event:
    """Return a terminal event."""
    return Event(run_id, seq, EventKind.DONE, encode_data({"usage": {}}))


def cancelled(run_id: str, seq: int) -> Event:
    """Return the event that ends a cancelled run."""
    return Event(run_id, seq, EventKind.CANCELLED, encode_data({"reason": "user"}))


def a_message(ports: Ports, message_id: str, session_id: str = "s", text: str = "what is it?") -> Message:
    """Return a message sent now; the clock moves on, so that no two values have one time."""
    ports.clock.advance(A_MOMENT)
    return Message(message_id, session_id, "u", text, ports.clock.now())


def a_run(ports: Ports, run_id: str, session_id: str = "s") -> Run:
    """Return a run to be opened now; the clock moves on."""
    ports.clock.advance(A_MOMENT)
    now = ports.clock.now()
    return Run(run_id, session_id, "u", RunStatus.PENDING, 0, now, now)


async def opened(ports: Ports, run_id: str, session_id: str = "s") -> Run:
    """Open a run with one message, whose id is `m-` and the run's."""
    run = a_run(ports, run_id, session_id)
    await ports.store.open_run(run, a_message(ports, f"m-{run_id}", session_id))
    return run


async def started(
    ports: Ports, run_id: str, session_id: str = "s", owner: str = "w", lease: timedelta = AN_HOUR
) -> Claim:
    """Open a run and claim it."""
    await opened(ports, run_id, session_id)
    claim = await ports.store.claim(owner, lease, session_id)
    assert claim is not None and claim.run.id == run_id, "nothing else of the session was to be claimed"
    return claim


async def claimed(ports: Ports, session_id: str | None = None) -> str | None:
    """Claim and return the run's id."""
    claim = await ports.store.claim("w", AN_HOUR, session_id)
    return None if claim is None else claim.run.id


async def ended(ports: Ports, run_id: str, session_id: str = "s", fragments: int = 2) -> None:
    """Open a run, claim it, and end it with some fragments and a terminal event."""
    await started(ports, run_id, session_id)
    last = [*deltas(run_id, 0, fragments), done(run_id, fragments)]
    await ports.store.finish(run_id, 1, RunStatus.RUNNING, RunStatus.DONE, last, None, "end")


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Ask until the answer is yes. The test's own time bounds it."""
    while not await holds():  # noqa: ASYNC110  # no service tells when its own clock has passed a point
        await asyncio.sleep(0)


async def a_moment_later() -> None:
    """Return when real time has moved on, by more than a millisecond.

    Services name their entries by it: what begins again in the same millisecond begins with the same names.
    """
    loop = asyncio.get_running_loop()
    later = loop.time() + 2 * A_MOMENT.total_seconds()

    async def is_over() -> bool:
        return loop.time() > later

    await until(is_over)


class Reader:
    """Somebody who follows a run, in a task of its own."""

    def __init__(self) -> None:
        self._came: asyncio.Queue[Event] = asyncio.Queue()
        self._held: list[Event] = []

    async def follow(self, output: OutputStream, run_id: str) -> None:
        """Follow without end."""
        async for events in output.follow(run_id):
            assert events, "a batch holds at least one entry"
            for event in events:
                self._came.put_nowait(event)

    async def holding(self, count: int) -> list[Event]:
        """Return all that came, as soon as it is `count` events or more."""
        while len(self._held) < count or not self._came.empty():
            self._held.append(await self._came.get())
        return self._held


@asynccontextmanager
async def reading(ports: Ports, run_id: str) -> AsyncIterator[Reader]:
    """Have a reader follow a run inside the block. It has begun when the block begins."""
    reader = Reader()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(reader.follow(ports.output, run_id))
        await asyncio.sleep(0)
        yield reader
        task.cancel()
