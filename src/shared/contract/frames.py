"""Every frame that a gateway sends on a session's line, and every one that it takes.

`docs/line.schema.json` is what `schema` makes of it. No process needs these types at work: a gateway writes, and a
client reads, any `Envelope`. They say what is in one of which kind, and tests hold real frames against them.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from shared.contract.data import (
    AnswerData,
    AnsweredData,
    CancelledData,
    Count,
    DoneData,
    ErrorData,
    FailedData,
    ForkedData,
    GapData,
    Line,
    Nothing,
    QuestionData,
    ReadyData,
    RerunData,
    SnapshotData,
    StartedData,
    TextData,
    ThinkingData,
    Time,
    ToolData,
    ToolEndedData,
    ToolStartedData,
)

Cursor: TypeAlias = Annotated[str, Meta(pattern=r"^([0-9]{1,9}-([0-9]{1,18})?)?$")]


class _Frame(Struct, kw_only=True):
    v: Literal[1]
    message: Line
    at: Time


class _Aside(_Frame, kw_only=True):
    """Not of the session's history: it moves no cursor."""

    cursor: None
    run_id: None
    seq: None


class _Logged(_Frame, kw_only=True):
    """An event of a run's log. `cursor` is the position behind it."""

    type: Literal["event"]
    cursor: Cursor
    run_id: str
    seq: Count


# --- beginning and end of a connection ---


class Ready(_Frame, kw_only=True, tag_field="kind", tag="session_opened"):
    """The first frame of every connection. `cursor` is where the line stands: what follows comes behind it."""

    type: Literal["ready"]
    cursor: Cursor
    run_id: None
    seq: None
    data: ReadyData


class Ping(_Aside, kw_only=True, tag_field="kind", tag="ping"):
    """The server wants to hear something: any frame will do."""

    type: Literal["ping"]
    data: Nothing


class Pong(_Aside, kw_only=True, tag_field="kind", tag="pong"):
    """The reply to a ping."""

    type: Literal["pong"]
    data: Nothing


class Answered(_Aside, kw_only=True, tag_field="kind", tag="answered"):
    """The reply to an answer frame."""

    type: Literal["answered"]
    data: AnsweredData


class Error(_Aside, kw_only=True, tag_field="kind", tag="error"):
    """A frame of the client's was not taken. The connection goes on."""

    type: Literal["error"]
    data: ErrorData


# --- what is not in the log ---


class RunStarted(_Frame, kw_only=True, tag_field="kind", tag="run_started"):
    """A run of the session is next: its events follow, up to its end."""

    type: Literal["event"]
    cursor: Cursor
    run_id: str
    seq: None
    data: StartedData


class Gap(_Frame, kw_only=True, tag_field="kind", tag="gap"):
    """The cursor is ahead of the run's history: everything shown of it is void."""

    type: Literal["event"]
    cursor: Cursor
    run_id: str
    seq: None
    data: GapData


class Snapshot(_Logged, kw_only=True, tag_field="kind", tag="snapshot"):
    """What stands of a run at `seq`, in place of single events: what is not there is not so, or is void."""

    data: SnapshotData


# --- the log ---


class Delta(_Logged, kw_only=True, tag_field="kind", tag="delta"):
    """Append."""

    data: TextData


class Tool(_Logged, kw_only=True, tag_field="kind", tag="tool"):
    """The model wants this tool called; nobody here calls it."""

    data: ToolData


class Rerun(_Logged, kw_only=True, tag_field="kind", tag="rerun"):
    """Texts, tools and an open question are void; what follows replaces them."""

    data: RerunData


class Thinking(_Logged, kw_only=True, tag_field="kind", tag="thinking"):
    """The run says what it is about to do."""

    data: ThinkingData


class ToolStarted(_Logged, kw_only=True, tag_field="kind", tag="tool_started"):
    """A tool begins."""

    data: ToolStartedData


class ToolEnded(_Logged, kw_only=True, tag_field="kind", tag="tool_ended"):
    """A tool has ended."""

    data: ToolEndedData


class Forked(_Logged, kw_only=True, tag_field="kind", tag="forked"):
    """A sub-run is split off; its events are on `/runs/{run_id}/events`."""

    data: ForkedData


class Question(_Logged, kw_only=True, tag_field="kind", tag="question"):
    """The run waits for its user."""

    data: QuestionData


class Answer(_Logged, kw_only=True, tag_field="kind", tag="answer"):
    """What the run goes on with."""

    data: AnswerData


class Done(_Logged, kw_only=True, tag_field="kind", tag="done"):
    """The run's end."""

    data: DoneData


class Failed(_Logged, kw_only=True, tag_field="kind", tag="failed"):
    """The run's end."""

    data: FailedData


class Cancelled(_Logged, kw_only=True, tag_field="kind", tag="cancelled"):
    """The run's end."""

    data: CancelledData


# --- from the client ---


class PingFrame(Struct, tag_field="type", tag="ping"):
    """The client wants to hear something."""


class PongFrame(Struct, tag_field="type", tag="pong"):
    """The reply to a ping."""


class AnswerFrame(Struct, tag_field="type", tag="answer"):
    """Answer an open question of the session."""

    question_id: Annotated[str, Meta(min_length=1, max_length=128)]
    text: Annotated[str, Meta(min_length=1)]


FromServer: TypeAlias = (
    Ready | Ping | Pong | Answered | Error | RunStarted | Gap | Snapshot | Delta | Tool | Rerun | Thinking | ToolStarted
    | ToolEnded | Forked | Question | Answer | Done | Failed | Cancelled
)  # fmt: skip
FromClient: TypeAlias = PingFrame | PongFrame | AnswerFrame

ABOUT: Final = (
    "Version 1 of the frames of GET /sessions/{session_id}/socket: `$defs.from_server` and `$defs.from_client`. "
    "Members and kinds that are not listed are to be ignored. Generated from src/shared/contract by `make contract`."
)


def schema() -> str:
    """Return the contract as a JSON Schema document (draft 2020-12)."""
    (server, client), parts = msgspec.json.schema_components([FromServer, FromClient])
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A session's line",
        "description": ABOUT,
        "anyOf": [{"$ref": "#/$defs/from_server"}, {"$ref": "#/$defs/from_client"}],
        "$defs": {"from_server": server, "from_client": client, **parts},
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
