"""A sample of the catalogue, judged by the command: caught by the checks that should, and told right.

`selfcheck verify` judges the whole catalogue, by a shorter way; this is the long way that a learner goes.
"""

import pytest

from tests.mutants.catalog import MISTAKES, MUTANTS, VARIANTS, Mutant, write
from tests.mutants.complaint import complaint
from tests.support.judging import Judged, TwoAtOnce, judge, rooms

KINDS = ("endless-loop-in-lifecycle", "orderer-async", "os-exit-in-offer", "always-equal-resume-from")

SAMPLE: dict[str, Mutant] = {
    each.name: each
    for each in (
        *MISTAKES[::20],
        *(mutant for mutant in MUTANTS if mutant.name in KINDS),
        *VARIANTS[:2],
    )
}
"""Mistakes of each exercise, one of each kind that does not load or fights back, and some that are right."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[str, Judged]:
    """Return each of the sample, judged."""
    room = rooms(tmp_path_factory)
    return TwoAtOnce(SAMPLE, lambda name: judge(write(SAMPLE[name], room() / "tree")))


@pytest.mark.parametrize("name", SAMPLE)
def test_a_submission_is_judged_as_the_catalogue_says(name: str, judged: TwoAtOnce[str, Judged]) -> None:
    """Caught in one of its states, blocking nothing by anybody else; or right, and passed."""
    assert complaint(SAMPLE[name], judged[name]) == ""


def test_the_sample_has_something_of_every_kind() -> None:
    """Mistakes of all four exercises, and whatever is named."""
    assert {each.exercise for each in SAMPLE.values() if each in MISTAKES} == {1, 2, 3, 4}
    assert {*KINDS} <= {*SAMPLE}
