"""A session as a whole: its snapshot, and the page of events after a cursor.

The cursor is a position in the session's history, which is all its runs' events in the order (run ordinal, seq): dense,
monotonic, and no clock. History reaches up to the first run that has not ended, and into it as far as it is written;
what later runs may have already (a cancel while they waited) comes when it is their turn. So snapshot plus everything
after its cursor is the whole history, at any moment.
"""

import re

import msgspec

from gateway.standing import Standing, standing_of
from shared.errors import InvalidField
from shared.events import Event, Json
from shared.ports import SessionPage, Store, StoredRun
from shared.run import ENDED

BEGINNING = (0, -1)
PAGE = 500  # events in one page

_CURSOR = re.compile(r"(\d{1,9})-(\d{0,18})", re.ASCII)


def encode_cursor(position: tuple[int, int]) -> str:
    """Return a position (run ordinal, seq) as callers see it; the beginning is the empty text."""
    return "" if position == BEGINNING else encode_place(*position)


def encode_place(ordinal: int, seq: int) -> str:
    """Return the cursor behind a run's event, or, with seq -1, behind the word that the run is next."""
    return f"{ordinal}-{'' if seq < 0 else seq}"


def parse_cursor(cursor: str | None) -> tuple[int, int]:
    """Read a cursor that we gave out; none, or an empty one, is the beginning.

    Raises:
        InvalidField: we never gave it out.
    """
    if not cursor:
        return BEGINNING
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise InvalidField("cursor", "is none of ours; take it from the last answer, or leave it out to begin")
    return int(match[1]), int(match[2]) if match[2] else -1


async def snapshot(store: Store, session_id: str) -> dict[str, Json]:
    """Return messages, runs with what stands of them, and the cursor up to which that reaches.

    A run that has ended is shown by its text alone, as it will be once its rows have become one text.
    """
    runs = await store.runs_of(session_id)
    inputs = await store.inputs_of(session_id)
    position = BEGINNING
    shown: list[Json] = []
    passed_active = False
    for stored in runs:
        standing, last_seq = (Standing(""), None) if passed_active else await _standing(store, stored)
        if last_seq is not None:
            position = (stored.ordinal, last_seq)
        passed_active = passed_active or stored.run.status not in ENDED
        shown.append(
            {
                "run_id": stored.run.id,
                "status": str(stored.run.status),
                "text": standing.text,
                "created_at": stored.run.created_at.isoformat(),
                "questions": [],
                **({} if stored.run.status in ENDED else standing.work),
            }
        )
    return {
        "session_id": session_id,
        "messages": [
            {
                "message_id": each.message.id,
                "run_id": each.run_id,
                "text": each.message.text,
                "created_at": each.message.created_at.isoformat(),
            }
            for each in inputs
        ],
        "runs": shown,
        "cursor": encode_cursor(position),
    }


async def page(store: Store, session_id: str, cursor: str | None) -> "dict[str, Json | msgspec.Raw]":
    """Return the events after a cursor, the cursor behind them, and whether there is more by now.

    Where the cursor is inside rows that have become one text, that text comes as a `snapshot`, as on a stream.
    """
    after = parse_cursor(cursor)
    part: SessionPage = await store.session_events(session_id, after, PAGE)
    shown: list[dict[str, Json | msgspec.Raw]] = []
    previous: Event | None = None
    for event in part.events:
        if event.seq > 0 and (previous is None or previous.run_id != event.run_id):
            shown += await _text_before(store, event, after)
        shown.append(_entry(event.run_id, event.seq, event.kind, msgspec.Raw(event.data.encode())))
        previous = event
    return {
        "events": msgspec.Raw(msgspec.json.encode(shown)),
        "cursor": encode_cursor(part.cursor),
        "more": part.more,
    }


async def _text_before(store: Store, event: Event, after: tuple[int, int]) -> "list[dict[str, Json | msgspec.Raw]]":
    """Return what stands for the rows before this event: nothing while they are there, else the archived text."""
    stored = await store.run(event.run_id)
    if stored is None or stored.archived_text is None or after == (stored.ordinal, event.seq - 1):
        return []
    return [_entry(event.run_id, event.seq - 1, "snapshot", {"text": stored.archived_text})]


def _entry(run_id: str, seq: int, kind: str, data: "Json | msgspec.Raw") -> "dict[str, Json | msgspec.Raw]":
    return {"run_id": run_id, "seq": seq, "kind": str(kind), "data": data}


async def _standing(store: Store, stored: StoredRun) -> tuple[Standing, int | None]:
    """Return what stands of a run and the seq up to which that reaches."""
    if stored.archived_text is not None:
        return Standing(stored.archived_text), stored.last_seq
    if stored.last_seq is None:
        return Standing(""), None
    events = await store.events(stored.run.id, 0, stored.last_seq + 1)
    if len(events) <= stored.last_seq:  # archived since the run was read
        current = await store.run(stored.run.id)
        return Standing((current and current.archived_text) or ""), stored.last_seq
    return standing_of(events), stored.last_seq
