"""JUnit XML: it says what the exit code says, and is XML whatever a tree puts into it."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from selfcheck.reporting.junit import junit, write_junit
from selfcheck.results import CheckResult, Finding, Report, State
from selfcheck.texts import Words, say, use
from shared.errors import Misconfigured

FINDING = Finding("the rule", "what was given", "what that calls for", "what came")
NAMES: list[tuple[int, Words]] = [(number, f"check {number}") for number in range(1, 7)]


def check(number: int, state: State, finding: Finding = FINDING) -> CheckResult:
    """Return a result."""
    return CheckResult(number, f"check {number}", None, state, finding, "mine/delivery.py:7")


def document(*checks: CheckResult) -> ElementTree.Element:
    """Return what a reader makes of the file."""
    return ElementTree.fromstring(junit(Report("mock", "mine", 7, 6, checks), NAMES))


STATES = (State.PASSED, State.TODO, State.FAILED, State.CRASHED, State.HUNG, State.ENVIRONMENT)


def test_whatever_does_not_pass_is_counted_as_such() -> None:
    """Wrong is a failure, not judged is an error; the type is the state, and the numbers agree."""
    root = document(*(check(number, state) for number, state in enumerate(STATES, 1)))
    found = {case.get("name"): [(each.tag, each.get("type")) for each in case] for case in root.iter("testcase")}
    assert found == {
        "1 check 1": [],
        "2 check 2": [("failure", "todo")],
        "3 check 3": [("failure", "failed")],
        "4 check 4": [("error", "crashed")],
        "5 check 5": [("error", "hung")],
        "6 check 6": [("error", "environment")],
    }
    counts = {"tests": "6", "failures": "2", "errors": "3", "skipped": "0"}
    for element in (root, root[0]):
        assert {name: element.get(name) for name in counts} == counts


def test_what_has_not_been_played_is_skipped() -> None:
    """So that a file from a run that was killed has all checks, too."""
    root = document(check(1, State.PASSED))
    skipped = [case.get("name") for case in root.iter("testcase") if case.find("skipped") is not None]
    assert skipped == [f"{number} check {number}" for number in range(2, 7)]
    assert root.get("skipped") == "5"


def test_a_fault_has_the_finding_as_its_text() -> None:
    """Line by line, with the place to open and the blockers."""
    blocked = replace(check(2, State.BLOCKED), blocked_by=(1, 3))
    fault = document(blocked).find(".//failure")
    assert fault is not None
    assert (fault.get("type"), fault.get("message")) == ("blocked", "what came")
    assert fault.text == (
        "rule: the rule\ngiven: what was given\nexpected: what that calls for\nactual: what came\n"
        "open: mine/delivery.py:7\nblocked by: 1, 3"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x00\x1b[2J\x0b\x1f", "\ufffd\ufffd[2J\ufffd\ufffd"),
        ("\ud800", "\ufffd"),
        ("\ufffe\uffff", "\ufffd\ufffd"),
        ("]]><x/>&amp;\"'", "]]><x/>&amp;\"'"),
        ("é → 字 \U0001f600", "é → 字 \U0001f600"),
    ],
)
def test_what_a_tree_says_does_not_break_it(text: str, shown: str) -> None:
    """Characters that XML cannot hold are replaced, all others come back as they were."""
    root = document(check(1, State.CRASHED, replace(FINDING, actual=f"KeyError: {text}")))
    fault = root.find(".//error")
    assert fault is not None
    came = (fault.get("message") or "").removeprefix("KeyError: ")
    assert came == shown


def test_it_is_in_english_whatever_is_spoken() -> None:
    """Programs read it."""
    use("zh")
    try:
        root = document(check(1, State.FAILED, replace(FINDING, actual=say("states.todo"))))
    finally:
        use("en")
    fault = root.find(".//failure")
    assert fault is not None
    assert fault.get("message") == "to do"


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    """With the option, and nothing is left beside it."""
    with pytest.raises(Misconfigured) as raised:
        write_junit(tmp_path / "no" / "such.xml", Report("mock", "mine", 7, 6, ()), NAMES)
    assert raised.value.service == "--junit"
    write_junit(tmp_path / "out.xml", Report("mock", "mine", 7, 6, ()), NAMES)
    assert [each.name for each in tmp_path.iterdir()] == ["out.xml"]
