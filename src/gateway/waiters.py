"""How many may watch: bounds on open streams, for the process and for one run."""

from collections import Counter
from http import HTTPStatus

from gateway.problems import RETRY_AFTER_S, Refused


class Waiters:
    """Counts the open streams of one gateway."""

    def __init__(self, most: int, most_per_run: int) -> None:
        self._most = most
        self._most_per_run = most_per_run
        self._per_run: Counter[str] = Counter()
        self.open = 0

    def check(self) -> None:
        """Return while this process has room for one more stream.

        Raises:
            Refused: 503, it is full (another may not be).
        """
        if self.open >= self._most:
            detail = f"this gateway has {self._most} streams open, as many as it may"
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, retry_after_s=RETRY_AFTER_S)

    def admit(self, run_id: str) -> "Admission":
        """Count one more waiter while the block lasts.

        Raises:
            Refused: 503, as in `check`; 429, this run has too many.
        """
        self.check()
        if self._per_run[run_id] >= self._most_per_run:
            detail = f"the run has {self._most_per_run} waiters here, as many as it may"
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, detail, field="run_id", retry_after_s=RETRY_AFTER_S)
        return Admission(self, run_id)

    def count(self, run_id: str, change: int) -> None:
        """Count a waiter that comes (1) or goes (-1)."""
        self.open += change
        self._per_run[run_id] += change
        if not self._per_run[run_id]:
            del self._per_run[run_id]


class Admission:
    """A waiter that is counted while the block lasts. Not a generator: it is kept for as long as a stream is open."""

    __slots__ = ("_run_id", "_waiters")

    def __init__(self, waiters: Waiters, run_id: str) -> None:
        self._waiters = waiters
        self._run_id = run_id

    def __enter__(self) -> None:
        self._waiters.count(self._run_id, 1)

    def __exit__(self, *_: object) -> None:
        self._waiters.count(self._run_id, -1)
