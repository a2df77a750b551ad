"""Count the lines of Python that run: a measure of cost, and an end for what has none, that no busy machine changes."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType


class Endless(BaseException):
    """More lines ran than were granted. Not an `Exception`, so that no `except Exception` takes it for its own."""


class _Tracer:
    def __init__(self, folder: Path, limit: int) -> None:
        self._prefix = str(folder.absolute())
        self._limit = limit
        self.lines = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> "_Tracer | None":
        if not frame.f_code.co_filename.startswith(self._prefix):
            return None
        self.lines += event == "line"
        if self.lines > self._limit:
            raise Endless
        return self


def lines_run(folder: Path, work: Callable[[], object], limit: int = sys.maxsize) -> int:
    """Do the work and return how many lines of code from files below `folder` ran.

    Raises:
        Endless: they were more than `limit`.
    """
    tracer = _Tracer(folder, limit)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        work()
    finally:
        sys.settrace(before)
    return tracer.lines
