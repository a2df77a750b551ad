"""The bus inside one process: output streams, the input queue and marks over one shared `MemoryBus`."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import timedelta

from shared.adapters.memory.keys import Keys, Waiters
from shared.adapters.memory.streams import START, EntryId, EntryIds, Group, Stream
from shared.errors import Fenced, Unavailable
from shared.events import Event
from shared.ports import Delivery, Mark

GROUP = "workers"
"""The one consumer group of the input stream."""


def _wall_milliseconds() -> int:
    return time.time_ns() // 1_000_000


class MemoryBus:
    """The server: the data that the ports of the bus share. One per installation; `prefix` begins its keys.

    `seconds` measures lives and idle times; a test gives one that it moves.
    """

    def __init__(self, prefix: str = "koda", seconds: Callable[[], float] = time.monotonic) -> None:
        self.prefix = prefix
        self.seconds = seconds
        self.ids = EntryIds(_wall_milliseconds)
        self.outputs: Keys[Stream[Event]] = Keys(seconds)
        self.inputs: Keys[Stream[str]] = Keys(seconds)
        self.fences: Keys[int] = Keys(seconds)
        self.marks: Keys[Mark] = Keys(seconds)
        self.waiters = Waiters()
        self.is_away = False

    def flush(self) -> None:
        """Lose everything at once: the service was restarted empty. Who waits for entries goes on waiting."""
        for keys in (self.outputs, self.inputs, self.fences, self.marks):
            keys.clear()

    def away(self, away: bool) -> None:
        """Begin or end an outage: calls raise `Unavailable`, those that block too; followers wait. Data is kept."""
        self.is_away = away
        self.waiters.wake_all()

    def check(self) -> None:
        """Return when the service is there.

        Raises:
            Unavailable: it is away.
        """
        if self.is_away:
            raise Unavailable("bus", "the memory bus was told to be away")

    def marks_of(self, run_id: str) -> frozenset[Mark]:
        """Return the marks of a run that are set and not expired."""
        return frozenset(mark for mark in Mark if self.marks.get(self.mark_key(run_id, mark)) is not None)

    @property
    def input_key(self) -> str:
        """The key of the input stream."""
        return f"{self.prefix}:in"

    # The braces are part of the key: on a Redis cluster they put all keys of one run into one slot.

    def output_key(self, run_id: str) -> str:
        """Return the key of a run's output stream."""
        return f"{self.prefix}:out:{{{run_id}}}"

    def fence_key(self, run_id: str) -> str:
        """Return the key of a run's fence."""
        return f"{self.prefix}:fence:{{{run_id}}}"

    def mark_key(self, run_id: str, mark: Mark) -> str:
        """Return the key of one mark of a run."""
        return f"{self.prefix}:mark:{{{run_id}}}:{mark}"


class MemoryMarks:
    """`Marks` on a `MemoryBus`."""

    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus

    async def set(self, run_id: str, mark: Mark, ttl: timedelta) -> None:
        """Set a mark for `ttl` from now."""
        self._bus.check()
        key = self._bus.mark_key(run_id, mark)
        self._bus.marks.put(key, mark)
        self._bus.marks.expire(key, ttl)

    async def read(self, run_id: str) -> frozenset[Mark]:
        """Return the run's marks."""
        self._bus.check()
        return self._bus.marks_of(run_id)

    async def clear(self, run_id: str, mark: Mark) -> None:
        """Remove a mark."""
        self._bus.check()
        self._bus.marks.drop(self._bus.mark_key(run_id, mark))


class MemoryOutputStream:
    """`OutputStream` on a `MemoryBus`."""

    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus

    async def append(self, events: Sequence[Event], attempt: int) -> frozenset[Mark]:
        """Append events of one run, fenced by `attempt`, and return the run's marks."""
        bus, run_id = self._bus, events[0].run_id
        bus.check()
        fence = bus.fences.get(bus.fence_key(run_id))
        if fence is not None and attempt < fence:
            raise Fenced(run_id, attempt)
        if fence != attempt:
            bus.fences.put(bus.fence_key(run_id), attempt)
        key = bus.output_key(run_id)
        stream = bus.outputs.make(key, Stream)
        for event in events:
            stream.append(bus.ids.next(), event)
        bus.waiters.wake(key)
        return bus.marks_of(run_id)

    async def raise_fence(self, run_id: str, attempt: int) -> None:
        """Raise the run's fence to `attempt`, unless it is that high already."""
        self._bus.check()
        key = self._bus.fence_key(run_id)
        fence = self._bus.fences.get(key)
        if fence is None or fence < attempt:
            self._bus.fences.put(key, attempt)

    async def entries(self, run_id: str) -> Sequence[Event]:
        """Return what the stream holds, oldest first."""
        self._bus.check()
        stream = self._bus.outputs.get(self._bus.output_key(run_id))
        return [] if stream is None else stream.values()

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event], None]:
        """Yield all entries from the stream's start, without end, at a position of its own."""
        bus, key, position = self._bus, self._bus.output_key(run_id), START
        while True:
            stream = None if bus.is_away else bus.outputs.get(key)
            entries = [] if stream is None else stream.after(position)
            if entries:
                position = entries[-1][0]
                yield [event for _, event in entries]
            else:
                await bus.waiters.wait(key)

    async def expire(self, run_id: str, ttl: timedelta) -> None:
        """Let stream and fence vanish `ttl` from now."""
        self._bus.check()
        self._bus.outputs.expire(self._bus.output_key(run_id), ttl)
        self._bus.fences.expire(self._bus.fence_key(run_id), ttl)


class MemoryInputQueue:
    """`InputQueue` on a `MemoryBus`."""

    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus
        self._key = bus.input_key

    async def put(self, session_id: str) -> None:
        """Append the session to the input stream and wake who waits."""
        self._bus.check()
        self._stream().append(self._bus.ids.next(), session_id)
        self._bus.waiters.wake(self._key)

    async def take(self, consumer: str, count: int, block: timedelta) -> Sequence[Delivery]:
        """Take up to `count` new entries, waiting up to `block` for the first."""
        deadline = asyncio.get_running_loop().time() + block.total_seconds()
        while True:
            self._bus.check()
            entries = self._group().deliver(consumer, count, self._bus.seconds())
            if entries or not block:
                return _deliveries(entries)
            try:
                async with asyncio.timeout_at(deadline):
                    await self._bus.waiters.wait(self._key)
            except TimeoutError:
                return []

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Remove entries from the group's pending ones and from the stream."""
        self._bus.check()
        entry_ids = [EntryId.parse(delivery.id) for delivery in deliveries]
        self._group().acknowledge(entry_ids)
        self._stream().delete(entry_ids)

    async def reclaim(self, consumer: str, idle: timedelta, count: int) -> Sequence[Delivery]:
        """Take over up to `count` entries that have been pending for `idle`."""
        self._bus.check()
        return _deliveries(self._group().reclaim(consumer, idle.total_seconds(), count, self._bus.seconds()))

    async def depth(self) -> int:
        """Return the length of the input stream."""
        self._bus.check()
        return len(self._stream())

    def _stream(self) -> Stream[str]:
        return self._bus.inputs.make(self._key, Stream)

    def _group(self) -> Group[str]:
        # Made anew by whichever call comes first after a flush.
        return self._stream().group(GROUP)


def _deliveries(entries: Sequence[tuple[EntryId, str]]) -> list[Delivery]:
    return [Delivery(entry_id.text, session_id) for entry_id, session_id in entries]
