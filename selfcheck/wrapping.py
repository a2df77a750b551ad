"""Break Chinese into lines: after any character, but never before what closes, nor behind what opens.

Rich breaks at spaces alone, of which Chinese has few. A Chinese character is two cells wide, and widths are in cells.
"""

import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.text import Text

_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60"
_OPENING = "（“《「"
_CLOSING = "，。；：、）！？”》」…"
_REMARK = r"\[[^\[\]]{1,30}\]"  # stays together
_WORD = rf"[{_OPENING}]*(?:[^\s{_WIDE}{_OPENING}{_CLOSING}]+|[^\s{_OPENING}{_CLOSING}])?[{_CLOSING}]*"
_UNIT = re.compile(rf"\s+|{_REMARK}|{_WORD}")


class Prose:
    """A text with Chinese in it, as something that Rich can put anywhere."""

    def __init__(self, words: str, style: str = "") -> None:
        self._words = words
        self._style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the lines."""
        yield Text("\n".join(wrapped(self._words, options.max_width)), self._style, no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return how narrow it can be, and how wide it would be."""
        narrowest = max((cell_len(unit) for unit in _UNIT.findall(self._words)), default=0)
        widest = max((cell_len(line) for line in self._words.splitlines()), default=0)
        return Measurement(narrowest, widest).with_maximum(options.max_width)


def prose(words: str, style: str = "") -> RenderableType:
    """Return a text that breaks as its language does."""
    return Prose(words, style) if has_chinese(words) else Text(words, style)


def has_chinese(words: str) -> bool:
    """Whether there is a Chinese character in it."""
    return re.search(f"[{_WIDE}]", words) is not None


def wrapped(words: str, width: int) -> list[str]:
    """Return the lines of a text, each at most so many cells wide. What cannot be broken is cut."""
    return [line for paragraph in words.splitlines() for line in _lines(paragraph, max(width, 2))]


def broken(words: Text, width: int) -> list[Text]:
    """Return the lines of a text with styles, each at most so many cells wide."""
    lines: list[Text] = []
    at = 0
    for line in wrapped(words.plain, width):
        at = words.plain.index(line, at)
        lines.append(words[at : at + len(line)])
        at += len(line)
    return lines


def _lines(paragraph: str, width: int) -> Iterator[str]:
    line = ""
    for unit in _UNIT.findall(paragraph):
        room = width - cell_len(line)
        if line.strip() and cell_len(unit) > room:
            if unit.isspace():
                continue  # a space at the break is the break
            yield line.rstrip()
            line = ""
        *whole, line = chop_cells(line + unit, width) or [""]
        yield from whole
    yield line.rstrip()
