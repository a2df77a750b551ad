"""The run folder: the newest run, the few before it, bounded, whole, and never in the way."""

import os
import threading
from pathlib import Path

import pytest

from selfcheck.home import room
from selfcheck.reporting import runs
from selfcheck.results import CheckResult, Report, State


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "home"))


def kept(tree: Path) -> dict[str, str]:
    """Return what each folder has, by its name."""
    folder = room(tree) / "runs"
    return {each.name: (each / "results.json").read_text() for each in folder.iterdir()}


def test_the_last_run_and_five_before_it_are_kept(tmp_path: Path) -> None:
    """The oldest go; a number is never used twice."""
    folders = {runs.keep(tmp_path, [("results.json", str(number).encode())]) for number in range(9)}
    assert folders == {room(tmp_path) / "runs" / "last"}
    assert kept(tmp_path) == {"last": "8", "8": "7", "7": "6", "6": "5", "5": "4", "4": "3"}


def test_two_trees_have_two_rooms(tmp_path: Path) -> None:
    """Also when they have the same name."""
    for name in ("a", "b"):
        runs.keep(tmp_path / name / "tree", [("results.json", name.encode())])
    assert [kept(tmp_path / name / "tree") for name in ("a", "b")] == [{"last": "a"}, {"last": "b"}]


def test_many_at_once_leave_whole_folders(tmp_path: Path) -> None:
    """Every folder is one run's, and nothing half-done stays."""
    start = threading.Barrier(6)

    def leave(number: int) -> None:
        start.wait()
        for _ in range(5):
            runs.keep(tmp_path, [("results.json", str(number).encode()), ("other", str(number).encode())])

    threads = [threading.Thread(target=leave, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runs.keep(tmp_path, [("results.json", b"x"), ("other", b"x")])
    found = [*(room(tmp_path) / "runs").iterdir()]
    assert sorted(each.name.isdigit() for each in found) == [False, *[True] * 5]
    assert [each for each in found if (each / "results.json").read_text() != (each / "other").read_text()] == []


def test_a_long_file_is_kept_by_its_end(tmp_path: Path) -> None:
    """Disk stays bounded, whatever a tree makes a service say."""
    folder = runs.keep(tmp_path, [("service.log", b"old" + b"x" * runs.LARGEST)])
    assert folder is not None
    assert (folder / "service.log").read_bytes() == b"x" * runs.LARGEST


def test_what_a_killed_run_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    """One that is young may be another run's that is being written."""
    folder = room(tmp_path) / "runs"
    old, young = folder / ".new-1-a", folder / ".new-2-b"
    for each in (old, young):
        each.mkdir(parents=True)
    os.utime(old, (0, 0))
    runs.keep(tmp_path, [])
    assert (old.exists(), young.exists()) == (False, True)


def test_where_nothing_can_be_written_nothing_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody is told: a run does not fail for want of a memory."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "file"))
    assert runs.keep(tmp_path, [("results.json", b"")]) is None
    runs.remember(tmp_path, report(passed=(1,)))
    assert runs.passed_before(tmp_path, "mock") == frozenset()


def report(*, passed: tuple[int, ...] = (), failed: tuple[int, ...] = (), mode: str = "mock") -> Report:
    """Return a report with these states; the sixth check was nobody's fault."""
    states = {**dict.fromkeys(passed, State.PASSED), **dict.fromkeys(failed, State.FAILED), 6: State.ENVIRONMENT}
    checks = [CheckResult(number, "a check", None, state) for number, state in sorted(states.items())]
    return Report(mode, "tree", 7, 6, checks)


def test_what_passed_is_remembered_until_it_is_played_again(tmp_path: Path) -> None:
    """By tree and mode; a check that was not played, or not judged, is as it was."""
    runs.remember(tmp_path, report(passed=(1, 2, 6)))
    runs.remember(tmp_path, report(passed=(1,), mode="real"))
    runs.remember(tmp_path, report(failed=(2,)))
    assert runs.passed_before(tmp_path, "mock") == {1}
    assert runs.passed_before(tmp_path, "real") == {1}
    assert runs.passed_before(tmp_path / "another", "mock") == frozenset()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"mock": 7}', b"\xff", b'{"mock": {"\xc2\xb2": "passed"}}'])
def test_a_memory_that_is_damaged_is_none(content: bytes, tmp_path: Path) -> None:
    """It is begun anew."""
    room(tmp_path).mkdir(parents=True)
    (room(tmp_path) / "states.json").write_bytes(content)
    assert runs.passed_before(tmp_path, "mock") == frozenset()
    runs.remember(tmp_path, report(passed=(3,)))
    assert runs.passed_before(tmp_path, "mock") == {3}
