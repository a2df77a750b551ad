"""The logbook: what a service says, as it says it. Its threads write, the judge reads and waits.

Bounded, whatever a submission prints: the newest lines are kept, the rest is forgotten.
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
MOST_KEPT = 128 * 1024  # bytes of one service's lines, in the run's folder
MOST_FRAMES = 1_000

_DUMP = re.compile(rb"Timeout \(\d+:[\d:.]+\)!$")  # behind whatever was printed without an end of line
_FRAME = re.compile(rb'^  File "(?P<file>[^"]+)", line (?P<line>\d+)')

Line = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Stack:
    """Where a process's event loop stood when it had not turned for a while: `file:line`, innermost first."""

    frames: list[str] = field(default_factory=list)


class Logbook:
    """The lines of one service: those that begin with its token. What else it says is a print of the tree.

    The reading threads call `alarm` with each line and `stood_still` with each dump.
    """

    def __init__(self, token: str, alarm: Callable[[Line], None], stood_still: Callable[[Stack], None]) -> None:
        self._sign = f"{token} ".encode()
        self._alarms = [alarm]
        self._stood_still = stood_still
        self._lines: deque[Line] = deque(maxlen=MOST_LINES)
        self._changed = threading.Condition()
        self._silent = False
        self.prints: deque[str] = deque(maxlen=MOST_PRINTS)

    def watch(self, show: Callable[[Line], None]) -> None:
        """Call `show` with each line from now on, in a reading thread."""
        self._alarms.append(show)

    def read(self, stream: BinaryIO) -> None:
        """Read what a process says on stderr, to the end: lines of ours, dumps of its stack, and whatever else.

        Its end is the service's: no line will come for which anybody should wait.
        """
        dump: Stack | None = None
        while raw := stream.readline(LONGEST_LINE):
            line = _parse(raw.removeprefix(self._sign)) if raw.startswith(self._sign) else None
            if line is not None:
                self._take(line)
            elif _DUMP.search(raw):
                dump = Stack()
            elif dump is None or len(dump.frames) == MOST_FRAMES:
                dump = None
                self._print(raw)
            elif (frame := _FRAME.match(raw)) is not None:
                dump.frames.append(f"{frame['file'].decode('utf-8', 'replace')}:{frame['line'].decode()}")
                if frame["file"] == b"<string>":
                    # The program text itself: the outermost frame of the main thread, which is dumped last.
                    self._stood_still(dump)
                    dump = None
        with self._changed:
            self._silent = True
            self._changed.notify_all()

    def read_prints(self, stream: BinaryIO) -> None:
        """Keep the newest of what a submission prints."""
        while line := stream.readline(LONGEST_LINE):
            self._print(line)

    def wait(self, event: str, timeout_s: float, **fields: Json) -> Line | None:
        """Return the newest line of this event with these fields, waiting for it; None when it does not come."""
        with self._changed:
            self._changed.wait_for(lambda: self._silent or self._find(event, fields) is not None, timeout_s)
            return self._find(event, fields)

    def all(self, *events: str) -> list[Line]:
        """Return all lines of these events so far, in order."""
        with self._changed:
            return [line for line in self._lines if line["event"] in events]

    def tail(self) -> bytes:
        """Return the newest lines, as many as anybody would look at, as JSON, one a line."""
        with self._changed:
            lines = [*self._lines]
        newest: list[bytes] = []
        left = MOST_KEPT
        for line in reversed(lines):
            newest.append(msgspec.json.encode(line) + b"\n")
            left -= len(newest[-1])
            if left < 0:
                break
        return b"".join(reversed(newest))

    def _print(self, raw: bytes) -> None:
        if text := raw.decode("utf-8", "replace").rstrip("\r\n"):
            self.prints.append(text)

    def _find(self, event: str, fields: Mapping[str, Json]) -> Line | None:
        for line in reversed(self._lines):
            if line["event"] == event and all(line.get(name) == value for name, value in fields.items()):
                return line
        return None

    def _take(self, line: Line) -> None:
        with self._changed:
            self._lines.append(line)
            self._changed.notify_all()
        for alarm in self._alarms:
            alarm(line)


def _parse(raw: bytes) -> Line | None:
    try:
        line: Json = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("event"), str) else None
