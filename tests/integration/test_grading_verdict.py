"""The judge of one submission: what its service is told, and when the solution's bodies come near it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfcheck.grading import grade, house, landlock
from selfcheck.grading.grade import Wish
from selfcheck.grading.orders import Limits, Order, Place, Said
from selfcheck.grading.verdict import GradingJudge
from selfcheck.grading.wardens import Held, users
from selfcheck.processes.held import Service
from selfcheck.results import State
from shared.errors import Misconfigured
from tests.support.judging import ROOT, SOLUTION, STARTER
from tests.support.trees import copied

TELL = """
import gc, os, sys
def main(): pass
import selfcheck, shared, starlette
print(f"told: {sys.path} {sys.prefix} {sys.exec_prefix} {sys.executable} {sys.argv} {getattr(sys, 'orig_argv', 0)}")
print(f"told: {dict(os.environ)} {os.getcwd()} {selfcheck.__file__} {shared.__file__} {starlette.__file__} {__file__}")
print(f"told: {[getattr(module, '__file__', None) for module in sys.modules.values()]}")
print(f"told: { {each.__code__.co_filename for each in gc.get_objects() if type(each) is type(main)} }")
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a grading, with a house in it."""
    folder = tmp_path_factory.mktemp("grading")
    house.build(folder / "house")
    return folder


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """Return a room with the starter in it."""
    copied(STARTER, tmp_path / "tree")
    return tmp_path


class Watched(GradingJudge):
    """Says which exercises the solution stood in for when a service was started, and keeps its prints."""

    def __init__(self, base: Path, room: Path) -> None:
        place = Place(0, str(base), str(base / "house"), 0, Limits(), 5)
        super().__init__(place, room, SOLUTION)
        self.stood_in: list[tuple[int, ...]] = []

    def _start(self, replaced: frozenset[int]) -> Service:
        service = super()._start(replaced)
        self.stood_in.append(service.spec.replaced)
        return service


@pytest.fixture
def judge(base: Path, room: Path) -> Iterator[Watched]:
    """Return a judge of what is in the room."""
    watched = Watched(base, room)
    yield watched
    watched.close()


def append(room: Path, file: str, text: str) -> None:
    """Write something behind the last line of a file in the room."""
    path = room / "tree" / file
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def states(results: Iterator[object]) -> list[State]:
    """Return the states of results."""
    return [result.status for result in results if hasattr(result, "status")]


def test_nothing_that_a_service_is_told_leads_to_the_kit(judge: Watched, room: Path) -> None:
    """With Landlock or without: path, prefix, arguments, environment, folder, modules and code all lie elsewhere."""
    append(room, "delivery.py", TELL)
    [*judge.first_part()]
    told = "".join(judge.prints)  # long lines come in pieces
    assert told.count("told: ") == 4
    assert str(ROOT) not in told


def test_what_passes_is_settled_before_the_solution_comes_near(judge: Watched) -> None:
    """All checks are played on the submission's own; only then are bodies replaced, and nothing turns green by that."""
    passed = State.PASSED
    assert states(judge.first_part()) == [State.FAILED, State.FAILED, passed, State.FAILED, State.FAILED, passed]
    assert set(judge.stood_in) == {()}
    judge.stood_in.clear()
    assert states(judge.second_part()) == [State.TODO, State.TODO, passed, State.TODO, State.TODO, passed]


def test_for_a_file_that_is_lost_the_solution_stands_in_with_its_exercises_alone(judge: Watched, room: Path) -> None:
    """They are crashed for good; what stands in for the others is the starter."""
    append(room, "delivery.py", "raise KeyError\n")
    first = states(judge.first_part())
    assert [first[check - 1] for check in (2, 4)] == [State.CRASHED] * 2
    assert set(judge.stood_in) == {(), (2, 3)}
    stands_in = (room / "stand-in-23" / "lifecycle.py").read_bytes()
    assert stands_in == (STARTER / "lifecycle.py").read_bytes()
    assert (room / "stand-in-" / "delivery.py").read_bytes() == (STARTER / "delivery.py").read_bytes()


def test_root_grades_nothing_where_submissions_cannot_be_kept_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would run as root, free to do anything."""
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(Misconfigured, match="Landlock"):
        grade.grade(Wish([str(STARTER)], tmp_path / "out", 1, Limits()))
    assert [*tmp_path.iterdir()] == []


def test_a_grading_in_which_the_solution_fails_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said before anything is judged: here the kit's solution is what learners begin with."""
    monkeypatch.setattr(os, "environ", {**os.environ, "TMPDIR": str(tmp_path)})
    copied(STARTER, tmp_path / "kit" / "solution")
    monkeypatch.setattr(grade, "kit_root", lambda: tmp_path / "kit")
    with pytest.raises(Misconfigured, match="the solution itself does not pass check 1 here: "):
        grade.grade(Wish([str(STARTER)], tmp_path / "out", 1, Limits()))
    assert "starter" not in (tmp_path / "out" / "grades.csv").read_text("utf-8")


NEVER_ENDS = """
import signal
from selfcheck.grading.warden import main

def judge(place, room, say):
    signal.pause()

main(judge)
"""


def test_a_judge_that_is_not_done_in_time_is_ended(tmp_path: Path) -> None:
    """Not at the next look, but when the time is over: here at once."""
    warden = Held(Place(0, str(tmp_path / "base"), "", 0, Limits(seconds=0), 5), NEVER_ENDS)
    try:
        assert [*warden.carry_out(Order(str(tmp_path)))] == [Said("end", reason="time")]
    finally:
        warden.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has submissions run as somebody else")
def test_two_gradings_at_once_have_submissions_run_as_others() -> None:
    """What a user may start is counted over the whole machine. What one grading has left, the next one has again."""
    first = 1_000_000 + 5 * os.getpid()  # not those of a grading, or of another test run, that is at work here
    nobodys = range(first, first + 5)
    with users(3, nobodys) as ours:
        with users(2, nobodys) as theirs:
            assert [*ours, *theirs] == [*nobodys]
            with pytest.raises(Misconfigured, match="fewer than 1 users are free"), users(1, nobodys):
                pass
        with users(2, nobodys) as others:
            assert others == theirs


def test_the_assignment_has_a_seed_of_its_own() -> None:
    """Always the same, and not the learner's default."""
    assert grade.assignments_seed() == grade.assignments_seed() != 7
