"""Read what came over the wire into what arrives at a projection. Nothing behind this looks into JSON.

Unknown kinds and fields are let through as nothing, so that a gateway may learn new ones first. What is known and
cannot be read is a `BadPayload`.
"""

import re
from typing import Annotated, Final, TypeVar

import msgspec

from client.arrivals import (
    Append,
    Change,
    Ended,
    Gap,
    Page,
    ReadRun,
    Rerun,
    RunEvent,
    SessionRead,
    Snapshot,
    Tool,
    Unknown,
)
from client.sse import ServerEvent
from shared.errors import Misconfigured
from shared.events import TERMINAL, EventKind
from shared.run import ENDED, RunStatus

_SEQ: Final = re.compile(r"[0-9]{1,18}")
_CURSOR: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,18})")  # the ordinal of a run in its session, and a seq of it

S = TypeVar("S", bound=msgspec.Struct)


class BadPayload(Misconfigured):
    """The gateway sent `what` with contents that this client cannot read. Asking again will bring the same."""

    def __init__(self, what: str, problem: str) -> None:
        self.what = what
        super().__init__(
            "gateway", f"{what} cannot be read: {problem}", "see that client and gateway are of one version"
        )


class _Text(msgspec.Struct):
    text: str


class _Reason(msgspec.Struct):
    reason: str = ""
    error: str = ""


class _Tool(msgspec.Struct):
    key: str
    name: str
    arguments: msgspec.Raw
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Gap(msgspec.Struct):
    requested: int


class _Entry(msgspec.Struct):
    run_id: str
    seq: Annotated[int, msgspec.Meta(ge=0)]
    kind: str
    data: msgspec.Raw


class _Page(msgspec.Struct):
    events: list[_Entry]
    cursor: str
    more: bool


class _Run(msgspec.Struct):
    run_id: str
    status: RunStatus
    text: str


class _Session(msgspec.Struct):
    runs: list[_Run]
    cursor: str


def from_stream(run_id: str, event: ServerEvent) -> RunEvent | Gap | None:
    """Read an event of a run's stream. None: it is nothing to a projection (`error` is the connection's matter).

    Raises:
        BadPayload: its kind is known, and its data or its id is not what that kind has.
    """
    if event.event == "gap":
        return Gap(run_id, _decode(_Gap, event.data, "the event gap").requested)
    change = _change(event.event, event.data)
    if event.has_id and _SEQ.fullmatch(event.id) is not None:
        return RunEvent(run_id, int(event.id), change)
    if isinstance(change, Unknown):
        return None
    raise BadPayload(f"the event {event.event}", f"it has no seq for its id, but {event.id!r}")


def from_page(body: bytes) -> Page:
    """Read the answer to `GET /sessions/{session_id}/events`.

    Raises:
        BadPayload: it is no such answer, or an event of it cannot be read.
    """
    page = _decode(_Page, body, "a page of a session's events")
    events = (RunEvent(entry.run_id, entry.seq, _change(entry.kind, entry.data)) for entry in page.events)
    return Page(tuple(events), page.cursor, page.more)


def from_session(body: bytes) -> SessionRead:
    """Read the answer to `GET /sessions/{session_id}`: go on with its runs' streams, or with pages after its cursor.

    Raises:
        BadPayload: it is no such answer.
    """
    what = "a session's snapshot"
    session = _decode(_Session, body, what)
    position = _CURSOR.fullmatch(session.cursor)
    if session.cursor and position is None:
        raise BadPayload(what, f"its cursor is {session.cursor!r}")
    reached, seq = (int(position[1]), int(position[2])) if position else (None, None)
    return SessionRead(
        tuple(
            ReadRun(run.run_id, run.text, None, run.status)
            if run.status in ENDED
            else ReadRun(run.run_id, run.text, seq if ordinal == reached else None, None)
            for ordinal, run in enumerate(session.runs)
        )
    )


def _change(kind: str, data: str | msgspec.Raw) -> Change:
    what = f"the event {kind}"
    if kind == EventKind.DELTA:
        return Append(_decode(_Text, data, what).text)
    if kind == "snapshot":
        return Snapshot(_decode(_Text, data, what).text)
    if kind == EventKind.RERUN:
        return Rerun(_decode(_Reason, data, what).reason)
    if kind in TERMINAL:
        end = _decode(_Reason, data, what)
        return Ended(RunStatus(kind), end.error or end.reason)
    if kind == "tool":
        tool = _decode(_Tool, data, what)
        result = None if tool.result is msgspec.UNSET else _text(tool.result)
        return Tool(tool.key, tool.name, _text(tool.arguments), result)
    return Unknown()


def _decode(shape: type[S], data: bytes | str | msgspec.Raw, what: str) -> S:
    try:
        # msgspec does not look into what it leaves raw, so what is no UTF-8 is found first.
        return msgspec.json.decode(data.decode() if isinstance(data, bytes) else data, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadPayload(what, str(error)) from error


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode()
