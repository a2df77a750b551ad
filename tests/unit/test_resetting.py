"""Putting an exercise back: exactly it, after asking, and with a copy."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from selfcheck import resetting, trees
from selfcheck.cli import run_command_line
from selfcheck.home import room
from selfcheck.outcome import USAGE
from selfcheck.resetting import BACKUPS, reset
from shared.errors import Misconfigured
from tests.support.judging import SOLUTION, STARTER, solution_with


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[io.StringIO]:
    """Return what is printed; copies go to a folder of the test's."""
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "home"))
    written = io.StringIO()
    monkeypatch.setattr(resetting, "out", Console(file=written, width=80, highlight=False))
    yield written


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree that is the solution."""
    return solution_with(tmp_path / "tree")


def copies(tree: Path) -> list[bytes]:
    """Return what has been kept."""
    folder = room(tree) / BACKUPS
    return sorted(path.read_bytes() for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("number", trees.EXERCISES)
def test_one_exercise_goes_back_and_the_others_stay(tree: Path, number: int) -> None:
    """Its file's other exercise, the other file and the mode stay as they are; a copy of the file is kept."""
    file = tree / trees.EXERCISES[number].file
    file.chmod(0o640)
    before = file.read_bytes()
    reset(str(tree), number, whole_file=False, confirm=None)
    assert [each for each in trees.EXERCISES if trees.is_untouched(tree, each)] == [number]
    assert not trees.outside_differs(tree)
    assert file.stat().st_mode & 0o777 == 0o640
    assert copies(tree) == [before]


def test_all_four_make_the_starter(tree: Path) -> None:
    """One after the other, to the byte; each copy has a name of its own."""
    for number in trees.EXERCISES:
        reset(str(tree), number, whole_file=False, confirm=None)
    assert {path.name: path.read_bytes() for path in tree.iterdir()} == {
        path.name: path.read_bytes() for path in STARTER.glob("*.py")
    }
    assert len(copies(tree)) == 4


@pytest.mark.parametrize(("answer", "goes"), [("y", True), (" YES ", True), ("是", True), ("", False), (None, False)])
def test_it_asks_first(tree: Path, answer: str | None, goes: bool, shown: io.StringIO) -> None:
    """Showing what would change; anything but a yes leaves all as it is."""
    reset(str(tree), 3, whole_file=False, confirm=lambda: answer)
    assert trees.is_untouched(tree, 3) is goes
    assert len(copies(tree)) == goes
    assert "+    return 0" in shown.getvalue()


def test_what_is_as_it_came_is_left_alone(tmp_path: Path, shown: io.StringIO) -> None:
    """Nothing is asked, written or kept; comments and docstrings that were changed are no work to lose."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for path in STARTER.glob("*.py"):
        (tree / path.name).write_text(path.read_text("utf-8") + "# mine\n", "utf-8")
    reset(str(tree), 2, whole_file=False, confirm=None)
    assert (tree / "delivery.py").read_text("utf-8").endswith("# mine\n")
    assert copies(tree) == []
    assert "nothing to put back" in shown.getvalue()


def test_a_file_that_is_no_python_is_told_and_can_be_put_back_whole(tree: Path) -> None:
    """With its line and the command for it; then all of it is the starter's, and the copy has what was there."""
    file = tree / "delivery.py"
    broken = file.read_bytes() + b"def (:\n"
    file.write_bytes(broken)
    with pytest.raises(Misconfigured, match=r"delivery\.py:\d+ .*selfcheck reset 3 --file"):
        reset(str(tree), 3, whole_file=False, confirm=None)
    assert file.read_bytes() == broken
    reset(str(tree), 3, whole_file=True, confirm=None)
    assert file.read_bytes() == (STARTER / "delivery.py").read_bytes()
    assert copies(tree) == [broken]


@pytest.mark.parametrize("content", [b"\xff\xfe", b""])
def test_a_file_that_is_no_text_can_be_put_back_whole(tree: Path, content: bytes) -> None:
    """Whatever was there is kept."""
    (tree / "lifecycle.py").write_bytes(content)
    reset(str(tree), 1, whole_file=True, confirm=None)
    assert (tree / "lifecycle.py").read_bytes() == (STARTER / "lifecycle.py").read_bytes()
    assert copies(tree) == [content]


def test_a_file_that_is_not_there_comes_back(tree: Path) -> None:
    """As the starter's; there is nothing to keep."""
    (tree / "lifecycle.py").unlink()
    reset(str(tree), 4, whole_file=False, confirm=None)
    assert (tree / "lifecycle.py").read_bytes() == (STARTER / "lifecycle.py").read_bytes()
    assert copies(tree) == []


def test_a_pipe_in_its_place_is_not_waited_for(tree: Path) -> None:
    """It is told as what it is; with the whole file asked for, the file takes its place."""
    file = tree / "delivery.py"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(Misconfigured, match="is not a file"):
        reset(str(tree), 2, whole_file=False, confirm=None)
    reset(str(tree), 2, whole_file=True, confirm=None)
    assert file.read_text("utf-8") == trees.pristine("delivery.py")
    assert copies(tree) == []


def test_line_ends_stay_what_they_were(tree: Path) -> None:
    """A file with CRLF has CRLF afterwards, in every line."""
    file = tree / "delivery.py"
    file.write_bytes((SOLUTION / "delivery.py").read_bytes().replace(b"\n", b"\r\n"))
    reset(str(tree), 3, whole_file=False, confirm=None)
    content = file.read_bytes()
    assert content.count(b"\r\n") == content.count(b"\n") > 20
    assert trees.is_untouched(tree, 3)


def test_where_no_copy_can_be_kept_nothing_is_changed(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, and the file is as it was."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "file"))
    before = (tree / "delivery.py").read_bytes()
    with pytest.raises(Misconfigured, match="cannot write"):
        reset(str(tree), 2, whole_file=False, confirm=None)
    assert (tree / "delivery.py").read_bytes() == before
    assert sorted(path.name for path in tree.iterdir()) == ["delivery.py", "lifecycle.py"]


def test_nobody_is_asked_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch, tree: Path) -> None:
    """Whoever means it says --yes; nothing is changed without."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    before = (tree / "delivery.py").read_bytes()
    assert run_command_line(["reset", "3", "--tree", str(tree)]) == USAGE
    assert (tree / "delivery.py").read_bytes() == before
    assert run_command_line(["reset", "3", "--tree", str(tree), "--yes"]) == 0
    assert trees.is_untouched(tree, 3)
