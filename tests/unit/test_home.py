"""The place for what the self-check remembers."""

import os
from pathlib import Path

import pytest

from selfcheck.home import MOST_BYTES, home, put, recalled, room
from selfcheck.trees import kit_root


def test_it_lies_in_the_kit_or_where_one_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`SELFCHECK_HOME` names another place."""
    monkeypatch.delenv("SELFCHECK_HOME", raising=False)
    assert home() == kit_root() / ".selfcheck"
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path))
    assert home() == tmp_path


@pytest.mark.parametrize("thing", ["pipe", "folder", "nothing"])
def test_what_is_no_file_is_not_waited_for(thing: str, tmp_path: Path) -> None:
    """A pipe in the place of a file of ours would never end."""
    place = tmp_path / "states.json"
    if thing == "pipe":
        os.mkfifo(place)
    elif thing == "folder":
        place.mkdir()
    with pytest.raises(OSError, match=r"is not a file|No such file|Is a directory"):
        recalled(place)


def test_what_is_no_file_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks again and again runs out of nothing."""
    opened: list[int] = []
    open_ = os.open

    def note(file: Path, flags: int) -> int:
        opened.append(open_(file, flags))
        return opened[-1]

    monkeypatch.setattr("os.open", note)
    with pytest.raises(OSError, match="is not a file"):
        recalled(tmp_path)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_no_more_is_read_than_we_write(tmp_path: Path) -> None:
    """A file that has grown without an end costs a moment, and is none of ours."""
    place = tmp_path / "states.json"
    place.write_bytes(b"{}")
    assert recalled(place) == b"{}"
    os.truncate(place, 1 << 40)
    assert len(recalled(place)) == MOST_BYTES


def test_trees_of_one_name_have_rooms_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By where they lie, however that is said."""
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path))
    one, other = tmp_path / "a" / "tree", tmp_path / "b" / "tree"
    assert room(one).parent == tmp_path
    assert room(one) != room(other)
    assert room(one) == room(tmp_path / "b" / ".." / "a" / "tree")


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Its folder is made, nothing else stays there, and where it cannot be written the old one does."""
    file = tmp_path / "new" / "file"
    put(file, b"one")
    put(file, b"two")
    assert [(path.name, path.read_bytes()) for path in file.parent.iterdir()] == [("file", b"two")]
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        put(file / "below", b"three")
    (tmp_path / "folder" / "in it").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        put(tmp_path / "folder", b"three")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "new"]
