"""How many may watch."""

from contextlib import ExitStack

import pytest

from gateway.problems import Refused
from gateway.waiters import Waiters


def refusal(waiters: Waiters, run_id: str) -> int | None:
    """Return the status that one more waiter is refused with, None when it is admitted."""
    try:
        with waiters.admit(run_id):
            return None
    except Refused as refused:
        assert refused.retry_after_s == 1
        return refused.status


def test_waiters_are_counted_while_they_wait() -> None:
    """A waiter counts from its admission until it leaves, also when it leaves by an exception."""
    waiters = Waiters(2, 2)
    with pytest.raises(ZeroDivisionError), waiters.admit("r"):
        assert waiters.open == 1
        raise ZeroDivisionError
    assert waiters.open == 0


def test_the_bounds_are_reached_exactly() -> None:
    """The last place is given and the one after it is not: 429 for the run, 503 for the process."""
    waiters = Waiters(3, 2)
    with ExitStack() as stack:
        for run_id in ("r", "r"):
            stack.enter_context(waiters.admit(run_id))
        assert (refusal(waiters, "r"), refusal(waiters, "q")) == (429, None)
        stack.enter_context(waiters.admit("q"))
        assert (refusal(waiters, "r"), refusal(waiters, "q")) == (503, 503)
        with pytest.raises(Refused):
            waiters.check()
    assert (waiters.open, refusal(waiters, "r")) == (0, None)


def test_refused_waiters_do_not_count() -> None:
    """However many are refused, what was admitted is what counts."""
    waiters = Waiters(10, 1)
    with waiters.admit("r"):
        assert [refusal(waiters, "r") for _ in range(5)] == [429] * 5
        assert waiters.open == 1
    assert refusal(waiters, "r") is None
