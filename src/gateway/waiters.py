"""How many may watch: bounds on open streams, for the process and for one run."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
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

    @contextmanager
    def admit(self, run_id: str) -> Iterator[None]:
        """Count one more waiter while the block lasts.

        Raises:
            Refused: 503, as in `check`; 429, this run has too many.
        """
        self.check()
        if self._per_run[run_id] >= self._most_per_run:
            detail = f"the run has {self._most_per_run} waiters here, as many as it may"
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, detail, field="run_id", retry_after_s=RETRY_AFTER_S)
        self.open += 1
        self._per_run[run_id] += 1
        try:
            yield
        finally:
            self.open -= 1
            self._per_run[run_id] -= 1
            if not self._per_run[run_id]:
                del self._per_run[run_id]
