"""Golden screens: whatever a person sees of a run is kept, and changes only on purpose (`make golden`)."""

import re
import unicodedata
from collections.abc import Iterator

import pytest

from tests.support.golden import COLUMNS, FOLDER, SCREENS, file_of, printed
from tests.support.judging import TwoAtOnce, rooms

Screen = tuple[str, str, str]
ESCAPE = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[Screen, str]:
    """Return what is printed."""
    room = rooms(tmp_path_factory)
    return TwoAtOnce(SCREENS, lambda screen: printed(room() / "kit", *screen))


def cells(line: str) -> int:
    """Return how many cells a terminal needs for a line."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


def lines_of(screen: Screen) -> Iterator[str]:
    """Yield the lines that are kept of a screen, without what only colours."""
    yield from ESCAPE.sub("", file_of(*screen).read_text("utf-8")).splitlines()


@pytest.mark.parametrize("screen", SCREENS, ids=".".join)
def test_the_screen_is_as_it_is_kept(screen: Screen, screens: TwoAtOnce[Screen, str]) -> None:
    """Byte for byte. Where the change is meant, `make golden` takes it over."""
    assert screens[screen] == file_of(*screen).read_text("utf-8"), "if this is meant: make golden"


@pytest.mark.parametrize("screen", SCREENS, ids=".".join)
def test_no_line_is_wider_than_the_terminal_or_longer_than_it_needs(screen: Screen) -> None:
    """Nothing is cut off by a terminal, and nothing but spaces stands at no line's end."""
    lines = [*lines_of(screen)]
    assert [line for line in lines if cells(line) > COLUMNS] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize(("tree", "lang"), sorted({(tree, lang) for tree, lang, _ in SCREENS}))
def test_colours_say_nothing_more(tree: str, lang: str) -> None:
    """Without them the screen is the same, character by character."""
    colour = file_of(tree, lang, "colour").read_text("utf-8")
    assert ESCAPE.sub("", colour) == file_of(tree, lang, "plain").read_text("utf-8")
    assert ESCAPE.search(colour) is not None


def test_nothing_else_is_kept() -> None:
    """A screen that nobody compares would only look like one."""
    assert sorted(FOLDER.iterdir()) == sorted(file_of(*screen) for screen in SCREENS)
