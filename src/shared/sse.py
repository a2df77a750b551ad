"""Read server-sent events from bytes, as WHATWG HTML §9.2.6 ("Interpreting an event stream") has it. No I/O.

Lines are cut before they are decoded: CR and LF are single bytes in UTF-8, and no ill-formed sequence swallows one when
it is replaced. So a character may be split anywhere between chunks, and no decoder is carried from one to the next.
"""

from codecs import BOM_UTF8
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

_LONGEST_COUNT: Final = 16
"""Digits of a `retry` that surely fit a timedelta; a longer number waits as long as one can say."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event as it was dispatched.

    `event` is its type, "message" when it named none. `data` has its lines joined by LF. `id` is the last event id at
    that moment, which an earlier event may have set ("" for none); `has_id` says whether this event's own block set it.
    """

    event: str
    data: str
    id: str
    has_id: bool


class EventStreamParser:
    """Read one stream, from its first byte on, in chunks of any size. Each connection takes a parser of its own.

    `last_event_id` is the id as of the last block that was complete. `retry` is the last reconnection time that the
    server named, None while it named none. `comments` counts comment lines, of which a heartbeat is one. A block that
    the stream's end leaves unfinished was never an event: there is nothing to flush.
    """

    __slots__ = (
        "_after_cr",
        "_at_start",
        "_data",
        "_event",
        "_has_id",
        "_id",
        "_unfinished",
        "comments",
        "last_event_id",
        "retry",
    )

    def __init__(self) -> None:
        self.last_event_id = ""
        self.retry: timedelta | None = None
        self.comments = 0
        self._unfinished = bytearray()  # the line that the last chunk left open; grows in place, so time stays linear
        self._after_cr = False  # an LF that comes next belongs to the CR before it
        self._at_start = True
        self._data: list[bytes] = []
        self._event = b""
        self._id = ""
        self._has_id = False

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take the next bytes and return the events that they complete, in order; none for empty bytes."""
        events: list[ServerEvent] = []
        for line in self._lines(chunk):
            if line:
                self._take_line(line)
            else:
                self._end_block(events)
        return events

    def _lines(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        # Unlike str.splitlines, which breaks at U+0085 and U+2028 too, this knows CR, LF and CRLF alone.
        lines = chunk.splitlines()
        rest = b"" if chunk.endswith((b"\n", b"\r")) else lines.pop()
        if lines and self._unfinished:
            lines[0] = bytes(self._unfinished) + lines[0]
            self._unfinished.clear()
        self._unfinished += rest
        if lines and self._at_start:
            self._at_start = False
            lines[0] = lines[0].removeprefix(BOM_UTF8)
        return lines

    def _take_line(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value
        elif name == b"id":
            if b"\0" not in value:
                self._id, self._has_id = _text(value), True
        elif name == b"retry":
            if value.isdigit():  # of bytes: the ten ASCII digits
                self.retry = _milliseconds(value)
        elif not name:  # the line is not empty, so it begins with the colon
            self.comments += 1

    def _end_block(self, events: list[ServerEvent]) -> None:
        # The id takes effect at the end of its block even where the block, without data, is no event.
        self.last_event_id = self._id
        if self._data:
            event = _text(self._event) or "message"
            events.append(ServerEvent(event, _text(b"\n".join(self._data)), self._id, self._has_id))
            self._data = []
        self._event = b""
        self._has_id = False


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _milliseconds(digits: bytes) -> timedelta:
    significant = digits.lstrip(b"0")
    if len(significant) > _LONGEST_COUNT:
        return timedelta.max
    return timedelta(milliseconds=int(significant or b"0"))
