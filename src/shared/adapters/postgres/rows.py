"""Rows as our values: a row factory for each shape. The order of arguments is that of the columns in the statements."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import args_row

from shared.events import Event, EventKind
from shared.forks import Fork
from shared.ports import Accepted, Claim, Held, Message, Resumed, StoredRun
from shared.questions import Question, QuestionState
from shared.run import Run, RunStatus


def _stored_run(
    run_id: str,
    session_id: str,
    user_id: str,
    status: str,
    attempt: int,
    created_at: datetime,
    updated_at: datetime,
    ordinal: int,
    inputs: int,
    last_seq: int | None,
    cancel_asked: bool,
    archived_text: str | None,
) -> StoredRun:
    """Make a run with what only the store knows about it, from a row of `stored_runs`."""
    run = Run(run_id, session_id, user_id, RunStatus(status), attempt, created_at, updated_at)
    return StoredRun(run, ordinal, inputs, last_seq, cancel_asked, archived_text)


def _claim(
    run_id: str,
    session_id: str,
    user_id: str,
    status: str,
    attempt: int,
    created_at: datetime,
    updated_at: datetime,
    resumed: str | None,
    handovers: int,
) -> Claim:
    """Make a claim."""
    run = Run(run_id, session_id, user_id, RunStatus(status), attempt, created_at, updated_at)
    return Claim(run, None if resumed is None else Resumed(resumed), handovers)


def _held(run_id: str, attempt: int, cancel_asked: bool) -> Held:
    """Make a renewed lease."""
    return Held(run_id, attempt, cancel_asked)


def _message(message_id: str, session_id: str, user_id: str, text: str, created_at: datetime, trace: str) -> Message:
    """Make a message."""
    return Message(message_id, session_id, user_id, text, created_at, trace)


def _accepted(
    message_id: str,
    session_id: str,
    user_id: str,
    text: str,
    created_at: datetime,
    run_id: str,
    merged: bool,
    status: str,
    trace: str,
) -> Accepted:
    """Make the answer that a message got."""
    sent = Message(message_id, session_id, user_id, text, created_at, trace)
    return Accepted(sent, run_id, merged, RunStatus(status), replayed=False)


def _event(run_id: str, seq: int, kind: str, data: str) -> Event:
    """Make an event."""
    return Event(run_id, seq, EventKind(kind), data)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was written about a message."""

    run_id: str
    merged: bool
    status: RunStatus


def _answer(run_id: str, merged: bool, status: str) -> Answer:
    """Make the new part of an answer."""
    return Answer(run_id, merged, RunStatus(status))


def _placed_event(ordinal: int, run_id: str, seq: int, kind: str, data: str) -> tuple[int, Event]:
    """Make an event with its run's ordinal."""
    return ordinal, Event(run_id, seq, EventKind(kind), data)


def _text(value: str) -> str:
    """Take a row of one text."""
    return value


def _verdict(mine: bool, all_read: bool) -> tuple[bool, bool]:
    """Take the row of `finish`."""
    return mine, all_read


def _question(
    question_id: str,
    run_id: str,
    session_id: str,
    number: int,
    text: str,
    default: str,
    expires_at: datetime,
    state: str,
    answer: str | None,
) -> Question:
    """Make a question."""
    return Question(question_id, run_id, session_id, number, text, default, expires_at, QuestionState(state), answer)


def _settled(
    question_id: str,
    run_id: str,
    session_id: str,
    number: int,
    text: str,
    default: str,
    expires_at: datetime,
    state: str,
    answer: str | None,
    verdict: bool,
) -> tuple[Question, bool]:
    """Make a question and what was decided about it."""
    state_now = QuestionState(state)
    return Question(question_id, run_id, session_id, number, text, default, expires_at, state_now, answer), verdict


def _fork(
    parent_id: str,
    number: int,
    title: str,
    run_id: str,
    session_id: str,
    user_id: str,
    status: str,
    attempt: int,
    created_at: datetime,
    updated_at: datetime,
    ordinal: int,
    inputs: int,
    last_seq: int | None,
    cancel_asked: bool,
    archived_text: str | None,
) -> Fork:
    """Make a fork, from its own columns and a row of `stored_runs`."""
    run = Run(run_id, session_id, user_id, RunStatus(status), attempt, created_at, updated_at)
    return Fork(parent_id, number, title, StoredRun(run, ordinal, inputs, last_seq, cancel_asked, archived_text))


stored_run = args_row(_stored_run)
claim = args_row(_claim)
held = args_row(_held)
message = args_row(_message)
accepted = args_row(_accepted)
event = args_row(_event)
answer = args_row(_answer)
placed_event = args_row(_placed_event)
text = args_row(_text)
verdict = args_row(_verdict)
question = args_row(_question)
settled = args_row(_settled)
fork = args_row(_fork)
