"""What the command says around a hint."""

from typing import Final

TEXTS: Final = {
    "head": "Exercise {exercise}, hint {level} of {levels}",
    "tailored": "For what the last run has seen:",
    "next": "Try it, then run selfcheck. One more hint:\n    {more}",
    "last": "That was the last one. The whole solution:\n    selfcheck diff {exercise}",
    "passes": "Exercise {exercise} passed in the last run: there is nothing to hint at. To read one all the same:\n"
    "    {more} --level 1",
    "all_seen": "You have seen all three. Now you may read them once more, look at the solution, or begin with a clean "
    "body:\n"
    "    {more} --again\n"
    "    selfcheck diff {exercise}\n"
    "    selfcheck reset {exercise}{options}",
    "not_kept": "This could not be remembered, so the next call begins anew. The next one is\n    {more} --level 2",
}
