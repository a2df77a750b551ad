"""A server process under our control: started, paused, killed and restarted at will, and never left behind."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import IO, ClassVar, Final

from shared.errors import Unavailable

HOST: Final = "127.0.0.1"
START_S: Final = 20.0
"""How long a server may take to answer: 20 times what it needs, for machines that are busy."""
STOP_S: Final = 5.0
POLL_S: Final = 0.01


class LocalService(ABC):
    """One server. Its address stays the same from its first start to its end."""

    name: ClassVar[str]
    service: ClassVar[str]  # the word of `Unavailable`
    keep: ClassVar[signal.Signals]  # ends the process, its data written down
    drop: ClassVar[signal.Signals]  # ends it at once

    def __init__(self, folder: Path, guard: "Guard") -> None:
        self.folder = folder
        self.password = secrets.token_urlsafe(12)
        self._held, self.port = _hold_port()
        self._guard = guard
        self._process: subprocess.Popen[bytes] | None = None
        self._paused: list[int] = []
        self._closed = False
        self._launching = threading.Lock()  # whoever closes it need not be who starts it, nor wait for that
        folder.mkdir(mode=0o700)

    @property
    @abstractmethod
    def url(self) -> str:
        """The address with the password in it. Print `host:port` instead."""

    @property
    def address(self) -> str:
        """The address without the password."""
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        """The server's process id; it has to be running."""
        assert self._process is not None, f"{self.name} is not running"
        return self._process.pid

    @abstractmethod
    def _prepare(self) -> None:
        """Lay out the empty data folder."""

    @abstractmethod
    def _launch(self, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        """Start the process."""

    @abstractmethod
    def _ready(self) -> bool:
        """Tell whether it takes connections."""

    def open(self) -> None:
        """Start the server for the first time; on another port when somebody else was faster to take the first one."""
        try:
            self.start()
        except Unavailable:
            with self._launching:
                if self._closed:
                    raise
                self._held.close()
                self._held, self.port = _hold_port()
            self.start()

    def start(self) -> None:
        """Start the server and return when it takes connections; one that runs already is left alone.

        Raises:
            Unavailable: it ended at once, or did not answer within `START_S`; the message quotes its log. Or it was
                closed meanwhile.
        """
        if self._process is not None:
            return
        data = self.folder / "data"
        if not data.exists():
            self._prepare()
        with self._launching, (self.folder / "log").open("wb") as log:
            if self._closed:
                raise Unavailable(self.service, f"{self.name} was closed before it had started")
            process = self._process = self._launch(log)
            self._guard.started(process.pid, self.drop)
        deadline = time.monotonic() + START_S
        while not self._ready():
            if process.poll() is not None or time.monotonic() > deadline:
                self._end(self.drop)
                lines = (self.folder / "log").read_text(errors="replace").strip().splitlines() or ["its log is empty"]
                raise Unavailable(self.service, f"{self.name} did not start at {self.address}: {lines[-1]}")
            time.sleep(POLL_S)

    def stop(self) -> None:
        """Stop the server; its data is kept for the next `start`."""
        self._end(self.keep)

    def restart(self, *, empty: bool = False) -> None:
        """Stop the server and start it again, with its data or `empty`."""
        self._end(self.drop if empty else self.keep)
        if empty:
            shutil.rmtree(self.folder / "data")
        self.start()

    def kill(self) -> None:
        """End the server with SIGKILL, as a crash does."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Stop the server's clock: it keeps its connections and answers nothing. One that is paused stays so."""
        if self._paused:
            return
        os.kill(self.pid, signal.SIGSTOP)
        # Until it stands still it may begin another process, or take the end of one that we have listed.
        os.waitpid(self.pid, os.WUNTRACED)
        self._paused = self._processes()
        for pid in self._paused:
            os.kill(pid, signal.SIGSTOP)
            self._guard.started(pid, self.drop)

    def resume(self) -> None:
        """Let a paused server go on."""
        paused, self._paused = self._paused, []
        for pid in reversed(paused):
            os.kill(pid, signal.SIGCONT)
            if pid != self.pid:
                self._guard.gone(pid)

    def close(self) -> None:
        """Stop the server for good and at once, its data lost; one that is being started, too. Twice is fine."""
        with self._launching:
            self._closed = True
            self._held.close()
        self._end(self.drop)

    def _processes(self) -> list[int]:
        return [self.pid]

    def _end(self, number: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        self.resume()  # a paused process takes no other signal
        self._process = None
        process.send_signal(number)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._guard.gone(process.pid)


class Guard:
    """Our end of the pipe of `guard.py`."""

    def __init__(self, folder: Path) -> None:
        script = Path(__file__).with_name("guard.py")
        command = [sys.executable, "-I", "-S", str(script), str(folder)]
        # Our own output streams stay ours: whoever reads them to their end must not wait for the guard.
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(  # noqa: S603  # our own script
            command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
        )

    def started(self, pid: int, number: signal.Signals) -> None:
        """Have this process ended when ours has ended."""
        self._tell(f"+ {pid} {number.value}\n")

    def gone(self, pid: int) -> None:
        """Forget a process: its id may soon be another's."""
        self._tell(f"- {pid}\n")

    def close(self) -> None:
        """Let the guard end what is left and remove the folder, and wait for it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()


def _hold_port() -> tuple[socket.socket, int]:
    """Return a free port and what keeps it: nobody is given it while the server is away, and the server gets it.

    Elsewhere than on Linux a server that asks for a port that is kept would not get it: there it is free.
    """
    held = socket.socket()
    if sys.platform == "linux":
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((HOST, 0))
    port: int = held.getsockname()[1]
    if sys.platform != "linux":
        held.close()
    return held, port


def spawn(
    command: list[Path | str], output: IO[bytes] | int, *, cwd: Path, user: str | None = None
) -> "subprocess.Popen[bytes]":
    """Start a program as a session of its own, as `user` when one is given, with nothing of our environment."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
    return subprocess.Popen(  # noqa: S603  # the servers of the extra
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=environment,
        start_new_session=True,
        user=user,
        extra_groups=None if user is None else [],
    )
