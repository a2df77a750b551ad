"""The two clocks."""

from datetime import UTC, datetime, timedelta

from shared.adapters.clock import MovedClock, SystemClock


def test_the_system_clock_tells_the_time() -> None:
    """Its time is now, in UTC."""
    before = datetime.now(UTC)
    told = SystemClock().now()
    assert before <= told <= datetime.now(UTC)
    assert told.utcoffset() == timedelta(0)


def test_a_moved_clock_stands_still_until_it_is_moved() -> None:
    """It tells where it was started and moved to, exactly, forwards and back, and two of them do not meet."""
    start = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
    clock, other = MovedClock(start), MovedClock(start)
    assert (clock.now(), clock.now()) == (start, start)
    clock.advance(timedelta(seconds=30))
    clock.advance(timedelta(microseconds=-1))
    assert clock.now() == start + timedelta(seconds=29, microseconds=999_999)
    assert other.now() == start
