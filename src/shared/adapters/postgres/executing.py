"""What the store does while runs are executed."""

from collections.abc import Sequence
from datetime import timedelta

from shared.adapters.postgres import rows
from shared.adapters.postgres.accepting import Statements
from shared.adapters.postgres.database import Taken
from shared.errors import Fenced
from shared.events import Event
from shared.ports import Claim, Ending, Held, Message, Resumed
from shared.run import RunStatus


class Executing(Statements):
    """The part of `Store` that workers call. Leases go by the database's clock, which all of them share."""

    async def claim(self, owner: str, lease: timedelta, session_id: str | None = None) -> Claim | None:
        """Move the oldest claimable run (of this session) to running."""
        name = "claim" if session_id is None else "claim_of_session"
        values = {} if session_id is None else {"session_id": session_id}
        while True:
            try:
                return await self.database.row(
                    self._statements[name], rows.claim, owner=owner, lease=lease, now=self._clock.now(), **values
                )
            except Taken:
                # Another run of the session became active a moment ago, so its others are not claimable any more.
                continue

    async def take_over(self, owner: str, lease: timedelta) -> Claim | None:
        """Take the active run whose lease ran out longest ago."""
        return await self.database.row(
            self._statements["take_over"], rows.claim, owner=owner, lease=lease, now=self._clock.now()
        )

    async def take_up(self, owner: str, lease: timedelta, session_id: str) -> Claim | None:
        """Take the run of this session that was given back."""
        return await self.database.row(
            self._statements["take_up"],
            rows.claim,
            owner=owner,
            lease=lease,
            session_id=session_id,
            now=self._clock.now(),
        )

    async def renew(self, owner: str, lease: timedelta) -> Sequence[Held]:
        """Prolong the leases of the owner's runs."""
        # A lease that runs out because its owner is busy makes it busier still.
        return await self.database.urgent_rows(self._statements["renew"], rows.held, owner=owner, lease=lease)

    async def release(self, run_id: str, attempt: int, after: timedelta, why: Resumed, *, counts: bool = True) -> bool:
        """Give an active run back, to be taken over when `after` has passed."""
        changed = await self.database.change(
            self._statements["release"], run_id=run_id, attempt=attempt, after=after, why=why.value, counts=counts
        )
        return changed == 1

    async def messages_of(self, run_id: str) -> Sequence[Message]:
        """Return the run's messages as accepted."""
        return await self.database.rows(self._statements["messages_of"], rows.message, run_id=run_id)

    async def move(self, run_id: str, attempt: int, source: RunStatus, target: RunStatus, why: str) -> bool:
        """Change the status on condition of status and attempt."""
        try:
            changed = await self.database.change(
                self._statements["move"],
                run_id=run_id,
                attempt=attempt,
                source=source.value,
                target=target.value,
                now=self._clock.now(),
                why=why,
            )
        except Taken:
            return False
        return changed == 1

    async def append(self, run_id: str, attempt: int, events: Sequence[Event]) -> None:
        """Append events to the log of an active run."""
        owned = await self.database.row(
            self._statements["append"], rows.text, run_id=run_id, attempt=attempt, **_columns(events)
        )
        if owned is None:
            raise Fenced(run_id, attempt)

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
        verdict = await self.database.row(
            self._statements["finish"],
            rows.verdict,
            run_id=run_id,
            attempt=attempt,
            source=source.value,
            target=target.value,
            inputs_read=inputs_read,
            now=self._clock.now(),
            why=why,
            **_columns(last),
        )
        if verdict is None:
            return Ending.LOST
        mine, all_read = verdict
        if not mine:
            return Ending.LOST
        return Ending.ENDED if all_read else Ending.UNREAD

    async def waiting_sessions(self, limit: int) -> Sequence[str]:
        """Return sessions with a claimable run, the longest waiting first."""
        return await self.database.rows(self._statements["waiting_sessions"], rows.text, limit=limit)


def _columns(events: Sequence[Event]) -> dict[str, object]:
    return {
        "seqs": [event.seq for event in events],
        "kinds": [event.kind.value for event in events],
        "data": [event.data for event in events],
    }
