"""The two consoles: what was asked for goes to `out`, everything about it to `err`."""

import sys

from rich.console import Console

for stream in (sys.stdout, sys.stderr):
    # A terminal that cannot show a character shows a question mark, and loses nothing else.
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)


def plain() -> bool:
    """Whether the terminal lacks the characters that symbols and boxes need."""
    return not (out.encoding or "ascii").lower().startswith("utf")
