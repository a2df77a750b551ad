"""What to do next, the command that plays the same again, and where two texts part."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from selfcheck.reporting.feedback import Around, activation, again, all_of, cut, first_difference, next_step
from selfcheck.results import CheckResult, Report, State
from selfcheck.texts import english

CHECK = CheckResult(4, "reconnect", 3, State.FAILED, where="mine/delivery.py:46")
REPORT = Report("mock", "mine", 11, 6, (CHECK,))


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (replace(CHECK, status=State.TODO), "write the body at mine/delivery.py:46; selfcheck hint 3 helps"),
        (CHECK, "open mine/delivery.py:46 and follow the timeline to the mark; selfcheck hint 3 helps"),
        (
            replace(CHECK, status=State.BLOCKED, blocked_by=(1, 2)),
            "leave this one as it is and do exercises 1 and 2 first",
        ),
        (replace(CHECK, status=State.CRASHED), "open mine/delivery.py:46: it went wrong there"),
        (replace(CHECK, status=State.HUNG), "open mine/delivery.py:46: what is running there does not end"),
        (
            replace(CHECK, status=State.ENVIRONMENT),
            "this is not your code: see that the services run, then try again",
        ),
    ],
)
def test_every_state_has_a_next_step(check: CheckResult, words: str) -> None:
    """It names the place to open, or the exercise to do first."""
    assert english(next_step(check)) == words


@pytest.mark.parametrize(("numbers", "listed"), [((1,), "1"), ((1, 2), "1 and 2"), ((1, 2, 3, 4), "1, 2, 3 and 4")])
def test_numbers_are_listed_as_in_a_sentence(numbers: Sequence[int], listed: str) -> None:
    """With a comma between all but the last two."""
    assert all_of(numbers) == listed


URLS = {"REDIS_URL": "redis://x", "DATABASE_URL": "postgresql://x"}


@pytest.mark.parametrize(
    ("mode", "real", "environment", "command"),
    [
        ("mock", False, {}, "selfcheck run --tree mine --only 4 --seed 11"),
        ("mock", False, {"MOCK": "1", **URLS}, "MOCK=1 selfcheck run --tree mine --only 4 --seed 11"),
        ("real", False, URLS, "selfcheck run --tree mine --only 4 --seed 11"),
        ("real", True, {}, "selfcheck run --tree mine --only 4 --seed 11 --real"),
    ],
)
def test_the_command_plays_the_same_again(mode: str, real: bool, environment: dict[str, str], command: str) -> None:
    """The same check, seed, tree and mode, whatever the environment names."""
    assert again(replace(REPORT, mode=mode), CHECK, real, environment) == command


def test_who_has_no_such_command_is_told_how_to_have_it(tmp_path: Path) -> None:
    """As long as no folder of the path has it; an interpreter without the command beside it gives no advice."""
    ours, theirs = tmp_path / ".venv" / "bin", tmp_path / "bin"
    for folder in (ours, theirs):
        folder.mkdir(parents=True)
    python = str(ours / "python")
    assert activation(python, {"PATH": str(theirs)}) is None
    for name in ("selfcheck", "activate"):
        (ours / name).touch()
    assert activation(python, {"PATH": f"{theirs}{os.pathsep}"}) == f". {ours / 'activate'}"
    assert activation(python, {"PATH": f"{theirs}{os.pathsep}{ours}"}) is None


def test_a_tree_with_a_space_can_be_typed() -> None:
    """As a shell wants it."""
    assert "--tree 'my tree' " in again(replace(REPORT, tree="my tree"), CHECK, False, {})


@pytest.mark.parametrize(
    ("expected", "actual", "difference"),
    [
        ("0, 1, 2, 3, 4, 5", "0, 1, 2, 3, 5, 4", (12, "4", "5")),
        ("0, 1, 2, 31", "0, 1, 2, 32", (9, "31", "32")),
        ("emits 0, 1, 2", "emits 0, 1", (12, "2", "–")),
        ("merged: True, run_id: run-1", "merged: False, run_id: run-2", (8, "True", "False")),
        ("0, 1, 2, … (39 in all)", "0, 1, 2, … (38 in all)", None),
        ("0, 1, 2, …（共 39 个）", "0, 1, 2, …（共 38 个）", None),
        ("emits (all) 0", "emits (all) 1", (12, "0", "1")),
        ("returns done", "raised ValueError", None),
        ("1 2 3", "1 2 4", None),
        ("the same words", "the same words", None),
        ("", "", None),
    ],
)
def test_two_texts_part_at_a_word(expected: str, actual: str, difference: tuple[int, str, str] | None) -> None:
    """When they have enough in common for that to be worth saying."""
    assert first_difference(expected, actual) == difference


@pytest.mark.parametrize(
    ("words", "around", "shown"),
    [
        ("x" * 20, 0, "x" * 20),
        ("abcdefghij" * 3, 0, "abcdefghijabcdefghij… (30 characters in all)"),
        ("abcdefghij" * 3, 15, "…fghijabcdefghijabcde… (30 characters in all)"),
        ("abcdefghij" * 3, 29, "…abcdefghijabcdefghij (30 characters in all)"),
    ],
)
def test_a_long_value_is_cut_around_what_matters_with_a_count(words: str, around: int, shown: str) -> None:
    """What differs is among what is left."""
    assert cut(words, 20, around) == shown


@pytest.mark.parametrize(
    ("before", "state", "regression"),
    [
        ({4}, State.FAILED, True),
        ({4}, State.BLOCKED, True),
        ({4}, State.PASSED, False),
        ({4}, State.ENVIRONMENT, False),
        ({3}, State.FAILED, False),
    ],
)
def test_what_passed_before_and_does_not_now_is_a_regression(
    before: Sequence[int], state: State, regression: bool
) -> None:
    """Unless it is the surroundings' fault."""
    assert Around(passed_before=frozenset(before)).is_regression(replace(CHECK, status=state)) is regression
