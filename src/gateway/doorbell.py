"""The doorbell: tells the workers that there is something to do, and knows when nobody can be told.

What is accepted is in the store before anybody is told, so a bus that fails just then loses nothing: the sweep finds
the run, and the end of a run finds the message. But while the bus is known to be away no reply could reach anybody, and
a new message is better refused than kept waiting.
"""

import asyncio
import logging
from collections.abc import Awaitable
from datetime import timedelta

from gateway.problems import RETRY_AFTER_S
from shared.errors import Unavailable
from shared.events import Event, EventKind
from shared.logs import logger, note
from shared.ports import Accepted, InputQueue, Mark, Marks, OutputStream
from shared.settings import MERGE_WINDOW

log = logger("gateway")

ANSWER_MARK_TTL = timedelta(minutes=1)  # a worker that waits looks at the store too, and sees it there
BELL_TTL = timedelta(minutes=1)  # a gateway that hears it a minute late has looked by itself long before
CANCEL_MARK_TTL = timedelta(minutes=10)  # longer than any service is away; the note in the store has no end


def bell_of(session_id: str) -> str:
    """Return the id of the output stream on which a session's lines are rung. No run has such an id."""
    return f"line:{session_id}"


class Doorbell:
    """Rings for one gateway. Calls may overlap."""

    def __init__(self, queue: InputQueue, marks: Marks, output: OutputStream) -> None:
        self._queue = queue
        self._marks = marks
        self._output = output
        self._away_at: float | None = None  # when the bus last failed us; None: it did not since it last answered

    async def check(self) -> None:
        """Return unless the bus is known to be away.

        Raises:
            Unavailable: it was a moment ago, or was asked again and still is.
        """
        if self._away_at is None:
            return
        if _now() < self._away_at + RETRY_AFTER_S:
            raise Unavailable("bus", "it was away a moment ago")
        try:
            await self._queue.depth()
        except Unavailable:
            self._away_at = _now()
            raise
        self._away_at = None

    async def ring(self, accepted: Accepted) -> None:
        """Tell a worker of a message: the one that owns its run, or any, and the session's lines, of a new run."""
        if accepted.merged:
            await self._try(self._marks.set(accepted.run_id, Mark.RERUN, MERGE_WINDOW), accepted.run_id)
        else:
            session_id = accepted.message.session_id
            await asyncio.gather(
                self._try(self._queue.put(session_id), accepted.run_id),
                self._ring_lines(session_id),
            )

    async def stop(self, run_id: str) -> None:
        """Tell the worker that owns a run to stop it."""
        await self._try(self._marks.set(run_id, Mark.CANCEL, CANCEL_MARK_TTL), run_id)

    async def answered(self, run_id: str) -> None:
        """Tell the worker that owns a run that a question of it has been answered."""
        await self._try(self._marks.set(run_id, Mark.ANSWER, ANSWER_MARK_TTL), run_id)

    async def _ring_lines(self, session_id: str) -> None:
        """Tell all gateways' lines of a session to look for another run. Not heard, they look with their next ping."""
        bell = bell_of(session_id)
        try:
            await self._output.append([Event(bell, 0, EventKind.RING, "{}")], attempt=0)
            await self._output.expire(bell, BELL_TTL)
        except Unavailable as away:
            note(log, "line_not_rung", logging.WARNING, session_id=session_id, why=str(away))

    async def _try(self, telling: Awaitable[None], run_id: str) -> None:
        try:
            await telling
        except Unavailable as away:
            self._away_at = _now()
            note(log, "worker_not_told", logging.WARNING, run_id=run_id, why=str(away))
        else:
            self._away_at = None


def _now() -> float:
    return asyncio.get_running_loop().time()
