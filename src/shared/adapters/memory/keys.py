"""Keys that expire, and waiting for a key to change."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from heapq import heappop, heappush
from typing import Generic, TypeVar

V = TypeVar("V")


class Keys(Generic[V]):
    """Values by key, each with a time to live or without.

    `seconds` is the monotonic source that lives are measured with. Whatever is due is dropped before anything else is
    done, so that nothing is seen too long and nothing stays in memory because nobody asks for it.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._values: dict[str, V] = {}
        self._deadlines: dict[str, float] = {}
        self._due: list[tuple[float, str]] = []  # a heap; an entry counts only while it is the key's deadline

    def __len__(self) -> int:
        self._drop_due()
        return len(self._values)

    def get(self, key: str) -> V | None:
        """Return the key's value, None when there is none or its time is over."""
        self._drop_due()
        return self._values.get(key)

    def put(self, key: str, value: V) -> None:
        """Set the key's value; the life it has is kept."""
        self._drop_due()
        self._values[key] = value

    def make(self, key: str, new: Callable[[], V]) -> V:
        """Return the key's value, made by `new` when there is none."""
        self._drop_due()
        if key not in self._values:
            self._values[key] = new()
        return self._values[key]

    def expire(self, key: str, ttl: timedelta) -> None:
        """Drop the key `ttl` from now, whatever was said before. A key without a value has no life either."""
        self._drop_due()
        if key in self._values:
            deadline = self._seconds() + ttl.total_seconds()
            self._deadlines[key] = deadline
            heappush(self._due, (deadline, key))

    def drop(self, key: str) -> None:
        """Remove the key; removing one that is not there is fine."""
        self._values.pop(key, None)
        self._deadlines.pop(key, None)

    def clear(self) -> None:
        """Remove all keys."""
        self._values.clear()
        self._deadlines.clear()
        self._due.clear()

    def _drop_due(self) -> None:
        while self._due and self._due[0][0] <= self._seconds():
            deadline, key = heappop(self._due)
            if self._deadlines.get(key) == deadline:
                self.drop(key)


class Waiters:
    """Tasks that wait for a key to change: any number, each woken by every change. The length is that of the keys.

    Look first, then wait: between the two nothing else runs, so no change is missed.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, key: str) -> None:
        """Return at the key's next change."""
        future = asyncio.get_running_loop().create_future()
        others = self._waiting.setdefault(key, {})
        others[future] = None
        try:
            await future
        finally:
            others.pop(future, None)
            if not others and self._waiting.get(key) is others:
                del self._waiting[key]

    def wake(self, key: str) -> None:
        """Wake all who wait for this key, in the order in which they came."""
        for future in self._waiting.pop(key, ()):
            if not future.done():
                future.set_result(None)

    def wake_all(self) -> None:
        """Wake all who wait for any key."""
        for key in list(self._waiting):
            self.wake(key)
