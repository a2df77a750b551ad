"""Data of a report, whatever its author made of it: brought to what the log can hold, or refused.

A report is written by code that thinks of its own work and not of ours: a tool's result may be a page of text or the
whole database. What is too much is cut, with a mark that says how much is missing, and what is no JSON is an error.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Final

from shared.events import Json
from shared.text import clean

MOST_MEMBERS: Final = 64  # of the data itself, which keeps all that it has
LONGEST_NAME: Final = 100  # characters, of those members
MOST_NESTED: Final = 32  # levels; what refers to itself has more
_WHOLE: Final = range(-(2**63), 2**64)  # what every reader of JSON takes for a number


def bounded(data: Mapping[str, object], most: int) -> dict[str, Json]:
    """Return a copy of the data whose texts have about `most` characters in all.

    Every member of the data itself stays; inside of them what comes too late is left out, under a mark.

    Raises:
        TypeError: there is something in it that JSON has no word for.
        ValueError: it has too many members, or one with too long a name.
    """
    if len(data) > MOST_MEMBERS or any(len(name) > LONGEST_NAME for name in data):
        raise ValueError(f"it has more than {MOST_MEMBERS} members, or a name of more than {LONGEST_NAME} characters")
    budget = _Budget(most)
    return {clean(name): budget.value(value, MOST_NESTED) for name, value in data.items()}


class _Budget:
    """How many characters are left."""

    def __init__(self, left: int) -> None:
        self._left = left

    def value(self, value: object, levels: int) -> Json:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, float):
            return value if isfinite(value) else None  # as most encoders have it
        if isinstance(value, int):
            if value not in _WHOLE:
                raise TypeError("a number has more than 64 bits")
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple):
            return self._items(value, levels)
        if isinstance(value, dict):
            return self._members(value, levels)
        raise TypeError(f"{type(value).__name__} is no JSON")

    def _text(self, text: str) -> str:
        kept = clean(text[: self._left])
        more = len(text) - self._left
        self._left = max(0, self._left - len(kept))
        return f"{kept}… ({more} characters more)" if more > 0 else kept

    def _items(self, items: "list[object] | tuple[object, ...]", levels: int) -> Json:
        kept: list[Json] = []
        for item in items:
            if not self._spend(levels):
                return [*kept, f"… ({len(items) - len(kept)} more)"]
            kept.append(self.value(item, levels - 1))
        return kept

    def _members(self, members: "dict[object, object]", levels: int) -> Json:
        kept: dict[str, Json] = {}
        for name, value in members.items():
            if not self._spend(levels):
                return {**kept, "…": f"({len(members) - len(kept)} more)"}
            if not isinstance(name, str):
                raise TypeError(f"a member's name is {type(name).__name__}, not str")
            kept[self._text(name)] = self.value(value, levels - 1)
        return kept

    def _spend(self, levels: int) -> bool:
        """Pay for one more value inside of another. False: there is nothing left for it."""
        if self._left <= 0 or levels <= 0:
            return False
        self._left -= 1
        return True
