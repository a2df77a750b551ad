"""A sample of the catalogue, judged for real: every kind of mistake is caught by the check that should, and told right.

The whole catalogue takes minutes: `python -m tests.mutants.run`.
"""

import re
from dataclasses import dataclass

import pytest

from tests.mutants.catalog import BROKEN, HOSTILE, MISTAKES, VARIANTS, Mutant, write
from tests.mutants.run import ALL_CHECKS, complaint
from tests.support.judging import Judged, TwoAtOnce, judge, rooms


@dataclass(frozen=True, slots=True)
class Submission:
    """One of the sample. What only a check of its own can tell is not played in the others."""

    mutant: Mutant
    alone: bool

    @property
    def name(self) -> str:
        """The mutant's name."""
        return self.mutant.name

    @property
    def played(self) -> list[int]:
        """The checks that are played."""
        return [self.mutant.caught_by[0]] if self.alone else [*ALL_CHECKS]


def is_import(mutant: Mutant) -> bool:
    """Whether it spoils a file as a whole, and is there once for each file."""
    return mutant.name.endswith(("-in-lifecycle", "-in-delivery"))


def one_of_each(mutants: list[Mutant], size: int) -> list[Mutant]:
    """Return one of each group of neighbours of this size, not the same place in each."""
    groups = [mutants[at : at + size] for at in range(0, len(mutants), size)]
    return [group[at % size] for at, group in enumerate(groups)]


def kind_of(misfit: Mutant) -> str:
    """Return what is wrong with a name, whatever the name."""
    return re.sub("^(transition|orderer|resume-from|should-merge)-", "", misfit.name)


IMPORTS = one_of_each([each for each in BROKEN if is_import(each)], 2)
MISFITS = {kind_of(each): each for each in BROKEN if not is_import(each)}  # the last of each kind
DEEDS = [each for each in HOSTILE if "-in-" in each.name]  # each deed is there once for each exercise
LIES = [each for each in HOSTILE if "-in-" not in each.name]

SAMPLE = {
    each.name: each
    for each in [
        *(Submission(mutant, alone=False) for mutant in (*MISTAKES[::7], *IMPORTS, *VARIANTS)),
        *(Submission(mutant, alone=True) for mutant in (*MISFITS.values(), *one_of_each(DEEDS, 4), *LIES)),
    ]
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[str, Judged]:
    """Return each of the sample, judged."""
    room = rooms(tmp_path_factory)

    def run(name: str) -> Judged:
        submission = SAMPLE[name]
        options = ["--only", str(submission.played[0])] if submission.alone else []
        return judge(write(submission.mutant, room() / "tree"), *options)

    return TwoAtOnce(SAMPLE, run)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_submission_is_judged_as_the_catalogue_says(name: str, judged: TwoAtOnce[str, Judged]) -> None:
    """Caught in one of its states, blocking nothing by anybody else; or right, and passed."""
    assert complaint(SAMPLE[name].mutant, judged[name], SAMPLE[name].played) == ""


def test_the_sample_has_every_exercise_and_every_deed() -> None:
    """Some mistakes of each exercise, every deed once and in every exercise some, and all that is right."""
    mistakes = [each.mutant.exercise for each in SAMPLE.values() if each.mutant in MISTAKES]
    assert {exercise: mistakes.count(exercise) >= 3 for exercise in (1, 2, 3, 4)} == dict.fromkeys((1, 2, 3, 4), True)
    deeds = [each.mutant for each in SAMPLE.values() if each.mutant in DEEDS]
    assert len({each.name.partition("-in-")[0] for each in deeds}) == len(deeds) == len(DEEDS) // 4
    assert {each.exercise for each in deeds} == {1, 2, 3, 4}
    assert [each.name for each in VARIANTS if each.name not in SAMPLE] == []
