"""A screen as a picture: Rich's SVG, in a frame of ours that asks no other computer for anything.

Rich takes every character for one cell wide when it says how long a text is. Chinese ones take two, so each text is cut
here where the width changes and at gaps, and each piece is put where a terminal has it.
"""

import html
import io
import itertools
import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

_CELL: Final = 12.2  # what Rich makes of a character 20 high

_FRAME: Final = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-size: {char_height}px; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, \
"DejaVu Sans Mono", "Noto Sans Mono CJK SC", "Sarasa Mono SC", "PingFang SC", "Microsoft YaHei", monospace; }}
.{unique_id}-title {{ font-size: 16px; font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
{styles}
</style>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
_TEXT: Final = re.compile(r'<text class="(screen-r\d+)" x="([\d.]+)" y="([\d.]+)" [^>]*>([^<]*)</text>')
_PIECES: Final = re.compile(r"\S+(?:\xa0\S+)*")


def drawn(printed: str, title: str, columns: int = 80) -> str:
    """Return what was printed on a terminal of so many columns, colours included, as SVG."""
    console = Console(
        record=True, width=columns, file=io.StringIO(), color_system="truecolor", force_terminal=True,
        legacy_windows=False, highlight=False, _environ={},
    )  # fmt: skip
    for line in printed.splitlines():
        console.print(Text.from_ansi(line.rstrip()), soft_wrap=True)
    svg = console.export_svg(title=title, theme=SVG_EXPORT_THEME, code_format=_FRAME, unique_id="screen")
    return re.sub(r"\n\s*", "\n", _TEXT.sub(_cut, svg))


def _cut(text: re.Match[str]) -> str:
    style, x, y, said = text.groups()
    return "".join(
        f'<text class="{style}" x="{float(x) + at * _CELL:g}" y="{y}" textLength="{cell_len(piece) * _CELL:g}">'
        f"{html.escape(piece)}</text>\n"
        for at, piece in _pieces(html.unescape(said))
    )


def _pieces(said: str) -> Iterator[tuple[int, str]]:
    """Yield the pieces of a text that have one width and no gap, each with the cell that it begins at."""
    for match in _PIECES.finditer(said.replace(" ", "\xa0")):
        at = cell_len(said[: match.start()])
        for _, characters in itertools.groupby(match[0], cell_len):
            piece = "".join(characters)
            yield at, piece
            at += cell_len(piece)
