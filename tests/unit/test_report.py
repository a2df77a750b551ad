"""What a person reads: a line per check, and what is wrong, on terminals of every kind."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from selfcheck.playing.recorder import Lane, Step
from selfcheck.reporting import report
from selfcheck.reporting.feedback import Around
from selfcheck.results import CheckResult, Finding, Report, State
from selfcheck.texts import say
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


@pytest.fixture(autouse=True)
def _without_services(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REDIS_URL", "DATABASE_URL"):  # where they are named, what is to be typed is more
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("number", "words"), [(number, words) for number, (_, words) in SEEN.items()])
def test_a_check_that_passed_says_what_was_seen(number: int, words: str) -> None:
    """One line: its number, its name, the proof in a few words."""
    check = CheckResult(number, f"check {number}", None, State.PASSED, evidence=SEEN[number][0])
    assert printed(report.show_line, check, Around()) == f"  ✓ {number} check {number}{' ' * 17}{words}\n"


@pytest.mark.parametrize(
    ("state", "symbol", "words"),
    [
        (State.TODO, "○", "to do"),
        (State.FAILED, "✗", "failed"),
        (State.BLOCKED, "◌", "blocked by exercises 1 and 3"),
        (State.CRASHED, "!", "crashed"),
        (State.HUNG, "∞", "hung"),
        (State.ENVIRONMENT, "?", "environment"),
    ],
)
def test_every_other_state_has_a_symbol_and_a_word(state: State, symbol: str, words: str) -> None:
    """It is read without colours, too."""
    check = replace(FAILED, status=state, blocked_by=(1, 3) if state is State.BLOCKED else ())
    assert printed(report.show_line, check, Around()) == f"  {symbol} 2 ordered delivery        {words}\n"


@pytest.mark.usefixtures("ascii_terminal")
@pytest.mark.parametrize("state", list(State))
def test_a_plain_terminal_gets_symbols_of_its_own(state: State) -> None:
    """One character each, and no two the same."""
    lines = {
        printed(report.show_line, replace(FAILED, status=each, evidence={"delivered": []}), Around())[:4]
        for each in State
    }
    assert len(lines) == len(State)
    assert all(line.isascii() for line in lines)
    assert printed(report.show_line, replace(FAILED, status=state, evidence={"delivered": []}), Around())[2] != " "


def test_a_line_that_is_too_long_is_cut() -> None:
    """It stays one line."""
    check = CheckResult(6, "outside the window", 4, State.PASSED, evidence=SEEN[6][0])
    assert printed(report.show_line, check, Around(), width=40) == "  ✓ 6 outside the window      3 second …\n"


def document(*checks: CheckResult, total: int = 6) -> Report:
    """Return a report."""
    return Report("mock", "starter", 7, total, checks)


def test_what_is_wrong_is_told_in_four_lines_with_the_place_and_the_evidence() -> None:
    """The score comes first; what passed is not told again."""
    evidence: dict[str, Json] = {"arrived": [0, 1, 3], "missing": [], "reply": "Thank you", "held": {"waiter A": 3}}
    passed = CheckResult(3, "two waiters", None, State.PASSED, evidence=SEEN[3][0])
    text = printed(report.show_details, document(passed, replace(FAILED, evidence=evidence)), [], Around())
    assert text.splitlines() == [
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
        "  next      open starter/delivery.py:13 and follow the timeline to the mark;",
        "            selfcheck hint 2 helps",
        "  again     selfcheck run --tree starter --only 2 --seed 7",
    ]


def test_a_mistake_that_is_recognised_is_asked_about() -> None:
    """Its question stands before what to do next; whoever shows none has no such row."""
    shown = printed(report.show_details, Report("mock", "starter", 7, 1, (FAILED,)), (), Around())
    assert "question" not in shown
    asked = replace(FAILED, symptom="early-dropped")
    shown = printed(report.show_details, Report("mock", "starter", 7, 1, (asked,)), (), Around(), width=100)
    rows = [line.split("  ") for line in shown.splitlines()]
    labels = [row[1] for row in rows if len(row) > 1 and row[1]]
    assert labels[-3:] == ["question", "next", "again"]
    assert "2 came before 1, and the bus will not send it again." in shown


def test_a_blocked_check_says_by_whom_and_that_its_own_is_right() -> None:
    """Nobody shall look for a mistake where none is."""
    text = printed(
        report.show_details, document(replace(FAILED, status=State.BLOCKED, blocked_by=(1,))), [], Around(), width=200
    )
    assert "  blocked by  exercise 1: with the solution's there, this check passes; yours is right\n" in text
    assert "  open  " not in text


STEPS = (
    Step(Lane.CLIENT, say("timeline.said", text="Hello")),
    Step(Lane.GATEWAY, say("timeline.opened", run="run-1")),
    *(Step(Lane.STORE, f"step {number}") for number in range(20)),
    Step(Lane.BUS, say("timeline.brought", seqs="5"), full="4711"),
    Step(Lane.CLIENT, say("timeline.received_wrong", waiter="A", seq=5, due=4), diverges=True),
    *(Step(Lane.WORKER, "later") for _ in range(9)),
)


def timeline_in(text: str) -> list[str]:
    """Return the lines of the timeline in a report."""
    _, _, rest = text.partition("  timeline\n")
    return rest.partition("  next ")[0].splitlines()


def test_the_timeline_shows_the_steps_around_the_mark() -> None:
    """In five lanes; how many are left out is said."""
    text = printed(report.show_details, document(replace(FAILED, timeline=STEPS)), [], Around())
    assert timeline_in(text) == [
        "    … 11 steps before",
        *(f"    store     step {number}" for number in range(9, 20)),
        "    bus       delivers 5",
        "  ▶ client    A receives 5; 4 was due",
        *["    worker    later"] * 4,
        "    … 5 steps more",
    ]


@pytest.mark.usefixtures("ascii_terminal")
def test_the_mark_of_a_plain_terminal_is_plain() -> None:
    """As every symbol."""
    text = printed(report.show_details, document(replace(FAILED, timeline=STEPS[-10:])), [], Around())
    assert timeline_in(text)[0] == "  > client    A receives 5; 4 was due"


def test_the_run_folder_has_what_the_report_leaves_out() -> None:
    """Every step with all its values, every value whole, in a width of its own."""
    long = replace(FINDING, actual=", ".join(map(str, range(300))))
    check = replace(FAILED, timeline=STEPS, finding=long)
    shown = printed(report.show_details, document(check), [], Around())
    whole = report.in_full(document(check), check, Around())
    assert "… (1,388 characters in all)" in " ".join(shown.split())
    assert " 297, 298, 299\n" in whole
    assert "    bus       delivers 5\n              4711\n" in whole
    assert len(timeline_in(whole)) == len(STEPS) + 1
    assert max(map(len, whole.splitlines())) <= 100


def test_the_first_that_can_be_mended_is_told_in_full_and_the_others_in_two_lines() -> None:
    """A blocked check waits for another; and the way to see one of them whole is named, with the run's folder."""
    blocked = replace(FAILED, id=2, status=State.BLOCKED, blocked_by=(4,))
    own = replace(FAILED, id=3)
    later = [replace(FAILED, id=4, status=State.TODO), replace(FAILED, id=5, status=State.CRASHED)]
    text = printed(report.show_details, document(blocked, own, *later), [], Around(folder="runs/last"))
    lines = text.splitlines()
    assert lines[:6] == [
        "",
        "  0 of 6 pass",
        "",
        "◌ 2 ordered delivery  blocked",
        "    exercise 4: with the solution's there, this check passes; yours is right",
        "",
    ]
    assert lines[6:8] == ["✗ 3 ordered delivery  failed", "  rule      the rule"]
    assert lines[-8:] == [
        "",
        "○ 4 ordered delivery  to do",
        "    what came",
        "! 5 ordered delivery  crashed",
        "    what came",
        "",
        "  --only N shows one of them whole",
        "  full values and timelines: runs/last",
    ]


def test_a_check_that_passed_the_last_time_is_a_regression() -> None:
    """In its line and in what is told of it; not when the surroundings are to blame."""
    around = Around(passed_before=frozenset({2}))
    assert printed(report.show_line, FAILED, around) == ("  ✗ 2 ordered delivery        failed, passed the last time\n")
    text = printed(report.show_details, document(FAILED), [], around)
    assert "\n✗ 2 ordered delivery  failed  regression: it passed the last time\n" in text
    away = replace(FAILED, status=State.ENVIRONMENT)
    assert "time" not in printed(report.show_line, away, around)
    assert "time" not in printed(report.show_line, replace(FAILED, id=3), around)


def test_repetitions_are_summed_up() -> None:
    """What did not always come out the same is named with how often it came out how; or that nothing differs."""
    states = [State.PASSED, State.FAILED, State.PASSED]
    report_ = replace(document(FAILED), repeat=3)
    alike = printed(report.show_details, report_, [], Around())
    assert alike.splitlines()[1:3] == ["  0 of 6 pass", "  all 3 repetitions came out alike"]
    text = printed(report.show_details, replace(report_, flaky={2: states}), [], Around())
    assert text.splitlines()[2] == "  flaky: ordered delivery came out as passed ×2, failed ×1"


def test_what_was_told_is_not_told_again() -> None:
    """A service that is away is one fault, not six; who looks for it is named."""
    away = [replace(FAILED, id=number, status=State.ENVIRONMENT) for number in range(1, 7)]
    doctor = "  environment is not your fault: selfcheck doctor looks for what is wrong\n"
    assert printed(report.show_details, document(*away), [], Around(), FINDING) == f"\n  0 of 6 pass\n\n{doctor}"
    text = printed(report.show_details, document(*away), [], Around())
    assert [line for line in text.splitlines() if "what came" in line] == [
        "  actual    what came",
        *["    what came"] * 5,
    ]


MATRIX: dict[str, Json] = {
    status: [("yes" if at > row else "no") + (" (wrong)" if at == row else "") for at in range(6)]
    for row, status in enumerate(STATUSES)
}


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_matrix_has_a_line_for_each_status_at_any_width(width: int) -> None:
    """Its cells stay whole, and wrong ones are marked."""
    text = printed(
        report.show_details, document(replace(FAILED, evidence={"matrix": MATRIX})), [], Around(), width=width
    )
    _, _, matrix = text.partition("to (column)?\n")
    rows = [line.split() for line in matrix.splitlines()[:7]]
    letters = 4 if width < 80 else None
    assert rows[0] == [status[:letters] for status in STATUSES]
    assert [row[0] for row in rows[1:]] == [status[:letters] for status in STATUSES]
    assert rows[1][1:] == ["no", "✗", "yes", "yes", "yes", "yes", "yes"]
    assert rows[6][1:] == ["no", "no", "no", "no", "no", "no", "✗"]


@pytest.mark.usefixtures("ascii_terminal")
def test_the_matrix_of_a_plain_terminal_is_plain() -> None:
    """Wrong cells have a letter."""
    text = printed(report.show_details, document(replace(FAILED, evidence={"matrix": MATRIX})), [], Around())
    assert text.isascii()
    assert text.count("no x") == 6


def test_what_a_tree_says_moves_no_terminal() -> None:
    """Escapes are shown as what they are: characters that cannot be printed."""
    finding = replace(FINDING, actual="KeyError: '\x1b[2Jx\x07'")
    text = printed(
        report.show_details, document(replace(FAILED, finding=finding)), ["a\tb", "\x1b]0;title\x07", "[red]"], Around()
    )
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "  actual    KeyError: '\ufffd[2Jx\ufffd'\n" in text
    assert text.endswith(
        "Printed by the tree (the last 3 lines):\n  a b\n  \ufffd]0;title\ufffd\n  [red]\n",
    )


def test_the_head_says_what_is_checked_and_how() -> None:
    """Folder, mode and seed."""
    assert printed(report.show_head, document()) == "Koda lab  starter, in memory, seed 7\n\n"
    real = replace(document(), mode="real")
    assert printed(report.show_head, real) == "Koda lab  starter, on real Redis and PostgreSQL, seed 7\n\n"
