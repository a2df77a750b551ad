"""Read what came over the wire into what arrives at a projection. Nothing behind this looks into JSON.

Unknown kinds and fields are let through as nothing, so that a gateway may learn new ones first. What is known and
cannot be read is a `BadPayload`.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeAlias, TypeVar

import msgspec

from client import shapes
from client.arrivals import (
    Answer,
    Append,
    Change,
    Ended,
    Fork,
    Gap,
    Page,
    Question,
    ReadRun,
    Rerun,
    RunEvent,
    RunOpened,
    SessionRead,
    Snapshot,
    Thought,
    Tool,
    ToolEnded,
    Unknown,
    Work,
)
from client.sse import ServerEvent
from shared.errors import Misconfigured
from shared.events import TERMINAL, EventKind
from shared.run import ENDED, RunStatus

_SEQ: Final = re.compile(r"[0-9]{1,18}")
_CURSOR: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,18})")  # the ordinal of a run in its session, and a seq of it

Data: TypeAlias = str | msgspec.Raw

S = TypeVar("S", bound=msgspec.Struct)


class BadPayload(Misconfigured):
    """The gateway sent `what` with contents that this client cannot read. Asking again will bring the same."""

    def __init__(self, what: str, problem: str) -> None:
        self.what = what
        super().__init__(
            "gateway", f"{what} cannot be read: {problem}", "see that client and gateway are of one version"
        )


def decoded(shape: type[S], data: bytes | Data, what: str) -> S:
    """Return data as what it should be: bytes or a text of JSON.

    Raises:
        BadPayload: it is something else. `what` names it.
    """
    try:
        # msgspec does not look into what it leaves raw, so what is no UTF-8 is found first.
        return msgspec.json.decode(data.decode() if isinstance(data, bytes) else data, type=shape)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadPayload(what, str(error)) from error


def from_stream(run_id: str, event: ServerEvent) -> RunEvent | Gap | None:
    """Read an event of a run's stream. None: it is nothing to a projection (`error` is the connection's matter).

    Raises:
        BadPayload: its kind is known, and its data or its id is not what that kind has.
    """
    if event.event == "gap":
        return Gap(run_id, decoded(shapes.Gap, event.data, "the event gap").requested)
    change = _change(event.event, event.data)
    if event.has_id and _SEQ.fullmatch(event.id) is not None:
        return RunEvent(run_id, int(event.id), change)
    if isinstance(change, Unknown):
        return None
    raise BadPayload(f"the event {event.event}", f"it has no seq for its id, but {event.id!r}")


def from_line(run_id: str, seq: int | None, kind: str, data: msgspec.Raw) -> RunEvent | Gap | RunOpened | None:
    """Read an event of a session's line. None: it is nothing to a projection.

    Raises:
        BadPayload: its kind is known, and its data or its seq is not what that kind has.
    """
    if kind == "gap":
        return Gap(run_id, decoded(shapes.Gap, data, "the event gap").requested)
    if kind == "run_started":
        return RunOpened(run_id)
    change = _change(kind, data)
    if seq is not None:
        return RunEvent(run_id, seq, change)
    if isinstance(change, Unknown):
        return None
    raise BadPayload(f"the event {kind}", "it has no seq")


def from_page(body: bytes) -> Page:
    """Read the answer to `GET /sessions/{session_id}/events`.

    Raises:
        BadPayload: it is no such answer, or an event of it cannot be read.
    """
    page = decoded(shapes.Page, body, "a page of a session's events")
    events = (RunEvent(entry.run_id, entry.seq, _change(entry.kind, entry.data)) for entry in page.events)
    return Page(tuple(events), page.cursor, page.more)


def from_session(body: bytes) -> SessionRead:
    """Read the answer to `GET /sessions/{session_id}`: go on with its runs' streams, or with pages after its cursor.

    Raises:
        BadPayload: it is no such answer.
    """
    what = "a session's snapshot"
    session = decoded(shapes.Session, body, what)
    position = _CURSOR.fullmatch(session.cursor)
    if session.cursor and position is None:
        raise BadPayload(what, f"its cursor is {session.cursor!r}")
    reached, seq = (int(position[1]), int(position[2])) if position else (None, None)
    return SessionRead(
        tuple(
            ReadRun(run.run_id, run.text, None, run.status)
            if run.status in ENDED
            else ReadRun(run.run_id, run.text, seq if ordinal == reached else None, None, _work(run))
            for ordinal, run in enumerate(session.runs)
        )
    )


def _change(kind: str, data: Data) -> Change:
    read = _READERS.get(kind)
    return Unknown() if read is None else read(data, f"the event {kind}")


def _append(data: Data, what: str) -> Change:
    return Append(decoded(shapes.Text, data, what).text)


def _snapshot(data: Data, what: str) -> Change:
    snapshot = decoded(shapes.Snapshot, data, what)
    return Snapshot(snapshot.text, _work(snapshot))


def _rerun(data: Data, what: str) -> Change:
    return Rerun(decoded(shapes.Reason, data, what).reason)


def _ended(status: RunStatus, data: Data, what: str) -> Change:
    end = decoded(shapes.Reason, data, what)
    return Ended(status, end.error or end.reason)


def _tool(data: Data, what: str) -> Change:
    return _as_tool(decoded(shapes.Tool, data, what))


def _tool_ended(data: Data, what: str) -> Change:
    end = decoded(shapes.ToolEnded, data, what)
    return ToolEnded(end.key, end.name, _text(end.result), end.message, end.ok)


def _thought(data: Data, what: str) -> Change:
    return _as_thought(decoded(shapes.Thought, data, what))


def _fork(data: Data, what: str) -> Change:
    return _as_fork(decoded(shapes.Fork, data, what))


def _question(data: Data, what: str) -> Change:
    return _as_question(decoded(shapes.Question, data, what))


def _answer(data: Data, what: str) -> Change:
    answer = decoded(shapes.Answer, data, what)
    return Answer(answer.question_id, answer.text, answer.answered)


_READERS: Final[Mapping[str, Callable[[Data, str], Change]]] = {
    EventKind.DELTA: _append,
    "snapshot": _snapshot,
    EventKind.RERUN: _rerun,
    EventKind.TOOL: _tool,
    EventKind.TOOL_STARTED: _tool,
    EventKind.TOOL_ENDED: _tool_ended,
    EventKind.THINKING: _thought,
    EventKind.FORKED: _fork,
    EventKind.QUESTION: _question,
    EventKind.ANSWER: _answer,
    **{kind: partial(_ended, RunStatus(kind)) for kind in TERMINAL},
}


def _work(work: shapes.Work) -> Work:
    return Work(
        tuple(map(_as_tool, work.tools)),
        None if work.thinking is None else _as_thought(work.thinking),
        tuple(map(_as_fork, work.forks)),
        tuple(map(_as_question, work.questions)),
    )


def _as_tool(tool: shapes.Tool) -> Tool:
    result = None if tool.result is msgspec.UNSET else _text(tool.result)
    return Tool(tool.key, tool.name, _text(tool.arguments), result, tool.message, tool.ok)


def _as_thought(thought: shapes.Thought) -> Thought:
    return Thought(thought.message or thought.text, thought.text)


def _as_fork(fork: shapes.Fork) -> Fork:
    return Fork(fork.run_id, fork.number, fork.title)


def _as_question(asked: shapes.Question) -> Question:
    return Question(asked.question_id, asked.question, asked.default, asked.expires_at)


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode()
