"""Repetitions: the worst of each check, and what did not always come out the same."""

from selfcheck.reporting.repeating import Repetitions
from selfcheck.results import CheckResult, State


def of(*results: tuple[int, State, str]) -> Repetitions:
    """Return repetitions with these results."""
    repetitions = Repetitions()
    for number, state, name in results:
        repetitions.add(CheckResult(number, name, None, state))
    return repetitions


def test_the_first_of_the_worst_results_stands_for_a_check() -> None:
    """In the order of the checks, not in that of their coming."""
    repetitions = of(
        (2, State.PASSED, "a"), (1, State.PASSED, "b"), (2, State.FAILED, "c"), (2, State.FAILED, "d"),
        (2, State.TODO, "e"),
    )  # fmt: skip
    assert [(check.id, check.status, check.name) for check in repetitions.worst()] == [
        (1, State.PASSED, "b"),
        (2, State.FAILED, "c"),
    ]


def test_the_surroundings_are_the_worst_for_they_have_an_exit_code_of_their_own() -> None:
    """And passing is the best; every state has a place."""
    assert [check.status for check in of(*((1, state, "") for state in State)).worst()] == [State.ENVIRONMENT]
    for state in set(State) - {State.PASSED}:
        assert [check.status for check in of((1, state, ""), (1, State.PASSED, "")).worst()] == [state]


def test_what_differs_is_flaky() -> None:
    """All its states, in the order in which they came."""
    repetitions = of(
        (1, State.PASSED, ""), (2, State.FAILED, ""), (3, State.FAILED, ""), (1, State.PASSED, ""),
        (2, State.PASSED, ""), (3, State.FAILED, ""),
    )  # fmt: skip
    assert repetitions.flaky() == {2: [State.FAILED, State.PASSED]}
    assert [repetitions.played(number) for number in (1, 4)] == [2, 0]
