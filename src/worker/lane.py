"""The lane: all that one course of a run writes, in the order in which it was made.

Pieces of the reply come from one task that can wait; reports come from any task or thread, and cannot. So a report is
left here and written as soon as it is its turn, and whoever writes a piece writes first what was reported before it.
The writer's calls do not overlap, because one has the lane at a time.
"""

import asyncio
import threading
from collections import deque
from typing import Final

from shared.errors import LostOwnership
from shared.events import EventKind, Json
from worker.stopping import stop
from worker.writer import RunWriter

MOST_WAITING: Final = 1024  # reports that nobody could write yet; one that never lets go of the loop may make no more


class Unheard(Exception):
    """A report cannot be taken: its course is over, or too many wait before it."""


class Lane:
    """Writes for one course. `async with lane:` is a turn: what was reported before is written, the writer is free."""

    def __init__(self, writer: RunWriter) -> None:
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()
        self._waiting: deque[tuple[EventKind, str]] = deque()
        self._guard = threading.Lock()  # of what a thread and `close` both look at
        self._closed = False
        self._writing: asyncio.Task[None] | None = None

    @property
    def closed(self) -> bool:
        """Whether the course is over."""
        return self._closed

    def put(self, kind: EventKind, data: str) -> None:
        """Leave an event (`encode_data`) to be written behind all that was left before it. From any thread.

        Raises:
            Unheard: it will not be written.
        """
        with self._guard:
            if self._closed:
                raise Unheard("the run has ended, or goes on without whoever reports this")
            if len(self._waiting) >= MOST_WAITING:
                raise Unheard(f"{MOST_WAITING} reports wait to be written")
            self._waiting.append((kind, data))
        if _running_loop() is self._loop:
            self._wake()
        else:
            self._loop.call_soon_threadsafe(self._wake)

    async def __aenter__(self) -> None:
        """Wait for a turn.

        Raises:
            LostOwnership: the run is somebody else's.
        """
        await self._turn.acquire()
        try:
            while self._waiting:
                await self._writer.encoded(*self._waiting[0])
                self._waiting.popleft()
        except BaseException:
            self._turn.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        """End the turn."""
        self._turn.release()

    async def event(self, kind: EventKind, data: dict[str, Json]) -> None:
        """Write an event that is part of what the run does, and no report of it.

        Raises:
            LostOwnership: as for a turn.
        """
        async with self:
            await self._writer.event(kind, data)

    async def stored(self) -> None:
        """Return when the store has all that was written.

        Raises:
            LostOwnership: it never will.
        """
        await self._writer.drain()

    async def close(self) -> None:
        """Write what was reported until now, and take nothing more."""
        with self._guard:
            self._closed = True
        try:
            async with self:
                pass
        except LostOwnership:
            pass  # whoever ends the course finds it out
        finally:
            if self._writing is not None:
                await stop(self._writing)

    def _wake(self) -> None:
        if self._waiting and self._writing is None:
            self._writing = self._loop.create_task(self._write())

    async def _write(self) -> None:
        try:
            async with self:
                pass
        except LostOwnership:
            pass  # the writer says so to everybody, and nobody waits for this task
        finally:
            self._writing = None


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
