"""What a learner does next: what to turn to, and the command that plays exactly this again."""

import os
import sys
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from pathlib import Path

import msgspec

from selfcheck.results import CheckResult, Report, State
from selfcheck.texts import Message, say, text
from shared.foreign import shown


class Around(msgspec.Struct, frozen=True):
    """What the report of a run needs to know besides its results."""

    real: bool = False  # whether the services were started for this run, by `--real`
    passed_before: frozenset[int] = frozenset()
    folder: str | None = None  # of the run, as it is shown; None when none could be written
    activation: str | None = None  # what has to be typed first for our commands to be found; None when they are

    def is_regression(self, check: CheckResult) -> bool:
        """Whether a check passed the last time and does not now. What the surroundings are to blame for is none."""
        return check.id in self.passed_before and check.status not in (State.PASSED, State.ENVIRONMENT)


def next_step(check: CheckResult) -> Message:
    """Return what to do about a check that does not pass."""
    match check.status:
        case State.BLOCKED:
            return say("feedback.next_blocked", numbers=all_of(check.blocked_by))
        case State.CRASHED:
            return say("feedback.next_crashed", where=check.where)
        case State.HUNG:
            return say("feedback.next_hung", where=check.where)
        case State.TODO if check.exercise is not None:
            return say("feedback.next_todo", where=check.where, exercise=check.exercise)
        case State.FAILED if check.exercise is not None:
            return say("feedback.next_failed", where=check.where, exercise=check.exercise)
        case _:
            return say("feedback.next_environment")


def again(report: Report, check: CheckResult, real: bool, environment: Mapping[str, str] = os.environ) -> str:
    """Return the command that plays this check again: the same tree, seed and mode."""
    import shlex

    names_services = environment.get("REDIS_URL") or environment.get("DATABASE_URL")
    mock = "MOCK=1 " if report.mode == "mock" and names_services else ""
    options = f"--only {check.id} --seed {report.seed}{' --real' if real else ''}"
    return f"{mock}selfcheck run --tree {shlex.quote(report.tree)} {options}"


def activation(executable: str = sys.executable, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return what puts `selfcheck` on the shell's path, None when it is there, or when we cannot say."""
    ours = Path(executable).parent
    path = environment.get("PATH", "").split(os.pathsep)
    if not (ours / "selfcheck").exists() or any(folder and Path(folder, "selfcheck").exists() for folder in path):
        return None
    if not (ours / "activate").exists():
        return None
    import shlex

    return f". {shlex.quote(shown(ours / 'activate'))}"


def all_of(numbers: Iterable[object]) -> str:
    """Return numbers as they are listed in a sentence."""
    listed = [*map(str, numbers)]
    before, last = text(say("report.comma")).join(listed[:-1]), listed[-1:]
    return text(say("report.and")).join([before, *last] if before else last)


def first_difference(expected: str, actual: str) -> tuple[int, str, str] | None:
    """Return where two texts part and the words that differ there; None when they have no beginning in common.

    Words are what stands between spaces, without what closes them: `0, 1, 2, 3` and `0, 1, 3` part at the `2`.
    What stands in brackets says more about the rest, and is no place to part at.
    """
    due, came = expected.split(), actual.split()
    words = list(zip_longest(map(_bare, due), map(_bare, came), fillvalue="–"))
    same = next((at for at, (one, other) in enumerate(words) if one != other), None)
    if same is None:
        return None
    at = len(expected) if same >= len(due) else len(" ".join(due[:same])) + (same > 0)
    return (at, *words[same]) if at >= _LEAST_SHARED and not _is_aside(expected[: at + 1]) else None


_LEAST_SHARED = 6  # characters that two texts have to begin with for their difference to be worth a line


def _is_aside(words: str) -> bool:
    """Whether a text ends inside brackets: the counts in there differ because of what was before them."""
    return sum(map(words.count, "(（")) > sum(map(words.count, ")）"))


def _bare(word: str) -> str:
    return word.rstrip(",;，；")


def cut(words: str, most: int, around: int = 0) -> str:
    """Return a text cut to about so many characters, those `around` a place among them, with a count of all."""
    if len(words) <= most:
        return words
    begin = max(0, min(around - most // 2, len(words) - most))
    end = begin + most
    shown = f"{'…' if begin else ''}{words[begin:end]}{'…' if end < len(words) else ''}"
    return text(say("feedback.cut", shown=shown, count=f"{len(words):,}"))
