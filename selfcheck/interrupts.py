"""Ctrl-C, from the first moment on: one line, and nothing left behind.

While modules load, an exception may come out anywhere, and where it does it may be lost. So at first the process ends
on the spot: all that it may have started ends with it. Once there is something to be tidied up, whoever does that asks
for the exception.
"""

import os
import signal

INTERRUPTED = 130


def end_at_once() -> None:
    """End this process at Ctrl-C, unless it is one that Ctrl-C is not for."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_instead() -> None:
    """Raise KeyboardInterrupt from now on, at Ctrl-C and when somebody asks this process to end."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _end(number: int, frame: object) -> None:
    try:
        os.write(2, b"stopped\n")
    finally:
        os._exit(INTERRUPTED)
