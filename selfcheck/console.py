"""The two consoles: what was asked for goes to `out`, everything about it to `err`."""

import codecs
import os
import sys
from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook
from rich.segment import Segment
from rich.text import Text

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


class Trimmed:
    """What is to be shown, without the spaces that fill its lines up to an edge: a file would keep them."""

    def __init__(self, whole: ConsoleRenderable) -> None:
        self._whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """Yield the segments. The spaces of an unfinished line stay: behind a prompt somebody types."""
        return trimmed(console.render(self._whole, options))


class Exact:
    """A line that keeps its last spaces: a patch does not apply without them."""

    def __init__(self, line: Text) -> None:
        self._line = line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """Yield the segments."""
        return iter(console.render(self._line, options))


class _Trimming(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [each if isinstance(each, Exact) else Trimmed(each) for each in renderables]


def trimmed(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Return segments without the spaces that stand before the end of a line."""
    line: list[Segment] = []
    for segment in segments:
        if segment.control or "\n" not in segment.text:
            line.append(segment)
            continue
        *ended, begun = segment.text.split("\n")
        for part in ended:
            yield from _without_last_spaces([*line, Segment(part, segment.style)])
            yield Segment("\n")
            line = []
        line = [Segment(begun, segment.style)] if begun else []
    yield from line


def _without_last_spaces(line: list[Segment]) -> list[Segment]:
    while line and not line[-1].control:
        last = line.pop()
        if words := last.text.rstrip(" "):
            return [*line, Segment(words, last.style)]
    return line


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
for console in (out, err):
    console.push_render_hook(_Trimming())


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
