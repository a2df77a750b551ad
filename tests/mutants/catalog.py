"""What the judge is judged by: wrong submissions, one mistake each, and right ones that look different.

`MUTANTS` must not turn green: each says which checks see it, with which of the states they may answer, and what somebody
would notice. `VARIANTS` must pass all six checks. `write` makes a tree of either.
"""

from tests.mutants.hostile import BROKEN, HOSTILE
from tests.mutants.merges import MERGES
from tests.mutants.orderers import ORDERERS
from tests.mutants.resumes import RESUMES
from tests.mutants.submission import Mutant, State, write
from tests.mutants.transitions import TRANSITIONS
from tests.mutants.variants import VARIANTS

MISTAKES: tuple[Mutant, ...] = (*TRANSITIONS, *ORDERERS, *RESUMES, *MERGES)
"""What somebody who means well writes."""

MUTANTS: tuple[Mutant, ...] = (*MISTAKES, *BROKEN, *HOSTILE)
"""All that must not turn green."""

__all__ = ["BROKEN", "HOSTILE", "MISTAKES", "MUTANTS", "VARIANTS", "Mutant", "State", "write"]
