"""A service as the judge holds it: its processes, their addresses, one logbook, and why it was ended.

In memory, gateway and worker are one process. On real services they are two, for the gap between them is what the
lesson is about.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, BinaryIO, Protocol

import msgspec

from selfcheck.early import MARK, launch, marks
from selfcheck.processes.logbook import Line, Logbook, Stack
from selfcheck.processes.loops import loop_at
from selfcheck.processes.stillness import Stillness
from selfcheck.processes.strays import end_below, end_marked, end_writers
from selfcheck.processes.traces import own_names, remove
from selfcheck.spec import ServiceSpec
from shared.errors import Misconfigured, Unavailable
from shared.exercises import SHAPES

START_S = 20.0  # on a machine that does ten other things
SETTLE_S = 0.5

_FAULTS = {"exercise_raised", "exercise_strayed", "illegal_transition"}
_TREE_FILES = tuple(shape.file for shape in SHAPES)


class Process(Protocol):
    """What is asked of a process: what `subprocess.Popen[bytes]` has, its three streams piped to us."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, waiting for it; raises `subprocess.TimeoutExpired`."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


class Service:
    """A running service. Made by `start`; `stop` is safe to call at any time and more than once."""

    def __init__(self, spec: ServiceSpec, processes: Mapping[str, Process]) -> None:
        self.spec = spec
        self.log = Logbook(spec.token, self._on_line, self._on_stack)
        self.fault: Line | None = None  # the line that tells which exercise went wrong inside the service, and how
        self.hung_at: str | None = None  # file:line of the tree: the loop in it that does not end
        self.stopped = False  # a process was stopped, as by SIGSTOP: it cannot say where
        self.refusals_expected = False  # a move that is refused is no fault
        self._processes = processes  # by role: "gateway", "worker", or "gateway+worker"
        self._stillness = Stillness([process.pid for process in processes.values()])
        self._readers: list[threading.Thread] = []
        for process in processes.values():
            assert process.stdout is not None, "it was asked for"
            assert process.stderr is not None, "it was asked for"
            self._read(self.log.read, process.stderr)
            self._read(self.log.read_prints, process.stdout)
            if hasattr(os, "waitid"):
                threading.Thread(target=self._watch_for_stop, args=(process.pid,), daemon=True).start()

    def url(self, role: str) -> str:
        """Return where the process with this role listens, waiting until it does.

        Raises:
            Unavailable: it ended instead.
            Misconfigured: it cannot be started like this.
        """
        line = self.log.wait("listening", START_S, role=self._holder(role))
        if line is None:
            raise self.why_not_started()
        return f"http://127.0.0.1:{line['port']}"

    def loaded(self) -> bool:
        """Whether every process has executed the tree's files, waiting until that is settled."""
        return all(self.log.wait("ready", START_S, role=role) is not None for role in self._processes)

    def faults(self) -> list[Line]:
        """Return what of the tree did not load, as far as it has been tried."""
        return self.log.all("tree_fault")

    def loading(self) -> str | None:
        """Return the file that was being executed in a process that has not come to be ready; None: it was none."""
        ready = {line["role"] for line in self.log.all("ready")}
        files = [line for line in self.log.all("tree_file") if line["role"] not in ready]
        return str(files[-1]["file"]) if files else None

    @property
    def exit_code(self) -> int | None:
        """The exit code of the first process that has ended, None while all run."""
        codes = (process.poll() for process in self._processes.values())
        return next((code for code in codes if code is not None), None)

    def why_not_started(self) -> Unavailable:
        """Return the error that says why the service did not start, in its own words when it had some."""
        refusals = self.log.all("not_started")
        if refusals:
            line = refusals[0]
            if line["remedy"] is None:
                return Unavailable(str(line["service"]), str(line["problem"]))
            return Misconfigured(str(line["service"]), str(line["problem"]), str(line["remedy"]))
        last = self.log.prints[-1] if self.log.prints else f"it ended with exit code {self.exit_code}"
        return Unavailable("service", f"it did not start: {last}")

    def wait(self) -> None:
        """Return when the service has ended."""
        for process in self._processes.values():
            process.wait()

    def settle(self) -> None:
        """Give the service a moment to end, if it is ending, and its last lines to be read: they say why."""
        for process in self._processes.values():
            try:
                process.wait(timeout=SETTLE_S)
            except subprocess.TimeoutExpired:
                return
        for reader in self._readers:
            reader.join(timeout=SETTLE_S)

    def kill(self) -> None:
        """End all processes at once, from any thread, and wait for nothing; `stop` has still to be called."""
        starts = self.log.all("process_started")
        for process in self._processes.values():
            if starts and process.poll() is None:
                end_below(process.pid)
            if sys.platform == "win32":
                process.kill()
                continue
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                process.kill()

    def stop(self) -> None:
        """End all processes and everything they started, and wait for that."""
        self.kill()
        self.wait()
        if self.log.all("process_started"):
            for process in self._processes.values():
                end_marked(MARK, marks.get(process.pid, ""))
        if not self._read_to_the_end():
            end_writers(
                [pipe for process in self._processes.values() for pipe in (process.stdout, process.stderr) if pipe]
            )
            if not self._read_to_the_end():
                return  # closing a pipe under its reader would block
        for process in self._processes.values():
            for stream in (process.stdin, process.stdout, process.stderr):
                assert stream is not None, "all three were asked for"
                stream.close()
        if self.spec.redis_url and len(self.log.all("ready")) > len(self.log.all("not_started")):
            remove(self.spec.redis_url, self.spec.database_url, self.spec.settings)

    def _holder(self, role: str) -> str:
        return next(holder for holder in self._processes if role in holder.split("+"))

    def _read(self, read: Callable[[BinaryIO], None], stream: IO[bytes]) -> None:
        reader = threading.Thread(target=read, args=(stream,), daemon=True)
        self._readers.append(reader)
        reader.start()

    def _read_to_the_end(self) -> bool:
        for reader in self._readers:
            reader.join(timeout=SETTLE_S)
        return not any(reader.is_alive() for reader in self._readers)

    # in threads of their own

    def _watch_for_stop(self, pid: int) -> None:
        try:
            state = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        except ChildProcessError:  # it has ended, and somebody else was told
            return
        if state is not None and state.si_code in (os.CLD_STOPPED, os.CLD_TRAPPED):
            self.stopped = True
            self.kill()

    def _on_line(self, line: Line) -> None:
        if line["event"] == "loop_resumed":
            self._stillness.moved()
        elif line["event"] in _FAULTS and not (line["event"] == "illegal_transition" and self.refusals_expected):
            self.fault = self.fault or line
            self.kill()  # whoever waits for an answer learns at once that none will come

    def _on_stack(self, stack: Stack) -> None:
        places = [frame for frame in stack.frames if frame.rpartition(":")[0].endswith(_TREE_FILES)]
        if not places:
            self._stillness.moved()
        elif self._stillness.hangs():
            self.hung_at = loop_at(Path(self.spec.tree), places)
            self.kill()


def start(spec: ServiceSpec) -> Service:
    """Start a service: one process in memory, one for each role on real services."""
    if not spec.redis_url:
        return Service(spec, {"+".join(spec.roles): launch(encode(spec), judged=bool(spec.token))})
    spec = msgspec.structs.replace(spec, settings={**spec.settings, **own_names()})
    parts = {role: msgspec.structs.replace(spec, roles=(role,)) for role in spec.roles}
    return Service(spec, {role: launch(encode(part), judged=bool(spec.token)) for role, part in parts.items()})


def encode(spec: ServiceSpec) -> str:
    """Return a spec as it is handed to the process."""
    return msgspec.json.encode(spec).decode()
