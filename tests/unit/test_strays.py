"""Processes that left a submission's service behind are found by their mark, whatever they are about to do."""

import subprocess
import sys
from pathlib import Path

import pytest

from selfcheck.processes import strays
from selfcheck.processes.strays import end_marked

if not Path("/proc/self/environ").exists():
    pytest.skip("environments of processes cannot be read on this system", allow_module_level=True)

# Without an environment, as every process is for a moment on its way from one program to the next.
BECOMES = "import os, sys; input(); os.execve(sys.executable, ['python', '-c', 'input()'], {'MARK': 'mine'})"
WAITS = "input()"


def started(program: str, **environment: str) -> "subprocess.Popen[bytes]":
    """Start a program with no other environment than this."""
    return subprocess.Popen([sys.executable, "-c", program], env=environment, stdin=subprocess.PIPE)


def test_what_is_becoming_another_program_is_ended_with_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no environment when it is looked at first, and is looked at again."""
    with started(BECOMES) as process:
        due = [b"\n"]

        def become(_: float) -> None:
            if not due:
                return  # it has been ended; how far that has come is what is looked at again
            assert process.stdin is not None
            process.stdin.write(due.pop())
            process.stdin.flush()
            while process.poll() is None and b"MARK=mine" not in Path(f"/proc/{process.pid}/environ").read_bytes():
                pass

        try:
            with monkeypatch.context() as patched:
                patched.setattr(strays, "BECOMING_S", 600.0)
                patched.setattr("time.sleep", become)
                end_marked("MARK", "mine")
            assert process.wait(timeout=60) == -9
        finally:
            process.kill()


def test_what_bears_another_mark_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark that only begins alike is another one, and what never has an environment is not waited for for ever."""
    monkeypatch.setattr(strays, "BECOMING_S", 0.01)
    with started(WAITS, MARK="mine too") as alike, started(WAITS) as bare:
        try:
            end_marked("MARK", "mine")
            assert (alike.poll(), bare.poll()) == (None, None)
        finally:
            alike.kill()
            bare.kill()
