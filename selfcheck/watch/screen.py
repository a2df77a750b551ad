"""How the board is shown: drawn anew on a terminal, told in lines that follow each other everywhere else."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol

from rich.console import Console
from rich.text import Text

from selfcheck.console import plain
from selfcheck.reporting.details import Page
from selfcheck.texts import say
from selfcheck.watch.board import Board, Row

HOME, TO_LINE_END, TO_SCREEN_END = "\x1b[H", "\x1b[K", "\x1b[J"


class Screen(Protocol):
    """Where a board is shown. Each call is one thing that has happened."""

    def begin(self, board: Board) -> None:
        """Show what is watched."""
        ...

    def news(self, board: Board) -> None:
        """Show what has happened to the tree."""
        ...

    def verdict(self, board: Board, row: Row) -> None:
        """Show a verdict."""
        ...

    def over(self, board: Board) -> None:
        """Show that all verdicts that were due are there."""
        ...


class Drawn:
    """A terminal: the whole board, in the place of the one before."""

    def __init__(self, console: Console, *, keys: bool) -> None:
        self._console = console
        self._keys = keys

    def begin(self, board: Board) -> None:
        """Clear the terminal, and draw."""
        self._console.clear()
        self.over(board)

    def news(self, board: Board) -> None:
        """Draw."""
        self.over(board)

    def verdict(self, board: Board, row: Row) -> None:  # all rows are drawn
        """Draw."""
        self.over(board)

    def over(self, board: Board) -> None:
        """Draw."""
        page = Page(self._console.width, plain(), cropped=True)
        keys = [Text(""), Text(f"  {say('watch.keys')}", "dim")] if self._keys else []
        room = max(self._console.height - 1 - len(keys), 1)
        with self._console.capture() as drawn:
            _print(self._console, [*_fitting(board, page, room), *keys])
        self._console.file.write(f"{HOME}{drawn.get().replace(chr(10), f'{TO_LINE_END}{chr(10)}')}{TO_SCREEN_END}")
        self._console.file.flush()


class Told:
    """A file, a pipe, a terminal that cannot move: what happens, line by line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._told: list[Text] = []  # about the first that does not pass

    def begin(self, board: Board) -> None:
        """Tell what is watched."""
        _print(self._console, [board.head()])

    def news(self, board: Board) -> None:
        """Tell what has happened."""
        page = self._page()
        _print(self._console, [Text(""), *board.told(page)])

    def verdict(self, board: Board, row: Row) -> None:  # the others are above
        """Tell the verdict."""
        _print(self._console, [row.line(plain=plain())])

    def over(self, board: Board) -> None:
        """Tell how many pass, and all about the first that does not, unless that is what stands above already."""
        before, self._told = self._told, [*board.first_wrong(self._page())]
        same = bool(before) and self._told == before
        wrong = [Text(f"  {say('watch.as_before')}", "dim")] if same else self._told
        _print(self._console, [board.score(), *wrong, *board.prints()])

    def _page(self) -> Page:
        return Page(self._console.width, plain(), cropped=True)


def screen(console: Console, *, keys: bool) -> Screen:
    """Return how to show a board here."""
    can_move = console.is_terminal and not console.is_dumb_terminal and not console.legacy_windows
    return Drawn(console, keys=keys) if can_move else Told(console)


def _lines(board: Board, page: Page) -> Iterator[Text]:
    yield board.head()
    yield Text("")
    yield from (row.line(plain=page.plain) for row in board.rows.values())
    yield Text("")
    yield board.score()
    yield from board.told(page)
    yield from board.first_wrong(page)
    yield from board.prints()


def _fitting(board: Board, page: Page, room: int) -> list[Text]:
    """Return as many lines as there is room for, the last of which says how many more there are, and where."""
    lines = _lines(board, page)
    fitting = list(islice(lines, room))
    if more := sum(1 for _ in lines):
        folder = board.around.folder
        words = say("watch.more", count=more + 1)
        if folder is not None:
            words = say("watch.more_in", count=more + 1, folder=folder)
        fitting[-1] = Text(f"  {words}", "dim")
    return fitting


def _print(console: Console, lines: Iterable[Text]) -> None:
    for line in lines:
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
