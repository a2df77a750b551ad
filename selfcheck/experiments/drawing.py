"""Drawing: lanes, bars and the two columns in which what is, and what is broken, stand side by side."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from selfcheck.console import plain
from selfcheck.experiments.experiment import Row
from selfcheck.texts import Words, say
from selfcheck.wrapping import prose

WIDTH: Final = 39
"""Columns of each side."""


class Cell(Enum):
    """One event in a lane: the symbol, the one for terminals that have none, and the style."""

    HERE = ("█", "#", "green")
    LATE = ("▒", "+", "yellow")
    SECOND = ("▓", "=", "cyan")
    DROPPED = ("x", "x", "red")
    ABSENT = ("·", ".", "dim")

    @property
    def shown(self) -> tuple[str, str]:
        """What is printed, and its style."""
        symbol, ascii_symbol, style = self.value
        return ascii_symbol if plain() else symbol, style


def lane(cells: Iterable[Cell]) -> Text:
    """Draw events in a row, folded where the column ends."""
    return Text.assemble(*(cell.shown for cell in cells), overflow="fold")


def bar(value: float, most: float, label: str) -> Text:
    """Draw a value as a bar, the largest of them (`most`) as long as the column has room for, its label behind."""
    room = WIDTH - len(label) - 1
    length = round(room * value / most) if most else 0
    symbol = "#" if plain() else "█"
    return Text.assemble((symbol * max(length, int(value > 0)), "cyan"), " ", label)


def legend(*meanings: tuple[Cell, Words]) -> Text:
    """Say what the symbols of a lane mean."""
    parts: list[tuple[str, str] | str] = []
    for cell, meaning in meanings:
        parts += [("   ", "") if parts else "", cell.shown, f" {meaning}"]
    return Text.assemble(*parts, style="dim")


def good(words: Words) -> RenderableType:
    """Show words about what is as it should be."""
    return prose(_spelled(words), "green")


def bad(words: Words) -> RenderableType:
    """Show words about what is not."""
    return prose(_spelled(words), "red")


def quoted(text: str) -> Text:
    """Show a reply as it was on the screen."""
    return Text(f'"{text}"' if text else str(say("experiments.nothing")), "italic" if text else "red")


def side_by_side(rows: Sequence[Row]) -> RenderableType:
    """Draw all rows: each label over its two columns, and what the columns are at the top."""
    head = _columns(_head(say("experiments.healthy"), "bold green"), _head(say("experiments.broken"), "bold red"))
    parts: list[RenderableType] = [head]
    for row in rows:
        parts += [prose(str(row.label), "bold"), _columns(row.healthy, row.broken)]
        parts += [row.legend, ""] if row.legend is not None else [""]
    return Group(*parts[:-1])


def _head(words: Words, style: str) -> RenderableType:
    return Group(Text(str(words), style), Rule(characters="-" if plain() else "─", style=style))


def _spelled(words: Words) -> str:
    """Write an arrow as two characters before it is measured, where a terminal has none."""
    return str(words).replace("→", "->") if plain() else str(words)


def _columns(left: RenderableType, right: RenderableType) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=WIDTH)
    table.add_column(width=WIDTH)
    table.add_row(left, right)
    return table
