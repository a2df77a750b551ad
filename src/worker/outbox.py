"""The outbox: events on their way to one place, in order, none skipped, gathered into batches.

The writer has two: one to the output stream (sends at once; what gathers while a send is under way leaves together)
and one to the store (lingers, so that many rows become one statement).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from shared.errors import LostOwnership, Unavailable
from shared.events import Event
from worker.patience import pause


class Outbox:
    """Hands events to `send` in the order of `put`, each at least once, until one is refused for good.

    While the service is away it keeps everything and tries again with back-off. When `send` raises `LostOwnership` the
    outbox closes: what it holds belongs to nobody, and every later call raises the same error.
    """

    def __init__(self, send: Callable[[Sequence[Event]], Awaitable[None]], linger: timedelta, size: int) -> None:
        self._send = send
        self._linger_s = linger.total_seconds()
        self._size = size
        self._waiting: list[Event] = []
        self._sending = asyncio.Lock()
        self._put = asyncio.Event()
        self._drains = 0  # who waits for the box to be empty
        self._hurry = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._lost: LostOwnership | None = None

    @property
    def waiting(self) -> int:
        """How many events have not arrived yet."""
        return len(self._waiting)

    def before(self, seq: int) -> Sequence[Event]:
        """Return the events below a seq that have not arrived yet."""
        return [event for event in self._waiting if event.seq < seq]

    def hurry(self) -> None:
        """Have what lingers sent now."""
        self._hurry.set()

    def check(self) -> None:
        """Return while nothing was refused for good.

        Raises:
            LostOwnership: something was.
        """
        if self._lost is not None:
            raise self._lost

    def put(self, event: Event) -> None:
        """Take an event to be sent.

        Raises:
            LostOwnership: an earlier one was refused for good.
        """
        self.check()
        self._waiting.append(event)
        self._empty.clear()
        self._put.set()
        if self._due():
            self._hurry.set()

    async def run(self) -> None:
        """Send what is put until ownership is lost or the task is cancelled. One task per outbox."""
        failures = 0
        while self._lost is None:
            await self._put.wait()
            if not failures:
                await self._gather()
            try:
                async with self._sending:
                    await self._send_waiting()
                failures = 0
            except LostOwnership as lost:
                self._lost = lost
                self._empty.set()
            except Unavailable as away:
                failures += 1
                await pause(failures, away, f"send {len(self._waiting)} events")

    async def drain(self) -> None:
        """Return when everything put so far has arrived.

        Raises:
            LostOwnership: it never will.
        """
        self._drains += 1
        self._hurry.set()
        try:
            await self._empty.wait()
        finally:
            self._drains -= 1
        self.check()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Sequence[Event]]:
        """Hold all sending and give what has not arrived, so that it can be part of a bigger transaction.

        The caller says `arrived` when that transaction took them; else they are sent as before.
        """
        async with self._sending:
            self.check()
            yield tuple(self._waiting)

    def arrived(self, count: int) -> None:
        """Forget the oldest `count` events: they are where they should be."""
        del self._waiting[:count]
        if not self._waiting:
            self._put.clear()
            self._empty.set()

    def _due(self) -> bool:
        return len(self._waiting) >= self._size or self._drains > 0

    async def _gather(self) -> None:
        # Cleared here and nowhere else: what hurried the last batch does not hurry this one.
        self._hurry.clear()
        if self._linger_s and not self._due():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._linger_s):
                    await self._hurry.wait()

    async def _send_waiting(self) -> None:
        batch = tuple(self._waiting)
        if batch:
            await self._send(batch)
            self.arrived(len(batch))
