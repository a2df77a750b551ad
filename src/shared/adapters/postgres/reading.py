"""What the store answers about runs and sessions, and how it keeps house."""

from collections.abc import Sequence
from datetime import datetime

from shared.adapters.postgres import rows
from shared.adapters.postgres.accepting import Statements
from shared.events import Event
from shared.ports import Accepted, SessionPage, StoredRun


class Reading(Statements):
    """The part of `Store` that reads, asks for a cancel, and archives."""

    async def ask_cancel(self, run_id: str) -> StoredRun | None:
        """Note that the run shall stop, unless it has ended."""
        await self.database.change(self._statements["ask_cancel"], run_id=run_id)
        return await self.run(run_id)

    async def run(self, run_id: str) -> StoredRun | None:
        """Return a run as it stands."""
        return await self.database.row(self._statements["run"], rows.stored_run, run_id=run_id)

    async def events(self, run_id: str, start: int, limit: int) -> Sequence[Event]:
        """Return up to `limit` events from seq `start` on."""
        statement = self._statements["events"]
        return await self.database.rows(statement, rows.event, run_id=run_id, start=start, limit=limit)

    async def runs_of(self, session_id: str) -> Sequence[StoredRun]:
        """Return the session's runs by ordinal."""
        return await self.database.rows(self._statements["runs_of"], rows.stored_run, session_id=session_id)

    async def inputs_of(self, session_id: str) -> Sequence[Accepted]:
        """Return the session's messages with the answers they got."""
        return await self.database.rows(self._statements["inputs_of"], rows.accepted, session_id=session_id)

    async def session_events(self, session_id: str, after: tuple[int, int], limit: int) -> SessionPage:
        """Return up to `limit` events of the session behind a position, up to its first run that has not ended."""
        ordinal, seq = after
        found = await self.database.rows(
            self._statements["session_events"],
            rows.placed_event,
            session_id=session_id,
            ordinal=ordinal,
            seq=seq,
            limit=limit + 1,  # one more than asked for tells whether there is more
        )
        page = found[:limit]
        cursor = (page[-1][0], page[-1][1].seq) if page else after
        return SessionPage([event for _, event in page], cursor, more=len(found) > limit)

    async def archivable(self, ended_before: datetime, limit: int) -> Sequence[str]:
        """Return runs that ended before then and have all their rows, oldest first."""
        statement = self._statements["archivable"]
        return await self.database.rows(statement, rows.text, ended_before=ended_before, limit=limit)

    async def archive(self, run_id: str, text: str) -> bool:
        """Replace an ended run's rows, all but the terminal one, by one text."""
        archived = await self.database.row(self._statements["archive"], rows.text, run_id=run_id, text=text)
        return archived is not None
