"""All sixteen combinations of solved and unsolved exercises: each exercise turns its own check green, and no other."""

from itertools import combinations
from typing import TypeAlias

import pytest

from tests.support.judging import Judged, TwoAtOnce, judge, rooms, tree_with

CHECK_OF = {1: 1, 2: 2, 3: 4, 4: 5}
Solved: TypeAlias = tuple[int, ...]
ALL: list[Solved] = [solved for count in range(5) for solved in combinations((1, 2, 3, 4), count)]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[Solved, Judged]:
    """Return the judged tree for each combination."""
    room = rooms(tmp_path_factory)
    return TwoAtOnce(ALL, lambda solved: judge(tree_with(room() / "tree", solved)))


def expected(solved: Solved) -> dict[int, tuple[str, list[int]]]:
    """Return state and blockers of every check that does not pass.

    Checks 3 and 6 pass with everything. A right cursor shows only through a right orderer: what the bus delivers again
    behind it comes out twice.
    """
    states: dict[int, tuple[str, list[int]]] = {
        check: ("todo", []) for exercise, check in CHECK_OF.items() if exercise not in solved
    }
    if 3 in solved and 2 not in solved:
        states[4] = ("blocked", [2])
    return states


@pytest.mark.parametrize("solved", ALL, ids=lambda solved: "+".join(map(str, solved)) or "none")
def test_what_is_solved_is_green_and_what_is_not_is_to_do(solved: Solved, judged: TwoAtOnce[Solved, Judged]) -> None:
    """Whatever else is solved; the fourth check alone needs two, and says so."""
    wrong = {number: check for number, check in judged[solved].checks.items() if check["status"] != "passed"}
    assert {number: (check["status"], check["blocked_by"]) for number, check in wrong.items()} == expected(solved)
    assert judged[solved].code == (0 if len(solved) == 4 else 1)
    assert judged[solved].left_behind == []


def test_one_more_solved_turns_exactly_its_check_green(judged: TwoAtOnce[Solved, Judged]) -> None:
    """From every combination, by every exercise that is missing in it; the second frees the fourth check, too."""
    for solved in ALL:
        for exercise in set(CHECK_OF) - set(solved):
            more = tuple(sorted((*solved, exercise)))
            turned = set(judged[solved].wrong) - set(judged[more].wrong)
            if exercise == 3 and 2 not in solved:
                assert turned == set()
            elif exercise == 2 and 3 in solved:
                assert turned == {2, 4}
            else:
                assert turned == {CHECK_OF[exercise]}
            assert set(judged[more].wrong) <= set(judged[solved].wrong)
