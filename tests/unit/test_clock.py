"""The two clocks."""

from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from shared.adapters import clock as clocks
from shared.adapters.clock import MovedClock, SystemClock


class Machine:
    """The machine's clock, which somebody sets back: seconds of a minute, in the zone that is asked for."""

    def __init__(self, *seconds: int) -> None:
        self._seconds = iter(seconds)

    def now(self, zone: tzinfo) -> datetime:
        """Return the time it is."""
        return datetime(2026, 5, 6, 7, 8, next(self._seconds), tzinfo=zone)


def test_the_system_clock_tells_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is the machine's, in UTC, wherever that goes."""
    monkeypatch.setattr(clocks, "datetime", Machine(9, 8))
    told = [SystemClock().now(), SystemClock().now()]
    assert told == [datetime(2026, 5, 6, 7, 8, second, tzinfo=UTC) for second in (9, 8)]
    assert {at.utcoffset() for at in told} == {timedelta(0)}


def test_a_moved_clock_stands_still_until_it_is_moved() -> None:
    """It tells where it was started and moved to, exactly, forwards and back, and two of them do not meet."""
    start = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
    clock, other = MovedClock(start), MovedClock(start)
    assert (clock.now(), clock.now()) == (start, start)
    clock.advance(timedelta(seconds=30))
    clock.advance(timedelta(microseconds=-1))
    assert clock.now() == start + timedelta(seconds=29, microseconds=999_999)
    assert other.now() == start
