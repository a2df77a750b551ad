"""The self-check as a program, run on trees, and everything that can be seen of it from outside."""

import atexit
import contextlib
import itertools
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from selfcheck.trees import EXERCISES, spliced
from shared.events import Json
from tests.support.patience import ASK_EVERY_S

if TYPE_CHECKING:
    import pytest  # which need not be installed where only the kit is proved

K = TypeVar("K")
V = TypeVar("V")

ROOT: Final = Path(__file__).resolve().parents[2]
STARTER, SOLUTION = ROOT / "starter", ROOT / "solution"
PROGRAM: Final = (sys.executable, "-m", "selfcheck")
LONGEST_S: Final = 90.0  # for a run of the self-check, on any machine
_MARK: Final = "SELFCHECK_TEST_MARK"  # in the environment of a run, and so of everything that it starts
HOME: Final = tempfile.mkdtemp(prefix="selfcheck-home-")  # what runs leave behind is not left in the checkout
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
_PAUSE: Final = threading.Event()  # never set: who looks for processes leaves the processor to them between two looks
_NOTHING: Final[Mapping[str, str]] = {}
_OURS: Final = frozenset(
    {"MOCK", "SELFTEST", "REDIS_URL", "DATABASE_URL", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "PYTHONUNBUFFERED"}
)

STOPS_ITS_JUDGE_AT_5: Final = """
import os
_before = resume_from
def resume_from(last_event_id):
    os.kill(os.getppid(), 19) if last_event_id == "5" else None
    return _before(last_event_id)
"""
"""Behind a delivery.py: whoever kills the judge in the middle of check 4 has all the time in the world for it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A run of the self-check that has ended."""

    code: int
    out: str
    err: str
    results: Mapping[str, Json]  # what `--json` wrote; empty when it wrote nothing
    took_s: float
    left_behind: Sequence[str]  # processes that it started and that are still there

    @property
    def checks(self) -> dict[int, dict[str, Json]]:
        """The results by check."""
        checks = self.results["checks"]
        assert isinstance(checks, list)
        return {int(str(check["id"])): check for check in checks if isinstance(check, dict)}

    @property
    def states(self) -> dict[int, str]:
        """The state of each check."""
        return {number: str(check["status"]) for number, check in self.checks.items()}

    @property
    def wrong(self) -> dict[int, str]:
        """The state of each check that did not pass."""
        return {number: state for number, state in self.states.items() if state != "passed"}


def environment(mark: str, changes: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a self-check in memory on no terminal at all; an empty change takes a name away."""
    plain = {name: value for name, value in os.environ.items() if name not in _OURS and not name.startswith("KODA_")}
    changed = {**plain, "MOCK": "1", "SELFCHECK_HOME": HOME, _MARK: mark, **changes}
    return {name: value for name, value in changed.items() if value}


@contextlib.contextmanager
def started(
    *arguments: str,
    changes: Mapping[str, str] = _NOTHING,
    cwd: Path = ROOT,
    stdout: int = subprocess.PIPE,
    program: Sequence[str] = PROGRAM,
) -> Iterator["Running"]:
    """Start the self-check with these arguments; whatever becomes of the block, nothing of it stays behind."""
    mark = secrets.token_hex(8)
    process = subprocess.Popen(
        [*program, *arguments],
        env=environment(mark, changes),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    running = Running(process, mark)
    try:
        yield running
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
        for pid in marked(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Running:
    """A self-check at work."""

    process: "subprocess.Popen[bytes]"
    mark: str

    def ended(self, timeout_s: float = LONGEST_S) -> tuple[int, str, str]:
        """Return exit code and output when it has ended."""
        out, err = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, (out or b"").decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def until_it_says(self, text: str) -> str:
        """Return what it has said on stdout when it has said a text."""
        said = b""
        assert self.process.stdout is not None, "it is read by nobody else"
        while text.encode() not in said:
            line = self.process.stdout.readline()
            assert line, f"it ended before it said {text!r}; it said {said!r}"
            said += line
        return said.decode()

    def descendants(self) -> list[int]:
        """Return the processes that it started and that are there now."""
        return [pid for pid in marked(self.mark) if pid != self.process.pid]

    def left_behind(self, within_s: float = 60.0) -> list[str]:
        """Return what is still there of a run that has ended, once that has had time to notice."""
        until = time.monotonic() + within_s
        while (left := self.descendants()) and time.monotonic() < until:
            _PAUSE.wait(ASK_EVERY_S)
        return [_command(pid) for pid in left]


def judge(
    tree: Path, *options: str, changes: Mapping[str, str] = _NOTHING, cwd: Path = ROOT, results: Path | None = None
) -> Judged:
    """Run the self-check on a tree, to its end. `results` is where `--json` writes; by default beside the tree."""
    file = results if results is not None else tree.parent / f"{tree.name}-{secrets.token_hex(4)}.json"
    file.unlink(missing_ok=True)
    began = time.monotonic()
    arguments = ("run", "--tree", str(tree), "--json", str(file), *options)
    with started(*arguments, changes=changes, cwd=cwd) as running:
        code, out, err = running.ended()
        took_s = time.monotonic() - began
        left = running.left_behind()
    written: dict[str, Json] = json.loads(file.read_bytes()) if file.exists() else {}
    return Judged(code, out, err, written, took_s, left)


class TwoAtOnce(Generic[K, V]):
    """Runs by name. Whoever asks for one waits for it, while the one behind it has begun: there are two cores."""

    def __init__(self, names: Iterable[K], run: Callable[[K], V]) -> None:
        self._names = list(names)
        self._run = run
        self._threads = ThreadPoolExecutor(2)
        self._runs: dict[K, Future[V]] = {}

    def __getitem__(self, name: K) -> V:
        """Return what came of a run."""
        at = self._names.index(name)
        for each in self._names[at : at + 2]:
            if each not in self._runs:
                self._runs[each] = self._threads.submit(self._run, each)
        return self._runs[name].result()


def rooms(factory: "pytest.TempPathFactory") -> Callable[[], Path]:
    """Return what gives a folder of its own at each call, from any thread: the factory is no thing for two threads."""
    root, numbers = factory.mktemp("rooms"), itertools.count()

    def room() -> Path:
        folder = root / str(next(numbers))
        folder.mkdir()
        return folder

    return room


def solution_with(folder: Path, *, lifecycle: str = "", delivery: str = "") -> Path:
    """Write the solution with something behind the last lines of its files, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in (("lifecycle.py", lifecycle), ("delivery.py", delivery)):
        (folder / file).write_text((SOLUTION / file).read_text("utf-8") + text, "utf-8")
    return folder


def until(condition: Callable[[], bool], awaited: str) -> None:
    """Return when a condition holds."""
    deadline = time.monotonic() + LONGEST_S
    while not condition():
        assert time.monotonic() < deadline, f"no {awaited}"
        _PAUSE.wait(ASK_EVERY_S)


def tree_with(folder: Path, solved: Sequence[int]) -> Path:
    """Write the starter with these exercises as the solution has them, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in dict.fromkeys(exercise.file for exercise in EXERCISES.values()):
        names = [
            name
            for number, exercise in EXERCISES.items()
            if number in solved and exercise.file == file
            for name in exercise.definitions
        ]
        text = spliced((STARTER / file).read_text("utf-8"), (SOLUTION / file).read_text("utf-8"), names)
        (folder / file).write_text(text, "utf-8")
    return folder


def marked(mark: str) -> list[int]:
    """Return the processes whose environment has this mark: a run, and all that came of it, however far it went.

    Where there is no /proc none can be found, and none is.
    """
    sought = f"{_MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            alive = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
            if alive and sought in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return f"process {pid}"
