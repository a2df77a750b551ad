"""What a report says of one check that does not pass: what was expected and seen, the timeline, what to do next.

The same lines stand on a terminal and, with nothing cut, in the run's folder. A line is no longer than what is in it:
it can be copied, and compared with another run's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from selfcheck.playing.recorder import Lane, Step
from selfcheck.reporting.feedback import Around, again, all_of, cut, first_difference, next_step
from selfcheck.reporting.symbols import SYMBOLS
from selfcheck.reporting.timeline import window
from selfcheck.results import CheckResult, Report, Seen
from selfcheck.texts import Words, area_texts, say, text
from selfcheck.wrapping import wrapped
from shared.events import Json

LANES = {
    Lane.CLIENT: "cyan",
    Lane.GATEWAY: "magenta",
    Lane.BUS: "yellow",
    Lane.WORKER: "green",
    Lane.STORE: "blue",
}
LANE_WIDTH = 8
MARK = ("▶", ">")
WIDTH = 80
MOST_CHARACTERS = 320  # of a value; the longest of ours, a whole reply, has three hundred
IN_A_FILE = 10_000_000
INDENT = "  "


@dataclass(frozen=True, slots=True)
class Page:
    """Where the lines go: how wide it is, whether it lacks symbols, and whether everything is wanted."""

    width: int
    plain: bool
    whole: bool = False
    cropped: bool = False  # whether a line that is too long is cut, and not gone on with by the terminal

    @property
    def most(self) -> int:
        """How many characters of a value are shown."""
        return IN_A_FILE if self.whole else MOST_CHARACTERS

    def paragraph(self, words: Words, style: str) -> Iterator[Text]:
        """Yield the lines of a sentence."""
        for line in wrapped(harmless(text(words)), self.width - len(INDENT)):
            yield Text(f"{INDENT}{line}", style)


def title(check: CheckResult, around: Around, page: Page) -> Text:
    """Return a check's name and state, and whether it passed the last time."""
    symbol, ascii_symbol, style = SYMBOLS[check.status]
    line = Text.assemble(
        (f"{ascii_symbol if page.plain else symbol} {check.id} {check.name}", f"bold {style}"),
        (f"  {say(f'states.{check.status}')}", style),
    )
    if around.is_regression(check):
        line.append(f"  {say('feedback.regression')}", "bold red")
    return line


def folded(check: CheckResult, around: Around, page: Page) -> Iterator[Text]:
    """Yield a check in two lines."""
    yield title(check, around, page)
    words = say("report.blocker", numbers=all_of(check.blocked_by)) if check.blocked_by else check.finding.actual
    if shown := harmless(text(words)).partition("\n")[0].strip():
        line = Text(f"{INDENT}{INDENT}{shown}", "dim")
        line.truncate(page.width, overflow="ellipsis")
        yield line


def unfolded(check: CheckResult, report: Report, around: Around, page: Page) -> Iterator[Text]:
    """Yield everything that is to be said of a check."""
    yield title(check, around, page)
    what, seen = _named(_findings(check, page)), _named(_evidence(check, page))
    then, command = _named(_what_then(check, report)), again(report, check, around.real)
    label = text(say("feedback.again"))
    wide = max(cell_len(label) for label, _ in [*what, *seen, *then, (label, "")])
    yield from _rows(what + seen, wide, page)
    matrix = check.evidence.get("matrix")
    if isinstance(matrix, dict):
        yield from _matrix(matrix, page)
    yield from _timeline(check.timeline, page)
    yield from _rows(then, wide, page)
    yield from _rows([(label, command)], wide, page) if page.cropped else [_row(label, wide, command)]


def _what_then(check: CheckResult, report: Report) -> Iterator[tuple[str, str]]:
    if check.symptom:
        from selfcheck.symptoms import question

        yield "feedback.question", text(question(check.symptom))
    yield "feedback.next", text(next_step(check))


def _findings(check: CheckResult, page: Page) -> Iterator[tuple[str, str]]:
    finding = check.finding
    expected, actual = harmless(text(finding.expected)), harmless(text(finding.actual))
    difference = first_difference(expected, actual)
    around = 0 if difference is None else difference[0]
    yield "report.rule", text(finding.broken_rule)
    yield "report.given", cut(text(finding.given), page.most)
    yield "report.expected", cut(expected, page.most, around)
    yield "report.actual", cut(actual, page.most, around)
    if difference is not None:
        at, due, came = difference
        shared = f"{'…' if at > _SHARED else ''}{expected[max(0, at - _SHARED) : at].strip(' ,:，：')}"
        yield "feedback.differs", text(say("feedback.difference", shared=shared, expected=due, actual=came))
    if check.blocked_by:
        yield "report.blocked_by", text(say("report.blocker", numbers=all_of(check.blocked_by)))
    else:
        yield "report.open", check.where


_SHARED = 20  # characters of what is the same, before what differs


def _evidence(check: CheckResult, page: Page) -> Iterator[tuple[str, str]]:
    for name, value in check.evidence.items():
        if name != "matrix":
            yield name, cut(shown(value), page.most)


def _named(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return values with their labels for keys of the catalogue or names of evidence; what is empty is left out."""
    return [(text(say(key)) if "." in key else _label(key), harmless(value)) for key, value in rows if value]


def _rows(rows: Sequence[tuple[str, str]], wide: int, page: Page) -> Iterator[Text]:
    """Yield values beside their labels, which take so many cells."""
    room = max(page.width - wide - 4, 8)
    for label, value in rows:
        for number, line in enumerate(wrapped(value, room)):
            yield _row("" if number else label, wide, line) if line else Text("")


def _row(label: str, wide: int, line: str) -> Text:
    """Return one line of a value. A command is one however long it is: broken by us, it could not be copied."""
    return Text.assemble(INDENT, (set_cell_size(label, wide), "dim"), "  ", line)


def _timeline(steps: Sequence[Step], page: Page) -> Iterator[Text]:
    if not steps:
        return
    yield Text(f"{INDENT}{say('feedback.timeline')}", "dim")
    before, middle, behind = (0, steps, 0) if page.whole else window(steps)
    if before:
        yield Text(f"{INDENT}{INDENT}{say('feedback.steps_before', count=before)}", "dim")
    for step in middle:
        yield from _step(step, page)
    if behind:
        yield Text(f"{INDENT}{INDENT}{say('feedback.steps_behind', count=behind)}", "dim")


def _step(step: Step, page: Page) -> Iterator[Text]:
    mark = MARK[page.plain] if step.diverges else " "
    lane = set_cell_size(text(say(f"timeline.{step.lane}")), LANE_WIDTH)
    style = "bold red" if step.diverges else ""
    words = harmless(text(step.words)) + (f"\n{step.full}" if page.whole and step.full else "")
    for number, line in enumerate(wrapped(words, max(page.width - LANE_WIDTH - 6, 8))):
        head, tag = (f"{INDENT}{mark} ", lane) if number == 0 else (f"{INDENT}  ", " " * LANE_WIDTH)
        yield Text.assemble((head, style), (tag, style or LANES[step.lane]), "  ", (line, style))


def _matrix(matrix: Mapping[str, Json], page: Page) -> Iterator[Text]:
    narrow = page.width < WIDTH
    letters, gap = (4, " ") if narrow else (None, "  ")  # of each status: enough to tell them apart
    heads = [status[:letters] for status in matrix]
    first = max(map(len, heads))
    yield Text(f"{INDENT}{say('report.matrix')}", "dim")
    yield Text(f"{INDENT}{' ' * first}{gap}{gap.join(heads)}", "dim")
    for head, row in zip(heads, matrix.values(), strict=True):
        assert isinstance(row, list), "a row has a cell for each status"
        line = Text.assemble(INDENT, (f"{head:<{first}}", "dim"))
        for above, cell in zip(heads, row, strict=True):
            words, style = _cell(str(cell), page)
            left = (len(above) - cell_len(words)) // 2
            line.append(gap + " " * left)
            line.append(words, style)
            line.append(" " * (len(above) - cell_len(words) - left))
        line.rstrip()
        yield line


def _cell(cell: str, page: Page) -> tuple[str, str]:
    answer, wrong, _ = cell.partition(" (wrong)")
    word = say("report.yes") if answer == "yes" else say("report.no")
    return (f"{word} {'x' if page.plain else '✗'}", "red") if wrong else (str(word), "dim")


def _label(name: str) -> str:
    """Return what a field of the evidence is called; one that is not ours is called as it is."""
    key = name.replace(" ", "_")
    return str(say(f"evidence.{key}")) if key in area_texts("en", "evidence") else name.replace("_", " ")


def shown(value: Seen) -> str:
    """Return a value of the evidence as people read it."""
    if isinstance(value, bool):
        return str(say("report.yes" if value else "report.no"))
    if isinstance(value, list) and all(isinstance(each, int) for each in value):
        return ",".join(str(each) for each in value) or str(say("report.none"))
    if isinstance(value, list):
        return "\n".join(shown(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{_label(name)} {shown(each)}" for name, each in value.items())
    return str(value)


def harmless(line: str) -> str:
    """Return a text without what would move a terminal: it comes from a tree."""
    return "".join(c if c.isprintable() or c == "\n" else " " if c == "\t" else "\ufffd" for c in line)
