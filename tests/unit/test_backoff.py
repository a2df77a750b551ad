"""How long to wait before trying again."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.backoff import delay
from tests.support.calm import calm

SECOND = timedelta(seconds=1)
TEN = timedelta(seconds=10)


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (10_000, 10)])
def test_the_pause_doubles_up_to_the_cap(failures: int, seconds: float) -> None:
    """Without luck the first pause is a second, each further one twice as long, and none is longer than the cap."""
    assert delay(failures, TEN, chance=lambda: 1.0) == timedelta(seconds=seconds)


@pytest.mark.parametrize(("failures", "seconds"), [(1, 0.5), (2, 1), (3, 2), (4, 4), (5, 5), (10_000, 5)])
def test_the_shortest_pause_is_half_of_the_longest(failures: int, seconds: float) -> None:
    """With all luck a pause is half as long, never nothing."""
    assert delay(failures, TEN, chance=lambda: 0.0) == timedelta(seconds=seconds)


def test_the_first_pause_is_the_callers() -> None:
    """A caller that expects a short fault begins with a shorter pause; the doubling is the same."""
    first = timedelta(milliseconds=50)
    pauses = [delay(failures, SECOND, first, lambda: 1.0) for failures in range(1, 8)]
    assert [pause.total_seconds() for pause in pauses] == [0.05, 0.1, 0.2, 0.4, 0.8, 1, 1]


def test_a_cap_of_nothing_is_no_pause() -> None:
    """Who sets the cap to zero waits for nothing."""
    assert delay(3, timedelta(0)) == timedelta(0)


@calm
@given(failures=st.integers(1, 10**9), cap_ms=st.integers(1, 10**8))
def test_chance_decides_between_half_and_all(failures: int, cap_ms: int) -> None:
    """Whatever the numbers, the pause that comes by chance lies between the two."""
    cap = timedelta(milliseconds=cap_ms)
    longest = delay(failures, cap, chance=lambda: 1.0)
    assert longest <= cap
    assert longest / 2 <= delay(failures, cap) <= longest
