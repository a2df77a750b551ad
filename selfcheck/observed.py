"""Exercises under observation: what they raise inside the service is said on a log line, with its place in the tree."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from selfcheck.probes import raised_at
from shared.exercises import Exercises, Orderer
from shared.logs import logger, note
from shared.run import Run, RunStatus

log = logger("lab")

T = TypeVar("T")


class ExerciseCrashed(RuntimeError):
    """An exercise raised what its rule does not let it raise: SystemExit too, which would end the service."""


def observed(exercises: Exercises) -> Exercises:
    """Return the same exercises, each call watched."""

    def transition(current: RunStatus, target: RunStatus) -> RunStatus:
        return _watch(1, lambda: exercises.transition(current, target), allowed=(ValueError,))

    def should_merge(previous: Run | None, now: datetime) -> bool:
        return _watch(4, lambda: exercises.should_merge(previous, now))

    def resume_from(last_event_id: str | None) -> int:
        return _watch(3, lambda: exercises.resume_from(last_event_id))

    def orderer(start: int, emit: Callable[[int, T], None], /) -> Orderer[T]:
        return _ObservedOrderer(_watch(2, lambda: exercises.SeqOrderer(start, emit)))

    return Exercises(transition=transition, should_merge=should_merge, resume_from=resume_from, SeqOrderer=orderer)


class _ObservedOrderer(Orderer[T]):
    def __init__(self, orderer: Orderer[T]) -> None:
        self._orderer = orderer

    def offer(self, seq: int, item: T, /) -> None:
        _watch(2, lambda: self._orderer.offer(seq, item))


def _watch(number: int, call: Callable[[], T], allowed: tuple[type[BaseException], ...] = ()) -> T:
    try:
        return call()
    except allowed:
        raise
    except BaseException as raised:
        note(
            log, "exercise_raised", logging.ERROR, exercise=number, where=raised_at(raised),
            raised=type(raised).__name__, message=str(raised)[:200],
        )  # fmt: skip
        raise ExerciseCrashed(f"exercise {number} raised {type(raised).__name__}: {raised}") from raised
