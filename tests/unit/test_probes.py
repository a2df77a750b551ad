"""What the service reports of an exercise that is asked a table of cases: all of it, and nothing judged."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import cast

import pytest

from selfcheck.lab.probes import LONGEST_TEXT, MOST_EMITTED, Item, probe, spell
from shared.events import Json
from shared.exercises import Exercises, Orderer, OrdererFactory, ResumeFrom, ShouldMerge, Transition, load
from shared.run import Run, RunStatus

SOLUTION = Path(__file__).parents[2] / "solution"
RIGHT = load(SOLUTION, SOLUTION).exercises


def resuming(answer: object) -> Exercises:
    """Return exercises whose third answers always the same."""
    return replace(RIGHT, resume_from=cast("ResumeFrom", lambda last_event_id: answer))


def ordering(orderer: object) -> Exercises:
    """Return exercises with this orderer."""
    return replace(RIGHT, SeqOrderer=cast("OrdererFactory", orderer))


def returned(answer: Json) -> Json:
    """Return what an answer says was returned."""
    assert isinstance(answer, dict)
    assert list(answer) == ["returned"]
    return answer["returned"]


def test_each_exercise_is_asked_its_cases_in_order() -> None:
    """The answers come as plain JSON, one for each case."""
    run: dict[str, Json] = {
        "status": "running",
        "created_at": "2026-01-01T12:00:00+00:00",
        "now": "2026-01-01T20:00:29+08:00",
    }
    assert probe(RIGHT, 1, [["pending", "running"], ["running", "done"]]) == [
        {"returned": "running"},
        {"returned": "done"},
    ]
    assert probe(RIGHT, 3, [None, "5", "²"]) == [{"returned": 0}, {"returned": 6}, {"returned": 0}]
    assert probe(RIGHT, 4, [run, {**run, "status": None}, {**run, "status": "done"}]) == [
        {"returned": True},
        {"returned": False},
        {"returned": False},
    ]


def test_a_merge_is_asked_with_the_run_and_the_moment_of_the_case() -> None:
    """Status, age and zones arrive as they were written down."""
    asked: list[tuple[Run | None, datetime]] = []

    def should_merge(previous: Run | None, now: datetime) -> bool:
        asked.append((previous, now))
        return False

    created_at, asked_at = "2026-01-01T20:00:00+08:00", "2026-01-01T12:00:30+00:00"
    case: Json = {"status": "streaming", "created_at": created_at, "now": asked_at}
    probe(replace(RIGHT, should_merge=cast("ShouldMerge", should_merge)), 4, [case])
    ((run, now),) = asked
    assert run is not None
    assert (run.status, run.attempt, run.created_at.isoformat()) == (RunStatus.STREAMING, 1, created_at)
    assert (run.updated_at, now.isoformat()) == (run.created_at, asked_at)


@pytest.mark.parametrize(
    ("raised", "value_error"),
    [(KeyError("done"), False), (ValueError("no"), True), (SystemExit(0), False), (KeyboardInterrupt(), False)],
)
def test_what_is_raised_is_an_answer(raised: BaseException, value_error: bool) -> None:
    """Its type, whether it is a refusal, its text and its place are reported; the next case is asked all the same."""

    def transition(current: RunStatus, target: RunStatus) -> RunStatus:
        if target is RunStatus.DONE:
            raise raised
        return target

    answers = probe(
        replace(RIGHT, transition=cast("Transition", transition)), 1, [["running", "done"], ["running", "failed"]]
    )
    assert answers == [
        {"raised": type(raised).__name__, "value_error": value_error, "message": str(raised), "where": ""},
        {"returned": "failed"},
    ]


def test_what_a_tree_raises_has_a_place_in_it(tmp_path: Path) -> None:
    """The place is the innermost line of the tree's own files."""
    for file in ("lifecycle.py", "delivery.py"):
        (tmp_path / file).write_text((SOLUTION / file).read_text("utf-8"), "utf-8")
    path = tmp_path / "delivery.py"
    lines = path.read_text("utf-8").splitlines()
    lines += ["def helper(text):", "    return int(text)", "def resume_from(text):", "    return helper(text)"]
    path.write_text("\n".join(lines), "utf-8")
    (answer,) = cast("list[dict[str, Json]]", probe(load(tmp_path, SOLUTION).exercises, 3, ["x"]))
    assert (answer["raised"], answer["value_error"], answer["where"]) == (
        "ValueError",
        True,
        f"{path}:{len(lines) - 2}",
    )


class Mute(Exception):
    """An exception that cannot be told."""

    def __str__(self) -> str:
        raise SystemExit


def test_an_exception_that_cannot_be_told_is_reported_all_the_same() -> None:
    """What raises when it is asked for its text costs no answer."""

    def resume_from(last_event_id: str | None) -> int:
        raise Mute

    (answer,) = cast("list[dict[str, Json]]", probe(replace(RIGHT, resume_from=resume_from), 3, ["5"]))
    assert (answer["raised"], answer["message"]) == ("Mute", "<it cannot say: SystemExit>")


class EqualToAll:
    """An object that claims to be everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "6"


class SixthInt(int):
    """A number that is not plainly one."""

    def __repr__(self) -> str:
        return "x" * 1000


@pytest.mark.parametrize(
    ("answer", "spelled"),
    [
        (None, None),
        (True, True),
        (6, 6),
        ("6", "6"),
        (RunStatus.DONE, "done"),
        (6.0, {"type": "float", "says": "6.0"}),
        (1 << 63, {"type": "int", "says": str(1 << 63)}),
        (EqualToAll(), {"type": "EqualToAll", "says": "6"}),
        (SixthInt(6), {"type": "SixthInt", "says": "x" * LONGEST_TEXT}),
        ([6], {"type": "list", "says": "[6]"}),
    ],
)
def test_an_answer_arrives_as_what_it_is(answer: object, spelled: Json) -> None:
    """Only plain values arrive as themselves; everything else as its type and what it says, cut to a length."""
    assert spell(answer) == spelled
    assert [returned(each) for each in cast("list[Json]", probe(resuming(answer), 3, ["5"]))] == [spelled]


def test_an_orderer_is_shown_offer_by_offer() -> None:
    """What each offer brought is counted, and what came out is told with the orderer it came from."""
    case: Json = {"starts": [0, 5], "offers": [[0, 1, "b"], [1, 5, "f"], [0, 0, "a"], [0, 0, "a"]]}
    assert probe(RIGHT, 2, [case]) == [
        {"returned": {"emitted": [[1, 5, "f"], [0, 0, "a"], [0, 1, "b"]], "brought": [0, 1, 2, 0]}}
    ]


def test_items_have_no_order_and_an_empty_one_is_false() -> None:
    """Copies of one number are not even equal, so that nothing but the numbers can decide."""
    with pytest.raises(TypeError):
        sorted([Item("a"), Item("a")])  # type: ignore[type-var]
    assert Item("a") != Item("a")

    class Keeping:
        """Keeps what is offered."""

        def __init__(self, start: int, emit: Callable[[int, object], None]) -> None:
            self.emit = emit

        def offer(self, seq: int, item: object) -> None:
            """Hand on whether the item is true."""
            self.emit(int(bool(item)), item)

    case: Json = {"starts": [0], "offers": [[0, 0, ""], [0, 1, "a"]]}
    (answer,) = cast("list[Json]", probe(ordering(Keeping), 2, [case]))
    assert returned(answer) == {"emitted": [[0, 0, ""], [0, 1, "a"]], "brought": [1, 1]}


class Swapping(Orderer[object]):
    """Emits the item before the number."""

    def __init__(self, start: int, emit: Callable[[object, object], None]) -> None:
        self.emit = emit

    def offer(self, seq: int, item: object, /) -> None:
        """Do it."""
        self.emit(item, str(seq))


def test_what_is_no_item_is_shown_as_what_it_is() -> None:
    """An orderer that emits something of its own making cannot pass it off as the item."""
    case: Json = {"starts": [0], "offers": [[0, 0, "a"]]}
    (answer,) = cast("list[Json]", probe(ordering(Swapping), 2, [case]))
    emitted = [[0, {"type": "Item", "says": "'a'"}, {"type": "str", "says": "'0'"}]]
    assert returned(answer) == {"emitted": emitted, "brought": [1]}


def test_a_flood_is_cut_off() -> None:
    """What an orderer emits without end takes no memory without end, and is wrong all the same."""

    class Flooding:
        """Emits everything ten thousand times."""

        def __init__(self, start: int, emit: Callable[[int, object], None]) -> None:
            self.emit = emit

        def offer(self, seq: int, item: object) -> None:
            """Do it."""
            for _ in range(10_000):
                self.emit(seq, item)

    case: Json = {"starts": [0], "offers": [[0, seq, "a"] for seq in range(9)]}
    (answer,) = cast("list[Json]", probe(ordering(Flooding), 2, [case]))
    shown = returned(answer)
    assert isinstance(shown, dict)
    assert isinstance(shown["emitted"], list)
    assert (len(shown["emitted"]), shown["brought"]) == (MOST_EMITTED, [10_000, 10_000, *[0] * 7])


def backwards(orderer: object, most_cpu_s: float) -> Json:
    """Return what came of numbers offered from the highest down."""
    case: Json = {"backwards": 500, "most_cpu_s": most_cpu_s}
    (answer,) = cast("list[Json]", probe(ordering(orderer), 2, [case]))
    return returned(answer)


def test_many_held_items_come_out_in_order() -> None:
    """Everything that came out is reported, in its order."""
    assert backwards(RIGHT.SeqOrderer, 60.0) == {"emitted": list(range(500)), "too_slow": False}


def test_an_orderer_that_costs_too_much_is_not_asked_to_the_end() -> None:
    """The probe ends when the time that it may take is used up."""
    offered: list[int] = []

    class Counting:
        """Counts what is offered."""

        def __init__(self, start: int, emit: Callable[[int, object], None]) -> None: ...

        def offer(self, seq: int, item: object) -> None:
            """Count."""
            offered.append(seq)

    assert backwards(Counting, -1.0) == {"emitted": [], "too_slow": True}
    assert (offered[0], len(offered)) == (499, 500 - 448)


def test_where_an_object_lies_is_left_out() -> None:
    """It would differ in the next run. A number is no address, however it is written."""

    class Same:
        """An object without a word of its own."""

    (said,) = map(returned, cast("list[Json]", probe(resuming(Same()), 3, ["5"])))
    assert isinstance(said, dict)
    assert said["type"] == "Same"
    assert str(said["says"]).endswith("Same object>")
    assert spell(0x7F00) == 0x7F00
