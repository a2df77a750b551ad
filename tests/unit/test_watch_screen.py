"""The board as it is drawn, and as it is told."""

import io
from datetime import datetime

import pytest
from rich.console import Console

from selfcheck.checks import CHECKS
from selfcheck.reporting.feedback import Around
from selfcheck.results import CheckResult, Finding, Report, State
from selfcheck.texts import say
from selfcheck.watch.board import Board, Row
from selfcheck.watch.screen import Drawn, Told, screen
from shared.exercises import Fault

NOON = datetime(2026, 1, 1, 12)


def result(number: int, state: State, blocked_by: tuple[int, ...] = ()) -> CheckResult:
    """Return a result with a finding of a few words."""
    check = CHECKS[number - 1]
    finding = Finding("the rule", "this", "that", "something else")
    return CheckResult(number, check.name, check.exercise, state, finding, "tree/delivery.py:3", blocked_by)


@pytest.fixture
def board() -> Board:
    """A board on which two of three pass, one of them since the last save."""
    rows = {number: Row(CHECKS[number - 1]) for number in (1, 2, 3)}
    rows[1].take(result(1, State.FAILED), NOON, passed_before=False)
    rows[1].take(result(1, State.PASSED), NOON, passed_before=False)
    rows[2].take(result(2, State.FAILED), NOON, passed_before=True)
    rows[3].take(result(3, State.PASSED), NOON, passed_before=False)
    return Board(rows, Report("mock", "starter", 7, 3, ()), Around(folder="here/last"), say("watch.asked"), NOON)


def console(height: int, *, terminal: bool = True) -> Console:
    """Return a terminal of 80 columns without colour, or a file."""
    return Console(
        file=io.StringIO(), width=80, height=height, force_terminal=terminal, no_color=True, highlight=False,
        legacy_windows=False, _environ={"TERM": "xterm"},
    )  # fmt: skip


def written(console: Console) -> str:
    """Return what is in the file of a console, without what colours."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


ROWS = [
    "  ✓ 1 transitions              passed                     12:00:00 newly green",
    "  ✗ 2 ordered delivery         failed                     12:00:00 regression",
    "  ✓ 3 two waiters              passed                     12:00:00",
]


def test_rows_say_state_time_and_change(board: Board) -> None:
    """In 80 columns; what is due again is marked, and its old verdict stays."""
    assert [row.line(plain=False).plain for row in board.rows.values()] == ROWS
    assert board.rows[2].line(plain=True).plain.startswith("  x 2 ordered delivery")
    board.rows[3].due = True
    assert board.rows[3].line(plain=False).plain == f"{ROWS[2]} …"
    board.rows[3].take(result(3, State.BLOCKED, (1, 2)), NOON, passed_before=False)
    blocked = "  ◌ 3 two waiters              blocked by 1, 2            12:00:00 regression"
    assert board.rows[3].line(plain=False).plain == blocked


def test_a_terminal_is_drawn_anew_and_never_overflows(board: Board) -> None:
    """What does not fit is counted; where all of it can be read is said."""
    for height in (8, 12, 60):
        terminal = console(height)
        Drawn(terminal, keys=True).over(board)
        drawn = written(terminal)
        assert drawn.startswith("\x1b[H")
        assert drawn.endswith("\x1b[J")
        assert drawn.count("\n") < height
        assert ("lines more than fit here; all of it is in here/last" in drawn) is (height < 60)
        assert "Enter: everything again · q: end" in drawn


def test_elsewhere_lines_follow_each_other(board: Board) -> None:
    """First what happened, then each verdict, then how many pass, and the first that does not in full."""
    file = console(25, terminal=False)
    told = Told(file)
    fault = Fault((2, 3), "tree/delivery.py", 4, "is not Python: invalid syntax", "a file that defines x")
    board.faults = [fault]
    told.begin(board)
    told.news(board)
    told.verdict(board, board.rows[2])
    told.over(board)
    lines = written(file).splitlines()
    assert lines[:6] == [
        "Koda lab  starter, in memory, seed 7",
        "",
        "  12:00:00 every check is played again",
        "  tree/delivery.py:4 is not Python: invalid syntax",
        "  expected: a file that defines x",
        ROWS[1],
    ]
    assert lines[6:9] == ["  2 of 3 pass", "", "✗ 2 ordered delivery  failed"]
    assert lines[-1] == "  full values and timelines: here/last"


def test_what_stands_above_is_not_told_again(board: Board) -> None:
    """The first that does not pass is told in full once, and again when anything about it is another."""
    file = console(25, terminal=False)
    told = Told(file)
    told.over(board)
    first = written(file)
    told.over(board)
    assert written(file)[len(first) :].splitlines() == [
        "  2 of 3 pass",
        "  the first that does not pass is as it was; all about it stands above",
    ]
    board.rows[2].take(result(2, State.CRASHED), NOON, passed_before=False)
    told.over(board)
    assert "x 2 ordered delivery  crashed" in written(file).replace("✗", "x").replace("!", "x")


def test_how_it_is_shown_depends_on_where() -> None:
    """Only a terminal that can move is drawn on."""
    assert isinstance(screen(console(25), keys=True), Drawn)
    assert isinstance(screen(console(25, terminal=False), keys=False), Told)
    dumb = Console(file=io.StringIO(), force_terminal=True, legacy_windows=False, _environ={"TERM": "dumb"})
    assert isinstance(screen(dumb, keys=False), Told)
