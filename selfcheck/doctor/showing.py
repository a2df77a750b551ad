"""`selfcheck doctor`: the examination, shown."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from selfcheck.console import out, plain
from selfcheck.doctor import kit, machine
from selfcheck.doctor.remark import Health, Remark
from selfcheck.outcome import ENVIRONMENT, PASSED
from selfcheck.texts import Words, say
from selfcheck.wrapping import broken

WHAT_WIDTH = 24  # of what is looked at, in cells
LEAST_ROOM = 20  # for what is said of it
_SYMBOLS = {Health.GOOD: ("✓", "+", "green"), Health.MISSING: ("○", "o", "yellow"), Health.BAD: ("✗", "x", "red")}


def examine() -> Iterator[tuple[Words, list[Remark]]]:
    """Yield each part of the examination as it is done."""
    yield say("doctor.part_python"), [*machine.python()]
    yield say("doctor.part_packages"), [*machine.packages()]
    yield say("doctor.part_kit"), [*kit.of_trees(), *machine.memory()]
    yield say("doctor.part_ports"), [*machine.ports()]
    yield say("doctor.part_services"), [*kit.of_services()]
    yield say("doctor.part_settings"), [*kit.of_settings()]


def show() -> int:
    """Examine and show; return the exit code: 3 when something will keep the checks from coming out right."""
    out.print(Text(machine.system(), "dim"))
    bad = 0
    for title, remarks in examine():
        out.print()
        out.print(Text(str(title), "bold"))
        for remark in remarks:
            _show(remark)
            bad += remark.health is Health.BAD
    _show_settings()
    out.print()
    last = say("doctor.bad", count=bad) if bad else say("doctor.well")
    out.print(Text(str(last), "bold red" if bad else "bold green"))
    return ENVIRONMENT if bad else PASSED


def _show(remark: Remark) -> None:
    symbol, ascii_symbol, style = _SYMBOLS[remark.health]
    what = str(remark.what)
    named = f"{what}{' ' * (WHAT_WIDTH - cell_len(what))} "
    _row(Text.assemble("  ", (ascii_symbol if plain() else symbol, style), " ", named), Text(str(remark.found)))
    if remark.remedy:
        _row(Text("    "), Text(str(remark.remedy), style))


def _show_settings() -> None:
    settings = [*kit.settings_in_force()]
    longest = max(len(variable) for variable, *_ in settings)
    widest = max(len(value) for _, value, *_ in settings)
    for variable, value, default, why in settings:
        name = Text.assemble("  ", f"{variable:{longest}} ", (f"{value:>{widest}}", "yellow" if default else ""), " ")
        remark = f"{say('doctor.default', value=default)} " if default else ""
        _row(name, Text.assemble((remark, "yellow"), (str(why), "dim")))


def _row(begins: Text, words: Text) -> None:
    """Print words behind what begins a line, broken there; where there is too little room, below it."""
    room = out.width - begins.cell_len
    if room < LEAST_ROOM and words.cell_len > room:
        begins.rstrip()
        out.print(begins, soft_wrap=True)
        begins = Text("    ")
    for line in broken(words, out.width - begins.cell_len):
        out.print(Text.assemble(begins, line), soft_wrap=True)
        begins = Text(" " * begins.cell_len)
