"""The two clocks: the machine's, and one that stands still until it is moved."""

from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)


class MovedClock:
    """A clock for tests and the lab: it stands still until `advance` moves it.

    So a rule about age can be asked on both sides of its edge, to the microsecond, and nobody has to wait.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        assert start.tzinfo is not None, "times are timezone-aware"
        self._now = start

    def now(self) -> datetime:
        """Return the time it was last moved to."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Move the clock; a negative `by` moves it back, as clocks of machines do at times."""
        self._now += by
