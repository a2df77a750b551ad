"""A service as the judge holds it: a process, its address, its logbook, and the reasons for which it was ended."""

import os
import signal
import subprocess
import sys
import threading

import msgspec

from selfcheck.early import launch
from selfcheck.logbook import Line, Logbook, Stack
from selfcheck.spec import ServiceSpec
from shared.errors import Unavailable
from shared.exercises import SHAPES

START_S = 20.0  # on a machine that does ten other things
SETTLE_S = 0.5
HUNG_DUMPS = 2  # the loop is shown each 0.8 s that it stands; twice in the same exercise is no bad luck

_TREE_FILES = tuple(shape.file for shape in SHAPES)


class Service:
    """A running service. Made by `start`; `stop` is safe to call at any time and more than once."""

    def __init__(self, spec: ServiceSpec, process: "subprocess.Popen[bytes]") -> None:
        self.spec = spec
        self.log = Logbook(self._on_line, self._on_stack)
        self.crash: Line | None = None  # an exercise raised inside the service
        self.refused: Line | None = None  # a move was refused although the check does not expect that
        self.hung_at: str | None = None  # file:line of the tree in which the loop stands still
        self.refusals_expected = False
        self._process = process
        self._stood_in_tree = 0
        assert process.stdout is not None, "it was asked for"
        assert process.stderr is not None, "it was asked for"
        self._threads = [
            threading.Thread(target=self.log.read, args=(process.stderr,), daemon=True),
            threading.Thread(target=self.log.read_prints, args=(process.stdout,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def url(self) -> str:
        """Return where it listens, waiting until it does.

        Raises:
            Unavailable: it ended instead.
        """
        line = self.log.wait("listening", START_S)
        if line is None:
            raise Unavailable("service", f"it did not start: {self.last_words()}")
        return f"http://127.0.0.1:{line['port']}"

    def faults(self) -> list[Line]:
        """Return what of the tree did not load, waiting until all of it was tried. Also after a sudden end."""
        self.log.wait("ready", START_S)
        return self.log.all("tree_fault")

    @property
    def loading(self) -> str | None:
        """The file of the tree that was being executed when the service ended or hung; None once all had loaded."""
        if self.log.all("ready"):
            return None
        files = self.log.all("tree_file")
        return str(files[-1]["file"]) if files else None

    @property
    def exit_code(self) -> int | None:
        """The exit code, None while it runs."""
        return self._process.poll()

    def last_words(self) -> str:
        """Return why it says it did not start, or the last of what it printed."""
        refusals = self.log.all("not_started")
        if refusals:
            return str(refusals[-1]["why"])
        return self.log.prints[-1] if self.log.prints else f"it ended with exit code {self.exit_code}"

    def wait(self) -> None:
        """Return when the process has ended."""
        self._process.wait()

    def settle(self) -> None:
        """Give the process a moment to end, if it is ending, and its last lines to be read: they say why."""
        try:
            self._process.wait(timeout=SETTLE_S)
            self._threads[0].join(timeout=SETTLE_S)
        except subprocess.TimeoutExpired:
            return

    def stop(self) -> None:
        """End the process and everything it started, and wait for that."""
        self._kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(timeout=1)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None and not any(thread.is_alive() for thread in self._threads):
                stream.close()

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
            return
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()

    # in the logbook's thread

    def _on_line(self, line: Line) -> None:
        if line["event"] == "loop_resumed":
            self._stood_in_tree = 0
        elif line["event"] == "exercise_raised":
            self.crash = self.crash or line
            self._kill()  # whoever waits for an answer learns at once that none will come
        elif line["event"] == "illegal_transition" and not self.refusals_expected:
            self.refused = self.refused or line
            self._kill()

    def _on_stack(self, stack: Stack) -> None:
        at = next((frame for frame in stack.frames if frame.rsplit(":", 1)[0].endswith(_TREE_FILES)), None)
        self._stood_in_tree = self._stood_in_tree + 1 if at is not None else 0
        if at is not None and self._stood_in_tree >= HUNG_DUMPS:
            self.hung_at = at
            self._kill()


def encode(spec: ServiceSpec) -> str:
    """Return a spec as it is handed to the process."""
    return msgspec.json.encode(spec).decode()


def start(spec: ServiceSpec) -> Service:
    """Start a service."""
    return Service(spec, launch(encode(spec)))
