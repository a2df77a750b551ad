"""What goes wrong in an exercise inside the service is said on one log line, with what anybody needs to know of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from selfcheck.lab.observed import ExerciseCrashed, ExerciseStrayed, observed
from shared.errors import IllegalTransition
from shared.events import Json
from shared.exercises import Exercises, Orderer, OrdererFactory, ResumeFrom, ShouldMerge, Transition, load
from shared.run import RunStatus
from tests.support.notes import noting

SOLUTION = Path(__file__).parents[2] / "solution"
RIGHT = load(SOLUTION, SOLUTION).exercises


def watched(exercises: Exercises, *, awaited: bool = True) -> Exercises:
    """Return exercises under observation."""
    return observed(exercises, lambda: awaited)


def raising(error: BaseException) -> object:
    """Return a function that raises, whatever it is given."""

    def call(*_: object) -> object:
        raise error

    return call


@pytest.mark.parametrize(
    "error",
    [KeyError("a"), SystemExit(0), KeyboardInterrupt(), BaseException("no")],
    ids=lambda each: type(each).__name__,
)
def test_what_an_exercise_raises_is_written_down_and_does_not_end_the_service(error: BaseException) -> None:
    """It comes out as an exception that everybody catches, whatever it was."""
    exercises = watched(
        Exercises(
            transition=cast("Transition", raising(error)),
            should_merge=cast("ShouldMerge", raising(error)),
            resume_from=cast("ResumeFrom", raising(error)),
            SeqOrderer=cast("OrdererFactory", raising(error)),
        )
    )
    calls: Sequence[Callable[[], object]] = (
        lambda: exercises.transition(RunStatus.PENDING, RunStatus.RUNNING),
        lambda: exercises.SeqOrderer(0, print),
        lambda: exercises.resume_from("5"),
        lambda: exercises.should_merge(None, datetime.now(UTC)),
    )
    with noting() as notes:
        for call in calls:
            with pytest.raises(ExerciseCrashed):
                call()
    expected = {"raised": type(error).__name__, "message": str(error), "where": ""}
    assert notes.of("exercise_raised") == [{"exercise": number, **expected} for number in (1, 2, 3, 4)]


def test_a_refused_move_is_no_crash() -> None:
    """Any ValueError of the first exercise is its way of saying no, and goes through."""
    with noting() as notes, pytest.raises(IllegalTransition):
        watched(RIGHT).transition(RunStatus.DONE, RunStatus.RUNNING)
    assert notes.lines == []


@pytest.mark.parametrize("answer", [None, -1, "6", 6.0, 1j])
def test_a_position_that_is_none_is_written_down(answer: object) -> None:
    """A stream can begin only at a number from 0 on."""
    resume_from = cast("ResumeFrom", lambda last_event_id: answer)
    with noting() as notes, pytest.raises(ExerciseStrayed):
        watched(replace(RIGHT, resume_from=resume_from)).resume_from("5")
    line = {"exercise": 3, "given": "resume_from('5')", "expected": "a number, 0 or more", "actual": repr(answer)}
    assert notes.of("exercise_strayed") == [line]


class Same(int):
    """A number that is equal to all, and greater, and less."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __lt__(self, other: object) -> bool:
        return True

    __gt__ = __le__ = __ge__ = __lt__


def test_a_number_of_its_own_making_goes_on_as_a_plain_one() -> None:
    """What nobody can compare would make the house go by chance; the probe tells it for what it is."""
    exercises = watched(replace(RIGHT, resume_from=lambda last_event_id: Same(4)), awaited=False)
    assert type(exercises.resume_from("3")) is int
    assert exercises.resume_from("3") != 5
    out: list[object] = []
    naive = cast("OrdererFactory", Naive(lambda seq, item: [(Same(seq), item)]))
    orderer: Orderer[str] = watched(replace(RIGHT, SeqOrderer=naive)).SeqOrderer(0, lambda seq, item: out.append(seq))
    orderer.offer(0, "a")
    assert [type(seq) for seq in out] == [int]


class Naive:
    """An orderer that can be made to err: it emits as `emits` says for each offer."""

    def __init__(self, emits: Callable[[int, object], list[tuple[object, object]]]) -> None:
        self._emits = emits

    def __call__(self, start: int, emit: Callable[[object, object], None]) -> "Naive":
        """Be the class that is called."""
        self._emit = emit
        return self

    def offer(self, seq: int, item: object) -> None:
        """Emit what it was told."""
        for emitted in self._emits(seq, item):
            self._emit(*emitted)


def strays(
    emits: Callable[[int, object], list[tuple[object, object]]], offers: Sequence[int], *, awaited: bool = True
) -> list[dict[str, Json]]:
    """Offer numbers to an orderer and return what is written down until it strays."""
    exercises = watched(replace(RIGHT, SeqOrderer=cast("OrdererFactory", Naive(emits))), awaited=awaited)
    with noting() as notes:
        orderer: Orderer[str] = exercises.SeqOrderer(0, lambda seq, item: None)
        for seq in offers:
            try:
                orderer.offer(seq, "text")
            except ExerciseStrayed:
                break
    return notes.of("exercise_strayed")


@pytest.mark.parametrize(
    ("emits", "call"),
    [
        (lambda seq, item: [(item, seq)], "emit(a str, 0)"),
        (lambda seq, item: [(str(seq), item)], "emit(a str, a str)"),
        (lambda seq, item: [(seq, None)], "emit(0, a NoneType)"),
    ],
)
def test_an_emission_that_nobody_can_use_is_written_down(
    emits: Callable[[int, object], list[tuple[object, object]]], call: str
) -> None:
    """What is emitted has to be a number and something of the kind that was offered."""
    (line,) = strays(emits, [0])
    assert line == {
        "exercise": 2,
        "given": "an offer",
        "expected": "emit(number, item), with what was offered",
        "actual": call,
    }


def test_what_is_withheld_while_it_is_awaited_is_written_down() -> None:
    """An item is due inside the offer that completes the row before it, and not one call later."""
    line = {
        "exercise": 2,
        "given": "offer(0, …), with all before 3 offered by then",
        "expected": "emit(1, …) before it returns",
        "actual": "1 was not emitted",
    }
    assert strays(lambda seq, item: [(0, item)] if seq == 0 else [], [2, 1, 0]) == [line]


def test_what_is_withheld_while_more_is_coming_is_left_to_the_end() -> None:
    """The delivered order tells more then."""
    assert strays(lambda seq, item: [], [2, 1, 0], awaited=False) == []


def test_a_hole_withholds_nothing_and_a_naive_orderer_neither() -> None:
    """What waits behind a hole is not due, and what is emitted too early is not missed."""
    assert strays(lambda seq, item: [], [5, 2, 1]) == []
    assert strays(lambda seq, item: [(seq, item)], [0, 3, 3, 1, 2, 2, 4]) == []


def test_a_right_orderer_passes_everything_on() -> None:
    """Observation changes nothing of what comes out."""
    out: list[tuple[int, str]] = []
    orderer: Orderer[str] = watched(RIGHT).SeqOrderer(1, lambda seq, item: out.append((seq, item)))
    with noting() as notes:
        for seq in (3, 0, 1, 1, 2, 3, 4):
            orderer.offer(seq, f"item {seq}")
    assert out == [(1, "item 1"), (2, "item 2"), (3, "item 3"), (4, "item 4")]
    assert notes.lines == []
