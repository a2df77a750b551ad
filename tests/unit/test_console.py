"""The consoles: what stands at the end of a line."""

import subprocess
import sys

import pytest
from rich.control import Control
from rich.segment import Segment
from rich.style import Style

from selfcheck.console import trimmed

DIM = Style(dim=True)


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["one", "   ", "\n", "two  \n"], "one\ntwo\n"),
        (["one  ", "  two", "  "], "one    two  "),
        (["  one\n\n", "   \n", "  two"], "  one\n\n\n  two"),
        ([" ", " > "], "  > "),
    ],
)
def test_no_line_ends_with_spaces(pieces: list[str], said: str) -> None:
    """They go when the line does; at its beginning, inside it, and behind a prompt they stay."""
    assert "".join(segment.text for segment in trimmed(Segment(piece, DIM) for piece in pieces)) == said


def test_words_keep_their_colours_and_the_terminal_its_orders() -> None:
    """Only spaces are left out."""
    order = Control.home().segment
    said = [*trimmed([Segment("one ", DIM), Segment("\n"), order, Segment("two", DIM)])]
    assert said == [Segment("one", DIM), Segment("\n"), order, Segment("two", DIM)]


TABLE = """
from rich.table import Table
from selfcheck.console import err, out
for console in (out, err):
    table = Table("name", "words", box=None)
    table.add_row("a", "one two three")
    console.print(table)
    console.print("> ", end="")
"""


def test_what_is_printed_fills_no_line() -> None:
    """A table's cells are not filled up to the edge of the table, on neither console."""
    done = subprocess.run([sys.executable, "-c", TABLE], capture_output=True, text=True, check=True)
    said = " name  words\n a     one two three\n> "
    assert (done.stdout, done.stderr) == (said, said)
