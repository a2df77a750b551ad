"""What a submission's text shows: whose it is, what it reaches for, what else it changes."""

from pathlib import Path

import pytest

from selfcheck.grading import flags
from tests.support.judging import SOLUTION, STARTER, solution_with, tree_with
from tests.support.trees import copied


def of(tree: Path) -> tuple[str, ...]:
    """Return the flags of a tree."""
    return flags.of_text(tree, SOLUTION)


@pytest.fixture
def starter(tmp_path: Path) -> Path:
    """Return a copy of the starter."""
    return copied(STARTER, tmp_path / "mine")


def append(tree: Path, text: str) -> Path:
    """Write something behind the last line of delivery.py, and return the tree."""
    path = tree / "delivery.py"
    path.write_text(path.read_text("utf-8") + text, "utf-8")
    return tree


def test_the_starter_has_no_flag(starter: Path) -> None:
    """And nothing in it is the solution's."""
    assert (of(starter), flags.same_as(starter, SOLUTION)) == ((), ())


def test_the_solution_is_known_without_its_comments(tmp_path: Path) -> None:
    """Whoever takes it over and changes the comments has the same bodies still."""
    tree = solution_with(tmp_path / "a", delivery="# mine\n")
    path = tree / "lifecycle.py"
    path.write_text("\n".join(line for line in path.read_text("utf-8").split("\n") if line.strip()[:1] != "#"), "utf-8")
    assert of(tree) == ("same-as-solution",)


def test_single_bodies_are_known(tmp_path: Path) -> None:
    """Which of them are the solution's is told, and is no flag: a short rule has few right bodies."""
    tree = tree_with(tmp_path / "a", [2, 3])
    assert (of(tree), flags.same_as(tree, SOLUTION)) == ((), (2, 3))


@pytest.mark.parametrize(
    "text",
    [
        "import solution.delivery",
        "from solution.delivery import SeqOrderer",
        "from solution import delivery",
        "text = open('../solution/delivery.py').read()",
        "def late():\n    return __import__('Solution.delivery')",
    ],
)
def test_reaching_for_the_solution_is_seen(text: str, starter: Path) -> None:
    """By import and by name, and that it changes what is outside the bodies."""
    assert of(append(starter, text)) == ("reaches-for-solution", "outside-differs")


def test_words_about_the_solution_are_free(starter: Path) -> None:
    """A comment and a docstring may say what they like."""
    assert of(append(starter, "# the solution\n'''The solution.'''\n")) == ()


def test_a_change_outside_the_bodies_is_seen(starter: Path) -> None:
    """Any statement that was not there."""
    assert of(append(starter, "import os\n")) == ("outside-differs",)


@pytest.mark.parametrize("text", ["def broken(:\n", "\0", "x = " + "(" * 5000])
def test_what_is_no_python_differs_outside(text: str, starter: Path) -> None:
    """And nothing else can be said of it."""
    assert of(append(starter, text)) == ("outside-differs",)


def test_a_missing_file_is_no_change(starter: Path) -> None:
    """It has a flag of its own, given when it was looked for."""
    (starter / "delivery.py").unlink()
    assert of(starter) == ()
