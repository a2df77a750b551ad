"""Processes of our own, watched through what they write on stderr: one line is one fact to wait for."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from shared.events import Json

Line = dict[str, Json]

ROOT: Final = Path(__file__).parents[2]
END_S: Final = 30.0
LIFE_S: Final = 60.0

_OURS: Final = ("REDIS_URL", "DATABASE_URL", "MOCK", "SELFTEST", "HOST", "PORT")


class Child:
    """A running process. Whatever becomes of the test, it does not outlive `running`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.lines: list[Line] = []

    def until(self, event: str) -> Line:
        """Read its log up to the next line of this event, and return that."""
        assert self._process.stderr is not None
        for text in self._process.stderr:
            line: Line = msgspec.json.decode(text)
            self.lines.append(line)
            if line["event"] == event:
                return line
        raise AssertionError(f"it ended without saying {event}: {self.lines}")

    def url(self) -> str:
        """Return where it listens, waiting until it does."""
        return f"http://127.0.0.1:{self.until('listening')['port']}"

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def ended(self) -> int:
        """Read its log to the end and return the exit code, negative when a signal ended it."""
        assert self._process.stderr is not None
        # Not `communicate`: it reads past what `until` has left in the buffer, and loses that.
        self.lines += [msgspec.json.decode(text) for text in self._process.stderr]
        return self._process.wait(END_S)


@contextmanager
def nobody() -> Iterator[str]:
    """Return an address of this machine at which nobody listens, nor will while the block lasts: it is taken."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{holder.getsockname()[1]}"


def environment(**given: str) -> dict[str, str]:
    """Return our environment, without what tells a process of the house what to do, and with what is given."""
    kept = {name: value for name, value in os.environ.items() if name not in _OURS and not name.startswith("KODA_")}
    return {**kept, **given}


@contextmanager
def running(*arguments: str, given: Mapping[str, str] | None = None) -> Iterator[Child]:
    """Start Python with these arguments in the kit's folder, with nothing of ours in its environment but `given`.

    It lives a minute at most, so that waiting for a line that never comes fails the test instead of holding it up.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment(**(given or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=pipe,
        text=True,
    ) as process:
        watchdog = threading.Timer(LIFE_S, process.kill)
        watchdog.start()
        try:
            yield Child(process)
        finally:
            watchdog.cancel()
            process.kill()
