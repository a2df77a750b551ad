"""The store inside one process: runs, messages, events and their audit, in tables with real transactions."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from shared.adapters.memory.accepting import Accepting
from shared.adapters.memory.executing import Executing
from shared.adapters.memory.forking import Forking
from shared.adapters.memory.questioning import Questioning
from shared.adapters.memory.reading import Reading
from shared.adapters.memory.schema import Transition
from shared.events import TERMINAL


class MemoryStore(Accepting, Executing, Reading, Questioning, Forking):
    """`Store`, `Questions` and `Forks` in memory; gateway and worker of one process share one.

    `clock` gives the times of status changes. `seconds` is the monotonic source that leases are measured with, so that
    a clock that was moved ends none; a test gives one that it moves.
    """

    def away(self, away: bool) -> None:
        """Begin or end an outage: every call raises `Unavailable`. Data is kept."""
        self._away = away

    def transitions(self, run_id: str) -> Sequence[Transition]:
        """Return the audit rows of a run, oldest first. Not part of the port: for tests, and to look inside."""
        return self._tables.transitions_by_run.rows(run_id)

    async def archivable(self, ended_before: datetime, limit: int) -> Sequence[str]:
        """Return runs that ended before then and have all their rows, oldest first."""
        rows = self._ready().unarchived.rows(True, limit=limit)
        return [row.id for row in rows if row.updated_at < ended_before]

    async def archive(self, run_id: str, text: str) -> bool:
        """Replace an ended run's rows, all but the terminal one, by one text."""
        tables = self._ready()
        with tables.journal:
            row = tables.runs.update(
                run_id,
                lambda row: row.ended and row.archived_text is None,
                lambda row: replace(row, archived_text=text),
            )
            if row is not None:
                # From the end, because removing the first of a list moves all others.
                for event in reversed(tables.events_by_run.rows(run_id)):
                    if event.kind not in TERMINAL:
                        tables.events.delete(event)
                self._drop_questions(run_id)
                self._drop_forks(run_id)
        return row is not None

    async def ping(self) -> None:
        """Return when the store is there."""
        self._ready()

    async def close(self) -> None:
        """Refuse every call from now on."""
        self._closed = True
