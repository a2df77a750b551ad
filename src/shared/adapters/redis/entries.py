"""Entries of an output stream: how an event is written there, and read."""

from typing import Final

from shared.adapters.redis.protocol import Reply
from shared.events import Event, EventKind

START: Final = b"0-0"
"""The position before every entry."""

UNREADABLE: Final = (AssertionError, KeyError, ValueError)
"""What `event_of` raises for what is no entry of ours, or of a later version."""

_KINDS: Final = {kind.value.encode(): kind for kind in EventKind}


def order(position: bytes) -> tuple[int, int]:
    """Return a position as what positions are compared by; as text, 10-0 would come before 9-0."""
    milliseconds, _, number = position.partition(b"-")
    return int(milliseconds), int(number)


def position_of(entry: Reply) -> bytes:
    """Return the position of an entry, [id, fields]."""
    assert isinstance(entry, list) and isinstance(entry[0], bytes)
    return entry[0]


def event_of(run_id: str, entry: Reply) -> Event:
    """Return the event of an entry, whose fields are [s, seq, k, kind, d, data]: `append.lua` keeps that order."""
    assert isinstance(entry, list) and isinstance(entry[1], list)
    _, seq, _, kind, _, data = entry[1]
    assert isinstance(seq, bytes) and isinstance(kind, bytes) and isinstance(data, bytes)
    return Event(run_id, int(seq), _KINDS[kind], data.decode())


def entries_of(reply: Reply) -> list[Reply]:
    """Return the entries in XREAD's reply about one stream: nothing, or [[key, entries]]."""
    if reply is None:
        return []
    assert isinstance(reply, list) and isinstance(reply[0], list)
    entries = reply[0][1]
    assert isinstance(entries, list)
    return entries
