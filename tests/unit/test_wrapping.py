"""Lines of Chinese: broken between any two characters, and never beside the wrong mark."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from selfcheck.wrapping import broken, prose, wrapped


@pytest.mark.parametrize(
    ("words", "width", "lines"),
    [
        ("", 10, []),
        ("一二三四五", 6, ["一二三", "四五"]),
        ("一二三四五", 7, ["一二三", "四五"]),
        ("一二三，四", 6, ["一二", "三，四"]),
        ("一二（三）四", 6, ["一二", "（三）", "四"]),
        ("从 Last-Event-ID 继续", 16, ["从 Last-Event-ID", "继续"]),
        ("从 Last-Event-ID 继续", 14, ["从", "Last-Event-ID", "继续"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("一二\n三", 10, ["一二", "三"]),
        ("  一二", 4, ["  一", "二"]),
        ("一二 [a: 1; b]", 12, ["一二", "[a: 1; b]"]),
    ],
)
def test_lines_are_broken_as_chinese_is(words: str, width: int, lines: list[str]) -> None:
    """In cells, of which a Chinese character has two."""
    assert wrapped(words, width) == lines


@pytest.mark.parametrize("width", range(4, 60))
def test_no_line_is_too_wide_and_nothing_is_lost(width: int) -> None:
    """Whatever the width, the characters are all there and in order; spaces may go where a line ends."""
    words = "没有、为空，或者不是 1 到 18 位 ASCII 数字的，都不算游标：从 0 开始（resume_from）。“好”…"
    lines = wrapped(words, width)
    assert max(map(cell_len, lines)) <= width
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")


@pytest.mark.parametrize("width", [4, 9, 20, 60])
def test_styles_go_where_their_words_go(width: int) -> None:
    """The lines are those of the bare text, and each character keeps its style."""
    words = Text.assemble(("（默认 15s） ", "yellow"), ("一次认领不续期能维持多久 from here on", "dim"))
    lines = broken(words, width)
    assert [line.plain for line in lines] == wrapped(words.plain, width)
    styled = "".join(line.plain[span.start : span.end] for line in lines for span in line.spans if span.style == "dim")
    assert styled.replace(" ", "") == "一次认领不续期能维持多久fromhereon"


def test_a_column_of_chinese_is_as_wide_as_it_has_to_be() -> None:
    """A table measures it in cells, and breaks it in its column."""
    stream = io.StringIO()
    table = Table.grid(padding=(0, 1))
    table.add_row(prose("规则"), prose("按顺序送达，不重不漏"))
    table.add_row("x", prose("plain words as before"))
    Console(file=stream, width=17, color_system=None).print(table)
    assert [line.rstrip() for line in stream.getvalue().splitlines()] == [
        "规则 按顺序送达，",
        "     不重不漏",
        "x    plain words",
        "     as before",
    ]
