"""The logbook: what a service says, as it says it. One thread writes, the judge reads and waits.

Bounded, whatever a submission prints: the newest lines are kept, the rest is counted.
"""

import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from shared.events import Json

LONGEST_LINE = 16 * 1024
MOST_LINES = 20_000
MOST_PRINTS = 200

_DUMP = re.compile(rb"^Timeout \(")
_FRAME = re.compile(rb'^  File "(?P<file>[^"]+)", line (?P<line>\d+)')

Line = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Stack:
    """Where the service's event loop stood when it had not turned for a while: `file:line`, innermost first."""

    frames: list[str] = field(default_factory=list)


class Logbook:
    """The lines of one service. The reading thread calls `alarm` with each line and `stood_still` with each dump."""

    def __init__(self, alarm: Callable[[Line], None], stood_still: Callable[[Stack], None]) -> None:
        self._alarm = alarm
        self._stood_still = stood_still
        self._lines: deque[Line] = deque(maxlen=MOST_LINES)
        self._changed = threading.Condition()
        self._shows: list[Callable[[Line], None]] = []
        self._ended = False
        self._dump: Stack | None = None
        self.prints: deque[str] = deque(maxlen=MOST_PRINTS)

    def read(self, stream: BinaryIO) -> None:
        """Read to the end. The body of the reading thread."""
        while line := stream.readline(LONGEST_LINE):
            self._take(line)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def read_prints(self, stream: BinaryIO) -> None:
        """Keep the newest of what a submission prints. The body of another thread."""
        while line := stream.readline(LONGEST_LINE):
            self.prints.append(line.decode("utf-8", "replace").rstrip("\n"))

    def wait(self, event: str, timeout_s: float, **fields: Json) -> Line | None:
        """Return the newest line of this event with these fields, waiting for it; None when it does not come."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._find(event, fields) is not None, timeout_s)
            return self._find(event, fields)

    def watch(self, show: Callable[[Line], None]) -> None:
        """Call `show` with each line from now on, in the reading thread."""
        self._shows.append(show)

    def all(self, *events: str) -> list[Line]:
        """Return all lines of these events so far, in order."""
        with self._changed:
            return [line for line in self._lines if line["event"] in events]

    def _find(self, event: str, fields: Mapping[str, Json]) -> Line | None:
        for line in reversed(self._lines):
            if line["event"] == event and all(line.get(name) == value for name, value in fields.items()):
                return line
        return None

    def _take(self, raw: bytes) -> None:
        line = _parse(raw)
        if line is None:
            self._take_text(raw)
            return
        with self._changed:
            self._lines.append(line)
            self._changed.notify_all()
        self._alarm(line)
        for show in self._shows:
            show(line)

    def _take_text(self, raw: bytes) -> None:
        """Tell a dump of where the loop stands from whatever else lands on stderr."""
        frame = _FRAME.match(raw)
        if _DUMP.match(raw):
            self._dump = Stack()
        elif frame is not None and self._dump is not None:
            self._dump.frames.append(f"{frame['file'].decode('utf-8', 'replace')}:{frame['line'].decode()}")
            if frame["file"] == b"<string>":
                # The program text itself: the outermost frame of the main thread, which is dumped last.
                self._stood_still(self._dump)
                self._dump = None
        elif self._dump is None:
            self.prints.append(raw.decode("utf-8", "replace").rstrip("\n"))


def _parse(raw: bytes) -> Line | None:
    if not raw.startswith(b"{"):
        return None
    try:
        line: Json = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("event"), str) else None
