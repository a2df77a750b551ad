"""A small model of Redis Streams: what a stream, a consumer group and a pending entry mean, without a server.

Follows https://redis.io/docs/latest/develop/data-types/streams/. Times are seconds of one monotonic source that the
caller reads; the model itself has no clock.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class EntryId(NamedTuple):
    """The place of an entry: milliseconds, and a number within them. Ids compare as tuples do."""

    ms: int
    n: int

    @property
    def text(self) -> str:
        """Return the id as it is written: `ms-n`."""
        return f"{self.ms}-{self.n}"

    @classmethod
    def parse(cls, text: str) -> "EntryId":
        """Read what `text` wrote; ValueError for anything else."""
        ms, n = text.split("-")
        return cls(int(ms), int(n))


START = EntryId(0, 0)
"""Before every entry: reading after it gives the whole stream."""


class EntryIds:
    """The source of ids: strictly increasing, within one millisecond and when the clock goes back too.

    One source serves all streams and outlives them, so a stream that vanished and began again is, to whoever holds a
    position in it, the same stream continued.
    """

    def __init__(self, milliseconds: Callable[[], int]) -> None:
        self._milliseconds = milliseconds
        self._last = START

    def next(self) -> EntryId:
        """Return an id that is greater than all before it."""
        ms = self._milliseconds()
        last = self._last
        self._last = EntryId(ms, 0) if ms > last.ms else EntryId(last.ms, last.n + 1)
        return self._last


class Stream(Generic[T]):
    """Entries in the order of their ids, and the groups that share them out."""

    def __init__(self) -> None:
        # Two lists in step: a search compares ids only, a slice of values costs no unpacking.
        self._ids: list[EntryId] = []
        self._values: list[T] = []
        self._last = START
        self._groups: dict[str, Group[T]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def append(self, entry_id: EntryId, value: T) -> None:
        """Add an entry at the end.

        Raises:
            ValueError: `entry_id` is not greater than every id this stream ever had, deleted ones included.
        """
        if entry_id <= self._last:
            raise ValueError(f"entry {entry_id.text} is not after {self._last.text}")
        self._last = entry_id
        self._ids.append(entry_id)
        self._values.append(value)

    def values(self) -> Sequence[T]:
        """Return all values, oldest first."""
        return self._values[:]

    def range(self, first: EntryId, last: EntryId) -> list[tuple[EntryId, T]]:
        """Return the entries from `first` to `last`, both included."""
        low, high = bisect_left(self._ids, first), bisect_right(self._ids, last)
        return list(zip(self._ids[low:high], self._values[low:high], strict=True))

    def after(self, position: EntryId, count: int | None = None) -> list[tuple[EntryId, T]]:
        """Return up to `count` entries (all, when None) behind a position, oldest first."""
        low = bisect_right(self._ids, position)
        high = len(self._ids) if count is None else low + count
        return list(zip(self._ids[low:high], self._values[low:high], strict=True))

    def get(self, entry_id: EntryId) -> T | None:
        """Return the value of an entry, None when it is not (or no longer) there."""
        place = bisect_left(self._ids, entry_id)
        found = place < len(self._ids) and self._ids[place] == entry_id
        return self._values[place] if found else None

    def delete(self, entry_ids: Iterable[EntryId]) -> int:
        """Remove entries and return how many there were. Groups keep them as pending until they acknowledge."""
        removed = 0
        for entry_id in entry_ids:
            place = bisect_left(self._ids, entry_id)
            if place < len(self._ids) and self._ids[place] == entry_id:
                del self._ids[place], self._values[place]
                removed += 1
        return removed

    def group(self, name: str) -> "Group[T]":
        """Return a group, made at the stream's beginning when there is none of this name."""
        if name not in self._groups:
            self._groups[name] = Group(self)
        return self._groups[name]


class Pending(NamedTuple):
    """An entry that a consumer has and has not acknowledged."""

    consumer: str
    delivered_at: float
    deliveries: int


class Group(Generic[T]):
    """A reader whose consumers share the entries out: each entry goes to one of them."""

    def __init__(self, stream: Stream[T]) -> None:
        self._stream = stream
        self.last_delivered = START
        # In the order of ids, because they are delivered in it and a reclaimed entry keeps its place.
        self.pending: dict[EntryId, Pending] = {}

    def deliver(self, consumer: str, count: int, now: float) -> list[tuple[EntryId, T]]:
        """Give a consumer up to `count` entries that nobody has had; they are pending with it."""
        entries = self._stream.after(self.last_delivered, count)
        for entry_id, _ in entries:
            self.pending[entry_id] = Pending(consumer, now, 1)
            self.last_delivered = entry_id
        return entries

    def acknowledge(self, entry_ids: Iterable[EntryId]) -> int:
        """Forget pending entries and return how many there were."""
        return sum(self.pending.pop(entry_id, None) is not None for entry_id in entry_ids)

    def reclaim(self, consumer: str, idle: float, count: int, now: float) -> list[tuple[EntryId, T]]:
        """Give a consumer up to `count` entries that have been pending for `idle` seconds, oldest first.

        Pending entries that were deleted meanwhile are forgotten on the way.
        """
        taken: list[tuple[EntryId, T]] = []
        for entry_id, held in list(self.pending.items()):
            if len(taken) == count:
                break
            if now - held.delivered_at < idle:
                continue
            value = self._stream.get(entry_id)
            if value is None:
                del self.pending[entry_id]
                continue
            self.pending[entry_id] = Pending(consumer, now, held.deliveries + 1)
            taken.append((entry_id, value))
        return taken
