"""The shuffle plan: a bus that delivers out of order and twice, the same way each time.

A real bus does this when a producer retries or a consumer is moved. Here a seed decides, and only the order of arrival
matters, not its timing: a plan deals entries in small windows, and a window is delivered when it is complete.
"""

import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import timedelta

from shared.events import TERMINAL, Event
from shared.ports import Mark, OutputStream

REDELIVERED_SHARE = 0.5  # of the windows end with a copy of an earlier entry; if none did, the last one does


class ShufflePlan:
    """Deals one stream's entries. The terminal one is never moved: the end of a run is another check's subject."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"shuffle {seed}")  # noqa: S311
        self._straight = self._random.randint(3, 5)  # entries at the beginning that come as they are
        self._size = 0
        self._window: list[Event] = []
        self._dealt: list[Event] = []
        self._repeats = False  # whether anything was delivered twice

    def deal(self, event: Event) -> list[Event]:
        """Take the next entry and return what is delivered because of it, in that order."""
        if event.kind in TERMINAL:
            last = self._close_window()
            if self._dealt and not self._repeats:
                last.append(self._again())
            return [*last, event]
        if len(self._dealt) < self._straight:
            self._dealt.append(event)
            return [event]
        if not self._window:
            self._size = self._random.choice((2, 2, 3, 4))
        self._window.append(event)
        return self._close_window() if len(self._window) == self._size else []

    def _close_window(self) -> list[Event]:
        window, self._window = self._window, []
        order = list(window)
        while len(window) > 1 and order == window:
            self._random.shuffle(order)
        again = [self._again()] if self._dealt and self._random.random() < REDELIVERED_SHARE else []
        self._dealt += order
        return [*order, *again]

    def _again(self) -> Event:
        """Return an entry that was dealt before, to be delivered once more."""
        self._repeats = True
        return self._random.choice(self._dealt)


class ShuffledOutput:
    """An output stream whose followers get what `plan` makes of it. Everything else is the stream's own."""

    def __init__(self, stream: OutputStream) -> None:
        self._stream = stream
        self.seed: int | None = None  # None: as it comes
        self.arrivals: dict[str, list[int]] = {}  # by run: the seqs of its newest follower, as delivered

    async def append(self, events: Sequence[Event], attempt: int) -> frozenset[Mark]:
        """Append to the stream."""
        return await self._stream.append(events, attempt)

    async def raise_fence(self, run_id: str, attempt: int) -> None:
        """Raise the stream's fence."""
        await self._stream.raise_fence(run_id, attempt)

    async def entries(self, run_id: str) -> Sequence[Event]:
        """Return the stream's entries, unshuffled."""
        return await self._stream.entries(run_id)

    async def expire(self, run_id: str, ttl: timedelta) -> None:
        """Let the stream expire."""
        await self._stream.expire(run_id, ttl)

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Follow the stream and deliver by the plan of the seed that is set when it begins."""
        deal: Callable[[Event], list[Event]] = ShufflePlan(self.seed).deal if self.seed is not None else lambda e: [e]
        arrived = self.arrivals[run_id] = []
        async with aclosing(self._stream.follow(run_id)) as batches:
            async for events in batches:
                delivered = [each for event in events for each in deal(event)]
                arrived += [event.seq for event in delivered]
                if delivered:
                    yield delivered
