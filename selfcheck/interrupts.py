"""Ctrl-C, from the first moment on: one line, and nothing left behind.

While modules load, an exception may come out anywhere, and where it does it may be lost. So at first the process ends
on the spot: all that it may have started ends with it. Once there is something to be tidied up, whoever does that asks
for the exception.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType

INTERRUPTED = 130
TIDYING_S = 3.0

_asked_at: float | None = None
_farewell = b"stopped\n"
_ending = False


def end_at_once() -> None:
    """End this process at Ctrl-C, unless it is one that Ctrl-C is not for, and when somebody asks it to end."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)


def raise_once() -> None:
    """Raise KeyboardInterrupt from now on, at Ctrl-C and when somebody asks this process to end.

    Once: whoever is impatient must not interrupt the tidying up. Who asks again after a while is not kept waiting.
    """
    _handle(_raise_once)


def raise_each_time() -> None:
    """Raise KeyboardInterrupt from now on, each time: for a command in which Ctrl-C is not always the end."""
    _handle(signal.default_int_handler)


def part_with(word: str) -> None:
    """Say this at the end, once a language is known; where it cannot be written, something like it."""
    global _farewell
    _farewell = f"{word}\n".encode(sys.stderr.encoding or "ascii", "replace")


def _handle(handler: Callable[[int, FrameType | None], None]) -> None:
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGTERM, handler)


def _raise_once(number: int, frame: FrameType | None) -> None:
    global _asked_at
    if _asked_at is None:
        _asked_at = time.monotonic()
        raise KeyboardInterrupt
    if time.monotonic() - _asked_at > TIDYING_S:
        _end(number, frame)


def _end(number: int, frame: FrameType | None) -> None:
    global _ending
    if _ending:  # whoever is impatient came while the word was being said; it is said once
        return
    _ending = True
    try:
        os.write(2, _farewell)
    finally:
        os._exit(INTERRUPTED)
