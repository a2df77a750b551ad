"""The report: a line per check as it comes, then what is wrong with each that does not pass, with its evidence."""

from collections.abc import Iterable, Mapping, Sequence

from rich.cells import set_cell_size
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from selfcheck.console import plain
from selfcheck.results import CheckResult, Evidence, Finding, Report, Seen, State
from selfcheck.texts import Message, area_texts, say, text
from selfcheck.wrapping import prose
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
WIDTH = 80
NAME_WIDTH = 24


def show_head(console: Console, report: Report) -> None:
    """Print what is going to be checked, and how."""
    mode = say("report.mock") if report.mode == "mock" else say("report.real")
    head = say("report.head", tree=report.tree, mode=mode, seed=report.seed)
    console.print(Text.assemble(("Koda lab", "bold"), f"  {head}"))
    console.print()


def show_line(console: Console, check: CheckResult) -> None:
    """Print a check's line: symbol, number, name, and in a few words what was seen."""
    symbol, ascii_symbol, style = SYMBOLS[check.status]
    line = Text.assemble(
        "  ",
        (f"{ascii_symbol if plain() else symbol} {check.id} {set_cell_size(str(check.name), NAME_WIDTH)}", style),
        (str(_summary(check)), "" if check.status is State.PASSED else style),
    )
    console.print(line, overflow="ellipsis", no_wrap=True)


def show_details(console: Console, report: Report, prints: Sequence[str], told: Finding | None = None) -> None:
    """Print the score, each check that does not pass, unless what is wrong was `told`, and what the tree printed."""
    console.print()
    style = "bold green" if report.passed == report.total else "bold"
    console.print(Text(f"  {say('report.score', passed=report.passed, total=report.total)}", style))
    for check in report.checks:
        if check.status is not State.PASSED and check.finding != told:
            console.print()
            console.print(_details(check, console.width))
    if prints:
        console.print()
        console.print(Text(str(say("report.prints", count=len(prints))), "dim"))
        for line in prints:
            console.print(Text(f"  {_harmless(line)}", "dim"), no_wrap=True, overflow="ellipsis")


def _summary(check: CheckResult) -> Message:
    if check.status is State.BLOCKED:
        return say("report.blocked", numbers=_all_of(check.blocked_by))
    if check.status is not State.PASSED:
        return say(f"states.{check.status}")
    return _SUMMARIES[check.id](check.evidence)


def _transitions(evidence: Evidence) -> Message:
    return say("report.transitions", late_write=_shown(evidence["late_write"]))


def _ordering(evidence: Evidence) -> Message:
    return say("report.ordering", delivered=_shown(evidence["delivered"]))


def _waiting(evidence: Evidence) -> Message:
    held = evidence["events_per_waiter"]
    assert isinstance(held, dict), "a number for each waiter"
    return say("report.waiting", events=_shown(evidence["events"]), held=_all_of(held.values()))


def _reconnecting(evidence: Evidence) -> Message:
    before, last, after = (_shown(evidence[name]) for name in ("received_before", "last_before", "first_after"))
    return say("report.reconnecting", before=before, last=last, after=after)


def _merging(evidence: Evidence) -> Message:
    return say("report.merging", seq=_shown(evidence["reruns_from_seq"]))


def _outside(evidence: Evidence) -> Message:
    runs = evidence["runs"]
    assert isinstance(runs, list), "a row for each second message"
    return say("report.outside", count=len(runs))


_SUMMARIES = {1: _transitions, 2: _ordering, 3: _waiting, 4: _reconnecting, 5: _merging, 6: _outside}


def _details(check: CheckResult, width: int) -> RenderableType:
    symbol, ascii_symbol, style = SYMBOLS[check.status]
    word = str(say(f"states.{check.status}"))
    title = Text.assemble(
        (f"{ascii_symbol if plain() else symbol} {check.id} {check.name}", f"bold {style}"), (f"  {word}", style)
    )
    finding = check.finding
    shown = [
        (say("report.rule"), finding.broken_rule),
        (say("report.given"), finding.given),
        (say("report.expected"), finding.expected),
        (say("report.actual"), finding.actual),
    ]
    if check.blocked_by:
        shown.append((say("report.blocked_by"), say("report.blocker", numbers=_all_of(check.blocked_by))))
    if check.where:
        shown.append((say("report.open"), check.where))
    lines = [(str(label), text(words)) for label, words in shown]
    matrix = check.evidence.get("matrix")
    lines += [(_label(name), _shown(value)) for name, value in check.evidence.items() if name != "matrix"]
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    for label, line in lines:
        if line:
            rows.add_row(label, prose(_harmless(line)))
    parts: list[RenderableType] = [title, Padding(rows, (0, 0, 0, 2))]
    if isinstance(matrix, dict):
        parts.append(Padding(_matrix(matrix, narrow=width < WIDTH), (0, 0, 0, 2)))
    return Group(*parts)


def _matrix(matrix: Mapping[str, Json], *, narrow: bool) -> Table:
    letters = 4 if narrow else None  # of each status: enough to tell them apart
    table = Table(title=str(say("report.matrix")), title_style="dim", title_justify="left", box=None)
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
    word = say("report.yes") if answer == "yes" else say("report.no")
    return Text(
        f"{word} ✗" if wrong and not plain() else f"{word} x" if wrong else str(word), "red" if wrong else "dim"
    )


def _label(name: str) -> str:
    """Return what a field of the evidence is called; one that is not ours is called as it is."""
    key = name.replace(" ", "_")
    return str(say(f"evidence.{key}")) if key in area_texts("en", "evidence") else name.replace("_", " ")


def _shown(value: Seen) -> str:
    if isinstance(value, list) and all(isinstance(each, int) for each in value):
        return ",".join(str(each) for each in value) or str(say("report.none"))
    if isinstance(value, list):
        return "\n".join(_shown(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{_label(name)} {_shown(each)}" for name, each in value.items())
    return str(value)


def _all_of(numbers: Iterable[Json]) -> str:
    return str(say("report.and")).join(str(number) for number in numbers)


def _harmless(line: str) -> str:
    """Return a text without what would move a terminal: it comes from a tree."""
    return "".join(c if c.isprintable() or c == "\n" else " " if c == "\t" else "\ufffd" for c in line)
