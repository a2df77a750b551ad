"""The sheet: which checks are left when a run breaks off, in whatever repetition, and what is written of it."""

from json import loads as decode
from pathlib import Path

import pytest

from selfcheck.early import Options
from selfcheck.reporting.sheet import Sheet
from selfcheck.results import CheckResult, State


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "home"))


def sheet(*played: int, only: int | None = None, json: str | None = None, junit: str | None = None) -> Sheet:
    """Return a sheet on which these checks have failed."""
    made = Sheet(Options("starter", only, repeat=3, json=json, junit=junit), "mock")
    for number in played:
        made.add(CheckResult(number, f"check {number}", None, State.FAILED))
    return made


ONCE = (1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("played", "left"),
    [((), ONCE), ((1, 2), (3, 4, 5, 6)), (ONCE, ONCE), ((*ONCE, 1), (2, 3, 4, 5, 6)), ((*ONCE, *ONCE[:5]), (6,))],
)
def test_what_is_left_is_the_rest_of_the_repetition(played: tuple[int, ...], left: tuple[int, ...]) -> None:
    """Of one that has not begun, all."""
    assert tuple(check.id for check in sheet(*played).left()) == left


def test_of_one_check_alone_nothing_else_is_left() -> None:
    """It is left until it is played."""
    assert [check.id for check in sheet(only=4).left()] == [4]
    assert sheet(4, only=4).report().total == 1


def test_both_files_are_written_with_every_result(tmp_path: Path) -> None:
    """And before the first, so that nobody reads older ones."""
    results, xml = tmp_path / "r.json", tmp_path / "r.xml"
    made = sheet(json=str(results), junit=str(xml))
    made.write()
    assert decode(results.read_bytes())["checks"] == []
    assert xml.read_text("utf-8").count("<skipped") == 6
    made.add(CheckResult(1, "check 1", None, State.FAILED))
    written = decode(results.read_bytes())
    assert [check["status"] for check in written["checks"]] == ["failed"]
    assert (written["repeat"], written["flaky"]) == (3, {})
    assert xml.read_text("utf-8").count("<skipped") == 5
