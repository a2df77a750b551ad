"""Cutting texts that are too long to travel beside what they are about. The whole is in the log."""

from typing import Final

from shared.events import Json

LONGEST_TEXT: Final = 2_000
"""Characters of a text in a line's `data` that travel. Not of a text that is to be appended (`delta`, `snapshot`): cut,
it would be lost."""


def shortened(data: Json) -> Json:
    """Return `data` with each long text in it cut, and a mark where it was."""
    match data:
        case str() if len(data) > LONGEST_TEXT:
            return f"{data[:LONGEST_TEXT]}… ({len(data) - LONGEST_TEXT} characters more)"
        case list():
            return [shortened(each) for each in data]
        case dict():
            return {name: shortened(value) for name, value in data.items()}
        case _:
            return data
