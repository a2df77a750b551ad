"""What of a tree counts, and what of two states of it differs."""

from pathlib import Path

import pytest

from selfcheck.watch.reading import changed, essence, read, stamps
from shared.exercises import load
from tests.support.judging import SOLUTION, STARTER, tree_with

LIFECYCLE = (SOLUTION / "lifecycle.py").read_text("utf-8")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_an_exercise_that_is_written_has_changed(number: int, tmp_path: Path) -> None:
    """It and no other, although another one is in the same file."""
    before, now = read(STARTER), read(tree_with(tmp_path / "tree", [number]))
    assert changed(before.essences, now.essences) == {number}


def test_what_is_said_beside_the_code_does_not_count() -> None:
    """Comments, docstrings, blank lines, the way a value is written."""
    said = LIFECYCLE.replace('"""', '"""Well: ', 1).replace("\n\n\n", "\n\n\n# here\n\n")
    assert said != LIFECYCLE
    assert essence("lifecycle.py", said) == essence("lifecycle.py", LIFECYCLE)


def test_what_all_share_counts_for_all() -> None:
    """An import, or a helper, may be used by each exercise of its file."""
    before, now = (essence("lifecycle.py", text) for text in (LIFECYCLE, f"import os\n{LIFECYCLE}"))
    assert changed({"lifecycle.py": before}, {"lifecycle.py": now}) == {1, 4}


def test_what_could_not_be_read_before_has_changed() -> None:
    """All of it, for nobody knows how it was."""
    assert changed({}, {"lifecycle.py": essence("lifecycle.py", LIFECYCLE)}) == {1, 4}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("x = 1\ndef f(:\n", 2, "is not Python: invalid syntax"),
        (f"x = {'(' * 3000}1{')' * 3000}", 1, "is not Python: too many nested parentheses"),
    ],
)
def test_a_file_that_is_no_python_is_told_as_by_the_loader(text: str, line: int, problem: str, tmp_path: Path) -> None:
    """The same fault: place, problem, and what is expected."""
    tree = tree_with(tmp_path / "tree", [])
    (tree / "lifecycle.py").write_text(text, "utf-8")
    reading = read(tree)
    assert [*reading.faults.values()] == [*load(tree, SOLUTION).faults]
    assert [(fault.line, fault.problem) for fault in reading.faults.values()] == [(line, problem)]
    assert reading.essences.keys() == {"delivery.py"}


def test_a_file_that_is_absent_or_empty_may_be_being_written(tmp_path: Path) -> None:
    """One that cannot be parsed has been written, and is wrong."""
    tree = tree_with(tmp_path / "tree", [])
    assert not read(tree).unfinished
    (tree / "lifecycle.py").write_text("def f(:", "utf-8")
    assert not read(tree).unfinished
    (tree / "lifecycle.py").write_text("", "utf-8")
    assert read(tree).unfinished
    (tree / "lifecycle.py").unlink()
    assert read(tree).unfinished
    assert read(tmp_path / "nowhere").unfinished


def test_a_save_that_changes_nothing_shows(tmp_path: Path) -> None:
    """Another file in the same place is another stamp, whatever is in it."""
    tree = tree_with(tmp_path / "tree", [])
    before = stamps(tree)
    assert stamps(tree) == before
    (tree / "beside").write_bytes((tree / "delivery.py").read_bytes())
    (tree / "beside").replace(tree / "delivery.py")
    assert stamps(tree) != before
