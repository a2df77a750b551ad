"""However the self-check ends, it says one line, and nothing of it stays: no service, and no process of a tree's."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.judging import Running, judge, solution_with, started, until

CHECK_2_LOOPS = "class SeqOrderer(SeqOrderer):\n    def offer(self, seq, item):\n        while True: pass\n"
SLEEPER = f"subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(3600)'])\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree whose orderer never returns, beside a process of its own."""
    return solution_with(tmp_path / "tree", delivery=f"import subprocess\n{SLEEPER}{CHECK_2_LOOPS}")


def until_it_started(running: Running, text: str) -> None:
    """Return when a process that a run started has a text in its command line."""
    until(lambda: any(text in name for name in running.left_behind(0)), f"process with {text!r}")


def moments(running: Running) -> Iterator[str]:
    """Come by three moments of a run: its service loads, it judges, it is in a check that hangs."""
    until_it_started(running, "selfcheck.service")
    yield "the service loads"
    running.until_it_says("Koda lab")
    yield "the first check is played"
    until_it_started(running, "time.sleep")
    yield "an exercise loops"


@pytest.mark.parametrize("moment", ["the service loads", "the first check is played", "an exercise loops"])
def test_ctrl_c_says_one_line_and_leaves_nothing(moment: str, tree: Path) -> None:
    """At whatever moment it comes, the process ends at once, with the code of an interrupted one."""
    with started("run", "--tree", str(tree)) as running:
        assert moment in (passed for passed in moments(running) if passed == moment)
        running.process.send_signal(signal.SIGINT)
        code, _, err = running.ended()
        assert (code, err) == (130, "stopped\n")
        assert running.left_behind() == []


def test_ctrl_c_again_changes_nothing(tree: Path) -> None:
    """Who is impatient gets the same line and leaves as little behind."""
    with started("run", "--tree", str(tree)) as running:
        until_it_started(running, "time.sleep")
        for _ in range(5):
            running.process.send_signal(signal.SIGINT)
            os.sched_yield()
        code, _, err = running.ended()
        assert code in (130, -signal.SIGINT)
        assert err in ("stopped\n", "")
        assert running.left_behind() == []


def test_who_is_asked_to_end_tidies_up(tree: Path) -> None:
    """SIGTERM is Ctrl-C from another process."""
    with started("run", "--tree", str(tree)) as running:
        running.until_it_says("Koda lab")
        until_it_started(running, "time.sleep")
        running.process.terminate()
        code, _, err = running.ended()
        assert (code, err) == (130, "stopped\n")
        assert running.left_behind() == []


@pytest.mark.parametrize("deed", ["while True: pass", 're.match("(a+)+$", "a" * 60 + "b")', "os.kill(os.getpid(), 19)"])
def test_a_judge_that_is_killed_takes_its_service_along(deed: str, tmp_path: Path) -> None:
    """Also one that loops, never lets go of the interpreter, or is stopped; and the processes that its tree started."""
    mark = tmp_path / "mark"
    first = "import os, pathlib, re, subprocess\nos.kill(os.getppid(), 19)\n"  # so that the judge cannot see to it
    tree = solution_with(tmp_path / "tree", delivery=f"{first}{SLEEPER}pathlib.Path({str(mark)!r}).touch()\n{deed}\n")
    with started("run", "--tree", str(tree)) as running:
        until(mark.exists, "the tree's mark")
        until(lambda: len(running.descendants()) == 2, "service with its sleeper")  # which has no mark while it loads
        running.process.kill()
        assert running.ended()[0] == -signal.SIGKILL
        assert running.left_behind() == []


def test_a_run_that_ends_by_itself_leaves_nothing(tmp_path: Path) -> None:
    """What the tree started is ended with each service."""
    judged = judge(solution_with(tmp_path / "tree", lifecycle=f"import subprocess\n{SLEEPER}"))
    assert (judged.code, judged.wrong, judged.left_behind) == (0, {}, [])
