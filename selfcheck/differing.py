"""`selfcheck diff`: what the solution changes in the starter, coloured."""

from rich.text import Text

from selfcheck import trees
from selfcheck.console import Exact, out

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show(exercise: int | None) -> None:
    """Print the difference in one exercise, or in all of them."""
    for line in trees.difference(exercise).splitlines():
        style = "bold" if line.startswith(("+++", "---")) else STYLES.get(line[:1], "")
        out.print(Exact(Text(line, style)), soft_wrap=True)
