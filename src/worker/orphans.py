"""Orphans: sub-runs that nobody waits for, because their parent has ended, shall stop, or has begun again otherwise.

They are cancelled as a user would cancel them. The store knows them for as long as they have not been told, so whoever
dies with the news of a parent's end leaves it to everybody's next sweep.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Final

from shared.errors import IllegalTransition, RunEnded, Unavailable, UnknownRun
from shared.forks import Forks
from shared.ledger import Ledger
from shared.logs import logger, note
from shared.ports import Mark, Marks
from shared.run import RunStatus

log = logger("worker")

AT_ONCE: Final = 64  # sub-runs told in one sweep; the next one continues
MARK_TTL: Final = timedelta(minutes=10)  # longer than any service is away; the note in the store has no end


class Orphans:
    """Tells orphans to stop. Any number of processes may do so at once."""

    def __init__(self, forks: Forks, ledger: Ledger, marks: Marks) -> None:
        self._forks = forks
        self._ledger = ledger
        self._marks = marks

    async def sweep(self) -> int:
        """Cancel some of the orphans, and return how many there were."""
        orphans = await self._forks.orphans(AT_ONCE)
        for run_id in orphans:
            await self._cancel(run_id)
        if orphans:
            note(log, "orphans_cancelled", runs=len(orphans))
        return len(orphans)

    async def _cancel(self, run_id: str) -> None:
        with suppress(UnknownRun, RunEnded, IllegalTransition):  # somebody was faster, or it may not
            if await self._ledger.cancel(run_id) is not RunStatus.CANCELLED:
                with suppress(Unavailable):  # its worker's next renewal says the same
                    await self._marks.set(run_id, Mark.CANCEL, MARK_TTL)
