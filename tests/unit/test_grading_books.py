"""What grading writes and shows: records, books, exports, the table."""

import io
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from selfcheck import texts
from selfcheck.checks import CHECKS
from selfcheck.grading import exports, screen
from selfcheck.grading.books import Books, claimed
from selfcheck.grading.orders import Reason, Said
from selfcheck.grading.record import Record, compose
from selfcheck.results import State
from shared.errors import Misconfigured

SIX = (State.PASSED, State.TODO, State.FAILED, State.BLOCKED, State.CRASHED, State.HUNG)


def result(number: int, state: State, **more: object) -> dict[str, object]:
    """Return a check's result, as a judge says it."""
    check = CHECKS[number - 1]
    finding = {"broken_rule": "", "given": "", "expected": "", "actual": "", "where": ""}
    head = {"id": number, "name": str(check.name), "exercise": check.exercise, "status": str(state)}
    return {**head, **finding, "blocked_by": [], "evidence": {}, **more}


def said(states: Sequence[State], **more: object) -> list[Said]:
    """Return what a judge says of checks that came out so."""
    return [
        Said("flags", same=(1, 2)),
        *(Said("judged", check=result(number, state, **more)) for number, state in enumerate(states, 1)),
        Said("end"),
    ]


def record(name: str = "ann", flags: Sequence[str] = (), **more: object) -> Record:
    """Return the record of a submission whose six checks are in six states."""
    return compose(name, 5, flags, said(SIX, **more))


# --- Records ----------------------------------------------------------------------------------------------------------


def test_a_record_is_what_the_judge_said() -> None:
    """In the design's form, with what was noted and said beside it."""
    made = compose("ann", 5, ["link"], [Said("flags", flags=("outside-differs",)), *said(SIX)])
    assert (made.flags, made.same_as_solution, made.passed, made.states) == (
        ("link", "outside-differs"),
        (1, 2),
        1,
        SIX,
    )
    assert {name: value for name, value in made.results.items() if name != "checks"} == {
        "version": 1,
        "mode": "mock",
        "tree": "ann",
        "seed": 5,
        "passed": 1,
        "total": 6,
    }


@pytest.mark.parametrize(
    ("reason", "state", "flag"),
    [
        ("time", State.HUNG, "out-of-time"),
        ("memory", State.CRASHED, "out-of-memory"),
        ("processes", State.CRASHED, "too-many-processes"),
        ("died", State.ENVIRONMENT, "judge-lost"),
    ],
)
def test_a_judge_that_is_ended_leaves_what_it_has_said(reason: Reason, state: State, flag: str) -> None:
    """What was judged counts, else what was played; the rest is told by why it was ended, and never passes."""
    played = [Said("played", check=result(number, State.FAILED)) for number in (1, 2, 3)]
    judged = Said("judged", check=result(1, State.TODO))
    made = compose("ann", 5, (), [*played, judged, Said("end", reason=reason)])
    assert made.states == (State.TODO, State.FAILED, State.FAILED, state, state, state)
    assert made.flags == (flag,)


def test_a_judge_that_says_nothing_is_lost() -> None:
    """Nothing passes."""
    assert compose("ann", 5, (), []).states == (State.ENVIRONMENT,) * 6


def test_why_a_judge_could_not_go_on_is_told() -> None:
    """Once, for each check to which it did not come."""
    made = compose("ann", 5, (), [Said("trouble", problem="no port"), Said("end", reason="died")])
    assert {check["actual"] for check in made.checks} == {"no port"}


# --- Books ------------------------------------------------------------------------------------------------------------

HEAD = "name,passed,total,check_1,check_2,check_3,check_4,check_5,check_6,flags,symptoms\n"
STATES = "passed,todo,failed,blocked,crashed,hung"


def opened(folder: Path) -> Books:
    """Return the books of a folder."""
    books = Books(folder, {"seed": 5, "confined": True})
    books.open()
    return books


def test_books_are_written_with_each_submission(tmp_path: Path) -> None:
    """In order of names; a symptom is told with its check, and a name is no formula."""
    books = opened(tmp_path)
    books.add(record("bob"), "key", 1.234)
    books.add(record("=1+1", ["link", "missing-file"], symptom="off-by-one"), "key", 2)
    symptoms = "; ".join(f"{number}: off-by-one" for number in range(1, 7))
    assert (tmp_path / "grades.csv").read_text() == (
        f"{HEAD}'=1+1,1,6,{STATES},link missing-file,{symptoms}\nbob,1,6,{STATES},,\n"
    )
    assert (tmp_path / "seconds.csv").read_text() == "name,seconds\n'=1+1,2\nbob,1.23\n"
    document = json.loads((tmp_path / "results.json").read_bytes())
    assert [each["name"] for each in document.pop("submissions")] == ["=1+1", "bob"]
    assert document == {"version": 1, "mode": "mock", "seed": 5, "confined": True}


def test_what_is_known_is_recalled(tmp_path: Path) -> None:
    """By name and key; what was judged of other contents is not, nor what could not be judged."""
    books = opened(tmp_path)
    books.add(record("bob"), "key", 1)
    books.add(compose("lost", 5, (), []), "key", 1)
    again = opened(tmp_path)
    asked = [("bob", "other"), ("ann", "key"), ("lost", "key"), ("bob", "key")]
    assert [again.recall(name, key) for name, key in asked] == [False, False, False, True]
    assert again.records == [record("bob")]


def test_a_damaged_book_is_no_knowledge(tmp_path: Path) -> None:
    """What cannot be read is judged again."""
    opened(tmp_path).add(record("bob"), "key", 1)
    (kept,) = (tmp_path / "judged").iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    assert not opened(tmp_path).recall("bob", "key")


def test_books_that_cannot_be_written_are_a_mistake_of_whoever_asks(tmp_path: Path) -> None:
    """It is said before anything is judged."""
    (tmp_path / "out").write_text("a file")
    with pytest.raises(Misconfigured, match="cannot write"):
        opened(tmp_path / "out")


def test_two_gradings_do_not_write_into_one_folder(tmp_path: Path) -> None:
    """The second is told so, and what to do; once the first has ended it may."""
    with claimed(tmp_path / "new"):
        with (
            pytest.raises(Misconfigured, match=r"another grading writes into .*new .*with --out"),
            claimed(tmp_path / "new"),
        ):
            pass
        with claimed(tmp_path / "other"):
            pass
    with claimed(tmp_path / "new"):
        pass
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Misconfigured, match="cannot write"), claimed(tmp_path / "file"):
        pass


# --- Exports ----------------------------------------------------------------------------------------------------------


def test_gradescope_gets_a_point_for_each_check() -> None:
    """With the finding of each that does not pass, and the flags in words."""
    document = json.loads(exports.gradescope(record(flags=["outside-differs"], actual="6", where="delivery.py:9")))
    assert (document["score"], document["output"]) == (1.0, "changed outside the bodies")
    assert document["tests"][0] == {
        "name": f"1 {CHECKS[0].name}",
        "number": "1",
        "score": 1.0,
        "max_score": 1.0,
        "status": "passed",
        "output": "",
    }
    assert document["tests"][2]["output"] == "failed\nactual: 6\nopen: delivery.py:9"


def test_junit_gets_a_suite_for_each_submission() -> None:
    """As `run` has them: what raised or did not return is an error. What XML cannot hold does not break it."""
    root = ElementTree.fromstring(exports.junit([record(actual="\x00<&\x1b"), compose("lost", 5, (), [])]))
    counts = [{name: suite.get(name) for name in ("name", "tests", "failures", "errors")} for suite in root]
    assert counts == [
        {"name": "ann", "tests": "6", "failures": "3", "errors": "2"},
        {"name": "lost", "tests": "6", "failures": "0", "errors": "6"},
    ]
    faults = [fault.attrib for fault in root.iter("failure")]
    assert faults[0] == {"type": "todo", "message": "\ufffd<&\ufffd"}


# --- The table --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", texts.LANGUAGES)
@pytest.mark.parametrize("colour", [True, False])
def test_the_result_keeps_to_eighty_columns(lang: texts.Lang, colour: bool) -> None:
    """Whatever names and flags there are; colour is never the only sign."""
    records = [
        record("ann"),
        record("b" * 80, ["same-as-solution", "outside-differs", "out-of-time"]),
        record("王小明的作业" * 8, ["link"]),
    ]
    written = io.StringIO()
    console = Console(file=written, width=80, force_terminal=colour, color_system="standard" if colour else None)
    texts.use(lang)
    try:
        screen.show_result(console, records, "grades", confined=False)
    finally:
        texts.use("en")
    lines = written.getvalue().splitlines()
    assert max(Text.from_ansi(line).cell_len for line in lines) == 80
    assert ("\x1b[" in written.getvalue()) == colour
    assert all(sign in written.getvalue() for sign in "✓○✗◌!∞")


def test_where_there_is_no_terminal_each_submission_is_a_line() -> None:
    """With its place in the row, its score and its states."""
    written = io.StringIO()
    seen = screen.Screen(Console(file=written, width=80), 12)
    with seen.shown():
        seen.begin("ann")
        seen.end(record("ann", ["link"]))
    assert written.getvalue() == " 1/12  1/6  ✓○✗◌!∞  ann  a link, not followed\n"


def test_on_a_terminal_it_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in work is named, what has ended is in the table; at the end it makes room for the result."""
    monkeypatch.setenv("TERM", "xterm")
    written = io.StringIO()
    seen = screen.Screen(Console(file=written, width=80, height=24, force_terminal=True), 2)
    with seen.shown():
        seen.end(record("ann"))
        seen.begin("bob")
        seen.refresh()
    assert "in work: bob" in written.getvalue()
    assert "ann" in written.getvalue()
    assert "1/2" in written.getvalue()
