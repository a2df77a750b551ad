"""Services that are forked and not started: the interpreter and all modules are there already.

Two hundred submissions take a thousand services, and loading is most of what one costs. So a process with one thread
that has loaded everything, a forker, makes a copy of itself for each. What runs in the copy is what runs in a process
of its own, `selfcheck.service.main`, with the same streams, session and end.

Linux alone: there the copy becomes a child of the judge, which has to be told of its end as of any other's.
"""

import contextlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from typing import IO, Final, NoReturn

from selfcheck import service
from selfcheck.grading import descendants

POSSIBLE: Final = sys.platform == "linux" and hasattr(os, "pidfd_open")

STILL_S: Final = 0.4
"""What counts as standing still: shorter than for a learner, whose slow machine must not look like a loop."""

_LONGEST: Final = 1 << 16
_MOST_OPEN: Final = 4096


class Forked:
    """A process that was forked for us: what `Service` asks of one. May be used by several threads."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout
        self.stderr: IO[bytes] | None = stderr
        self._code: int | None = None
        self._taking = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        with self._taking:
            if self._code is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
            return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, waiting for it.

        Raises:
            subprocess.TimeoutExpired: it runs on.
        """
        if self.poll() is None:
            ended = os.pidfd_open(self.pid)
            try:
                select.select([ended], [], [], timeout)
            finally:
                os.close(ended)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("service", timeout or 0)
        return code

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Forker:
    """Forks services for the process that makes it, which has one thread at that moment. `close` it."""

    def __init__(self) -> None:
        descendants.adopt()
        self._asks, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pid = os.fork()
        if self._pid == 0:
            self._asks.close()
            _fork_on_demand(theirs)
        theirs.close()

    def fork(self, spec: str) -> Forked:
        """Return a new service for a spec in JSON."""
        pipes = [os.pipe() for _ in range(3)]
        (stdin, our_in), (our_out, stdout), (our_err, stderr) = pipes
        try:
            socket.send_fds(self._asks, [spec.encode()], [stdin, stdout, stderr])
            pid = int(json.loads(self._asks.recv(_LONGEST)))
        finally:
            for theirs in (stdin, stdout, stderr):
                os.close(theirs)
        return Forked(pid, os.fdopen(our_in, "wb", 0), os.fdopen(our_out, "rb"), os.fdopen(our_err, "rb"))

    def close(self) -> None:
        """End the forker, and none of what it has forked."""
        self._asks.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


# in the forker


def _fork_on_demand(asks: socket.socket) -> NoReturn:
    code = 1
    try:
        while True:
            spec, streams, _, _ = socket.recv_fds(asks, _LONGEST, 3)
            if not spec:
                break
            pid = _fork_for_our_parent(spec.decode(), streams)
            for stream in streams:
                os.close(stream)
            asks.send(json.dumps(pid).encode())
        code = 0
    finally:
        os._exit(code)


def _fork_for_our_parent(spec: str, streams: list[int]) -> int:
    """Fork twice: the kernel hands the child of a process that has ended to the one that adopts, our parent."""
    told, tell = os.pipe()
    between = os.fork()
    if between == 0:
        pid = os.fork()
        if pid == 0:
            _be_service(spec, streams)
        os.write(tell, str(pid).encode())
        os._exit(0)
    os.close(tell)
    pid = int(os.read(told, 32))
    os.close(told)
    os.waitpid(between, 0)  # from now on it is our parent's child
    return pid


def _be_service(spec: str, streams: list[int]) -> NoReturn:
    code = 1
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, _MOST_OPEN)
        sys.stdin = sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]  # noqa: SIM115
        sys.stdout = sys.__stdout__ = _unbuffered(1)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = _unbuffered(2)  # type: ignore[misc]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["-c", spec]
        service.STILL_S = STILL_S
        service.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code & 0xFF)


def _unbuffered(number: int) -> io.TextIOWrapper:
    """Return a stream as `python -u` makes it."""
    raw = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
