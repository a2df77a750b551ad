"""The place for what the self-check remembers."""

from pathlib import Path

import pytest

from selfcheck.home import home, room
from selfcheck.trees import kit_root


def test_it_lies_in_the_kit_or_where_one_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`SELFCHECK_HOME` names another place."""
    monkeypatch.delenv("SELFCHECK_HOME", raising=False)
    assert home() == kit_root() / ".selfcheck"
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path))
    assert home() == tmp_path


def test_trees_of_one_name_have_rooms_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By where they lie, however that is said."""
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path))
    one, other = tmp_path / "a" / "tree", tmp_path / "b" / "tree"
    assert room(one).parent == tmp_path
    assert room(one) != room(other)
    assert room(one) == room(tmp_path / "b" / ".." / "a" / "tree")
