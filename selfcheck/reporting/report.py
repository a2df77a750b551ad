"""The report: a line per check as it comes, then what is wrong with those that do not pass.

The first of them, in the order of the lesson, is told in full; each later one in two lines, for it may well be gone
when the first is mended.
"""

from collections.abc import Iterator, Sequence

from rich.cells import set_cell_size
from rich.console import Console
from rich.text import Text

from selfcheck.console import plain
from selfcheck.reporting.feedback import Around, all_of
from selfcheck.reporting.symbols import SYMBOLS
from selfcheck.results import CheckResult, Evidence, Finding, Report, Seen, State
from selfcheck.texts import Message, say, text

NAME_WIDTH = 24
FILE_WIDTH = 100


def show_head(console: Console, report: Report) -> None:
    """Print what is going to be checked, and how."""
    mode = say("report.mock") if report.mode == "mock" else say("report.real")
    head = say("report.head", tree=report.tree, mode=mode, seed=report.seed)
    _print(console, Text.assemble(("Koda lab", "bold"), f"  {head}"))
    console.print()


def show_repetition(console: Console, number: int, count: int) -> None:
    """Print which repetition begins."""
    _print(
        console,
        Text(f"{'' if number == 1 else chr(10)}  {say('feedback.repetition', number=number, count=count)}", "dim"),
    )


def show_line(console: Console, check: CheckResult, around: Around) -> None:
    """Print a check's line: symbol, number, name, and in a few words what was seen."""
    symbol, ascii_symbol, style = SYMBOLS[check.status]
    words = _summary(check)
    if around.is_regression(check):
        words = say("feedback.regressed", state=words)
    line = Text.assemble(
        "  ",
        (f"{ascii_symbol if plain() else symbol} {check.id} {set_cell_size(str(check.name), NAME_WIDTH)}", style),
        (str(words), "" if check.status is State.PASSED else style),
    )
    line.rstrip()
    console.print(line, overflow="ellipsis", no_wrap=True)


def show_details(
    console: Console, report: Report, prints: Sequence[str], around: Around, told: Finding | None = None
) -> None:
    """Print the score, what does not pass, unless what is wrong was `told`, and what the tree printed."""
    console.print()
    style = "bold green" if report.passed == report.total else "bold"
    console.print(Text(f"  {say('report.score', passed=report.passed, total=report.total)}", style))
    if report.repeat > 1:
        _show_flaky(console, report)
    wrong = [check for check in report.checks if check.status is not State.PASSED and check.finding != told]
    if wrong:
        for line in _wrong(console, report, wrong, around):
            _print(console, line)
    if any(check.status is State.ENVIRONMENT for check in report.checks):
        from selfcheck.wrapping import prose

        console.print()
        console.print(prose(f"  {say('feedback.doctor')}", "dim"))
    if prints:
        console.print()
        console.print(Text(str(say("report.prints", count=len(prints))), "dim"))
        from selfcheck.reporting.details import harmless

        for each in prints:
            console.print(Text(f"  {harmless(each)}", "dim"), no_wrap=True, overflow="ellipsis")


def in_full(report: Report, check: CheckResult, around: Around) -> str:
    """Return all that can be said of a check that does not pass, with nothing cut: for the run's folder."""
    from selfcheck.reporting.details import Page, unfolded

    page = Page(FILE_WIDTH, plain=False, whole=True)
    return "".join(f"{line.plain}\n" for line in unfolded(check, report, around, page))


def _wrong(console: Console, report: Report, wrong: Sequence[CheckResult], around: Around) -> Iterator[Text]:
    """Yield the lines about what does not pass. Whom another one blocks has nothing to mend, and is told in short."""
    from selfcheck.reporting.details import Page, folded, unfolded

    page = Page(console.width, plain())
    first = next((check for check in wrong if check.status is not State.BLOCKED), wrong[0])
    short = False  # whether the last one was told in two lines
    for check in wrong:
        if check is first:
            yield Text("")
            yield from unfolded(check, report, around, page)
        else:
            if not short:
                yield Text("")
            yield from folded(check, around, page)
        short = check is not first
    more = [say("feedback.folded")] if len(wrong) > 1 else []
    more += [say("feedback.folder", folder=around.folder)] if around.folder is not None else []
    more += [say("feedback.activate", command=around.activation)] if around.activation is not None else []
    if more:
        yield Text("")
    for words in more:
        yield from page.paragraph(words, "dim")


def _show_flaky(console: Console, report: Report) -> None:
    if not report.flaky:
        console.print(Text(f"  {say('feedback.all_alike', count=report.repeat)}", "dim"))
    names = {check.id: check.name for check in report.checks}
    for number, states in report.flaky.items():
        times = {state: states.count(state) for state in states}
        each = ", ".join(f"{say(f'states.{state}')} ×{count}" for state, count in times.items())
        console.print(Text(f"  {say('feedback.flaky', name=text(names[number]), states=each)}", "bold magenta"))


def _print(console: Console, line: Text) -> None:
    """Print a line in one piece, however long it is."""
    console.print(line, soft_wrap=True)


def _summary(check: CheckResult) -> Message:
    if check.status is State.BLOCKED:
        return say("report.blocked", numbers=all_of(check.blocked_by))
    if check.status is not State.PASSED:
        return say(f"states.{check.status}")
    return _SUMMARIES[check.id](check.evidence)


def _transitions(evidence: Evidence) -> Message:
    return say("report.transitions", late_write=_flat(evidence["late_write"]))


def _ordering(evidence: Evidence) -> Message:
    return say("report.ordering", delivered=_flat(evidence["delivered"]))


def _waiting(evidence: Evidence) -> Message:
    held = evidence["events_per_waiter"]
    assert isinstance(held, dict), "a number for each waiter"
    return say("report.waiting", events=_flat(evidence["events"]), held=all_of(held.values()))


def _reconnecting(evidence: Evidence) -> Message:
    before, last, after = (_flat(evidence[name]) for name in ("received_before", "last_before", "first_after"))
    return say("report.reconnecting", before=before, last=last, after=after)


def _merging(evidence: Evidence) -> Message:
    return say("report.merging", seq=_flat(evidence["reruns_from_seq"]))


def _outside(evidence: Evidence) -> Message:
    runs = evidence["runs"]
    assert isinstance(runs, list), "a row for each second message"
    return say("report.outside", count=len(runs))


_SUMMARIES = {1: _transitions, 2: _ordering, 3: _waiting, 4: _reconnecting, 5: _merging, 6: _outside}


def _flat(value: Seen) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
