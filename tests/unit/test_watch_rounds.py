"""Rounds and the services that are started ahead for them."""

import threading
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

from selfcheck import early
from selfcheck.checks.check import Check
from selfcheck.processes.held import Service
from selfcheck.results import CheckResult, State
from selfcheck.spec import BOTH, ServiceSpec, new_token
from selfcheck.watch.ahead import Ahead
from selfcheck.watch.events import Event, Over, Verdict
from selfcheck.watch.rounds import Round, RoundJudge, Superseded
from shared.errors import Unavailable
from tests.support.judging import SOLUTION
from tests.support.patience import PATIENCE_S


def spec() -> ServiceSpec:
    """Return what a service of the solution is asked for."""
    return ServiceSpec(str(SOLUTION), str(SOLUTION), (), new_token(), BOTH, early.LAB_SETTINGS)


class StagedJudge(RoundJudge):
    """A judge whose second check does not come to an end before it may, or raises what it is given."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__(spec(), 7, Ahead(0))
        self.reached, self.may = threading.Event(), threading.Event()
        self._error = error

    def _judge(self, check: Check) -> CheckResult:
        if check.id == 2:
            self.reached.set()
            assert self.may.wait(PATIENCE_S)
            if self._error is not None:
                raise self._error
        return CheckResult(check.id, check.name, check.exercise, State.PASSED)


def played(judge: StagedJudge, *, cancel: bool = False) -> list[Event]:
    """Return what a round posts that plays checks 5, 2 and 1."""
    posted: SimpleQueue[Event] = SimpleQueue()
    playing = Round(judge, [5, 2, 1], posted.put)
    assert judge.reached.wait(PATIENCE_S)
    if cancel:
        playing.cancel()
    judge.may.set()
    playing.join()
    return [posted.get_nowait() for _ in range(posted.qsize())]


def told(events: list[Event]) -> list[object]:
    """Return the numbers of what was judged, and why a round ended."""
    return [
        event.result.id if isinstance(event, Verdict) else (event.fault, event.error)
        for event in events
        if isinstance(event, Verdict | Over)
    ]


def test_a_round_plays_in_the_order_it_is_given() -> None:
    """And then says that it is over."""
    assert told(played(StagedJudge())) == [5, 2, 1, (None, None)]


def test_a_round_that_is_cancelled_says_nothing_more() -> None:
    """But that it is over: what it was in the middle of is no verdict."""
    assert told(played(StagedJudge(), cancel=True)) == [5, (None, None)]


@pytest.mark.parametrize("error", [Unavailable("service", "no"), ZeroDivisionError("ours")])
def test_what_ends_a_round_is_told_apart(error: Exception) -> None:
    """A service that cannot be had, and a fault of ours."""
    fault = (error, None) if isinstance(error, Unavailable) else (None, error)
    assert told(played(StagedJudge(error))) == [5, fault]


def test_a_cancelled_judge_starts_no_service() -> None:
    """Whoever is in the middle of something comes to its end by this."""
    judge = RoundJudge(spec(), 7, Ahead(0))
    judge.cancel()
    with pytest.raises(Superseded):
        judge._start(frozenset())


@pytest.fixture
def ahead() -> Iterator[Ahead]:
    """One service that is started ahead."""
    waiting = Ahead(1)
    waiting.fill()
    try:
        yield waiting
    finally:
        waiting.close()


def until_ready(service: Service) -> int:
    """Return the process of a service that has loaded its tree, and end it."""
    try:
        assert service.loaded()
        assert service.url("gateway").startswith("http://127.0.0.1:")
        (process,) = service._processes.values()
        return process.pid
    finally:
        service.stop()


def test_a_service_that_was_started_ahead_is_used_once(ahead: Ahead) -> None:
    """The next one starts when it is asked for."""
    (waiting,) = ahead._waiting
    first, second = ahead.service(spec()), ahead.service(spec())
    assert until_ready(first) == waiting.pid != until_ready(second)


def test_one_that_was_ended_meanwhile_is_passed_over(ahead: Ahead) -> None:
    """Whatever ended it, there is a service."""
    (waiting,) = ahead._waiting
    waiting.kill()
    waiting.wait()
    assert until_ready(ahead.service(spec())) != waiting.pid
    ahead.fill()
    assert [process.poll() for process in ahead._waiting] == [None]
