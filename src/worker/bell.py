"""The bell: tells the other workers, and this one, that a session has work again, in the moment it has.

For runs that are given back, and for what a worker that ends leaves behind. It is an entry of the input queue, as for a
message that has come. One that rings too early, for nothing or not at all costs time: the sweep finds the work as well.
"""

import asyncio
import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from shared.errors import Unavailable
from shared.logs import logger, note
from shared.ports import InputQueue

log = logger("worker")

LATER: Final = timedelta(milliseconds=10)
"""How long after a pause it rings: the store measures pauses by a clock of its own, and a bell before its end is lost.
Two clocks that are kept in step differ by less over the longest pause (10 s, 0.5 ms a second)."""


class Bell:
    """The bell of one worker, and the pauses after which it is to ring. Close it with the worker."""

    def __init__(self, queue: InputQueue) -> None:
        self._queue = queue
        self._waiting: set[asyncio.Task[None]] = set()

    async def ring(self, session_ids: Iterable[str]) -> None:
        """Ring for sessions. While the bus is away nobody is told, and it is tried for no more of them."""
        for session_id in session_ids:
            try:
                await self._queue.put(session_id)
            except Unavailable as away:
                note(log, "not_rung", logging.WARNING, session_id=session_id, why=str(away))
                return

    def ring_after(self, session_id: str, after: timedelta) -> None:
        """Ring for a session when a pause is over; returns at once."""
        task = asyncio.create_task(self._ring_after(session_id, after))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def close(self) -> None:
        """Ring no more. What was to come is left to the sweeps of others."""
        waiting = list(self._waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _ring_after(self, session_id: str, after: timedelta) -> None:
        await asyncio.sleep((after + LATER).total_seconds())
        await self.ring([session_id])
