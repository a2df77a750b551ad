"""What the house writes to its log, kept as values."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from shared.events import Json
from shared.logs import ROOT


@dataclass(slots=True)
class Notes:
    """The lines that were written, oldest first: (event, fields)."""

    lines: list[tuple[str, dict[str, Json]]] = field(default_factory=list)

    def of(self, event: str) -> list[dict[str, Json]]:
        """Return the fields of all lines of this event."""
        return [fields for said, fields in self.lines if said == event]


class _Keeper(logging.Handler):
    def __init__(self, notes: Notes) -> None:
        super().__init__(logging.DEBUG)
        self._notes = notes

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Json] = getattr(record, "fields", {})
        self._notes.lines.append((record.getMessage(), fields))


@contextmanager
def noting() -> Iterator[Notes]:
    """Keep what is written inside the block."""
    notes, root = Notes(), logging.getLogger(ROOT)
    keeper, level = _Keeper(notes), root.level
    root.addHandler(keeper)
    root.setLevel(logging.DEBUG)
    try:
        yield notes
    finally:
        root.removeHandler(keeper)
        root.setLevel(level)
