"""What is seen of grading: a table that is alive while it works, plain lines where there is no terminal, the result."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from selfcheck.console import plain
from selfcheck.grading.exports import flag_key
from selfcheck.grading.record import Record
from selfcheck.reporting.symbols import SYMBOLS
from selfcheck.results import State
from selfcheck.texts import say

_CHECKS: Final = range(1, 7)
_AROUND: Final = 9  # lines of a live table that are no submission's
_MOST_FLAGS: Final = 30  # cells


class Screen:
    """Shows what is in work and what has ended. Used by one thread."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._ended = 0
        self._working: dict[str, None] = {}
        self._newest: deque[Record] = deque(maxlen=max(console.height - _AROUND, 3))
        self._progress = Progress(
            BarColumn(bar_width=None), MofNCompleteColumn(), TimeElapsedColumn(), console=console, expand=True
        )
        self._task = self._progress.add_task("", total=total)
        self._live: Live | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show it, live where somebody can see that."""
        if not self._console.is_terminal:
            yield
            return
        with Live(
            console=self._console, get_renderable=self._picture, refresh_per_second=4, transient=True
        ) as self._live:
            yield

    def begin(self, name: str) -> None:
        """Show that a submission is in work."""
        self._working[name] = None

    def end(self, record: Record) -> None:
        """Show what became of it."""
        self._working.pop(record.name, None)
        self._ended += 1
        self._newest.append(record)
        self._progress.update(self._task, completed=self._ended)
        if self._live is None:
            width = len(str(self._total))
            count = f"{self._ended:{width}}/{self._total}  {record.passed}/{len(record.states)}  "
            line = Text.assemble(count, *_states(record), "  ", record.name)
            if record.flags:
                line.append(f"  {str(say('grading.comma')).join(_flags(record))}", "yellow")
            self._console.print(line, no_wrap=True, overflow="ellipsis", soft_wrap=True)

    def refresh(self) -> None:
        """Show it at once, and not with the next beat."""
        if self._live is not None:
            self._live.refresh()

    def _picture(self) -> RenderableType:
        lines: list[RenderableType] = [table_of(list(self._newest), self._console.width)]
        if self._working:
            names = ", ".join(self._working)
            lines.append(Text(str(say("grading.in_work", names=names)), "dim", no_wrap=True, overflow="ellipsis"))
        return Group(*lines, self._progress)


def table_of(records: Sequence[Record], width: int) -> Table:
    """Return the table of submissions, which keeps to a width."""
    table = Table(box=None if plain() else box.SIMPLE_HEAD, width=min(width, 100), padding=(0, 1, 0, 0))
    table.add_column(str(say("grading.name")), no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(str(say("grading.score")), justify="right", no_wrap=True)
    for number in _CHECKS:
        table.add_column(str(number), justify="center", no_wrap=True)
    flagged = any(record.flags for record in records)
    if flagged:
        table.add_column(str(say("grading.flags")), style="yellow", max_width=_MOST_FLAGS, overflow="fold")
    for record in records:
        style = "green" if record.passed == len(record.states) else ""
        score = Text(f"{record.passed}/{len(record.states)}", style)
        table.add_row(Text(record.name), score, *_states(record), *(["\n".join(_flags(record))] if flagged else []))
    return table


def show_result(console: Console, records: Sequence[Record], written: str, *, confined: bool) -> None:
    """Print the whole table, what its signs mean, and the sum of it."""
    if records:
        console.print(table_of(records, console.width))
        seen = [state for state in State if any(state in record.states for record in records)]
        signs = [Text.assemble(_sign(state), f" {say(f'states.{state}')}") for state in seen]
        console.print(Text("  ").join(signs))
        console.print()
    full = sum(record.passed == len(record.states) for record in records)
    console.print(Text(str(say("grading.sum", total=len(records), full=full)), "bold"))
    counts = Counter(number for record in records for number in _passed(record))
    passes = "  ".join(f"{number}: {counts[number]}" for number in _CHECKS)
    console.print(str(say("grading.passes", passes=passes)), highlight=False)
    if flagged := sum(bool(record.flags) for record in records):
        console.print(Text(str(say("grading.flagged", count=flagged)), "yellow"))
    if not confined:
        console.print(Text(str(say("grading.not_confined")), "yellow"))
    console.print(Text(str(say("grading.written", folder=written))), soft_wrap=True)


def _passed(record: Record) -> Iterator[int]:
    return (number for number, state in enumerate(record.states, 1) if state is State.PASSED)


def _states(record: Record) -> list[Text]:
    return [_sign(state) for state in record.states]


def _sign(state: State) -> Text:
    symbol, ascii_symbol, style = SYMBOLS[state]
    return Text(ascii_symbol if plain() else symbol, style)


def _flags(record: Record) -> list[str]:
    return [str(say(flag_key(flag))) for flag in record.flags]
