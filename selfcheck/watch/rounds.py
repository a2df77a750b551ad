"""A round: checks played in an order of their own on the tree as it is, which a newer save may cancel at any moment."""

import threading
from collections.abc import Iterator, Sequence

import msgspec

from selfcheck.checks import CHECKS
from selfcheck.judge import Judge
from selfcheck.processes.held import Service
from selfcheck.results import CheckResult
from selfcheck.spec import ServiceSpec, new_token
from selfcheck.watch.ahead import Ahead
from selfcheck.watch.events import Over, Post, Verdict
from shared.errors import Unavailable


class Superseded(Exception):
    """The round was cancelled."""


class RoundJudge(Judge):
    """A judge that takes services which were started ahead, and can be made to let go of all of them."""

    def __init__(self, spec: ServiceSpec, seed: int, ahead: Ahead) -> None:
        super().__init__(spec, None, seed)
        self._ahead = ahead
        self._lock = threading.Lock()
        self._services: list[Service] = []
        self.cancelled = False

    def in_order(self, numbers: Sequence[int]) -> Iterator[CheckResult]:
        """Yield the results of these checks, in this order.

        Raises:
            Superseded: it was cancelled.
        """
        checks = {check.id: check for check in CHECKS}
        for number in numbers:
            result = self._judge(checks[number])
            if self.cancelled:  # what a service was ended in the middle of is no verdict
                raise Superseded
            yield result

    def cancel(self) -> None:
        """End all services, from any thread. No other will be started."""
        with self._lock:
            self.cancelled = True
            for service in self._services:
                if service.exit_code is None:
                    service.kill()

    def _start(self, replaced: frozenset[int]) -> Service:
        numbers = tuple(sorted(replaced | self._unfit))
        with self._lock:
            if self.cancelled:
                raise Superseded
            service = self._ahead.service(msgspec.structs.replace(self._spec, replaced=numbers, token=new_token()))
            self._services.append(service)
        return service


class Round:
    """Plays in a thread of its own, and posts what comes of it. `Over` comes last, also when it was cancelled."""

    def __init__(self, judge: RoundJudge, order: Sequence[int], post: Post) -> None:
        self._judge = judge
        self._order = order
        self._post = post
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Have it come to its end at once."""
        self._judge.cancel()

    def join(self) -> None:
        """Return when it has ended, and with it all that it started."""
        self._thread.join()

    def _play(self) -> None:
        fault: Unavailable | None = None
        error: BaseException | None = None
        try:
            try:
                for result in self._judge.in_order(self._order):
                    self._post(Verdict(self, result))
            finally:
                self._judge.close()
        except Superseded:
            pass
        except Unavailable as unavailable:
            fault = unavailable
        except BaseException as ours:  # the loop has to say so: it would wait for ever
            error = ours
        self._post(Over(self, fault, error, self._judge.prints, self._judge.log))
