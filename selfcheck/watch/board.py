"""The board: what is known of each check, what has just happened to the tree, and how both are worded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rich.cells import set_cell_size
from rich.text import Text

from selfcheck.checks.check import Check
from selfcheck.recognising import recognised
from selfcheck.reporting.details import Page, harmless, unfolded
from selfcheck.reporting.feedback import Around
from selfcheck.reporting.report import NAME_WIDTH
from selfcheck.reporting.symbols import SYMBOLS
from selfcheck.results import CheckResult, Report, State
from selfcheck.texts import Message, Words, say, text
from shared.exercises import Fault

STATE_WIDTH = 26
UNKNOWN = ("·", "-", "dim")


@dataclass(slots=True)
class Row:
    """A check: its last verdict, when that was given, how it differs from the one before, whether another is due."""

    check: Check
    result: CheckResult | None = None
    at: datetime | None = None
    change: Message | None = None
    due: bool = False

    def take(self, result: CheckResult, at: datetime, passed_before: bool) -> None:
        """Take a verdict. `passed_before` is what is remembered of earlier runs, for the first one."""
        known = self.result is not None
        passed = passed_before if self.result is None else self.result.status is State.PASSED
        self.change = None
        if result.status is State.PASSED and known and not passed:
            self.change = say("watch.newly_green")
        elif passed and result.status not in (State.PASSED, State.ENVIRONMENT):
            self.change = say("watch.regressed")
        self.result, self.at, self.due = result, at, False

    def line(self, *, plain: bool) -> Text:
        """Return it in one line."""
        symbol, ascii_symbol, style = UNKNOWN if self.result is None else SYMBOLS[self.result.status]
        symbol = ascii_symbol if plain else symbol
        name = set_cell_size(text(self.check.name), NAME_WIDTH)
        line = Text.assemble("  ", (f"{symbol} {self.check.id} {name} ", style))
        line.append(set_cell_size(text(self._words()), STATE_WIDTH), "dim" if self.due else style)
        line.append(f" {self.at:%H:%M:%S}" if self.at is not None else "", "dim")
        if self.due:
            line.append(f" {say('watch.due')}", "dim")
        elif self.change is not None:
            line.append(f" {self.change}", "bold")
        line.rstrip()
        return line

    def _words(self) -> Words:
        if self.result is None:
            return say("watch.unknown")
        if self.result.status is State.BLOCKED:
            return say("watch.blocked", numbers=", ".join(map(str, self.result.blocked_by)))
        return say(f"states.{self.result.status}")


@dataclass(slots=True)
class Board:
    """Everything that is shown."""

    rows: Mapping[int, Row]
    report: Report  # for its head
    around: Around = field(default_factory=Around)
    news: Message = field(default_factory=lambda: say("watch.first"))
    news_at: datetime | None = None
    faults: Sequence[Fault] = ()  # files that give nothing to judge
    fault: Words = ""  # why there is no service
    printed: Sequence[str] = ()  # by the tree
    note: Message | None = None  # how the tree is watched, where that is not as well as could be

    def results(self) -> list[CheckResult]:
        """Return the verdicts that there are."""
        return [row.result for row in self.rows.values() if row.result is not None]

    def head(self) -> Text:
        """Return what is watched, and how it is judged."""
        mode = say("report.mock") if self.report.mode == "mock" else say("report.real")
        words = say("report.head", tree=self.report.tree, mode=mode, seed=self.report.seed)
        return Text.assemble(("Koda lab", "bold"), f"  {words}")

    def told(self, page: Page) -> Iterator[Text]:
        """Yield what has just happened, and what keeps the tree from being judged."""
        at = "" if self.news_at is None else f"{self.news_at:%H:%M:%S} "
        yield from page.paragraph(f"{at}{self.news}", "")
        for fault in self.faults:
            problem = say("playing.file_problem", file=fault.where, problem=recognised(fault.problem))
            yield from page.paragraph(problem, "bold red")
            yield from page.paragraph(say("watch.expected", expected=recognised(fault.expected)), "red")
        if self.fault:
            yield from page.paragraph(self.fault, "magenta")
        if self.note is not None:
            yield from page.paragraph(self.note, "dim")

    def score(self) -> Text:
        """Return how many checks pass."""
        results = self.results()
        passed = sum(result.status is State.PASSED for result in results)
        style = "bold green" if passed == len(self.rows) else "bold"
        return Text(f"  {say('report.score', passed=passed, total=len(self.rows))}", style)

    def first_wrong(self, page: Page) -> Iterator[Text]:
        """Yield everything about the first check that does not pass and has something to be mended."""
        wrong = [result for result in self.results() if result.status is not State.PASSED]
        if wrong and not self.fault:
            first = next((each for each in wrong if each.status is not State.BLOCKED), wrong[0])
            yield Text("")
            yield from unfolded(first, self.report, self.around, page)
            if self.around.folder is not None:
                yield from page.paragraph(say("feedback.folder", folder=self.around.folder), "dim")

    def prints(self) -> Iterator[Text]:
        """Yield what the tree printed."""
        if self.printed:
            yield Text("")
            yield Text(str(say("report.prints", count=len(self.printed))), "dim")
            yield from (Text(f"  {harmless(line)}", "dim") for line in self.printed)
