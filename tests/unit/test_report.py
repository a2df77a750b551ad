"""What a person reads: a line per check, and what is wrong, on terminals of every kind."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from selfcheck import report
from selfcheck.results import CheckResult, Finding, Report, State
from shared.events import Json

FINDING = Finding("the rule", "what was given", "what that calls for", "what came")
FAILED = CheckResult(2, "ordered delivery", 2, State.FAILED, FINDING, "starter/delivery.py:13")
STATUSES = ("pending", "running", "streaming", "done", "failed", "cancelled")

SEEN: dict[int, tuple[dict[str, Json], str]] = {
    1: ({"late_write": "refused"}, "36 pairs right; the late write was refused"),
    2: ({"delivered": [0, 1, 2]}, "delivered 0,1,2, … in order"),
    3: ({"events": 39, "events_per_waiter": {"A": 39, "B": 39}}, "39 events; the two hold 39 and 39"),
    4: (
        {"received_before": 6, "last_before": 5, "first_after": 6},
        "6 received, last 5, then 6, none twice or missing",
    ),
    5: ({"reruns_from_seq": 9}, 'merged, same run, reran from seq 9, has "exchange"'),
    6: ({"runs": [{}, {}, {}]}, "3 second messages, 3 runs of their own"),
}


def printed(show: "object", *arguments: "object", width: int = 80) -> str:
    """Return what a part of the report prints on a console of this width."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, color_system=None, highlight=False)
    assert callable(show)
    show(console, *arguments)
    return stream.getvalue()


@pytest.fixture
def ascii_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a terminal without symbols."""
    monkeypatch.setattr(report, "plain", lambda: True)


@pytest.fixture(autouse=True)
def _unicode_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "plain", lambda: False)


@pytest.mark.parametrize(("number", "words"), [(number, words) for number, (_, words) in SEEN.items()])
def test_a_check_that_passed_says_what_was_seen(number: int, words: str) -> None:
    """One line: its number, its name, the proof in a few words."""
    check = CheckResult(number, f"check {number}", None, State.PASSED, evidence=SEEN[number][0])
    assert printed(report.show_line, check) == f"  ✓ {number} check {number}{' ' * 17}{words}\n"


@pytest.mark.parametrize(
    ("state", "symbol", "words"),
    [
        (State.TODO, "○", "to do"),
        (State.FAILED, "✗", "failed"),
        (State.BLOCKED, "◌", "blocked by exercise 1 and 3"),
        (State.CRASHED, "!", "crashed"),
        (State.HUNG, "∞", "hung"),
        (State.ENVIRONMENT, "?", "environment"),
    ],
)
def test_every_other_state_has_a_symbol_and_a_word(state: State, symbol: str, words: str) -> None:
    """It is read without colours, too."""
    check = replace(FAILED, status=state, blocked_by=(1, 3) if state is State.BLOCKED else ())
    assert printed(report.show_line, check) == f"  {symbol} 2 ordered delivery        {words}\n"


@pytest.mark.usefixtures("ascii_terminal")
@pytest.mark.parametrize("state", list(State))
def test_a_plain_terminal_gets_symbols_of_its_own(state: State) -> None:
    """One character each, and no two the same."""
    lines = {printed(report.show_line, replace(FAILED, status=each, evidence={"delivered": []}))[:4] for each in State}
    assert len(lines) == len(State)
    assert all(line.isascii() for line in lines)
    assert printed(report.show_line, replace(FAILED, status=state, evidence={"delivered": []}))[2] != " "


def test_a_line_that_is_too_long_is_cut() -> None:
    """It stays one line."""
    check = CheckResult(6, "outside the window", 4, State.PASSED, evidence=SEEN[6][0])
    assert printed(report.show_line, check, width=40) == "  ✓ 6 outside the window      3 second …\n"


def document(*checks: CheckResult, total: int = 6) -> Report:
    """Return a report."""
    return Report("mock", "starter", 7, total, checks)


def test_what_is_wrong_is_told_in_four_lines_with_the_place_and_the_evidence() -> None:
    """The score comes first; what passed is not told again."""
    evidence: dict[str, Json] = {"arrived": [0, 1, 3], "missing": [], "reply": "Thank you", "held": {"waiter A": 3}}
    passed = CheckResult(3, "two waiters", None, State.PASSED, evidence=SEEN[3][0])
    text = printed(report.show_details, document(passed, replace(FAILED, evidence=evidence)), [])
    assert [line.rstrip() for line in text.splitlines()] == [
        "",
        "  1 of 6 pass",
        "",
        "✗ 2 ordered delivery  failed",
        "  rule      the rule",
        "  given     what was given",
        "  expected  what that calls for",
        "  actual    what came",
        "  open      starter/delivery.py:13",
        "  arrived   0,1,3",
        "  missing   none",
        "  reply     Thank you",
        "  held      waiter A 3",
    ]


def test_a_blocked_check_says_by_whom_and_that_its_own_is_right() -> None:
    """Nobody shall look for a mistake where none is."""
    text = printed(report.show_details, document(replace(FAILED, status=State.BLOCKED, blocked_by=(1,))), [], width=200)
    assert "  blocked by  exercise 1: with the solution's there, this check passes; yours is right  " in text


def test_what_was_told_is_not_told_again() -> None:
    """A service that is away is one fault, not six."""
    away = [replace(FAILED, id=number, status=State.ENVIRONMENT) for number in range(1, 7)]
    assert printed(report.show_details, document(*away), [], FINDING) == "\n  0 of 6 pass\n"
    assert printed(report.show_details, document(*away), []).count("what came") == 6


MATRIX: dict[str, Json] = {
    status: [("yes" if at > row else "no") + (" (wrong)" if at == row else "") for at in range(6)]
    for row, status in enumerate(STATUSES)
}


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_matrix_has_a_line_for_each_status_at_any_width(width: int) -> None:
    """Its cells stay whole, and wrong ones are marked."""
    text = printed(report.show_details, document(replace(FAILED, evidence={"matrix": MATRIX})), [], width=width)
    rows = [line.split() for line in text.splitlines() if line.strip() and line.strip()[0] in "prsdfc"][-7:]
    letters = 4 if width < 80 else None
    assert rows[0] == [status[:letters] for status in STATUSES]
    assert [row[0] for row in rows[1:]] == [status[:letters] for status in STATUSES]
    assert rows[1][1:] == ["no", "✗", "yes", "yes", "yes", "yes", "yes"]
    assert rows[6][1:] == ["no", "no", "no", "no", "no", "no", "✗"]


@pytest.mark.usefixtures("ascii_terminal")
def test_the_matrix_of_a_plain_terminal_is_plain() -> None:
    """Wrong cells have a letter."""
    text = printed(report.show_details, document(replace(FAILED, evidence={"matrix": MATRIX})), [])
    assert text.isascii()
    assert text.count("no x") == 6


def test_what_a_tree_says_moves_no_terminal() -> None:
    """Escapes are shown as what they are: characters that cannot be printed."""
    finding = replace(FINDING, actual="KeyError: '\x1b[2Jx\x07'")
    text = printed(
        report.show_details, document(replace(FAILED, finding=finding)), ["a\tb", "\x1b]0;title\x07", "[red]"]
    )
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "  actual    KeyError: '\ufffd[2Jx\ufffd'\n" in "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    assert text.endswith(
        "Printed by the tree (the last 3 lines):\n  a b\n  \ufffd]0;title\ufffd\n  [red]\n",
    )


def test_the_head_says_what_is_checked_and_how() -> None:
    """Folder, mode and seed."""
    assert printed(report.show_head, document()) == "Koda lab  starter, in memory, seed 7\n\n"
    real = replace(document(), mode="real")
    assert printed(report.show_head, real) == "Koda lab  starter, on real Redis and PostgreSQL, seed 7\n\n"
