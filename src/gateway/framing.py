"""Frames of a WebSocket (RFC 6455, section 5.2), begun ahead of time and completed together.

The frames of a line all lack an end of one size: when they are sent. So what goes before each is known as soon as the
rest is, and is kept with it. To complete a thousand of them for one socket is then one step, and not one for each.

The framing of the library `websockets` is for both sides, extensions and fragments, and costs more than all else that
is done here for an event.
"""

from collections.abc import Sequence
from typing import Final

_TEXT: Final = 0x81  # a text, in one piece
_TWO: Final = 126  # the size is in the next two bytes
_EIGHT: Final = 127  # in the next eight


def begun(text: bytes, more: int) -> bytes:
    """Return the frame of a text that lacks its last `more` bytes."""
    size = len(text) + more
    if size < _TWO:
        return bytes((_TEXT, size)) + text
    if size < 1 << 16:
        return bytes((_TEXT, _TWO)) + size.to_bytes(2) + text
    return bytes((_TEXT, _EIGHT)) + size.to_bytes(8) + text


def completed(frames: Sequence[bytes], end: bytes) -> bytes:
    """Return frames that were begun, in one piece, each with this end."""
    return end.join((*frames, b""))


def text_of(frame: bytes) -> bytes:
    """Return the text of a frame that was begun."""
    return frame[{_TWO: 4, _EIGHT: 10}.get(frame[1], 2) :]
