"""What `docs/screens` shows is what the program shows. Where a change is meant, `make screens` takes it over."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from rich.cells import cell_len

from selfcheck.grading import landlock
from selfcheck.texts import Lang
from tests.support.golden import COLUMNS
from tests.support.judging import TwoAtOnce, rooms
from tests.support.screens import ALL, FOLDER, Screen, file_of, screen
from tests.support.svg import drawn

Name = tuple[str, Lang]
CANNOT = {
    **({"watch": "a terminal of its own needs a POSIX system"} if sys.platform == "win32" else {}),
    **({"grade": "this kernel has no Landlock, and grading says so"} if not landlock.version() else {}),
}
CELL, LINE = 12.2, 24.4  # of the picture
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[Name, Screen]:
    """Return what is to be seen now."""
    room = rooms(tmp_path_factory)
    return TwoAtOnce(ALL, lambda name: screen(*name, room()))


@pytest.mark.parametrize("name", ALL, ids=".".join)
def test_the_screen_is_as_it_is_kept(name: Name, screens: TwoAtOnce[Name, Screen]) -> None:
    """As text and as a picture, byte for byte."""
    if reason := CANNOT.get(name[0]):
        pytest.skip(reason)
    assert screens[name].text == file_of(*name, "txt").read_text("utf-8"), "if this is meant: make screens"
    assert screens[name].svg == file_of(*name, "svg").read_text("utf-8"), "if this is meant: make screens"


@pytest.mark.parametrize("name", ALL, ids=".".join)
def test_the_screen_fits_a_terminal(name: Name) -> None:
    """80 columns, and nothing of the machine that it was made on."""
    lines = file_of(*name, "txt").read_text("utf-8").splitlines()
    assert [line for line in lines if cell_len(line) > COLUMNS or line != line.rstrip()] == []
    assert [line for line in lines if re.search(r"(?<![\w.])/(tmp|var|Users)/", line)] == []


@pytest.mark.parametrize("name", ALL, ids=".".join)
def test_the_picture_has_all_of_the_text_where_it_belongs(name: Name) -> None:
    """Each piece stands in its line and cell and is as wide as a terminal makes it, Chinese characters two cells."""
    kept = file_of(*name, "txt").read_text("utf-8")
    pieces = _pieces(file_of(*name, "svg").read_text("utf-8"))
    for piece in pieces:
        said = _said(piece)
        column, row = float(piece.attrib["x"]) / CELL, (float(piece.attrib["y"]) - 20) / LINE
        before, at = _cut(kept.splitlines()[round(row)], round(column))
        assert at.startswith(said)
        assert cell_len(before) == pytest.approx(column, abs=0.01)
        assert float(piece.attrib["textLength"]) == pytest.approx(CELL * cell_len(said), abs=0.01)
        assert len({cell_len(character) for character in said}) == 1
    assert "".join(_said(piece) for piece in pieces).replace(" ", "") == "".join(kept.split())


@pytest.mark.parametrize("name", ALL, ids=".".join)
def test_the_picture_asks_no_other_computer(name: Name) -> None:
    """No font, no script, no address but the one that says what SVG is."""
    svg = file_of(*name, "svg").read_text("utf-8")
    assert re.findall(r"(?:https?:)?//[^\s\"'<]*", svg) == ["http://www.w3.org/2000/svg"]
    assert re.findall(r"@import|@font-face|url\(|href|<script|<image", svg) == []


def test_nothing_else_is_kept() -> None:
    """A screen that nobody compares would only look like one."""
    assert sorted(FOLDER.iterdir()) == sorted(file_of(*name, suffix) for name in ALL for suffix in ("svg", "txt"))


def test_a_picture_has_colours_and_escapes() -> None:
    """What SVG has a meaning for is text in it."""
    svg = drawn("\x1b[31ma <b> & \x1b[0m 规则x\n", "t")
    assert [(piece.text, piece.attrib["x"], piece.attrib["textLength"]) for piece in _pieces(svg)] == [
        ("a\xa0<b>\xa0&", "0", "85.4"),
        ("规则", "109.8", "48.8"),
        ("x", "158.6", "12.2"),
    ]
    assert "fill: #cc555a" in svg


def _pieces(svg: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(svg).iter(f"{SVG}text") if "textLength" in each.attrib]


def _said(piece: ElementTree.Element) -> str:
    return str(piece.text).replace("\xa0", " ")


def _cut(line: str, column: int) -> tuple[str, str]:
    """Return what is before a cell of a line, and what begins there."""
    at = next(at for at in range(len(line)) if cell_len(line[:at]) >= column)
    return line[:at], line[at:]
