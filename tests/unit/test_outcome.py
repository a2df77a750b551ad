"""What a command's end means, however it came."""

import threading

import pytest

from selfcheck import outcome


class Interrupted(threading.Condition):
    """A condition in which Ctrl-C is pressed while its lock is taken back."""

    def _acquire_restore(self, _: object) -> None:
        raise KeyboardInterrupt


def wait(semaphore: threading.Semaphore) -> int:
    """Wait for what does not come."""
    semaphore.acquire(timeout=0.001)
    return 0


def test_ctrl_c_while_a_lock_is_taken_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The lock's own complaint is not what has happened."""
    semaphore = threading.Semaphore(0)
    semaphore._cond = Interrupted(threading.Lock())  # type: ignore[attr-defined]
    assert outcome.said(lambda: wait(semaphore)) == 130
    assert capsys.readouterr().err == "stopped\n"


def test_a_fault_of_ours_is_none_of_ctrl_c() -> None:
    """It is shown as it is."""

    def fail() -> int:
        raise RuntimeError("a fault")

    with pytest.raises(RuntimeError, match="a fault"):
        outcome.said(fail)
