"""Frames: events as a gateway holds them, and the forms in which they leave.

A feed decides which events a connection gets, and in which order; its form decides what bytes these are. There are two:
a stream's (`sse.py`) and a session's line (`envelopes.py`). What an event is in each is made once, whoever asks first,
and kept with it for all who follow.
"""

from typing import Protocol

import msgspec

from gateway.standing import Standing
from shared.events import TERMINAL, Event, EventKind


class Frame(msgspec.Struct, gc=False):
    """An event on its way to all waiters of its run. `as_sse` and `as_line` are empty until a form has filled them in.

    A struct, because there are many: quickly made, and holding nothing that the garbage collector need look at.
    """

    seq: int
    kind: EventKind
    data: str
    terminal: bool
    as_sse: bytes = b""
    as_line: bytes = b""


def frame(event: Event) -> Frame:
    """Return an event as a frame."""
    return Frame(event.seq, event.kind, event.data, event.kind in TERMINAL)


class Form(Protocol):
    """How a connection writes what a feed has for it. Each call returns one piece, never empty."""

    def event(self, frame: Frame, /) -> bytes:
        """Write an event of the log."""
        ...

    def snapshot(self, seq: int, standing: Standing, /) -> bytes:
        """Write what replaces all events up to and including `seq`."""
        ...

    def gap(self, requested: int, earliest: int | None, latest: int | None, /) -> bytes:
        """Write that a cursor is not in the run's history, which is `earliest` to `latest`."""
        ...
