"""The hand that writes runs as a worker would: to the output stream at once, to the store in batches.

Every server under measurement, ours and the references, reads the same runs.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bench.delivering.children import Line
from shared.adapters.clock import SystemClock
from shared.addresses import Urls
from shared.bootstrap import Ports, open_ports
from shared.events import Event, EventKind, encode_data
from shared.ports import Ending, Message
from shared.run import Run, RunStatus
from shared.settings import Settings

LEASE: Final = timedelta(hours=1)
ROWS: Final = 1000  # in one statement
FLUSH: Final = 32  # events after which a worker writes to the store


@dataclass(frozen=True, slots=True)
class Place:
    """Where the services of this bench are, and the name of what it writes there."""

    urls: Urls
    name: str

    @property
    def settings(self) -> Settings:
        """The settings of whoever works there."""
        return Settings(prefix=self.name, schema=self.name)


@dataclass(frozen=True, slots=True)
class Pace:
    """How events are appended: `together` in one append, then nothing for `pause_s`."""

    together: int = 1
    pause_s: float = 0.0


FLAT_OUT: Final = Pace()


def frames(run_id: str, first: int, count: int) -> bytes:
    """Return the bytes of a run's stream from event `first` on."""
    parts = [f"id: {each.seq}\nevent: {each.kind}\ndata: {each.data}\n\n" for each in events(run_id, count)[first:]]
    return "".join(parts).encode()


def events(run_id: str, count: int) -> list[Event]:
    """Return a run of `count` events: fragments, each telling its seq, and the end."""
    deltas = [Event(run_id, seq, EventKind.DELTA, encode_data({"text": f" word{seq}"})) for seq in range(count - 1)]
    return [*deltas, Event(run_id, count - 1, EventKind.DONE, encode_data({"usage": {}}))]


@asynccontextmanager
async def ports(place: Place) -> AsyncIterator[Ports]:
    """Open the doors of the place."""
    async with open_ports(place.urls, place.settings) as opened:
        yield opened


async def open_runs(place: Place, runs: Sequence[str], line: Line) -> int:
    """Open runs and bring them to streaming; return how many."""
    async with ports(place) as doors:
        for start in range(0, len(runs), 50):
            await asyncio.gather(*(_open(doors, run_id) for run_id in runs[start : start + 50]))
    return len(runs)


async def write(place: Place, runs: Sequence[str], count: int, pace: Pace, line: Line) -> list[int]:
    """Write `count` events to the stream of each run, all runs at the same time; return when the first run's were.

    The times are those just before the append, in ns of the monotonic clock.
    """
    async with ports(place) as doors:
        await doors.output.append([Event("warm", 0, EventKind.DELTA, "{}")], 1)
        # One behind the other, as runs that know nothing of each other are, and not all in the same moment.
        starts = [number * pace.pause_s / len(runs) for number in range(len(runs))]
        writing = [
            _write(doors, events(run_id, count), pace, start) for run_id, start in zip(runs, starts, strict=True)
        ]
        written = await asyncio.gather(*writing)
    return written[0]


async def _write(doors: Ports, log: Sequence[Event], pace: Pace, start_s: float) -> list[int]:
    await asyncio.sleep(start_s)
    begun, at = time.monotonic(), list[int]()
    for step, start in enumerate(range(0, len(log), pace.together), 1):
        few = log[start : start + pace.together]
        at += [time.monotonic_ns()] * len(few)
        await doors.output.append(few, 1)
        if pace.pause_s:
            await asyncio.sleep(begun + step * pace.pause_s - time.monotonic())
    return at


async def work(place: Place, runs: Sequence[str], count: int, pace: Pace, line: Line) -> int:
    """Write runs as their worker would, to the stream at once and to the store in batches, and end them."""
    async with ports(place) as doors:
        await asyncio.gather(*(_work(doors, events(run_id, count), pace) for run_id in runs))
    return len(runs)


async def _work(doors: Ports, log: Sequence[Event], pace: Pace) -> None:
    run_id, flushed = log[0].run_id, 0
    for start in range(0, len(log) - 1, pace.together):
        few = log[start : min(start + pace.together, len(log) - 1)]
        await doors.output.append(few, 1)
        if start + len(few) - flushed >= FLUSH:
            await doors.store.append(run_id, 1, log[flushed : start + len(few)])
            flushed = start + len(few)
        await asyncio.sleep(pace.pause_s)
    ending = await doors.store.finish(run_id, 1, RunStatus.STREAMING, RunStatus.DONE, log[flushed:], None, "bench")
    assert ending is Ending.ENDED, ending
    await doors.output.append(log[-1:], 1)


async def end(place: Place, runs: Sequence[str], count: int, line: Line) -> int:
    """Bring runs to their end in the store, all their events with it; return how many runs."""
    async with ports(place) as doors:
        for run_id in runs:
            await _end(doors, events(run_id, count))
    return len(runs)


async def finished(place: Place, run_id: str, count: int, line: Line) -> int:
    """Write a run that has ended, on the stream and in the store."""
    async with ports(place) as doors:
        await _open(doors, run_id)
        log = events(run_id, count)
        for start in range(0, count, ROWS):
            await doors.output.append(log[start : start + ROWS], 1)
        await _end(doors, log)
    return count


async def _open(doors: Ports, run_id: str) -> None:
    at = SystemClock().now()
    session = f"s-{run_id}"
    run = Run(run_id, session, "u", RunStatus.PENDING, 0, at, at)
    await doors.store.open_run(run, Message(f"m-{run_id}", session, "u", "hello", at))
    claim = await doors.store.claim("bench", LEASE, session)
    assert claim is not None and claim.run.id == run_id, "nobody else works here"
    assert await doors.store.move(run_id, 1, RunStatus.RUNNING, RunStatus.STREAMING, "bench")


async def _end(doors: Ports, log: Sequence[Event]) -> None:
    run_id = log[0].run_id
    for start in range(0, len(log) - 1, ROWS):
        await doors.store.append(run_id, 1, log[start : min(start + ROWS, len(log) - 1)])
    ending = await doors.store.finish(run_id, 1, RunStatus.STREAMING, RunStatus.DONE, log[-1:], None, "bench")
    assert ending is Ending.ENDED, ending
