"""Processes that left a submission's service behind are found by their mark, whatever they are about to do."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from selfcheck.processes import strays
from selfcheck.processes.strays import end_marked

if not Path("/proc/self/environ").exists():
    pytest.skip("environments of processes cannot be read on this system", allow_module_level=True)

WAITS = "input()"


def started(program: str, **environment: str) -> "subprocess.Popen[bytes]":
    """Start a program with no other environment than this."""
    return subprocess.Popen([sys.executable, "-c", program], env=environment, stdin=subprocess.PIPE)


@pytest.mark.parametrize("lies", [("0", "0"), ("64", "96")], ids=["nowhere", "there by now"])
def test_what_is_becoming_another_program_is_ended_with_the_rest(
    lies: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no environment when it is looked at first, and is looked at again."""
    process, ended = tmp_path / "4711", []
    process.mkdir()
    (process / "environ").write_bytes(b"")
    (process / "stat").write_text(f"4711 (a b) {' '.join(['R', *['0'] * 46, *lies, '0'])}")

    def end(pid: int, number: int) -> None:
        ended.append((pid, number))
        (process / "environ").unlink()

    def become(_: float) -> None:
        if not ended:
            (process / "environ").write_bytes(b"OTHER=1\0MARK=mine\0")

    monkeypatch.setattr(strays, "_PROC", tmp_path)
    monkeypatch.setattr("os.kill", end)
    monkeypatch.setattr("time.sleep", become)
    end_marked("MARK", "mine")
    assert ended == [(4711, signal.SIGKILL)]


def test_what_bears_another_mark_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark that only begins alike is another one."""
    monkeypatch.setattr(strays, "BECOMING_S", 0.01)
    with started(WAITS, MARK="mine too") as alike:
        try:
            end_marked("MARK", "mine")
            assert alike.poll() is None
        finally:
            alike.kill()


def test_what_has_an_empty_environment_is_becoming_nothing() -> None:
    """It would be waited for each time that a service ends, for as long as it is there."""
    with started(WAITS) as bare:
        try:
            folder = Path("/proc", str(bare.pid))
            while strays._is_becoming(folder):
                pass  # on its way from this program to its own
            assert (folder / "environ").read_bytes() == b""
        finally:
            bare.kill()
