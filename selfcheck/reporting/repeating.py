"""Repetitions: a run that is played several times is told once, check by check by what came out worst."""

from collections.abc import Mapping, Sequence

from selfcheck.results import CheckResult, State

_FROM_GOOD_TO_BAD = (
    State.PASSED,
    State.BLOCKED,
    State.TODO,
    State.FAILED,
    State.CRASHED,
    State.HUNG,
    State.ENVIRONMENT,
)
"""The last one ends with an exit code of its own, so nothing may hide it."""


class Repetitions:
    """All results of all repetitions, in the order in which they came."""

    def __init__(self) -> None:
        self._results: dict[int, list[CheckResult]] = {}

    def add(self, result: CheckResult) -> None:
        """Take one more result of a check."""
        self._results.setdefault(result.id, []).append(result)

    def played(self, check_id: int) -> int:
        """Return how many results of a check there are."""
        return len(self._results.get(check_id, ()))

    def worst(self) -> tuple[CheckResult, ...]:
        """Return one result for each check that was played: the first of the worst ones."""
        return tuple(max(results, key=_badness) for _, results in sorted(self._results.items()))

    def flaky(self) -> Mapping[int, Sequence[State]]:
        """Return the states of each check that did not always come out the same, in the order in which they came."""
        states = {number: [each.status for each in results] for number, results in sorted(self._results.items())}
        return {number: each for number, each in states.items() if len(set(each)) > 1}


def _badness(result: CheckResult) -> int:
    return _FROM_GOOD_TO_BAD.index(result.status)
