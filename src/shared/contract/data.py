"""What stands in the member `data` of a frame, kind by kind. Texts are cut as `shared/shortening.py` says."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from shared.envelope import LONGEST_MESSAGE

Line: TypeAlias = Annotated[str, Meta(max_length=LONGEST_MESSAGE)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Time: TypeAlias = Annotated[datetime, Meta(tz=True)]
Usage: TypeAlias = dict[str, Count]
Nothing: TypeAlias = dict[str, Raw]


class ReadyData(Struct):
    """`ping_every_s` and `pong_wait_s`: how often the server pings, and how long it waits for any frame then."""

    session_id: str
    ping_every_s: float
    pong_wait_s: float


class AnsweredData(Struct):
    """`text` is what counts: this answer, or, when it did not, the one that was first."""

    question_id: str
    counted: bool
    text: str


class ErrorData(Struct):
    """`field` is the member of the frame that is to be changed, `question_id` the question that the frame named."""

    code: Literal["invalid_field", "unknown_question", "question_closed", "unavailable"]
    field: str | UnsetType = UNSET
    question_id: str | UnsetType = UNSET


class StartedData(Struct):
    """`ordinal` is the run's number in its session."""

    ordinal: Count
    created_at: Time


class GapData(Struct):
    """The run's history is `earliest` to `latest`."""

    requested: int
    earliest: Count | None
    latest: Count | None


class TextData(Struct):
    """A text, never cut."""

    text: str


class ToolData(Struct):
    """`key` tells the calls of one reply apart."""

    key: str
    name: str
    arguments: dict[str, Raw]
    result: Raw | UnsetType = UNSET


class RerunData(Struct):
    """Why the reply begins anew, and with which attempt."""

    reason: Literal["merge", "retry", "takeover"]
    attempt: int


class ThinkingData(Struct):
    """What the run is about to do, in words."""

    message: Line
    text: str


class ToolStartedData(Struct):
    """`key` comes again with the tool's end."""

    message: Line
    key: str
    name: str
    arguments: Raw


class ToolEndedData(Struct):
    """`message` is the result in one line."""

    message: Line
    key: str
    name: str
    result: Raw
    ok: bool


class ForkedData(Struct):
    """The sub-run, and its number among its parent's."""

    message: Line
    run_id: str
    number: Count
    title: str


class QuestionData(Struct):
    """The same id again is the same question. At `expires_at` the run goes on with `default`."""

    message: Line
    question_id: str
    question: str
    default: str
    expires_at: Time


class StandingTool(Struct):
    """A tool as it stands; it has no `result` until it has answered. `arguments` is null when its start is not known.

    `message` is a line about it, or its result in one line.
    """

    key: str
    name: str
    arguments: Raw
    message: Line | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    ok: bool | UnsetType = UNSET


class StandingFork(Struct):
    """A sub-run, and its number among its parent's."""

    run_id: str
    number: Count
    title: str


class OpenQuestion(Struct):
    """A question that waits for its answer: as the event `question` has it."""

    question_id: str
    question: str
    default: str
    expires_at: Time


class SnapshotData(Struct):
    """`text` is never cut. The others are there when there are any: the newest tools, sub-runs and open questions."""

    text: str
    tools: list[StandingTool] | UnsetType = UNSET
    thinking: ThinkingData | UnsetType = UNSET
    forks: list[StandingFork] | UnsetType = UNSET
    questions: list[OpenQuestion] | UnsetType = UNSET


class AnswerData(Struct):
    """`answered` is false when time ran out; `text` is the default then."""

    message: Line
    question_id: str
    text: str
    answered: bool


class Subtasks(Struct):
    """The run's sub-runs together."""

    count: Count
    failed: Count
    usage: Usage


class DoneData(Struct):
    """What the run has used, and apart from it what its sub-runs have."""

    usage: Usage
    finish_reason: str | UnsetType = UNSET
    subtasks: Subtasks | UnsetType = UNSET


class FailedData(Struct):
    """Why."""

    error: str


class CancelledData(Struct):
    """Why."""

    reason: str
