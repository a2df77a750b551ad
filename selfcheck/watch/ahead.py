"""Services that are started ahead: processes that have loaded everything but the tree, and wait to be told which.

A service takes most of its start to load what is the same each time. What is left to do at a save is to execute two
files, and that is done by the program that every run uses.
"""

import contextlib
import os
import subprocess
import sys
import threading

from selfcheck.early import launch
from selfcheck.processes.held import Service, encode, start
from selfcheck.spec import ServiceSpec

COUNT = 2  # one for the checks, one for the first question whose fault it is

PROGRAM = "from selfcheck.watch.ahead import main; main()"


class Ahead:
    """A few of them. Safe to use from several threads. `close` it."""

    def __init__(self, count: int = COUNT) -> None:
        self._count = count
        self._waiting: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def fill(self) -> None:
        """Start as many as are missing; they load beside us."""
        with self._lock:
            alive = [process for process in self._waiting if process.poll() is None]
            while len(alive) < self._count:
                alive.append(launch("", judged=True, program=PROGRAM))
            self._waiting = alive

    def service(self, spec: ServiceSpec) -> Service:
        """Return a service for a spec: one that was started ahead, or, where there is none, one that starts now."""
        while not spec.redis_url:
            with self._lock:
                process = self._waiting.pop(0) if self._waiting else None
            if process is None:
                break
            if _tell(process, encode(spec)):
                return Service(spec, {"+".join(spec.roles): process})
            _end(process)
        return start(spec)

    def close(self) -> None:
        """End those that wait."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for process in waiting:
            _end(process)


def _tell(process: "subprocess.Popen[bytes]", spec: str) -> bool:
    assert process.stdin is not None, "it was asked for"
    try:
        process.stdin.write(f"{spec}\n".encode())
        process.stdin.flush()
    except OSError:  # it has been ended, by whomever
        return False
    return process.poll() is None


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None, "all three were asked for"
        with contextlib.suppress(OSError):  # of what could not be told it
            stream.close()


def main() -> None:
    """Load everything, wait for a spec on standard input, and be the service that it describes."""
    import selfcheck.service
    import shared.exercises  # noqa: F401
    from selfcheck.lab.compose import import_memory

    import_memory()
    with contextlib.suppress(ImportError):
        import uvloop  # noqa: F401
    spec = _line()
    if not spec:
        os._exit(0)  # whoever started us has ended
    sys.argv[-1] = spec
    selfcheck.service.main()


def _line() -> str:
    """Return a line of standard input, and take nothing behind it: its end is for the service to wait for."""
    read = bytearray()
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        read += byte
    return read.decode() if byte else ""
