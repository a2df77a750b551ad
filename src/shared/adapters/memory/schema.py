"""The tables of the memory store: the rows they hold and the indexes that answer its questions without a scan."""

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from shared.adapters.memory.indexes import Ordered, Unique
from shared.adapters.memory.tables import Journal, Table
from shared.events import Event
from shared.forks import SEPARATOR, Fork
from shared.ports import Accepted, Message, Resumed, StoredRun
from shared.questions import Question, QuestionState
from shared.run import ACTIVE, ENDED, Run, RunStatus


@dataclass(frozen=True, slots=True)
class RunRow:
    """One row of `runs`. `serial` is the order of acceptance over all sessions."""

    id: str
    session_id: str
    user_id: str
    status: RunStatus
    attempt: int
    created_at: datetime
    updated_at: datetime
    serial: int
    ordinal: int
    cancel_asked: bool = False
    archived_text: str | None = None
    owner: str | None = None
    leased_until: float | None = None  # on the store's monotonic source; None unless active
    resumed: Resumed = Resumed.TAKEOVER  # what the next owner is told; another word only after a release
    handovers: int = 0
    given_back: bool = False

    @classmethod
    def opened(cls, run: Run, serial: int, ordinal: int) -> "RunRow":
        """Return the row of a run that is opened now."""
        return cls(
            run.id,
            run.session_id,
            run.user_id,
            run.status,
            run.attempt,
            run.created_at,
            run.updated_at,
            serial,
            ordinal,
        )

    @property
    def active(self) -> bool:
        """Whether a worker owns the run."""
        return self.status in ACTIVE

    @property
    def ended(self) -> bool:
        """Whether nothing changes the run any more."""
        return self.status in ENDED

    def run(self) -> Run:
        """Return the row as the run that everybody knows."""
        return Run(self.id, self.session_id, self.user_id, self.status, self.attempt, self.created_at, self.updated_at)


@dataclass(frozen=True, slots=True)
class InputRow:
    """One row of `inputs`: a message and what was answered to it."""

    serial: int
    message: Message
    run_id: str
    merged: bool
    status: RunStatus

    def answer(self, replayed: bool) -> Accepted:
        """Return the answer to the message."""
        return Accepted(self.message, self.run_id, self.merged, self.status, replayed)


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of `transitions`: a change of a run's status, who could do it, when and why."""

    serial: int
    run_id: str
    source: RunStatus
    target: RunStatus
    attempt: int
    at: datetime
    why: str


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One row of `questions`. It is standing while it has its number; the state is the one that was written."""

    serial: int
    asked: Question
    standing: bool = True


@dataclass(frozen=True, slots=True)
class ForkRow:
    """One row of `forks`: what a sub-run is for. It is standing while it has its number."""

    run_id: str
    parent_id: str
    number: int
    title: str
    standing: bool = True


@dataclass(frozen=True, slots=True)
class Ready:
    """A session and its claimable run: kept so that looking for work costs nothing, however many runs there are."""

    session_id: str
    run_id: str
    created_at: datetime
    serial: int


class Tables:
    """All tables, and the journal that makes a change of several of them one."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.serials = count()  # of all tables; a number lost to an undone transaction leaves a hole and no harm

        self.run_by_id: Unique[RunRow] = Unique("runs_pkey", lambda row: row.id)
        self.active_run: Unique[RunRow] = Unique(
            "runs_one_active_per_session", lambda row: row.session_id if row.active else None
        )
        self.runs_by_session: Ordered[RunRow] = Ordered(lambda row: row.session_id, lambda row: (row.ordinal,))
        self.pending_by_session: Ordered[RunRow] = Ordered(
            lambda row: row.session_id if row.status is RunStatus.PENDING else None, lambda row: (row.ordinal,)
        )
        self.unended_by_session: Ordered[RunRow] = Ordered(
            lambda row: None if row.ended else row.session_id, lambda row: (row.ordinal,)
        )
        self.runs_by_owner: Ordered[RunRow] = Ordered(lambda row: row.owner, lambda row: (row.serial,))
        self.leases: Ordered[RunRow] = Ordered(
            lambda row: None if row.leased_until is None else True, lambda row: (row.leased_until, row.serial)
        )
        self.unarchived: Ordered[RunRow] = Ordered(
            lambda row: True if row.ended and row.archived_text is None else None,
            lambda row: (row.updated_at, row.serial),
        )
        self.unended_sub_runs: Ordered[RunRow] = Ordered(
            lambda row: None if row.ended or row.cancel_asked or SEPARATOR not in row.session_id else True,
            lambda row: (row.created_at, row.serial),
        )
        self.runs: Table[RunRow] = Table(
            self.journal,
            self.run_by_id,
            self.active_run,
            self.runs_by_session,
            self.pending_by_session,
            self.unended_by_session,
            self.runs_by_owner,
            self.leases,
            self.unarchived,
            self.unended_sub_runs,
        )

        self.input_by_id: Unique[InputRow] = Unique(
            "inputs_session_message", lambda row: (row.message.session_id, row.message.id)
        )
        self.inputs_by_run: Ordered[InputRow] = Ordered(lambda row: row.run_id, lambda row: (row.serial,))
        self.inputs_by_session: Ordered[InputRow] = Ordered(
            lambda row: row.message.session_id, lambda row: (row.serial,)
        )
        self.inputs: Table[InputRow] = Table(self.journal, self.input_by_id, self.inputs_by_run, self.inputs_by_session)

        self.event_by_seq: Unique[Event] = Unique("messages_run_seq", lambda row: (row.run_id, row.seq))
        self.events_by_run: Ordered[Event] = Ordered(lambda row: row.run_id, lambda row: (row.seq,))
        self.events: Table[Event] = Table(self.journal, self.event_by_seq, self.events_by_run)

        self.transition_by_serial: Unique[Transition] = Unique("transitions_pkey", lambda row: row.serial)
        self.transitions_by_run: Ordered[Transition] = Ordered(lambda row: row.run_id, lambda row: (row.serial,))
        self.transitions: Table[Transition] = Table(self.journal, self.transition_by_serial, self.transitions_by_run)

        self.question_by_id: Unique[QuestionRow] = Unique("questions_pkey", lambda row: row.asked.id)
        self.question_by_number: Unique[QuestionRow] = Unique(
            "questions_run_number", lambda row: (row.asked.run_id, row.asked.number) if row.standing else None
        )
        self.questions_by_run: Ordered[QuestionRow] = Ordered(lambda row: row.asked.run_id, lambda row: (row.serial,))
        self.questions: Table[QuestionRow] = Table(
            self.journal, self.question_by_id, self.question_by_number, self.questions_by_run
        )

        self.fork_by_run: Unique[ForkRow] = Unique("forks_pkey", lambda row: row.run_id)
        self.fork_by_number: Unique[ForkRow] = Unique(
            "forks_parent_number", lambda row: (row.parent_id, row.number) if row.standing else None
        )
        self.forks_by_parent: Ordered[ForkRow] = Ordered(
            lambda row: row.parent_id, lambda row: (row.number, row.run_id)
        )
        self.forks: Table[ForkRow] = Table(self.journal, self.fork_by_run, self.fork_by_number, self.forks_by_parent)

        self.ready_by_session: Unique[Ready] = Unique("ready_pkey", lambda row: row.session_id)
        self.ready_by_age: Ordered[Ready] = Ordered(lambda _: True, lambda row: (row.created_at, row.serial))
        self.ready: Table[Ready] = Table(self.journal, self.ready_by_session, self.ready_by_age)

    def stored(self, row: RunRow) -> StoredRun:
        """Return a run as the store answers it, with what its messages and events say about it."""
        inputs, newest = self.inputs_by_run.count(row.id), self.events_by_run.last(row.id)
        last_seq = None if newest is None else newest.seq
        return StoredRun(row.run(), row.ordinal, inputs, last_seq, row.cancel_asked, row.archived_text)

    def question(self, row: QuestionRow) -> Question:
        """Return a question as it stands: an open one is withdrawn by whatever ends its run or asks it to stop."""
        run = self.run_by_id.find(row.asked.run_id)
        assert run is not None, "a question is a run's"
        withdrawn = row.asked.state is QuestionState.OPEN and not (run.active and not run.cancel_asked)
        return replace(row.asked, state=QuestionState.WITHDRAWN) if withdrawn else row.asked

    def fork(self, row: ForkRow) -> Fork:
        """Return a fork as it stands."""
        run = self.run_by_id.find(row.run_id)
        assert run is not None, "a fork is a run's"
        return Fork(row.parent_id, row.number, row.title, self.stored(run))

    def settle(self, session_id: str) -> None:
        """Note which run of a session is claimable now. To be called by every transaction that may change it."""
        known = self.ready_by_session.find(session_id)
        head = self.pending_by_session.first(session_id)
        claimable = head is not None and not head.cancel_asked and self.active_run.find(session_id) is None
        if known is not None:
            self.ready.delete(known)
        if head is not None and claimable:
            self.ready.insert(Ready(session_id, head.id, head.created_at, head.serial))
