"""What the command says around a hint."""

from typing import Final

TEXTS: Final = {
    "head": "Exercise {exercise}, hint {level} of {levels}",
    "tailored": "For what the last run has seen:",
    "next": "Try it, then run selfcheck. One more: selfcheck hint {exercise}",
    "last": "That was the last one. The whole solution: selfcheck diff {exercise}",
    "passes": "Exercise {exercise} passes as the last run saw it: there is nothing to hint at. To read a hint all the "
    "same: selfcheck hint {exercise} --level 1",
    "all_seen": "You have seen all three. What now? Read them once more: selfcheck hint {exercise} --again. See the "
    "solution: selfcheck diff {exercise}. Begin with a clean body: selfcheck reset {exercise}.",
    "not_kept": "This could not be remembered, so the next call begins anew: name the one you want with "
    "selfcheck hint {exercise} --level 2",
}
