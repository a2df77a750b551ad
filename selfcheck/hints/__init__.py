"""Hints: three for each exercise, from a question to nearly the code, one more at each call.

1 asks for the rule, 2 tells the shape of what is to be written and where people fall, 3 is the idea line by line. When
the last run has shown a symptom, its question takes the place of the first.
"""

from typing import Final

from selfcheck.texts import Message, say

LEVELS: Final = (1, 2, 3)
EXERCISES: Final = (1, 2, 3, 4)


def hint(exercise: int, level: int) -> Message:
    """Return a hint. Raises LookupError when it is shown, for one that there is not."""
    return say(f"hints.{exercise}-{level}")


def all_hints() -> tuple[Message, ...]:
    """Return every hint there is to be, exercise by exercise."""
    return tuple(hint(exercise, level) for exercise in EXERCISES for level in LEVELS)
