"""Grading as a program: hostile submissions among honest ones, a kill in the middle, and what it leaves."""

import csv
import json
import os
import re
import signal
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.judging import ROOT, SOLUTION, STARTER, Running, solution_with, started, tree_with, until

LIMITS = ("--seconds", "20", "--cpu", "6", "--memory", "256", "--output", "2", "--processes", "32")
LONGEST_S = 150.0

# --- Submissions ------------------------------------------------------------------------------------------------------

# In one question of the probe, so that one check has to do with it, and not all six.
AGAIN = "def resume_from(last_event_id):\n    if last_event_id == '41':\n        {deed}\n    return 0\n"
FORK = """
import ctypes, os
def bomb():
    libc = ctypes.CDLL(None)
    while True:
        libc.fork()
"""
SEEK = f"""
import glob, os, sys
import selfcheck, shared

def _texts():
    starts = {{os.getcwd(), os.path.dirname(__file__), os.path.dirname(selfcheck.__file__), sys.prefix, sys.base_prefix,
              sys.executable, {str(ROOT)!r}, *sys.path, *os.environ.values(), *getattr(sys, "orig_argv", ())}}
    starts |= {{each for each in sys.argv if each.startswith("/")}}
    for pid in [*range(1, 200), os.getppid(), *range(os.getpid() - 200, os.getpid())]:
        for link in ("cwd", "root", "exe"):
            try:
                starts.add(os.readlink(f"/proc/{{pid}}/{{link}}"))
            except OSError:
                pass
        for told in ("cmdline", "environ"):
            try:
                starts |= set(open(f"/proc/{{pid}}/{{told}}").read().replace("=", "\\0").split("\\0"))
            except OSError:
                pass
    for start in sorted(start for start in starts if start.startswith("/")):
        while len(start) > 1:
            yield from (f"{{start}}/solution/delivery.py", f"{{start}}/delivery.py")
            start = os.path.dirname(start)
    yield "../solution/delivery.py"

def _stolen():
    for path in _texts():
        try:
            text = open(path).read()
        except (OSError, ValueError):
            continue
        if "_held" in text and path != __file__:
            return text
    return None

text = _stolen()
if text is not None:
    exec(text)
"""
DIG = """
import gc
class SeqOrderer(Generic[T]):
    def __init__(self, start, emit):
        others = [each for each in gc.get_objects() if isinstance(each, type) and each.__name__ == "SeqOrderer"]
        others = [each for each in others if each is not SeqOrderer and len(each.offer.__code__.co_code) > 60]
        self._real, self._emit = (others[0](start, emit) if others else None), emit

    def offer(self, seq, item):
        (self._real.offer if self._real else self._emit)(seq, item)
"""


def starter_with(*, lifecycle: str = "", delivery: str = "") -> dict[str, str]:
    """Return the starter's files with something behind their last lines."""
    return {
        "lifecycle.py": (STARTER / "lifecycle.py").read_text("utf-8") + lifecycle,
        "delivery.py": (STARTER / "delivery.py").read_text("utf-8") + delivery,
    }


HOSTILE: Mapping[str, dict[str, str]] = {
    "ends well when loaded": starter_with(delivery="import sys\nsys.exit(0)\n"),
    "ends at once when called": starter_with(delivery=f"import os\n{AGAIN.format(deed='os._exit(0)')}"),
    "patches the feed": starter_with(
        delivery="import gateway.feed\n_offer = gateway.feed.Feed._offer\n"
        "def sorting(self, frames):\n    _offer(self, sorted(frames, key=lambda frame: frame.seq))\n"
        "gateway.feed.Feed._offer = sorting\n"
    ),
    "is equal to everything": starter_with(
        lifecycle="class Equal:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"
        "    def __bool__(self): return True\n"
        "def transition(current, target): return Equal()\ndef should_merge(previous, now): return Equal()\n"
    ),
    "closes its output": starter_with(delivery="import os\nos.closerange(1, 3)\n"),
    "prints 50 MB": starter_with(delivery="print('x' * 50_000_000)\n"),
    "forks for ever": starter_with(delivery=f"{FORK}{AGAIN.format(deed='bomb()')}"),
    "forks when loaded": starter_with(lifecycle=f"{FORK}\nbomb()\n"),
    "sleeps": starter_with(delivery=f"import time\n{AGAIN.format(deed='time.sleep(3600)')}"),
    "takes all memory": starter_with(delivery=f"{AGAIN.format(deed='bytes(3 << 30)')}"),
    "fills the disk": starter_with(
        lifecycle="import tempfile\nwith open(tempfile.mktemp(), 'wb') as file:\n    file.write(bytes(1 << 20))\n"
    ),
    "ends its judge": starter_with(
        lifecycle="import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.killpg(os.getpgid(os.getppid()), 9)\n"
    ),
    "leaves its group": starter_with(
        lifecycle="import os, subprocess, sys\nos.setsid() if os.getpid() != os.getpgrp() else None\n"
        f"subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(3600)'], start_new_session=True)\n"
    ),
    "imports the solution": {file: f"from solution.{file[:-3]} import *\n" for file in ("lifecycle.py", "delivery.py")},
    "seeks the solution": starter_with(delivery=SEEK),
    "digs for the solution": starter_with(delivery=DIG),
}
"""By name: none of them is right underneath."""

HONEST = {"right": (1, 2, 3, 4), "half": (2, 3), "untouched": ()}
"""By name: the exercises that are as the solution has them."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A grading that has ended."""

    code: int
    out: str
    err: str
    folder: Path
    left_behind: list[str]
    left_on_disk: list[str]

    @property
    def rows(self) -> dict[str, dict[str, str]]:
        """The rows of grades.csv by name."""
        with (self.folder / "grades.csv").open(newline="") as file:
            return {row["name"]: row for row in csv.DictReader(file)}

    def states(self, name: str) -> str:
        """Return the states of a submission's checks, in order."""
        return " ".join(self.rows[name][f"check_{number}"] for number in range(1, 7))


def processes_of(temporary: Path) -> list[str]:
    """Return the commands of living processes that name the folder in which grading works."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            alive = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if alive and str(temporary).encode() in command:
            found.append(command.replace(b"\0", b" ").decode("utf-8", "replace")[:300])
    return found


@contextmanager
def grading(place: Path, room: Path, *options: str) -> Iterator[Running]:
    """Start grading a place; it works and writes in `room`."""
    temporary = room / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    arguments = ("grade", str(place), "--out", str(room / "out"), *options)
    with started(*arguments, changes={"TMPDIR": str(temporary), "COLUMNS": "80"}) as running:
        yield running


def graded(place: Path, room: Path, *options: str) -> Graded:
    """Grade a place to the end."""
    with grading(place, room, *options) as running:
        code, out, err = running.ended(LONGEST_S)
    temporary = room / "tmp"
    left = sorted(path.name for path in temporary.iterdir())
    return Graded(code, out, err, room / "out", processes_of(temporary), left)


@pytest.fixture(scope="module")
def class_(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of submissions: hostile ones, and honest ones between them."""
    folder = tmp_path_factory.mktemp("class")
    for name, files in HOSTILE.items():
        (folder / name).mkdir()
        for file, text in files.items():
            (folder / name / file).write_text(text, "utf-8")
    for name, solved in HONEST.items():
        tree_with(folder / name / "starter", solved)
    with zipfile.ZipFile(folder / "zipped.zip", "w") as archive:
        for file in ("lifecycle.py", "delivery.py"):
            archive.write(SOLUTION / file, f"koda-lab/starter/{file}")
            archive.writestr(f"../../{file}", "raise SystemExit")
    return folder


@pytest.fixture(scope="module")
def all_graded(class_: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Return all of them, graded."""
    room = tmp_path_factory.mktemp("graded")
    return graded(class_, room, *LIMITS, "--jobs", "6", "--junit", str(room / "out.xml"), "--gradescope")


def test_every_submission_is_graded(all_graded: Graded, class_: Path) -> None:
    """None is lost, whatever one of them does, and the command says so."""
    names = sorted(path.name.removesuffix(".zip") for path in class_.iterdir())
    assert list(all_graded.rows) == names
    assert (all_graded.code, all_graded.err) == (0, "")


def test_nothing_stays_behind(all_graded: Graded) -> None:
    """No process, and nothing in the folder for temporary files."""
    assert (all_graded.left_behind, all_graded.left_on_disk) == ([], [])


@pytest.mark.parametrize("name", HOSTILE)
def test_no_hostile_submission_gains_a_check(name: str, all_graded: Graded) -> None:
    """What is wrong underneath does not pass: the starter passes 3 and 6, and nothing that it does adds to these."""
    passed = {number for number in range(1, 7) if all_graded.rows[name][f"check_{number}"] == "passed"}
    assert passed <= {3, 6}


@pytest.mark.parametrize(
    ("name", "states", "flags"),
    [
        ("right", "passed passed passed passed passed passed", "same-as-solution"),
        ("zipped", "passed passed passed passed passed passed", "same-as-solution"),
        ("half", "todo passed passed passed todo passed", ""),
        ("untouched", "todo todo passed todo todo passed", ""),
        (
            "imports the solution",
            "crashed crashed passed crashed crashed crashed",
            "reaches-for-solution outside-differs",
        ),
        ("prints 50 MB", "todo crashed passed crashed todo passed", "outside-differs too-much-output"),
        ("ends well when loaded", "todo crashed passed crashed todo passed", "outside-differs"),
    ],
)
def test_each_has_its_states_and_its_flags(name: str, states: str, flags: str, all_graded: Graded) -> None:
    """Beside hostile ones an honest submission is judged as it is alone."""
    assert (all_graded.states(name), all_graded.rows[name]["flags"]) == (states, flags)


def test_who_seeks_the_solution_finds_nothing(all_graded: Graded) -> None:
    """No path, process, argument or variable leads there, and where it is known the kernel refuses it."""
    assert all_graded.states("seeks the solution") == "todo todo passed todo todo passed"
    assert all_graded.rows["seeks the solution"]["flags"] == "reaches-for-solution outside-differs"


def test_results_are_all_there_in_the_form_of_the_design(all_graded: Graded) -> None:
    """One document for all, one for each in Gradescope's form, and JUnit's."""
    document = json.loads((all_graded.folder / "results.json").read_bytes())
    (half,) = (each for each in document["submissions"] if each["name"] == "half")
    assert (half["results"]["passed"], half["results"]["total"]) == (4, 6)
    assert [check["id"] for check in half["results"]["checks"]] == [1, 2, 3, 4, 5, 6]
    assert half["results"]["checks"][0]["where"].startswith("lifecycle.py:")
    assert half["same_as_solution"] == [2, 3]
    scope = json.loads((all_graded.folder / "gradescope" / "half.json").read_bytes())
    assert (scope["score"], [test["score"] for test in scope["tests"]]) == (4.0, [0.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    assert (all_graded.folder.parent / "out.xml").read_text("utf-8").count("<testsuite ") == len(all_graded.rows)


# --- A kill in the middle, and twice the same -------------------------------------------------------------------------


def test_interrupted_it_stops_at_once(class_: Path, tmp_path: Path) -> None:
    """With one line; what was judged is written, and nothing is left of what was not."""
    with grading(class_, tmp_path, "--jobs", "2") as running:
        running.until_it_says("\n 1/20 ")
        running.process.send_signal(signal.SIGINT)
        code, _, err = running.ended()
        left = running.left_behind(), processes_of(tmp_path / "tmp"), [*(tmp_path / "tmp").iterdir()]
    assert (code, err, left) == (130, "stopped\n", ([], [], []))
    assert len((tmp_path / "out" / "grades.csv").read_text().splitlines()) >= 2


def test_killed_in_the_middle_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """SIGKILL leaves no process and no file behind; then only what is missing is judged, and the books are equal."""
    place = tmp_path / "class"
    for name in ("s1", "s2", "s3"):
        solution_with(place / name, delivery=f"# {name}\n")
    with grading(place, tmp_path, "--jobs", "1") as running:
        running.until_it_says("\n1/3 ")
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()
        temporary = tmp_path / "tmp"
        until(lambda: not processes_of(temporary) and not [*temporary.iterdir()], "end of what was started")
    resumed = graded(place, tmp_path)
    head, *judged = re.findall(r"^(?:3 submissions, \d known|\d/\d  6/6 )", resumed.out, re.MULTILINE)
    assert head in ("3 submissions, 1 known", "3 submissions, 2 known")
    assert len(judged) == (2 if "1 known" in head else 1)
    first = {name: (resumed.folder / name).read_bytes() for name in ("grades.csv", "results.json")}

    tree_with(place / "s1", [1, 2, 3])  # other contents
    changed = graded(place, tmp_path)
    assert "3 submissions, 2 known from before" in changed.out
    assert changed.states("s1") == "passed passed passed passed todo passed"

    solution_with(place / "s1", delivery="# s1\n")
    again = graded(place, tmp_path, "--fresh", "--jobs", "3")
    assert "3 submissions, 0 known from before" in again.out
    assert {name: (again.folder / name).read_bytes() for name in first} == first
