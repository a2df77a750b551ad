"""What a tree answers, asked directly and in this process: the proof that no mutant is right by accident.

This is not the judge. It trusts what it runs, so the deeds of hostile submissions are caught by patches, and it counts
lines instead of seconds.
"""

import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

from shared.exercises import Exercises, Orderer, load
from shared.run import Run, RunStatus
from tests.mutants.submission import SOLUTION
from tests.tracing import Endless, lines_run

Answers: TypeAlias = Mapping[str, str]

ENDLESS = "does not return"
LINES = 100_000  # in one case; the solution needs some 10,000 for the longest


class Deed(BaseException):
    """Something was done that nobody should do to the process it runs in."""


class _Output(io.StringIO):
    def write(self, text: str) -> int:
        if len(text) > 1_000_000:
            raise Deed("prints without end")
        return len(text)


class _Doing:
    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *arguments: object) -> None:
        raise Deed(self._name)


@contextmanager
def _harmless() -> Iterator[None]:
    """Turn the deeds that would hurt this process into exceptions."""
    with ExitStack() as stack:
        for name in ("_exit", "kill", "fork", "closerange"):
            stack.enter_context(patch.object(os, name, _Doing(name)))
        stack.enter_context(patch.object(time, "sleep", _Doing("sleep")))
        stack.enter_context(redirect_stdout(_Output()))
        yield


def ask(tree: Path) -> dict[int, Answers]:
    """Return what a tree answers in each exercise, case by case, up to one that does not return or does a deed."""
    before = set(sys.modules)
    found: list[Exercises] = []
    lost: set[int] = set()
    with _harmless():
        try:
            lines_run(tree, lambda: _load(tree, found, lost), LINES)
        except KeyboardInterrupt:
            lost = set(CASES)
        answers = {
            number: {"load": "does not load"} if number in lost else _ask(tree, cases, found[0])
            for number, cases in CASES.items()
        }
    for name in set(sys.modules) - before:
        if name.startswith("_foreign_"):
            del sys.modules[name]
    return answers


def _load(tree: Path, found: list[Exercises], lost: set[int]) -> None:
    loaded = load(tree, SOLUTION)
    found.append(loaded.exercises)
    lost.update(number for fault in loaded.faults for number in fault.exercises)


def _ask(tree: Path, cases: Mapping[str, "Case"], exercises: Exercises) -> Answers:
    answers: dict[str, str] = {}
    for name, case in cases.items():
        answers[name] = _answer(tree, case, exercises)
        if answers[name].startswith("does "):
            break
    return answers


def _answer(tree: Path, case: "Case", exercises: Exercises) -> str:
    given: list[object] = []
    try:
        lines_run(tree, lambda: given.append(case(exercises)), LINES)
    except Endless:
        return ENDLESS
    except Deed as deed:
        return f"does {deed}"
    except BaseException as error:
        return f"raises {type(error).__name__}"
    return f"{type(given[0]).__name__}: {given[0]!r}"


Case: TypeAlias = Callable[[Exercises], object]


def _move(current: RunStatus, target: RunStatus) -> Case:
    def case(exercises: Exercises) -> object:
        try:
            return exercises.transition(current, target)
        except ValueError:
            return "refused"

    return case


class Thing:
    """An item that has no order and no equal."""

    def __repr__(self) -> str:
        return "thing"


def _deliver(start: int, *arrivals: tuple[int, object]) -> Case:
    """Offer items one after the other; the answer is what came out after each."""

    def case(exercises: Exercises) -> object:
        out: list[tuple[int, int, object]] = []
        offered = 0
        orderer: Orderer[object] = exercises.SeqOrderer(start, lambda seq, item: out.append((offered, seq, item)))
        for offered, (seq, item) in enumerate(arrivals):
            orderer.offer(seq, item)
        return [(offered, type(seq), seq, item) for offered, seq, item in out]

    return case


def _interleave(exercises: Exercises) -> object:
    out: list[tuple[str, int, str]] = []
    left: Orderer[str] = exercises.SeqOrderer(0, lambda seq, item: out.append(("left", seq, item)))
    right: Orderer[str] = exercises.SeqOrderer(3, lambda seq, item: out.append(("right", seq, item)))
    for orderer, seq in [(left, 3), (left, 1), (right, 4), (right, 3), (left, 0), (left, 2), (right, 5)]:
        orderer.offer(seq, str(seq))
    return out


def _cost(exercises: Exercises) -> object:
    """Compare the lines that run for 100 and for 400 items: four times as many is linear, sixteen times is not."""

    def reverse(size: int) -> None:
        orderer: Orderer[str] = exercises.SeqOrderer(0, lambda seq, item: None)
        for seq in reversed(range(size)):
            orderer.offer(seq, "x")

    folder = Path(sys.modules[exercises.SeqOrderer.__module__].__file__ or "").parent
    few, many = (lines_run(folder, partial(reverse, size), LINES) for size in (100, 400))
    return "linear" if many < 6 * few else "quadratic"


def _texts(*arrivals: int) -> Sequence[tuple[int, str]]:
    words = ("the", "", "the", "of", "", "rate")
    return [(seq, words[seq % len(words)]) for seq in arrivals]


_BEHIND_A_HOLE = [(seq, "x") for seq in range(1_199, -1, -1)]

NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))
SAMOA = timezone(timedelta(hours=-11))
YOUNG = [timedelta(0), timedelta(seconds=29), timedelta(seconds=30) - timedelta(microseconds=1)]
OLD = [timedelta(seconds=30), timedelta(seconds=31), timedelta(minutes=1), timedelta(days=1, seconds=1)]


def _resume(header: str | None) -> Case:
    return lambda exercises: exercises.resume_from(header)


def _merge(status: RunStatus | None, age: timedelta, zone: timezone, created_at: datetime = NOON) -> Case:
    now = created_at + age
    run = None if status is None else Run("run-1", "session-1", "user-1", status, 1, created_at, now)
    now = now.astimezone(zone)
    return lambda exercises: exercises.should_merge(run, now)


_ACTIVE = (RunStatus.RUNNING, RunStatus.STREAMING)
_REST = (RunStatus.PENDING, RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED)
_ZONES = (UTC, INDIA, SAMOA)
_YES = list(product(_ACTIVE, YOUNG, _ZONES))
_NO = [
    (None, timedelta(0), UTC),
    *product(_REST, YOUNG, _ZONES),
    *product(_ACTIVE, OLD, _ZONES),
]

HEADERS = [
    None, "", "0", "5", "41", "007", "1" * 17, "9" * 18, "0" * 18, "9" * 19, "1" * 25, "9" * 5000, "-1", "+7", " 7 ",
    "7\n", "1_000", "3.0", "5²", "²", "٣", "½", "five", "\udcb2",
]  # fmt: skip

CASES: dict[int, dict[str, Case]] = {
    1: {f"{current} to {target}": _move(current, target) for current, target in product(RunStatus, RunStatus)},
    2: {
        "in order": _deliver(0, *_texts(*range(12))),
        "reversed": _deliver(0, *_texts(*reversed(range(12)))),
        "shuffled": _deliver(0, *_texts(2, 0, 1, 1, 5, 3, 9, 4, 4, 0, 8, 7, 6, 6)),
        "two holes": _deliver(0, *_texts(1, 3, 0, 2)),
        "copies held": _deliver(0, (2, "c"), (1, "b"), (2, "c"), (1, "b"), (0, "a")),
        "after a cut": _deliver(6, *_texts(5, 6, 8, 0, 7, 6)),
        "items without order": _deliver(0, *((seq, Thing()) for seq in (2, 1, 2, 1, 0, 0))),
        "two at once": _interleave,
        "much behind a hole": _deliver(0, *_BEHIND_A_HOLE),
        "cost": _cost,
    },
    3: {ascii(header)[:30]: _resume(header) for header in HEADERS},
    4: {
        f"{word}: {status} {age} {zone}": _merge(status, age, zone)
        for word, cases in (("yes", _YES), ("no", _NO))
        for status, age, zone in cases
    }
    | {
        f"yes: {status}, over the full minute": _merge(status, YOUNG[1], UTC, NOON + timedelta(seconds=45))
        for status in _ACTIVE
    },
}
"""The cases of each exercise. Those of the fourth begin with the answer."""
