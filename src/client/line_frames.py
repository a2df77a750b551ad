"""The frames of a session's line: those of the server read, ours written. Their contract is `docs/line.schema.json`."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

from client.arrivals import Gap, RunEvent, RunOpened, Unknown
from client.reading import BadPayload, decoded, from_line
from shared.envelope import VERSION

WHAT: Final = "a frame of the session's line"

_CURSOR: Final = re.compile(r"([0-9]{1,9})-([0-9]{0,18})")  # the ordinal of a run in its session, and a seq of it
_BEGINNING: Final = (-1, -1)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer of ours was taken. `text` is what counts: ours, or, when it did not count, the one that was first."""

    question_id: str
    counted: bool
    text: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer of ours was not taken. `code` is for programs; on "unavailable" it may be sent again."""

    question_id: str  # empty: the server does not say of which answer it speaks, and there is none that waits
    code: str
    message: str


Positive = Annotated[float, msgspec.Meta(gt=0)]


class Ready(msgspec.Struct):
    """How often the server pings, and how long it waits for a reply."""

    ping_every_s: Positive = 15.0
    pong_wait_s: Positive = 10.0


class _Answered(msgspec.Struct):
    question_id: str
    counted: bool
    text: str


class _Rejected(msgspec.Struct):
    code: str
    question_id: str = ""


class _AnswerFrame(msgspec.Struct, tag_field="type", tag="answer"):
    question_id: str
    text: str


class LineFrame(msgspec.Struct, frozen=True):
    """A frame as it came. Not every type has every member."""

    type: str
    v: int
    kind: str = ""
    cursor: str | None = None
    run_id: str | None = None
    seq: Annotated[int, msgspec.Meta(ge=0)] | None = None
    message: str = ""
    data: msgspec.Raw = msgspec.Raw(b"{}")


@dataclass(frozen=True, slots=True)
class LineEvent:
    """An event of the line: where the line stands behind it, whose it is, and what arrives; None: nothing known."""

    cursor: str
    position: tuple[int, int]
    run_id: str
    arrival: RunEvent | Gap | RunOpened | None


def frame_of(text: str | bytes) -> LineFrame:
    """Read a frame.

    Raises:
        BadPayload: it is none, or one of another version.
    """
    if isinstance(text, bytes):
        raise BadPayload(WHAT, "it is binary")
    frame = decoded(LineFrame, text, WHAT)
    if frame.v != VERSION:
        raise BadPayload(WHAT, f"it is of version {frame.v}, expected {VERSION}")
    return frame


def ready_of(frame: LineFrame) -> Ready:
    """Read a first frame.

    Raises:
        BadPayload: what it says of pings is no time.
    """
    return decoded(Ready, frame.data, "the frame ready")


def event_of(frame: LineFrame) -> LineEvent | None:
    """Read an event. None: it has no place in a session, and its kind is not known.

    Raises:
        BadPayload: its kind is known, and its data or its place is not what that kind has.
    """
    what = f"the event {frame.kind}"
    arrival = from_line(frame.run_id or "", frame.seq, frame.kind, frame.data)
    if frame.run_id is None or frame.cursor is None:
        if arrival is None or (isinstance(arrival, RunEvent) and isinstance(arrival.change, Unknown)):
            return None
        raise BadPayload(what, "it has no cursor, or no run")
    try:
        return LineEvent(frame.cursor, position_of(frame.cursor), frame.run_id, arrival)
    except ValueError as error:
        raise BadPayload(what, str(error)) from error


def reply_of(frame: LineFrame) -> Answered | Rejected:
    """Read what became of an answer.

    Raises:
        BadPayload: it does not say so.
    """
    if frame.type == "answered":
        told = decoded(_Answered, frame.data, "the frame answered")
        return Answered(told.question_id, told.counted, told.text)
    problem = decoded(_Rejected, frame.data, "the frame error")
    return Rejected(problem.question_id, problem.code, frame.message)


def answer_frame(question_id: str, text: str) -> str:
    """Write an answer."""
    return msgspec.json.encode(_AnswerFrame(question_id, text)).decode()


def position_of(cursor: str) -> tuple[int, int]:
    """Return a cursor as a position that can be compared: a run's ordinal, and a seq of it (-1: before the first).

    Raises:
        ValueError: this is no cursor.
    """
    if not cursor:
        return _BEGINNING
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise ValueError(f"{cursor!r} is no cursor of a session's line")
    return int(match[1]), int(match[2]) if match[2] else -1
