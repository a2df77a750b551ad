"""The ledger: the only writer of run status.

Gateway and worker decide *that* a run shall move; here it is decided *whether* it may (exercise 1, `transition`) and
written on condition that nothing has moved meanwhile. The store makes the condition and the write one step, so the
question "is it still so?" is never asked first and acted on later.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import uuid4

from shared.errors import Fenced, IllegalTransition, InvalidField, RunEnded, SessionBusy, UnknownRun
from shared.events import Event, EventKind, encode_data
from shared.exercises import Exercises
from shared.logs import logger, note
from shared.ports import Accepted, Claim, Clock, Ending, Held, Message, Resumed, Store, StoredRun
from shared.run import ACTIVE, ENDED, Run, RunStatus

log = logger("ledger")


class IfActive(StrEnum):
    """What shall become of a message whose session has a run that has not ended."""

    MERGE = "merge"  # join it if it is active and the merge criteria say so, else wait for its end
    ENQUEUE = "enqueue"  # wait for its end
    REJECT = "reject"  # not be accepted
    INTERRUPT = "interrupt"  # wait for its end, and have it cancelled


END_OF = {
    RunStatus.DONE: EventKind.DONE,
    RunStatus.FAILED: EventKind.FAILED,
    RunStatus.CANCELLED: EventKind.CANCELLED,
}
"""Which terminal event says that a run has ended this way."""


class Ledger:
    """Accepts messages, claims runs, moves and ends them. Holds no state of its own; calls may overlap."""

    def __init__(self, store: Store, clock: Clock, exercises: Exercises) -> None:
        self._store = store
        self._clock = clock
        self._transition = exercises.transition
        self._should_merge = exercises.should_merge

    async def accept(
        self,
        message_id: str,
        session_id: str,
        user_id: str,
        text: str,
        if_active: IfActive = IfActive.MERGE,
        trace: str = "",
    ) -> Accepted:
        """Take a message: append it to the session's active run, or open a pending run for it (see `IfActive`).

        The same `message_id` again in a session gives the first answer, `replayed`. Nothing else happens here: ringing
        the doorbell or setting the mark is the caller's, and losing that loses no message.

        Raises:
            InvalidField: the message id was used in this session with another text.
            SessionBusy: REJECT, and a run of the session has not ended. A message that comes at the very same moment
                may still be accepted beside this one; then it waits, it is not lost.
        """
        now = self._clock.now()
        message = Message(message_id, session_id, user_id, text, now, trace)
        latest = await self._store.latest_run(session_id)
        if if_active is IfActive.REJECT and latest is not None and latest.run.status not in ENDED:
            accepted = await self._store.find_message(session_id, message_id)
            if accepted is None:
                raise SessionBusy(session_id, latest.run.id)
        elif if_active is IfActive.MERGE and self._should_merge(latest.run if latest else None, now) and latest:
            accepted = await self._store.join_run(latest.run.id, message)
        else:
            accepted = None
        if accepted is None:
            run = Run(str(uuid4()), session_id, user_id, RunStatus.PENDING, 0, now, now)
            accepted = await self._store.open_run(run, message)
        if accepted.message.text != text:
            raise InvalidField("message_id", "was used in this session with another text; use a new id")
        note(
            log, "message_accepted", session_id=session_id, run_id=accepted.run_id,
            merged=accepted.merged, replayed=accepted.replayed,
        )  # fmt: skip
        return accepted

    async def active_run(self, session_id: str) -> Run | None:
        """Return the session's active run, None when it has none."""
        runs = await self._store.runs_of(session_id)
        return next((stored.run for stored in runs if stored.run.status in ACTIVE), None)

    async def claim(self, owner: str, lease: timedelta, session_id: str | None = None) -> Claim | None:
        """Claim the oldest claimable pending run (of one session, or of any). None: there is none for us.

        Raises:
            IllegalTransition: the table does not let a pending run begin.
        """
        self._allow(RunStatus.PENDING, RunStatus.RUNNING, None)
        claim = await self._store.claim(owner, lease, session_id)
        if claim is not None:
            run = claim.run
            waiting = replace(run, status=RunStatus.PENDING, updated_at=run.created_at)
            self._moved(waiting, RunStatus.RUNNING, run.attempt, run.updated_at, "claimed")
        return claim

    async def take_over(self, owner: str, lease: timedelta) -> Claim | None:
        """Take a run whose owner is lost or has given it back. Its status does not change, its attempt does."""
        return _taken_over(await self._store.take_over(owner, lease))

    async def take_up(self, owner: str, lease: timedelta, session_id: str) -> Claim | None:
        """Take the run of this session that its owner has given back; None when there is none, or not yet."""
        return _taken_over(await self._store.take_up(owner, lease, session_id))

    async def renew(self, owner: str, lease: timedelta) -> Sequence[Held]:
        """Prolong all leases of a worker in one statement; what is missing in the answer is no longer its own."""
        return await self._store.renew(owner, lease)

    async def give_back(self, run: Run, after: timedelta, why: Resumed) -> bool:
        """End our ownership without ending the run: it can be taken over after `after`. False: it is not ours."""
        given = await self._store.release(run.id, run.attempt, after, why)
        if given:
            note(log, "run_given_back", run_id=run.id, attempt=run.attempt, after_s=after.total_seconds(), why=str(why))
        return given

    async def hand_over(self, run: Run) -> bool:
        """Give a run back, free at once, because we have to end and not because anything went wrong with it.

        So the attempt is none of those that the run may fail. False: it is not ours.
        """
        given = await self._store.release(run.id, run.attempt, timedelta(0), Resumed.TAKEOVER, counts=False)
        if given:
            note(log, "run_given_back", run_id=run.id, attempt=run.attempt, after_s=0.0, why="handover")
        return given

    async def begin_streaming(self, run_id: str, attempt: int) -> None:
        """Move to streaming, before the first fragment is written.

        Raises:
            IllegalTransition: the run is where it cannot stream from (it has ended).
            Fenced: the run belongs to another attempt.
        """
        current = await self._owned(run_id, attempt)
        if current.run.status is RunStatus.STREAMING:
            return  # an earlier try was carried out, and its answer was lost
        self._allow(current.run.status, RunStatus.STREAMING, run_id, attempt)
        why = "first fragment"
        if not await self._store.move(run_id, attempt, current.run.status, RunStatus.STREAMING, why):
            raise Fenced(run_id, attempt)
        self._moved(current.run, RunStatus.STREAMING, attempt, self._clock.now(), why)

    async def finish(
        self, run_id: str, attempt: int, target: RunStatus, last: Sequence[Event], inputs_read: int | None, why: str
    ) -> Ending:
        """End a run: status and its last events in one transaction, the terminal one last.

        `inputs_read` makes the end conditional on there being no message that was not read: UNREAD says there is one.

        Raises:
            IllegalTransition: the run has ended already, or may not end this way.
            Fenced: the run belongs to another attempt.
        """
        current = await self._owned(run_id, attempt)
        self._allow(current.run.status, target, run_id, attempt)
        ending = await self._store.finish(run_id, attempt, current.run.status, target, last, inputs_read, why)
        if ending is Ending.LOST:
            raise Fenced(run_id, attempt)
        if ending is Ending.ENDED:
            self._moved(current.run, target, attempt, self._clock.now(), why)
        return ending

    async def cancel(self, run_id: str) -> RunStatus:
        """End the run here and now when no worker has it yet; else note durably that it shall stop.

        Returns the status after that: `cancelled`, or an active one, whose worker will end the run.

        Raises:
            UnknownRun, RunEnded: there is nothing to cancel.
            IllegalTransition: the table does not let a pending run be cancelled.
        """
        stored = await self._store.run(run_id)
        if stored is not None and stored.run.status is RunStatus.PENDING and await self._cancelled_here(stored.run):
            return RunStatus.CANCELLED
        asked = await self._store.ask_cancel(run_id)
        if asked is None:
            raise UnknownRun(run_id)
        if asked.run.status in ENDED:
            raise RunEnded(run_id, asked.run.status, "cancel")
        note(log, "cancel_asked", run_id=run_id, status=str(asked.run.status))
        return asked.run.status

    async def _cancelled_here(self, run: Run) -> bool:
        """End a run that no worker has, in one transaction. False: a worker was faster.

        Not noted first: a run that is pending with such a note has nobody who would act on it, and stops its session.
        """
        why = "cancelled before it began"
        last = Event(run.id, 0, EventKind.CANCELLED, encode_data({"reason": why}))
        self._allow(run.status, RunStatus.CANCELLED, run.id, run.attempt)
        ending = await self._store.finish(run.id, run.attempt, run.status, RunStatus.CANCELLED, [last], None, why)
        if ending is Ending.ENDED:
            self._moved(run, RunStatus.CANCELLED, run.attempt, self._clock.now(), why)
        return ending is Ending.ENDED

    async def _owned(self, run_id: str, attempt: int) -> StoredRun:
        current = await self._store.run(run_id)
        if current is None or current.run.attempt != attempt:
            raise Fenced(run_id, attempt)
        return current

    def _allow(self, current: RunStatus, target: RunStatus, run_id: str | None, attempt: int = 0) -> None:
        try:
            self._transition(current, target)
        except ValueError as refusal:
            note(
                log, "illegal_transition", logging.WARNING, run_id=run_id,
                source=str(current), target=str(target), attempt=attempt,
            )  # fmt: skip
            raise IllegalTransition(current, target) from refusal

    def _moved(self, run: Run, target: RunStatus, attempt: int, at: datetime, why: str) -> None:
        """Say that a run has moved on from where it was read: how long it was there, and how old it is now."""
        note(
            log, "run_moved", run_id=run.id, source=str(run.status), target=str(target), attempt=attempt, why=why,
            spent_s=_seconds(at - run.updated_at), age_s=_seconds(at - run.created_at),
        )  # fmt: skip


def _taken_over(claim: Claim | None) -> Claim | None:
    if claim is not None:
        note(log, "run_taken_over", run_id=claim.run.id, attempt=claim.run.attempt, why=str(claim.resumed))
    return claim


def _seconds(span: timedelta) -> float:
    # Clocks of several machines: none of them shows that something took less than no time.
    return max(0.0, round(span.total_seconds(), 3))
