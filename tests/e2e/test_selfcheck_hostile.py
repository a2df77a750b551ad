"""Trees that do not load, do not return, or fight back: each has its state and its line, and nothing of it stays.

The catalogue of mutants has the same deeds in every exercise (`test_selfcheck_mutants.py`); here is what it cannot say:
places, processes, and whether anything that is printed or patched can make a wrong exercise look right.
"""

import json
import sys
from pathlib import Path

import pytest

from tests.support.judging import STARTER, Judged, TwoAtOnce, judge, rooms, solution_with

LONG_S = 60.0  # for a hang and its consequences, on a machine that does other things
SLEEPER = f"[{sys.executable!r}, '-c', 'import time; time.sleep(3600)']"
DAEMON = '["/bin/sh", "-c", "setsid sleep 3600 &"], start_new_session=True'
C_LOOP = 're.match(r"(a+)+$", "a" * 60 + "b")'  # in C, without an end, and never letting go of the interpreter


def lines_of(tree: Path, file: str, *beginnings: str) -> set[str]:
    """Return `file:line` of the last lines of a tree's file that begin so, as a report names them."""
    texts = list(enumerate((tree / file).read_text("utf-8").splitlines(), 1))
    lines = {max(at for at, text in texts if text.strip().startswith(beginning)) for beginning in beginnings}
    return {f"{tree / file}:{line}" for line in lines}


# --- Files that do something when they are loaded ---------------------------------------------------------------------

LOADS = {
    "raises": ("def f():\n    return [][1]\nf()\n", "crashed", ["return [][1]"]),
    "is no Python": ("x = (1,\n  2]\n", "crashed", ["2]"]),
    "defines no class": ("del SeqOrderer, resume_from\n", "crashed", ["class SeqOrderer", "def resume_from"]),
    "ends the process": ("import os\nos._exit(0)\n", "crashed", []),
    "loops": ("while True:\n    pass\n", "hung", ["while True", "pass"]),
    "loops in C": (f"import re\n{C_LOOP}\n", "hung", ["re.match"]),
    "stops itself": ("import os\nos.kill(os.getpid(), 19)\n", "hung", []),
    "leaves a daemon and ends": (
        f"import os, subprocess\nsubprocess.Popen({DAEMON}, stdin=-3, stdout=-3, stderr=-3).wait()\nos._exit(0)\n",
        "crashed",
        [],
    ),
    "starts a process": (
        f"import subprocess\nsubprocess.Popen([{sys.executable!r}, '-c', 'input()'], stdin=-1)\n",
        "",
        [],
    ),
}
"""By name: what stands behind the last line of delivery.py, the state of its checks, and the lines they may name."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[str, tuple[Path, Judged]]:
    """Return a tree for each, judged."""
    room = rooms(tmp_path_factory)

    def run(name: str) -> tuple[Path, Judged]:
        tree = solution_with(room() / "tree", delivery=LOADS[name][0])
        return tree, judge(tree)

    return TwoAtOnce(LOADS, run)


@pytest.mark.parametrize("name", LOADS)
def test_what_a_file_does_when_it_is_loaded_costs_its_own_checks(
    name: str, loaded: TwoAtOnce[str, tuple[Path, Judged]]
) -> None:
    """They say what and where; the other four are played, and pass; nothing is left behind."""
    _, state, beginnings = LOADS[name]
    tree, judged = loaded[name]
    assert judged.wrong == ({2: state, 4: state} if state else {})
    places = {str(judged.checks[number]["where"]) for number in judged.wrong}
    assert places <= (lines_of(tree, "delivery.py", *beginnings) or {str(tree / "delivery.py")})
    assert judged.left_behind == []
    assert judged.took_s < LONG_S


def test_a_file_that_is_no_text_names_the_line(tmp_path: Path) -> None:
    """The byte that is not UTF-8 stands in it."""
    tree = solution_with(tmp_path / "tree")
    path = tree / "lifecycle.py"
    path.write_bytes(b"# one\n# caf\xe9\n" + path.read_bytes())
    judged = judge(tree)
    assert judged.wrong == dict.fromkeys((1, 5, 6), "crashed")
    assert {judged.checks[number]["where"] for number in (1, 5, 6)} == {f"{path}:2"}
    assert judged.checks[1]["actual"] == f"{path} is not UTF-8 text (byte 0xE9)"


def test_an_empty_folder_is_told_and_check_3_is_played(tmp_path: Path) -> None:
    """All exercises are lost, so all of their checks are; what has no exercise passes with the solution's."""
    tree = tmp_path / "tree"
    tree.mkdir()
    judged = judge(tree)
    assert judged.wrong == dict.fromkeys((1, 2, 4, 5, 6), "crashed")
    assert judged.checks[2]["actual"] == f"{tree / 'delivery.py'} is not there"
    assert (judged.code, judged.err) == (1, "")


# --- Exercises that do something when they are called -----------------------------------------------------------------

AGAIN = "_before = resume_from\ndef resume_from(last_event_id):\n    {deed}\n    return _before(last_event_id)\n"

CALLS = {
    "loops in C": (f"import re\n{AGAIN.format(deed=C_LOOP)}", "hung", ["re.match"]),
    "takes all memory": (AGAIN.format(deed="bytes(3 << 30)"), "crashed", ["bytes(3"]),
    "emits without an end": (
        "class SeqOrderer(SeqOrderer):\n    def offer(self, seq, item):\n"
        "        while True:\n            self._emit(0, item)\n",
        "hung or crashed",
        ["while True", "self._emit(0"],
    ),
    "emits a flood": (
        "class SeqOrderer(SeqOrderer):\n    def offer(self, seq, item):\n"
        "        for _ in range(5000):\n            self._emit(seq, item)\n",
        "failed",
        ["class SeqOrderer"],
    ),
    "loops behind another stderr": (
        "import io, os, sys\nsys.stderr = sys.stdout = io.StringIO()\nos.closerange(1, 3)\n"
        + AGAIN.format(deed="while True: pass"),
        "hung",
        ["while True: pass"],
    ),
    "escapes with a process": (
        f"import subprocess\n{AGAIN.format(deed=f'subprocess.Popen({SLEEPER}, start_new_session=True)')}",
        "",
        [],
    ),
    "leaves a daemon": (  # that holds no pipe of ours, and whose parent has ended
        f"import subprocess\n{AGAIN.format(deed=f'subprocess.Popen({DAEMON}, stdin=-3, stdout=-3, stderr=-3)')}",
        "",
        [],
    ),
    "forks": (  # and waits for its copy, which would go on for an hour
        "import os, time\n" + AGAIN.format(deed="os.waitpid(os.fork() or time.sleep(3600), 0)"),
        "",
        [],
    ),
    "prints 50 MB": (AGAIN.format(deed="print('x' * 50_000_000) if last_event_id == '41' else None"), "", []),
}
"""By name: what stands behind the last line of delivery.py, the state of the check, and the lines it may name."""


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[str, tuple[Path, Judged]]:
    """Return a tree for each, judged by the check of its exercise alone."""
    room = rooms(tmp_path_factory)

    def run(name: str) -> tuple[Path, Judged]:
        tree = solution_with(room() / "tree", delivery=CALLS[name][0])
        return tree, judge(tree, "--only", "2" if "SeqOrderer" in CALLS[name][0] else "4")

    return TwoAtOnce(CALLS, run)


@pytest.mark.parametrize("name", CALLS)
def test_what_an_exercise_does_when_it_is_called(name: str, called: TwoAtOnce[str, tuple[Path, Judged]]) -> None:
    """It is found out with the line where it stands, or does no harm; nothing is left behind."""
    _, states, beginnings = CALLS[name]
    tree, judged = called[name]
    ((number, state),) = judged.states.items()
    assert state in (states.split(" or ") if states else ["passed"])
    if beginnings:
        assert judged.checks[number]["where"] in lines_of(tree, "delivery.py", *beginnings)
    assert judged.left_behind == []
    assert judged.took_s < LONG_S


# --- Nothing that is printed or patched turns a verdict green ---------------------------------------------------------


def fake(event: str, **fields: str | int) -> str:
    """Return a line as the service writes them, but for its token."""
    return json.dumps({"at": "2026-01-01T00:00:00.000+00:00", "level": "info", "room": "x", "event": event, **fields})


def test_lines_that_look_like_ours_are_prints(tmp_path: Path) -> None:
    """They neither accuse a right exercise nor end a check; they are shown as what they are."""
    raised = fake("exercise_raised", exercise=1, where="/x/lifecycle.py:1", raised="KeyError", message="no")
    printing = f"import sys\n{AGAIN.format(deed=f'print({raised!r}, file=sys.stderr)')}"
    judged = judge(solution_with(tmp_path / "tree", delivery=printing))
    assert judged.wrong == {}
    assert raised[:60] in judged.out


STARTERS_TRANSITION = (STARTER / "lifecycle.py").read_text("utf-8")

FORGERIES = {
    "a refusal in the log": (
        1,
        "import sys\nTRANSITIONS = {status: frozenset(RunStatus) for status in RunStatus}\n"
        "def transition(current, target):\n"
        f"    print({fake('illegal_transition', run_id='RUN')!r}, file=sys.stderr)\n"
        "    return target\n",
        "",
    ),
    "an error that is never raised": (
        1,
        "import shared.errors\nclass Quiet(ValueError):\n    def __init__(self, *_): ...\n"
        "shared.errors.IllegalTransition = Quiet\n"
        "def transition(current, target):\n    return target\n",
        "",
    ),
    "a feed that sorts": (
        2,
        "",
        "import gateway.feed\n_offer = gateway.feed.Feed._offer\n"
        "def sorting(self, frames):\n"
        "    kept, self.due = self.__dict__.setdefault('kept', {}), self.__dict__.get('due', 0)\n"
        "    kept.update((frame.seq, frame) for frame in frames if frame.seq >= self.due)\n"
        "    while self.due in kept:\n"
        "        self.due += 1\n"
        "        _offer(self, [kept.pop(self.due - 1)])\n"
        "gateway.feed.Feed._offer = sorting\n"
        "class SeqOrderer(SeqOrderer):\n    def offer(self, seq, item):\n        self._emit(seq, item)\n",
    ),
    "a cursor that is mended": (
        4,
        "",
        "import gateway.feed\n_place = gateway.feed.Feed._place\n"
        "async def place(self, stored, start):\n    return await _place(self, stored, start and start + 1)\n"
        "gateway.feed.Feed._place = place\n" + AGAIN.format(deed="return max(_before(last_event_id) - 1, 0)"),
    ),
    "statuses that are equal to all": (
        6,
        "RunStatus.__eq__ = lambda self, other: True\nRunStatus.__hash__ = lambda self: 0\n"
        "def should_merge(previous, now):\n    return previous is not None\n",
        "",
    ),
}
"""By name: the check, and what stands behind the last lines of lifecycle.py and of delivery.py."""


@pytest.fixture(scope="module")
def forged(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[str, Judged]:
    """Return a tree for each, judged by the check of its exercise alone."""
    room = rooms(tmp_path_factory)

    def run(name: str) -> Judged:
        check, lifecycle, delivery = FORGERIES[name]
        tree = solution_with(room() / "tree", lifecycle=lifecycle, delivery=delivery)
        return judge(tree, "--only", str(check))

    return TwoAtOnce(FORGERIES, run)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_not_green(name: str, forged: TwoAtOnce[str, Judged]) -> None:
    """What is changed around a wrong exercise does not make it right: it is asked itself, and by another process."""
    check = FORGERIES[name][0]
    assert forged[name].states.keys() == {check}
    assert forged[name].states[check] in {"failed", "crashed", "hung"}
    assert forged[name].code == 1
