"""The report: a line per check as it comes, then what is wrong with each that does not pass, with its evidence."""

from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from selfcheck.console import plain
from selfcheck.results import CheckResult, Finding, Report, State
from shared.events import Json

SYMBOLS = {
    State.PASSED: ("✓", "+", "green"),
    State.TODO: ("○", "o", "yellow"),
    State.FAILED: ("✗", "x", "red"),
    State.BLOCKED: ("◌", "b", "cyan"),
    State.CRASHED: ("!", "!", "red"),
    State.HUNG: ("∞", "8", "red"),
    State.ENVIRONMENT: ("?", "?", "magenta"),
}
WORDS = {State.TODO: "to do"}
WIDTH = 80
NAME_WIDTH = 24


def show_head(console: Console, report: Report) -> None:
    """Print what is going to be checked, and how."""
    mode = "in memory" if report.mode == "mock" else "on real Redis and PostgreSQL"
    console.print(Text.assemble(("Koda lab", "bold"), f"  {report.tree}, {mode}, seed {report.seed}"))
    console.print()


def show_line(console: Console, check: CheckResult) -> None:
    """Print a check's line: symbol, number, name, and in a few words what was seen."""
    symbol, ascii_symbol, style = SYMBOLS[check.status]
    line = Text.assemble(
        "  ",
        (f"{ascii_symbol if plain() else symbol} {check.id} {check.name:<{NAME_WIDTH}}", style),
        (_summary(check), "" if check.status is State.PASSED else style),
    )
    console.print(line, overflow="ellipsis", no_wrap=True)


def show_details(console: Console, report: Report, prints: Sequence[str], told: Finding | None = None) -> None:
    """Print the score, each check that does not pass, unless what is wrong was `told`, and what the tree printed."""
    console.print()
    style = "bold green" if report.passed == report.total else "bold"
    console.print(Text(f"  {report.passed} of {report.total} pass", style))
    for check in report.checks:
        if check.status is not State.PASSED and check.finding != told:
            console.print()
            console.print(_details(check, console.width))
    if prints:
        console.print()
        console.print(Text(f"Printed by the tree (the last {len(prints)} lines):", "dim"))
        for line in prints:
            console.print(Text(f"  {_harmless(line)}", "dim"), no_wrap=True, overflow="ellipsis")


def _summary(check: CheckResult) -> str:
    if check.status is State.BLOCKED:
        numbers = " and ".join(str(number) for number in check.blocked_by)
        return f"blocked by exercise {numbers}"
    if check.status is not State.PASSED:
        return WORDS.get(check.status, str(check.status))
    return _SUMMARIES[check.id](check.evidence)


def _transitions(evidence: Mapping[str, Json]) -> str:
    return f"36 pairs right; the late write was {evidence['late_write']}"


def _ordering(evidence: Mapping[str, Json]) -> str:
    return f"delivered {_joined(evidence['delivered'])}, … in order"


def _waiting(evidence: Mapping[str, Json]) -> str:
    held = evidence["events_per_waiter"]
    assert isinstance(held, dict), "a number for each waiter"
    numbers = " and ".join(str(number) for number in held.values())
    return f"{evidence['events']} events; the two hold {numbers}"


def _reconnecting(evidence: Mapping[str, Json]) -> str:
    return (
        f"{evidence['received_before']} received, last {evidence['last_before']}, then {evidence['first_after']},"
        " none twice or missing"
    )


def _merging(evidence: Mapping[str, Json]) -> str:
    return f'merged, same run, reran from seq {evidence["reruns_from_seq"]}, has "exchange"'


def _outside(evidence: Mapping[str, Json]) -> str:
    runs = evidence["runs"]
    assert isinstance(runs, list), "a row for each second message"
    return f"{len(runs)} second messages, {len(runs)} runs of their own"


_SUMMARIES = {1: _transitions, 2: _ordering, 3: _waiting, 4: _reconnecting, 5: _merging, 6: _outside}


def _details(check: CheckResult, width: int) -> RenderableType:
    symbol, ascii_symbol, style = SYMBOLS[check.status]
    word = WORDS.get(check.status, str(check.status))
    title = Text.assemble(
        (f"{ascii_symbol if plain() else symbol} {check.id} {check.name}", f"bold {style}"), (f"  {word}", style)
    )
    finding = check.finding
    shown: list[tuple[str, str]] = [
        ("rule", finding.broken_rule),
        ("given", finding.given),
        ("expected", finding.expected),
        ("actual", finding.actual),
    ]
    if check.blocked_by:
        numbers = " and ".join(str(number) for number in check.blocked_by)
        shown.append(
            ("blocked by", f"exercise {numbers}: with the solution's there, this check passes; yours is right")
        )
    if check.where:
        shown.append(("open", check.where))
    matrix = check.evidence.get("matrix")
    shown += [(name.replace("_", " "), _shown(value)) for name, value in check.evidence.items() if name != "matrix"]
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    for name, text in shown:
        if text:
            rows.add_row(name, Text(_harmless(text)))
    parts: list[RenderableType] = [title, Padding(rows, (0, 0, 0, 2))]
    if isinstance(matrix, dict):
        parts.append(Padding(_matrix(matrix, narrow=width < WIDTH), (0, 0, 0, 2)))
    return Group(*parts)


def _matrix(matrix: Mapping[str, Json], *, narrow: bool) -> Table:
    letters = 4 if narrow else None  # of each status: enough to tell them apart
    table = Table(title="may a run move from (row) to (column)?", title_style="dim", title_justify="left", box=None)
    table.padding = (0, 0, 0, 1) if narrow else (0, 1)
    table.add_column("", style="dim")
    for status in matrix:
        table.add_column(status[:letters], header_style="dim", justify="center")
    for status, row in matrix.items():
        assert isinstance(row, list), "a row has a cell for each status"
        table.add_row(status[:letters], *(_cell(str(cell)) for cell in row))
    return table


def _cell(cell: str) -> Text:
    answer, wrong, _ = cell.partition(" (wrong)")
    return Text(
        f"{answer} ✗" if wrong and not plain() else f"{answer} x" if wrong else answer, "red" if wrong else "dim"
    )


def _shown(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(each, int) for each in value):
        return _joined(value) or "none"
    if isinstance(value, list):
        return "\n".join(_shown(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_shown(each)}" for name, each in value.items())
    return str(value)


def _harmless(text: str) -> str:
    """Return a text without what would move a terminal: it comes from a tree."""
    return "".join(c if c.isprintable() or c == "\n" else " " if c == "\t" else "\ufffd" for c in text)


def _joined(value: Json) -> str:
    assert isinstance(value, list), "seqs are a list"
    return ",".join(str(each) for each in value)
