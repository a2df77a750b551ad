"""Results as programs read them, and the file that is always a whole one."""

import json
from pathlib import Path

import pytest

from selfcheck.results import CheckResult, Finding, Report, State, write_json
from shared.errors import Misconfigured

FAILED = CheckResult(
    2, "ordered delivery", 2, State.FAILED, Finding("rule", "given", "expected", "actual"), "starter/delivery.py:13",
    (), {"delivered": [0, 1, 3]},
)  # fmt: skip
PASSED = CheckResult(3, "two waiters", None, State.PASSED)
REPORT = Report("mock", "starter", 7, 6, (FAILED, PASSED))

DOCUMENT = {
    "version": 1,
    "mode": "mock",
    "tree": "starter",
    "seed": 7,
    "passed": 1,
    "total": 6,
    "checks": [
        {
            "id": 2, "name": "ordered delivery", "exercise": 2, "status": "failed", "broken_rule": "rule",
            "given": "given", "expected": "expected", "actual": "actual", "where": "starter/delivery.py:13",
            "blocked_by": [], "symptom": "", "evidence": {"delivered": [0, 1, 3]},
        },
        {
            "id": 3, "name": "two waiters", "exercise": None, "status": "passed", "broken_rule": "", "given": "",
            "expected": "", "actual": "", "where": "", "blocked_by": [], "symptom": "", "evidence": {},
        },
    ],
}  # fmt: skip


def test_the_document_has_the_members_of_the_design_in_their_order() -> None:
    """What is passed is counted among the checks there are, out of those that there will be."""
    assert json.dumps(REPORT.to_json()) == json.dumps(DOCUMENT)


def test_the_file_is_the_document_and_the_only_thing_written(tmp_path: Path) -> None:
    """It ends with a line, and takes the place of an older one."""
    file = tmp_path / "results.json"
    file.write_text("older", "utf-8")
    write_json(file, REPORT)
    assert json.loads(file.read_bytes()) == DOCUMENT
    assert file.read_bytes().endswith(b"\n")
    assert [*tmp_path.iterdir()] == [file]


def test_a_file_that_cannot_take_its_place_leaves_the_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full at the last moment costs nothing that was there."""

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    file = tmp_path / "results.json"
    file.write_text("older", "utf-8")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Misconfigured, match="No space left on device"):
        write_json(file, REPORT)
    assert [(path, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [(file, "older")]


@pytest.mark.parametrize(
    ("name", "problem"),
    [("no/such/folder.json", "No such file or directory"), ("", "Is a directory"), ("x" * 300, "File name too long")],
)
def test_a_place_that_cannot_be_written_is_named(name: str, problem: str, tmp_path: Path) -> None:
    """The error says which, why, and what to do."""
    with pytest.raises(Misconfigured) as caught:
        write_json(tmp_path / name, REPORT)
    assert caught.value.service == "--json"
    assert caught.value.problem == f"cannot write {tmp_path / name}: {problem}"
    assert caught.value.remedy == "name a file in a folder that you may write to"
