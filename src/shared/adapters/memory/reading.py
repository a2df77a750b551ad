"""The memory store's part of looking: runs, logs and sessions."""

from collections.abc import Sequence

from shared.adapters.memory.base import StoreBase
from shared.events import Event
from shared.ports import Accepted, SessionPage, StoredRun


class Reading(StoreBase):
    """Questions that change nothing."""

    async def run(self, run_id: str) -> StoredRun | None:
        """Return a run as it stands."""
        tables = self._ready()
        row = tables.run_by_id.find(run_id)
        return None if row is None else tables.stored(row)

    async def events(self, run_id: str, start: int, limit: int) -> Sequence[Event]:
        """Return up to `limit` events from seq `start` on."""
        return self._ready().events_by_run.rows(run_id, (start,), limit)

    async def runs_of(self, session_id: str) -> Sequence[StoredRun]:
        """Return the session's runs by ordinal."""
        tables = self._ready()
        return [tables.stored(row) for row in tables.runs_by_session.rows(session_id)]

    async def inputs_of(self, session_id: str) -> Sequence[Accepted]:
        """Return the session's messages with the answers they got."""
        return [row.answer(replayed=False) for row in self._ready().inputs_by_session.rows(session_id)]

    async def session_events(self, session_id: str, after: tuple[int, int], limit: int) -> SessionPage:
        """Return up to `limit` events of the session behind a position, up to its first run that has not ended."""
        tables, (ordinal, seq) = self._ready(), after
        unended = tables.unended_by_session.first(session_id)
        found: list[tuple[int, Event]] = []
        for row in tables.runs_by_session.each(session_id, (ordinal,)):
            # One event more than asked for tells whether there is more.
            if len(found) > limit or (unended is not None and row.ordinal > unended.ordinal):
                break
            start = seq + 1 if row.ordinal == ordinal else 0
            events = tables.events_by_run.rows(row.id, (start,), limit + 1 - len(found))
            found.extend((row.ordinal, event) for event in events)
        page = found[:limit]
        cursor = (page[-1][0], page[-1][1].seq) if page else after
        return SessionPage([event for _, event in page], cursor, more=len(found) > limit)
