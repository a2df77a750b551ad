"""What is seen of the proof: a line for each thing proved, a bar while that takes long, what is wrong in full."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from selfcheck.console import plain
from selfcheck.texts import Words, say
from selfcheck.verifying.proof import Fault, Proof
from selfcheck.verifying.submissions import Verdict
from selfcheck.wrapping import wrapped

_HOLDS: Final = ("✓", "+", "green")
_WRONG: Final = ("✗", "x", "red")
_SKIPPED: Final = ("○", "o", "yellow")


class Screen:
    """Shows one part. `total` is how many submissions will be told of; `each` has a line printed for each of them."""

    def __init__(self, console: Console, total: int = 0, *, each: bool = False) -> None:
        self._console = console
        self._total = total
        self._each = each
        self._bar = Progress(
            SpinnerColumn(),
            *((BarColumn(), MofNCompleteColumn()) if total else ()),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=total or None)

    @contextmanager
    def part(self, title: Words) -> Iterator[None]:
        """Show a part while it is proved."""
        self._console.print(Text(str(title), "bold"))
        with self._bar:
            yield

    def judged(self, verdict: Verdict) -> None:
        """Show that a submission has been judged."""
        self._bar.update(self._task, advance=1, description=verdict.mutant.name)
        if self._each:
            sign = _sign(_WRONG if verdict.complaint else _HOLDS)
            line = Text.assemble("    ", sign, f" {verdict.mutant.name}  ", (str(verdict.seen()), "dim"))
            self._console.print(line, soft_wrap=True)

    def proved(self, proof: Proof) -> None:
        """Show what was proved, or what is wrong."""
        sign, style = _sign(_SKIPPED if proof.skipped else _WRONG if proof.faults else _HOLDS)
        count = str(proof.count) if proof.count else "-"
        self._lines(Text.assemble("  ", (sign, style), f"{count:>5}  "), str(proof.what))
        if proof.skipped:
            self._lines(Text(" " * 10), str(proof.skipped), "yellow")
        for fault in proof.faults:
            self._fault(fault)

    def _fault(self, fault: Fault) -> None:
        self._lines(Text(" " * 10), f"{fault.what}  {fault.where}", "red")
        for words in (say("verifying.expected", value=fault.expected), say("verifying.actual", value=fault.actual)):
            self._lines(Text(" " * 12), str(words))
        self._lines(Text(" " * 12), str(fault.remedy), "yellow")

    def _lines(self, begins: Text, words: str, style: str = "") -> None:
        """Print words behind what begins the line, and in the same column where they go on."""
        for line in wrapped(words, max(self._console.width - begins.cell_len, 20)):
            self._console.print(Text.assemble(begins, (line, style)), soft_wrap=True)
            begins = Text(" " * begins.cell_len)

    def result(self, proofs: Sequence[Proof], took_s: float) -> None:
        """Show the sum of it all."""
        count = sum(proof.count for proof in proofs)
        wrong = sum(len(proof.faults) for proof in proofs)
        left_out = sum(bool(proof.skipped) for proof in proofs)
        seconds = f"{took_s:.0f}"
        self._console.print()
        if wrong:
            self._console.print(
                Text(str(say("verifying.sum_wrong", count=count, wrong=wrong, seconds=seconds)), "bold red")
            )
        else:
            self._console.print(Text(str(say("verifying.sum", count=count, seconds=seconds)), "bold green"))
        if left_out:
            self._console.print(Text(str(say("verifying.sum_skipped", count=left_out)), "yellow"))


def _sign(signs: tuple[str, str, str]) -> tuple[str, str]:
    symbol, ascii_symbol, style = signs
    return ascii_symbol if plain() else symbol, style
