"""The memory store's part of running: claims, leases, moves, events, ends."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from shared.adapters.memory.base import StoreBase
from shared.adapters.memory.indexes import UniqueViolation
from shared.adapters.memory.schema import RunRow, Transition
from shared.events import Event
from shared.ports import Claim, Ending, Held, Message, Resumed, StoredRun
from shared.run import ACTIVE, RunStatus


class Executing(StoreBase):
    """Everything that a worker does to a run, and what makes it stop."""

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
        return self._take(self._ready().leases.first(True), owner, lease)

    async def take_up(self, owner: str, lease: timedelta, session_id: str) -> Claim | None:
        """Take the run of this session that was given back."""
        active = self._ready().active_run.find(session_id)
        return self._take(active if active is not None and active.given_back else None, owner, lease)

    def _take(self, free: RunRow | None, owner: str, lease: timedelta) -> Claim | None:
        if free is None or free.leased_until is None or free.leased_until > self._seconds():
            return None
        tables = self._tables
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
                    given_back=False,
                ),
            )
        assert row is not None, "a run with a lease is active"
        return Claim(row.run(), free.resumed, row.handovers)

    async def renew(self, owner: str, lease: timedelta) -> Sequence[Held]:
        """Prolong the leases of the owner's runs."""
        tables, until = self._ready(), self._after(lease)
        with tables.journal:
            for row in tables.runs_by_owner.rows(owner):
                tables.runs.update(row.id, lambda _: True, lambda row: replace(row, leased_until=until))
        return [Held(row.id, row.attempt, row.cancel_asked) for row in tables.runs_by_owner.rows(owner)]

    async def release(self, run_id: str, attempt: int, after: timedelta, why: Resumed, *, counts: bool = True) -> bool:
        """Give an active run back, to be taken over when `after` has passed."""
        tables, until = self._ready(), self._after(after)
        with tables.journal:
            row = tables.runs.update(
                run_id,
                lambda row: row.active and row.attempt == attempt,
                lambda row: replace(
                    row,
                    owner=None,
                    leased_until=until,
                    resumed=why,
                    given_back=True,
                    # Who gives back twice, because the first answer was lost, hands over once.
                    handovers=row.handovers + (row.owner is not None and not counts),
                ),
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
        self._owned(run_id, attempt)
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
            return replace(
                row, status=target, updated_at=self._clock.now(), owner=None, leased_until=None, given_back=False
            )
        # A run that becomes active without a claim is nobody's: free to be taken over at once.
        leased_until = self._seconds() if row.leased_until is None else row.leased_until
        return replace(row, status=target, updated_at=self._clock.now(), leased_until=leased_until)

    def _audit(self, row: RunRow, source: RunStatus, why: str) -> None:
        serial = next(self._tables.serials)
        self._tables.transitions.insert(
            Transition(serial, row.id, source, row.status, row.attempt, row.updated_at, why)
        )
