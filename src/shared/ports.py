"""The five doors of the business code: what it asks of a store, a bus and a clock, and nothing else.

Every adapter keeps to what is written here, edges included; `tests/contract/` says it again as tests and runs them on
each adapter. All calls are coroutines of one event loop and may overlap unless it says otherwise. Every call may raise
`Unavailable` (the service is away; nothing is known about whether it was carried out). Each call of `Store` is one
transaction: it happens as a whole or not at all.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum, auto
from typing import Protocol

from shared.events import Event
from shared.run import Run, RunStatus


class Clock(Protocol):
    """What time it is for the rules about age. Timers and leases do not use it."""

    def now(self) -> datetime:
        """Return the current time, timezone-aware."""
        ...


# --- The bus: one output stream per run (broadcast), one input stream (shared out), and marks ------------------------


class Mark(StrEnum):
    """A control signal to the worker that owns a run. It expires, and is never the only record of what it says."""

    RERUN = "rerun"  # the run has more messages than you have read
    CANCEL = "cancel"  # the user asked for the run to stop
    ANSWER = "answer"  # a question of the run has been answered


class Marks(Protocol):
    """The marks of runs. Setting and clearing are idempotent."""

    async def set(self, run_id: str, mark: Mark, ttl: timedelta) -> None:
        """Set a mark; it expires after `ttl` (counted anew when it was set already)."""
        ...

    async def read(self, run_id: str) -> frozenset[Mark]:
        """Return the marks that are set and not expired."""
        ...

    async def clear(self, run_id: str, mark: Mark) -> None:
        """Remove a mark; removing one that is not there is fine."""
        ...


class OutputStream(Protocol):
    """One append-only stream per run. Everybody who follows it gets every entry: broadcast, not shared out.

    The stream does not know seqs: it keeps entries in the order of arrival, duplicates included. It is a copy; the
    store is the truth. A stream may vanish (expired, service restarted empty) at any time.
    """

    async def append(self, events: Sequence[Event], attempt: int) -> frozenset[Mark]:
        """Append events of one run, in one piece and in order, and return the run's marks.

        `events` is not empty and of one run. The first append with a higher attempt raises the fence to it.

        Raises:
            Fenced: a higher attempt has raised the fence. Nothing was appended.
        """
        ...

    async def raise_fence(self, run_id: str, attempt: int) -> None:
        """Refuse every later append whose attempt is below `attempt`. Never lowers the fence; repeating it is fine."""
        ...

    async def entries(self, run_id: str) -> Sequence[Event]:
        """Return all entries that the stream holds now, oldest first; empty when there is no stream."""
        ...

    def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Yield the stream's entries from its start, in batches of at least one, waiting for what is yet to come.

        It may begin before the first entry exists, and it goes on when the stream vanishes and begins again. It never
        ends by itself: close it (`aclose`) or cancel the task that is in it. Any number may follow at once, each with
        its own position. While the service is away it waits; it does not raise `Unavailable`.
        """
        ...

    async def expire(self, run_id: str, ttl: timedelta) -> None:
        """Let the stream and the fence vanish `ttl` from now. An append afterwards does not prolong them."""
        ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """A doorbell: "this session has work". It stays pending with its consumer until it is acknowledged."""

    id: str
    session_id: str


class InputQueue(Protocol):
    """The input stream, shared out by one consumer group: each entry goes to one consumer.

    The group begins at the stream's beginning. When the stream or the group is gone (service restarted empty), the next
    call makes it anew; callers notice nothing.
    """

    async def put(self, session_id: str) -> None:
        """Ring the doorbell of a session."""
        ...

    async def take(self, consumer: str, count: int, block: timedelta) -> Sequence[Delivery]:
        """Take up to `count` entries that no consumer has had, oldest first, waiting up to `block` for the first.

        Empty when none came. A zero `block` does not wait. What is taken is pending with `consumer`.
        """
        ...

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Remove entries for good, pending or not. Acknowledging twice, or nothing, is fine."""
        ...

    async def reclaim(self, consumer: str, idle: timedelta, count: int) -> Sequence[Delivery]:
        """Take over up to `count` entries that have been pending, with whomever, for at least `idle`; oldest first.

        They are pending with `consumer` from now on, their idle time starts again at zero.
        """
        ...

    async def depth(self) -> int:
        """Return how many entries are in the stream: waiting or pending."""
        ...


# --- The store: runs, inputs, messages (the event log), transitions (audit) -------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """What a user sent; one row of `inputs`. `id` is unique within its session.

    `trace` is what log lines about it have in common, from the request that brought it to the end of its run; "" when
    nobody gave one.
    """

    id: str
    session_id: str
    user_id: str
    text: str
    created_at: datetime
    trace: str = ""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run with what only the store knows about it."""

    run: Run
    ordinal: int  # the run's number in its session: 0, 1, 2 … without holes
    inputs: int  # how many messages it has
    last_seq: int | None  # of the newest event in the log; None while there is none
    cancel_asked: bool
    archived_text: str | None  # the whole reply, once the rows have become one text


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to a message, as it was given the first time."""

    message: Message
    run_id: str
    merged: bool
    status: RunStatus  # of the run, when the message was accepted
    replayed: bool  # True when this message id had been accepted before; `message` is then the one stored


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to execute a run: valid while `attempt` is the run's and the lease is renewed."""

    run: Run
    resumed: "Resumed | None"  # None: the run starts; else what the claim goes on from
    handovers: int = 0  # how many earlier attempts were given back by an owner that only had to end

    @property
    def tries(self) -> int:
        """How many attempts count, this one included: those that failed, or whose owner was lost, and this."""
        return self.run.attempt - self.handovers


class Resumed(StrEnum):
    """Why a run that was already active has a new owner. The words are those of the event `rerun`."""

    RETRY = "retry"  # the owner gave it back after an error
    TAKEOVER = "takeover"  # the owner was lost, or gave it back to end


@dataclass(frozen=True, slots=True)
class Held:
    """A lease that was renewed: the run is still its owner's."""

    run_id: str
    attempt: int
    cancel_asked: bool


class Ending(Enum):
    """How the attempt to end a run came out."""

    ENDED = auto()  # status, last event and audit row are written
    UNREAD = auto()  # the run has more messages than were read; nothing was written
    LOST = auto()  # status or attempt are no longer the expected ones; nothing was written


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Part of a session's history: events in the order (run ordinal, seq)."""

    events: Sequence[Event]
    cursor: tuple[int, int]  # (ordinal, seq) of the last event; the one asked with when there is none
    more: bool  # True when there are events after the last of these


class Store(Protocol):
    """Runs, messages, events. Each call is one transaction. Every status write names the status it starts from."""

    # accepting

    async def latest_run(self, session_id: str) -> StoredRun | None:
        """Return the run with the highest ordinal of this session; None when it has none."""
        ...

    async def open_run(self, run: Run, message: Message) -> Accepted:
        """Insert a pending run (attempt 0) with its first message, under the session's next ordinal.

        When the session has a message with this id already, nothing is inserted and the first answer is returned with
        `replayed`. Concurrent calls with one message id insert one.
        """
        ...

    async def join_run(self, run_id: str, message: Message) -> Accepted | None:
        """Append a message to a run, on condition that the run is active and its cancel was not asked.

        None: the condition does not hold (unknown run, pending, ended, cancel asked); nothing was inserted. A message
        id that the session has already is answered like in `open_run`, whatever the run's state.
        """
        ...

    async def find_message(self, session_id: str, message_id: str) -> Accepted | None:
        """Return the first answer to this message (`replayed`), or None when the session has no such message."""
        ...

    # executing

    async def claim(self, owner: str, lease: timedelta, session_id: str | None = None) -> Claim | None:
        """Move the oldest claimable pending run to running: attempt + 1, owned for `lease`.

        Claimable: its session has no active run and no older pending one, its cancel was not asked. With `session_id`,
        only that session's; else any. None: there is none, or another owner was faster.
        """
        ...

    async def take_over(self, owner: str, lease: timedelta) -> Claim | None:
        """Take the active run whose lease ran out longest ago: attempt + 1, owned for `lease`, status unchanged.

        None when every active run's lease is good. `Claim.resumed` says why it was free.
        """
        ...

    async def take_up(self, owner: str, lease: timedelta, session_id: str) -> Claim | None:
        """Take the active run of a session like `take_over`, on condition that it was given back and its time has come.

        None: it was not, or another owner was faster. A run that lost its owner, or never had one, is no bell's affair.
        """
        ...

    async def renew(self, owner: str, lease: timedelta) -> Sequence[Held]:
        """Prolong, in one statement, the leases of all active runs that are still `owner`'s, and return them."""
        ...

    async def release(self, run_id: str, attempt: int, after: timedelta, why: Resumed, *, counts: bool = True) -> bool:
        """Give an active run back: it can be taken over when `after` has passed. False: it is not this attempt's.

        Not `counts`: nothing went wrong, the owner has to end, and the attempt is one of the next `Claim.handovers`.
        An attempt that is given back again has the new `after` and `why`; whether it counts was decided the first time.
        """
        ...

    async def messages_of(self, run_id: str) -> Sequence[Message]:
        """Return the run's messages in the order of their acceptance."""
        ...

    async def move(self, run_id: str, attempt: int, source: RunStatus, target: RunStatus, why: str) -> bool:
        """Change the status and keep an audit row, on condition that status and attempt are the expected ones.

        False: the condition does not hold, or another run of the session is active and `target` is too.
        """
        ...

    async def append(self, run_id: str, attempt: int, events: Sequence[Event]) -> None:
        """Append events of one run to its log. A row that is there already (same seq) is left as it is.

        Raises:
            Fenced: the run is not active with this attempt (or unknown). No row was written.
        """
        ...

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
        """End a run: status, audit row and its last events (unflushed ones and the terminal one), all or nothing.

        Conditional on status `source`, on `attempt`, and, unless `inputs_read` is None, on the run's having no more
        messages than that.
        """
        ...

    async def ask_cancel(self, run_id: str) -> StoredRun | None:
        """Note durably that the run shall stop, unless it has ended; return it as it stands after. None: unknown."""
        ...

    async def waiting_sessions(self, limit: int) -> Sequence[str]:
        """Return sessions that have a claimable run, the longest waiting first, each once."""
        ...

    # reading

    async def run(self, run_id: str) -> StoredRun | None:
        """Return a run as it stands, None when there is none with this id."""
        ...

    async def events(self, run_id: str, start: int, limit: int) -> Sequence[Event]:
        """Return up to `limit` events with seq at or above `start`, in order of seq."""
        ...

    async def runs_of(self, session_id: str) -> Sequence[StoredRun]:
        """Return all runs of a session by ordinal; empty for an unknown one."""
        ...

    async def inputs_of(self, session_id: str) -> Sequence[Accepted]:
        """Return all messages of a session, with their runs, in the order of their acceptance."""
        ...

    async def session_events(self, session_id: str, after: tuple[int, int], limit: int) -> SessionPage:
        """Return up to `limit` events of a session after the position (ordinal, seq); (0, -1) is the beginning.

        The page reaches no further than the newest event of the first run that has not ended: what later runs have
        already (a cancel while they waited) comes after all of that run's, so it must not come before.
        """
        ...

    # keeping house

    async def archivable(self, ended_before: datetime, limit: int) -> Sequence[str]:
        """Return runs that ended (`updated_at`) before then and still have all their rows, oldest first."""
        ...

    async def archive(self, run_id: str, text: str) -> bool:
        """Replace an ended run's rows, all but the terminal one, by one text. False: it is archived or not ended."""
        ...

    async def ping(self) -> None:
        """Return when the service answers.

        Raises:
            Unavailable: it does not.
        """
        ...

    async def close(self) -> None:
        """Give back all connections. Calls afterwards raise `Unavailable`; closing twice is fine."""
        ...
