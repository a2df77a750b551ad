"""`selfcheck diff`: what the solution changes in the starter, coloured."""

from selfcheck import trees
from selfcheck.console import out

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show(exercise: int | None) -> None:
    """Print the difference in one exercise, or in all of them."""
    for line in trees.difference(exercise).splitlines():
        style = "bold" if line.startswith(("+++", "---")) else STYLES.get(line[:1], "")
        out.print(line, style=style, markup=False, soft_wrap=True)
