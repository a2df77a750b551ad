"""The parts that an experiment puts in the place of ours, as far as they need no more than the ports.

Each does one thing wrong, and the rest as it should be done: what is seen then comes from that one thing.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from sys import getsizeof
from typing import Final, TypeVar

from gateway.frames import Frame
from shared.events import Event, EventKind, Json
from shared.exercises import Orderer, OrdererFactory
from shared.ports import Mark, Marks, OutputStream, Store
from shared.run import RunStatus

T = TypeVar("T")

POLL: Final = timedelta(milliseconds=200)
"""How often the store is asked where there is no stream: five questions a second for each run that is watched."""
PAGE: Final = 1000


class WrappedOutput:
    """An output stream that is another one's. What wraps it overrides what it does wrong."""

    def __init__(self, stream: OutputStream) -> None:
        self.stream = stream

    async def append(self, events: Sequence[Event], attempt: int) -> frozenset[Mark]:
        """Append to the stream."""
        return await self.stream.append(events, attempt)

    async def raise_fence(self, run_id: str, attempt: int) -> None:
        """Raise the stream's fence."""
        await self.stream.raise_fence(run_id, attempt)

    async def entries(self, run_id: str) -> Sequence[Event]:
        """Return the stream's entries."""
        return await self.stream.entries(run_id)

    async def expire(self, run_id: str, ttl: timedelta) -> None:
        """Let the stream expire."""
        await self.stream.expire(run_id, ttl)

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Follow the stream."""
        async with aclosing(self.stream.follow(run_id)) as batches:
            async for events in batches:
                yield events


class LossyOutput(WrappedOutput):
    """A stream that never delivers one number."""

    def __init__(self, stream: OutputStream, lost: int) -> None:
        super().__init__(stream)
        self._lost = lost

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Follow the stream, and lose one entry of it."""
        async with aclosing(self.stream.follow(run_id)) as batches:
            async for events in batches:
                kept = [event for event in events if event.seq != self._lost]
                if kept:
                    yield kept


class StoreForStream(WrappedOutput):
    """No stream at all: whoever follows asks the store again and again. Fences and marks stay what they are."""

    def __init__(self, stream: OutputStream, store: Store, marks: Marks) -> None:
        super().__init__(stream)
        self._store = store
        self._marks = marks

    async def append(self, events: Sequence[Event], attempt: int) -> frozenset[Mark]:
        """Append nothing; return the marks."""
        return await self._marks.read(events[0].run_id)

    async def entries(self, run_id: str) -> Sequence[Event]:
        """Return nothing: there is no stream."""
        return []

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Yield what the store has, as often as it is asked."""
        due = 0
        while True:
            page = await self._store.events(run_id, due, PAGE)
            if page:
                due = page[-1].seq + 1
                yield page
            else:
                await asyncio.sleep(POLL.total_seconds())


class Renumbering:
    """Numbers that begin at 0 again with each rerun. Stream and store share one, so that they agree."""

    def __init__(self) -> None:
        self._bases: dict[str, set[int]] = {}

    def of(self, events: Sequence[Event]) -> list[Event]:
        """Return the events under their new numbers."""
        for event in events:
            if event.kind is EventKind.RERUN:
                self._bases.setdefault(event.run_id, set()).add(event.seq)
        # What was written before the rerun may be on its way to the store still: it keeps its number.
        return [replace(event, seq=event.seq - self._base(event)) for event in events]

    def _base(self, event: Event) -> int:
        return max((base for base in self._bases.get(event.run_id, ()) if base <= event.seq), default=0)


class RenumberedOutput(WrappedOutput):
    """A stream that gets the new numbers."""

    def __init__(self, stream: OutputStream, numbers: Renumbering) -> None:
        super().__init__(stream)
        self._numbers = numbers

    async def append(self, events: Sequence[Event], attempt: int) -> frozenset[Mark]:
        """Append under the new numbers."""
        return await self.stream.append(self._numbers.of(events), attempt)


def anything_goes(current: RunStatus, target: RunStatus) -> RunStatus:
    """Answer every move with yes, those that leave an end too."""
    return target


@dataclass(slots=True)
class Watched:
    """Makes orderers that count what they hold: `held` has the bytes of each item by its number."""

    make: OrdererFactory
    offered: int = -1  # the highest number so far
    most: int = 0
    held: dict[int, int] = field(default_factory=dict)

    def __call__(self, start: int, emit: Callable[[int, T], None], /) -> Orderer[T]:
        """Make one."""
        return _Counting(self, start, emit)

    async def control(self, _: list[Json]) -> Json:
        """Say what is held: how many, how many bytes, how many at the most, and how far it goes."""
        bytes_ = sum(self.held.values())
        return {"offered": self.offered, "held": len(self.held), "bytes": bytes_, "most": self.most}


class _Counting(Orderer[T]):
    def __init__(self, watched: Watched, start: int, emit: Callable[[int, T], None]) -> None:
        self._watched = watched
        self._due = start
        self._emit = emit
        self._orderer: Orderer[T] = watched.make(start, self._let_go)

    def offer(self, seq: int, item: T, /) -> None:
        watched = self._watched
        if seq >= self._due:
            watched.held[seq] = getsizeof(item) + (getsizeof(item.data) if isinstance(item, Frame) else 0)
        watched.offered = max(watched.offered, seq)
        self._orderer.offer(seq, item)
        watched.most = max(watched.most, len(watched.held))

    def _let_go(self, seq: int, item: T) -> None:
        self._due = seq + 1
        self._watched.held.pop(seq, None)
        self._emit(seq, item)
