"""Symptoms: common mistakes, recognised by what an exercise answers, and for each a question that leads there.

Each exercise has a table of cases for this alone, beside the one that judges it: it may ask what no verdict hangs on,
so that two mistakes can be told apart. The verdict never depends on a symptom. Nothing here is loaded while all passes.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from selfcheck.symptoms import merges, orderers, resumes, transitions
from selfcheck.symptoms.table import Answer, Recogniser
from selfcheck.texts import Message, say
from shared.events import Json

HANGS: Final = "does-not-return"
"""The one symptom that no answer shows."""

_TABLES: Final[Mapping[int, Recogniser]] = {
    1: transitions.TABLE,
    2: orderers.TABLE,
    3: resumes.TABLE,
    4: merges.TABLE,
}


def cases(exercise: int) -> Sequence[Json]:
    """Return what to probe an exercise with."""
    return _TABLES[exercise].cases


def recognise(exercise: int, answers: Sequence[Answer]) -> str:
    """Return the name of the symptom in the answers to `cases`, "" when none is known."""
    return _TABLES[exercise].recognise(answers)


def names(exercise: int | None = None) -> tuple[str, ...]:
    """Return the names of an exercise's symptoms, the general ones last; without an exercise, of all, each once."""
    if exercise is not None:
        return (*_TABLES[exercise].names, HANGS)
    return tuple(dict.fromkeys(name for number in _TABLES for name in names(number)))


def question(name: str) -> Message:
    """Return the question that a symptom asks its learner. Raises LookupError when it is shown, for a name not ours."""
    return say(f"symptoms.{name}")
