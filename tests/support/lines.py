"""Frames of a session's line, as a client reads them, and held against the contract."""

from pathlib import Path
from typing import Final

import msgspec

from shared.contract.frames import FromServer
from shared.events import Event, EventKind, Json, encode_data
from tests.support.json_schema import Schema

Frame = dict[str, Json]

_CONTRACT: Final = Path(__file__).parents[2] / "docs" / "line.schema.json"
SCHEMA: Final = Schema(msgspec.json.decode(_CONTRACT.read_bytes()))


def read(text: str | bytes) -> Frame:
    """Return a frame that came from a server, after holding it against the contract, by schema and by type."""
    frame: Json = msgspec.json.decode(text)
    assert SCHEMA.faults(frame, "from_server") == []
    msgspec.json.decode(text, type=FromServer)
    assert isinstance(frame, dict)
    assert frame.keys() == {"v", "type", "cursor", "run_id", "seq", "kind", "message", "data", "at"}
    return frame


def brief(frame: Frame) -> tuple[str, str | None, str | None]:
    """Return what tells a frame from others: kind, cursor, run."""
    cursor, run_id = frame["cursor"], frame["run_id"]
    assert cursor is None or isinstance(cursor, str)
    assert run_id is None or isinstance(run_id, str)
    return str(frame["kind"]), cursor, run_id


LOG: Final[list[tuple[EventKind, dict[str, Json]]]] = [
    (EventKind.THINKING, {"message": "Looking at the order.", "text": "I shall look at the order first."}),
    (
        EventKind.TOOL_STARTED,
        {"message": "Looks up the order.", "key": "k0", "name": "order", "arguments": {"id": 7, "deep": [None, True]}},
    ),
    (
        EventKind.TOOL_ENDED,
        {"message": "It was sent.", "key": "k0", "name": "order", "result": "sent on Monday", "ok": True},
    ),
    (EventKind.FORKED, {"message": "Asks the carrier.", "run_id": "sub-1", "number": 0, "title": "the carrier"}),
    (
        EventKind.QUESTION,
        {
            "message": "Refund it?",
            "question_id": "q",
            "question": "Shall I refund it?",
            "default": "no",
            "expires_at": "2026-01-01T00:02:00+00:00",
        },
    ),
    (EventKind.ANSWER, {"message": "Yes.", "question_id": "q", "text": "yes", "answered": True}),
    (EventKind.DELTA, {"text": "Thank"}),
    (EventKind.TOOL, {"key": "c0", "name": "look", "arguments": {"at": "it"}}),
    (EventKind.RERUN, {"reason": "takeover", "attempt": 2}),
    (EventKind.DELTA, {"text": " you 🙂\u2028"}),
    (
        EventKind.DONE,
        {
            "usage": {"input_tokens": 3, "output_tokens": 4},
            "finish_reason": "length",
            "subtasks": {"count": 1, "failed": 0, "usage": {"output_tokens": 1}},
        },
    ),
]
"""A log that has every kind but the two other ends."""


def full_log(run_id: str = "r") -> list[Event]:
    """Return that log as events of a run."""
    return [Event(run_id, seq, kind, encode_data(data)) for seq, (kind, data) in enumerate(LOG)]
