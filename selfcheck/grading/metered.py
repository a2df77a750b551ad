"""How much a service may print: it is ended when that is too much, and whoever judges it sees that it has ended."""

import contextlib
import io
import os
import signal
import subprocess
from collections.abc import Callable


class Metered(io.BufferedReader):
    """A pipe that counts what is read from it."""

    def __init__(self, raw: io.RawIOBase, count: Callable[[int], None]) -> None:
        super().__init__(raw)
        self._count = count

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read a line, and count it."""
        line = super().readline(size)
        self._count(len(line))
        return line


def meter(process: "subprocess.Popen[bytes]", most: int, over: Callable[[], None]) -> None:
    """End a process group when its leader has printed more than `most` bytes, and call `over` once before that."""
    left = most

    def count(size: int) -> None:
        nonlocal left
        before, left = left, left - size
        if left < 0 <= before:
            over()
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)

    assert isinstance(process.stdout, io.BufferedReader), "it was asked for"
    assert isinstance(process.stderr, io.BufferedReader), "it was asked for"
    process.stdout = Metered(process.stdout.detach(), count)
    process.stderr = Metered(process.stderr.detach(), count)
