"""Exercises under observation: what goes wrong in them inside the service is said on a log line, and at once.

Two things are said: that an exercise raised, with its place in the tree, and that it strayed: gave what nobody can work
with, or keeps what somebody waits for. The call then raises, so that nothing is built on it.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from gateway.guard import Guard
from selfcheck.lab.probes import raised_at, safely
from selfcheck.texts import Words, english, say
from shared.exercises import Exercises, Orderer, OrdererFactory
from shared.logs import logger, note
from shared.run import Run, RunStatus

log = logger("lab")

T = TypeVar("T")


class ExerciseCrashed(RuntimeError):
    """An exercise raised what its rule does not let it raise: SystemExit too, which would end the service."""


class ExerciseStrayed(RuntimeError):
    """An exercise did what nobody can go on from."""


def observed(exercises: Exercises, awaited: Callable[[], bool]) -> Exercises:
    """Return the same exercises, each call watched.

    While `awaited` is true nothing more comes than what is there, and somebody waits for all of it. What an orderer
    withholds then is missed; at other times it may be told from what is delivered in the end, which shows more.
    """

    def transition(current: RunStatus, target: RunStatus) -> RunStatus:
        return _watch(1, lambda: exercises.transition(current, target), allowed=(ValueError,))

    def should_merge(previous: Run | None, now: datetime) -> bool:
        return _watch(4, lambda: exercises.should_merge(previous, now))

    def resume_from(last_event_id: str | None) -> int:
        answer = _watch(3, lambda: exercises.resume_from(last_event_id))
        if not _is_number(answer) or int.__lt__(answer, 0):
            raise _strayed(3, f"resume_from({last_event_id!r})", say("strays.number"), safely(lambda: repr(answer)))
        return _plain(answer)

    def orderer(start: int, emit: Callable[[int, T], None], /) -> Orderer[T]:
        return _ObservedOrderer(exercises.SeqOrderer, start, emit, awaited)

    return Exercises(transition=transition, should_merge=should_merge, resume_from=resume_from, SeqOrderer=orderer)


class _ObservedOrderer(Orderer[T]):
    def __init__(
        self, make: OrdererFactory, start: int, emit: Callable[[int, T], None], awaited: Callable[[], bool]
    ) -> None:
        self._emit = emit
        self._awaited = awaited
        self._offered = Guard(start)
        self._owed: set[int] = set()  # offered, and not emitted since
        self._kind: type[T] | None = None  # of what is offered
        self._orderer = _watch(2, lambda: make(start, self._take))

    def offer(self, seq: int, item: T, /) -> None:
        self._kind = type(item)
        if seq >= self._offered.next_seq:
            self._owed.add(seq)
        self._offered.saw(seq, at=0)
        _watch(2, lambda: self._orderer.offer(seq, item))
        if self._owed and self._awaited():
            self._refuse_withheld(seq)

    def _take(self, seq: int, item: T) -> None:
        if not _is_number(seq) or type(item) is not self._kind:
            actual = say("strays.emit", seq=_shown(seq), item=_shown(item))
            raise _strayed(2, say("strays.offer"), say("strays.emit_as_offered"), actual)
        seq = _plain(seq)
        self._owed.discard(seq)
        self._emit(seq, item)

    def _refuse_withheld(self, seq: int) -> None:
        due = min(self._owed)
        if due < self._offered.next_seq:
            given = say("strays.offer_with_all", seq=seq, next=self._offered.next_seq)
            raise _strayed(2, given, say("strays.emit_before_return", seq=due), say("strays.not_emitted", seq=due))


def _is_number(answer: object) -> bool:
    return isinstance(answer, int)  # whatever its type was promised to be


def _plain(number: int) -> int:
    return int.__add__(number, 0)  # whatever it makes of comparisons: the house does not go by chance


def _shown(argument: object) -> Words:
    kind = safely(lambda: type(argument).__name__)
    return safely(lambda: repr(argument)) if _is_number(argument) else say("strays.a_kind", kind=kind)


def _strayed(number: int, *told: Words) -> ExerciseStrayed:
    given, expected, actual = map(english, told)
    note(log, "exercise_strayed", logging.ERROR, exercise=number, given=given, expected=expected, actual=actual)
    return ExerciseStrayed(f"exercise {number}: {given}: expected {expected}: {actual}")


def _watch(number: int, call: Callable[[], T], allowed: tuple[type[Exception], ...] = ()) -> T:
    try:
        return call()
    except ExerciseStrayed:
        raise
    except allowed:
        raise
    except BaseException as error:
        kind = type(error)
        raised, message = safely(lambda: kind.__name__), safely(error.__str__)
        note(
            log, "exercise_raised", logging.ERROR, exercise=number, where=raised_at(error), raised=raised,
            message=message,
        )  # fmt: skip
        raise ExerciseCrashed(f"exercise {number} raised {raised}: {message}") from error
