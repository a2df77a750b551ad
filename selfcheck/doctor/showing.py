"""`selfcheck doctor`: the examination, shown."""

from collections.abc import Iterator

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from selfcheck.console import out, plain
from selfcheck.doctor import kit, machine
from selfcheck.doctor.remark import Health, Remark
from selfcheck.outcome import ENVIRONMENT, PASSED
from selfcheck.texts import Words, say

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
    line = Table.grid(padding=(0, 1))
    line.add_column(no_wrap=True)
    line.add_column(min_width=24, max_width=34, overflow="fold")
    line.add_column(overflow="fold")
    line.add_row(Text(ascii_symbol if plain() else symbol, style), Text(str(remark.what)), Text(str(remark.found)))
    out.print(Padding(line, (0, 0, 0, 2), expand=False))
    if remark.remedy:
        out.print(Padding(Text(str(remark.remedy), style), (0, 0, 0, 4), expand=False))


def _show_settings() -> None:
    rows = Table.grid(padding=(0, 1))
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True, justify="right")
    rows.add_column(overflow="fold")
    for variable, value, default, why in kit.settings_in_force():
        text = Text(str(why), "dim")
        if default:
            text = Text.assemble((str(say("doctor.default", value=default)), "yellow"), " ", text)
        rows.add_row(variable, Text(value, "yellow" if default else ""), text)
    out.print(Padding(rows, (0, 0, 0, 2), expand=False))
