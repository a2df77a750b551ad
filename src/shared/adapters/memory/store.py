"""The store inside one process: runs, messages, events and their audit, in tables with real transactions."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.adapters.memory.schema import InputRow, RunRow, Tables, Transition
from shared.adapters.memory.tables import UniqueViolation
from shared.errors import Fenced, Unavailable
from shared.events import TERMINAL, Event
from shared.ports import Accepted, Claim, Clock, Ending, Held, Message, Resumed, SessionPage, StoredRun
from shared.run import ACTIVE, Run, RunStatus


class MemoryStore:
    """`Store` in memory; gateway and worker of one process share one.

    `clock` gives the times of status changes. `seconds` is the monotonic source that leases are measured with, so that
    a clock that was moved ends none; a test gives one that it moves.
    """

    def __init__(self, clock: Clock, seconds: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds = seconds
        self._tables = Tables()
        self._away = False
        self._closed = False

    def away(self, away: bool) -> None:
        """Begin or end an outage: every call raises `Unavailable`. Data is kept."""
        self._away = away

    def transitions(self, run_id: str) -> Sequence[Transition]:
        """Return the audit rows of a run, oldest first. Not part of the port: for tests, and to look inside."""
        return self._tables.transitions_by_run.rows(run_id)

    # accepting

    async def latest_run(self, session_id: str) -> StoredRun | None:
        """Return the session's run with the highest ordinal."""
        tables = self._ready()
        row = tables.runs_by_session.last(session_id)
        return None if row is None else tables.stored(row)

    async def open_run(self, run: Run, message: Message) -> Accepted:
        """Insert a pending run with its first message, unless the session has the message."""
        assert run.status is RunStatus.PENDING and run.attempt == 0, "a run is opened pending"
        tables = self._ready()
        known = tables.input_by_id.find((message.session_id, message.id))
        if known is not None:
            return known.answer(replayed=True)
        serial, ordinal = next(tables.serials), tables.runs_by_session.count(run.session_id)
        with tables.journal:
            tables.runs.insert(RunRow.opened(run, serial, ordinal))
            row = InputRow(next(tables.serials), message, run.id, merged=False, status=run.status)
            tables.inputs.insert(row)
            tables.settle(run.session_id)
        return row.answer(replayed=False)

    async def join_run(self, run_id: str, message: Message) -> Accepted | None:
        """Append a message to an active run whose cancel was not asked."""
        tables = self._ready()
        known = tables.input_by_id.find((message.session_id, message.id))
        if known is not None:
            return known.answer(replayed=True)
        run = tables.run_by_id.find(run_id)
        if run is None or not run.active or run.cancel_asked:
            return None
        row = InputRow(next(tables.serials), message, run_id, merged=True, status=run.status)
        with tables.journal:
            tables.inputs.insert(row)
        return row.answer(replayed=False)

    async def find_message(self, session_id: str, message_id: str) -> Accepted | None:
        """Return the first answer to this message."""
        row = self._ready().input_by_id.find((session_id, message_id))
        return None if row is None else row.answer(replayed=True)

    # executing

    async def claim(self, owner: str, lease: timedelta, session_id: str | None = None) -> Claim | None:
        """Move the oldest claimable run (of this session) to running."""
        tables = self._ready()
        ready = tables.ready_by_age.first(True) if session_id is None else tables.ready_by_session.find(session_id)
        if ready is None:
            return None
        with tables.journal:
            row = tables.runs.update(
                ready.run_id,
                lambda row: row.status is RunStatus.PENDING,
                lambda row: replace(
                    row,
                    status=RunStatus.RUNNING,
                    attempt=row.attempt + 1,
                    updated_at=self._clock.now(),
                    owner=owner,
                    leased_until=self._after(lease),
                ),
            )
            assert row is not None, "a run that is ready is pending"
            self._audit(row, RunStatus.PENDING, "claimed")
            tables.settle(row.session_id)
        return Claim(row.run(), None)

    async def take_over(self, owner: str, lease: timedelta) -> Claim | None:
        """Take the active run whose lease ran out longest ago."""
        tables = self._ready()
        free = tables.leases.first(True)
        if free is None or free.leased_until is None or free.leased_until > self._seconds():
            return None
        with tables.journal:
            row = tables.runs.update(
                free.id,
                lambda row: row.active,
                lambda row: replace(
                    row,
                    attempt=row.attempt + 1,
                    updated_at=self._clock.now(),
                    owner=owner,
                    leased_until=self._after(lease),
                    resumed=Resumed.TAKEOVER,
                ),
            )
        assert row is not None, "a run with a lease is active"
        return Claim(row.run(), free.resumed)

    async def renew(self, owner: str, lease: timedelta) -> Sequence[Held]:
        """Prolong the leases of the owner's runs."""
        tables, until = self._ready(), self._after(lease)
        with tables.journal:
            for row in tables.runs_by_owner.rows(owner):
                tables.runs.update(row.id, lambda _: True, lambda row: replace(row, leased_until=until))
        return [Held(row.id, row.attempt, row.cancel_asked) for row in tables.runs_by_owner.rows(owner)]

    async def release(self, run_id: str, attempt: int, after: timedelta, why: Resumed) -> bool:
        """Give an active run back, to be taken over when `after` has passed."""
        tables, until = self._ready(), self._after(after)
        with tables.journal:
            row = tables.runs.update(
                run_id,
                lambda row: row.active and row.attempt == attempt,
                lambda row: replace(row, owner=None, leased_until=until, resumed=why),
            )
        return row is not None

    async def messages_of(self, run_id: str) -> Sequence[Message]:
        """Return the run's messages as accepted."""
        return [row.message for row in self._ready().inputs_by_run.rows(run_id)]

    async def move(self, run_id: str, attempt: int, source: RunStatus, target: RunStatus, why: str) -> bool:
        """Change the status on condition of status and attempt."""
        tables = self._ready()
        try:
            with tables.journal:
                return self._change(run_id, attempt, source, target, why)
        except UniqueViolation:
            return False

    async def append(self, run_id: str, attempt: int, events: Sequence[Event]) -> None:
        """Append events to the log of an active run."""
        tables = self._ready()
        row = tables.run_by_id.find(run_id)
        if row is None or not row.active or row.attempt != attempt:
            raise Fenced(run_id, attempt)
        with tables.journal:
            for event in events:
                tables.events.insert_new(event)

    async def finish(
        self,
        run_id: str,
        attempt: int,
        source: RunStatus,
        target: RunStatus,
        last: Sequence[Event],
        inputs_read: int | None,
        why: str,
    ) -> Ending:
        """End a run with its last events, unless it is lost or has unread messages."""
        tables = self._ready()
        row = tables.run_by_id.find(run_id)
        if row is None or row.status != source or row.attempt != attempt:
            return Ending.LOST
        if inputs_read is not None and tables.inputs_by_run.count(run_id) > inputs_read:
            return Ending.UNREAD
        with tables.journal:
            self._change(run_id, attempt, source, target, why)
            for event in last:
                tables.events.insert_new(event)
        return Ending.ENDED

    async def ask_cancel(self, run_id: str) -> StoredRun | None:
        """Note that the run shall stop, unless it has ended."""
        tables = self._ready()
        with tables.journal:
            tables.runs.update(run_id, lambda row: not row.ended, lambda row: replace(row, cancel_asked=True))
            row = tables.run_by_id.find(run_id)
            if row is not None:
                tables.settle(row.session_id)
        return None if row is None else tables.stored(row)

    async def waiting_sessions(self, limit: int) -> Sequence[str]:
        """Return sessions with a claimable run, the longest waiting first."""
        return [ready.session_id for ready in self._ready().ready_by_age.rows(True, limit=limit)]

    # reading

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

    # keeping house

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
        return row is not None

    async def ping(self) -> None:
        """Return when the store is there."""
        self._ready()

    async def close(self) -> None:
        """Refuse every call from now on."""
        self._closed = True

    # inside

    def _ready(self) -> Tables:
        if self._closed:
            raise Unavailable("store", "it was closed")
        if self._away:
            raise Unavailable("store", "the memory store was told to be away")
        return self._tables

    def _after(self, span: timedelta) -> float:
        return self._seconds() + span.total_seconds()

    def _change(self, run_id: str, attempt: int, source: RunStatus, target: RunStatus, why: str) -> bool:
        tables = self._tables
        row = tables.runs.update(
            run_id,
            lambda row: row.status == source and row.attempt == attempt,
            lambda row: self._moved(row, target),
        )
        if row is None:
            return False
        self._audit(row, source, why)
        tables.settle(row.session_id)
        return True

    def _moved(self, row: RunRow, target: RunStatus) -> RunRow:
        if target not in ACTIVE:
            return replace(row, status=target, updated_at=self._clock.now(), owner=None, leased_until=None)
        # A run that becomes active without a claim is nobody's: free to be taken over at once.
        leased_until = self._seconds() if row.leased_until is None else row.leased_until
        return replace(row, status=target, updated_at=self._clock.now(), leased_until=leased_until)

    def _audit(self, row: RunRow, source: RunStatus, why: str) -> None:
        serial = next(self._tables.serials)
        self._tables.transitions.insert(
            Transition(serial, row.id, source, row.status, row.attempt, row.updated_at, why)
        )
