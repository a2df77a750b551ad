"""The shapes of what comes over the wire, as far as this client looks into it. `reading.py` makes arrivals of them."""

from typing import Annotated

import msgspec

from shared.run import RunStatus


class Text(msgspec.Struct):
    """A text."""

    text: str


class Reason(msgspec.Struct):
    """Why something is so."""

    reason: str = ""
    error: str = ""


class Tool(msgspec.Struct):
    """A tool, called or as it stands."""

    key: str
    name: str
    arguments: msgspec.Raw
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    message: str = ""
    ok: bool = True


class ToolEnded(msgspec.Struct):
    """What came of a tool."""

    key: str
    name: str
    result: msgspec.Raw
    message: str = ""
    ok: bool = True


class Thought(msgspec.Struct):
    """What a run is about to do."""

    text: str
    message: str = ""


class Fork(msgspec.Struct):
    """A sub-run."""

    run_id: str
    number: int
    title: str = ""


class Question(msgspec.Struct):
    """What a run asks."""

    question_id: str
    question: str
    default: str = ""
    expires_at: str = ""


class Answer(msgspec.Struct):
    """What it goes on with."""

    question_id: str
    text: str
    answered: bool = True


class Work(msgspec.Struct, kw_only=True):
    """What a run does besides replying, as it stands."""

    tools: list[Tool] = []
    thinking: Thought | None = None
    forks: list[Fork] = []
    questions: list[Question] = []


class Snapshot(Work):
    """What stands of a run, in place of events."""

    text: str


class Gap(msgspec.Struct):
    """The cursor that is not of the run's history."""

    requested: int


class Entry(msgspec.Struct):
    """An event on a page."""

    run_id: str
    seq: Annotated[int, msgspec.Meta(ge=0)]
    kind: str
    data: msgspec.Raw


class Page(msgspec.Struct):
    """A page of a session's events."""

    events: list[Entry]
    cursor: str
    more: bool


class Run(Work):
    """A run of a session."""

    run_id: str
    status: RunStatus
    text: str


class Session(msgspec.Struct):
    """A session's snapshot."""

    runs: list[Run]
    cursor: str
