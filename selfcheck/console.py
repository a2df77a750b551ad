"""The two consoles: what was asked for goes to `out`, everything about it to `err`."""

import codecs
import os
import sys

from rich.console import Console

from selfcheck.texts import Words

_PLAIN = {"→": "->", "…": "...", "✓": "+", "✗": "x", "○": "o", "—": "-", "–": "-", "▶": ">", "×": "x", "·": "-"}


def _spell(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError), "it is asked about what cannot be encoded"
    return "".join(_PLAIN.get(character, "?") for character in error.object[error.start : error.end]), error.end


codecs.register_error("spelled", _spell)

for stream in (sys.stdout, sys.stderr):
    # A terminal that cannot show a character shows one like it, or a question mark, and loses nothing else.
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="spelled")


class Output(Console):
    """A console whose reader may leave: `selfcheck | head`."""

    outlives_its_reader = False  # True: what is done beside the printing is done to its end

    def on_broken_pipe(self) -> None:
        """Print no more; end the command, unless there is something else to it."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not self.outlives_its_reader:
            raise SystemExit(1)


out = Output(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)


def tell(fault: Words) -> None:
    """Say in one line on `err` why a command could not do its work."""
    err.print(f"selfcheck: {fault}", style="red", markup=False, soft_wrap=True)


def can_show(words: Words) -> bool:
    """Whether what reads `out` has all characters of a text."""
    try:
        str(words).encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plain() -> bool:
    """Whether the terminal lacks the characters that symbols and boxes need."""
    return not (out.encoding or "ascii").lower().startswith("utf")
