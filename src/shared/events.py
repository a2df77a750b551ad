"""The event: one immutable row of a run's log, and the only thing that travels from worker to waiter.

An event is encoded once, by the worker that wrote it. `data` therefore is the JSON text itself: the store keeps it, the
bus carries it and the gateway puts it behind `data:` without looking inside, so live and replayed bytes are equal.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import msgspec

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class EventKind(StrEnum):
    """What an event means to whoever follows the run (wire table in `docs/wire.md`)."""

    DELTA = "delta"  # append this text
    TOOL = "tool"  # the model wants this tool called
    RERUN = "rerun"  # the text and the tools so far are void
    THINKING = "thinking"  # what the run is about to do, in words
    TOOL_STARTED = "tool_started"  # a tool of ours begins
    TOOL_ENDED = "tool_ended"  # and what came of it
    FORKED = "forked"  # a sub-run is split off; it has a log of its own
    QUESTION = "question"  # the run waits for its user
    ANSWER = "answer"  # and this is what it goes on with
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RING = "ring"  # in no log: rung on a session's line, "look for another run"


TERMINAL = frozenset({EventKind.DONE, EventKind.FAILED, EventKind.CANCELLED})
"""The kinds that end a run: always its last event, with its last seq."""

# JSON leaves these unescaped, SSE does not mind them, but clients that split lines like str.splitlines() do.
_LINE_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of one run.

    `seq` starts at 0 in every run, is contiguous and is never reset, a rerun included. `data` is a compact JSON object
    without line breaks of any kind (make it with `encode_data`).
    """

    run_id: str
    seq: int
    kind: EventKind
    data: str


def encode_data(data: dict[str, Json]) -> str:
    """Encode an event's payload: compact JSON on one line, whatever its texts contain.

    Strings must be free of lone surrogates (`shared.text.clean`); msgspec raises UnicodeEncodeError otherwise.
    """
    text = msgspec.json.encode(data).decode()
    if not text.isascii():
        for character, escape in _LINE_BREAKS.items():
            text = text.replace(character, escape)
    return text


def decode_data(data: str) -> dict[str, Json]:
    """Decode what `encode_data` made."""
    decoded: Json = msgspec.json.decode(data)
    assert isinstance(decoded, dict), "the data of an event is an object"
    return decoded


def reply_text(events: list[Event]) -> str:
    """Reduce a run's events, in order from its first, to the text a reader ends up with.

    Deltas append, a rerun voids what came before it, everything else adds nothing.
    """
    parts: list[str] = []
    for event in events:
        if event.kind is EventKind.RERUN:
            parts.clear()
        elif event.kind is EventKind.DELTA:
            text = decode_data(event.data)["text"]
            assert isinstance(text, str), "a delta's text is a string"
            parts.append(text)
    return "".join(parts)
