"""An experiment before somebody's eyes: what is broken, a moment to think, both outputs, and what to make of them."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from selfcheck.console import plain
from selfcheck.experiments import NAMES
from selfcheck.experiments.drawing import side_by_side
from selfcheck.experiments.experiment import Experiment, Row, area_of, find
from selfcheck.experiments.ground import grounds, services
from selfcheck.playing.watcher import PATIENCE_S, Gone, Silent
from selfcheck.processes.held import Service
from selfcheck.texts import Words, say
from selfcheck.wrapping import prose
from shared.errors import Unavailable

WIDTH = 80


def show(console: Console, name: str | None, wait: bool) -> None:
    """Show one of `NAMES`; without a name, a line for each. With `wait` it goes on when somebody presses Enter.

    Raises:
        Unavailable: a service could not be started, or did not get on with its scenario.
    """
    console.width = min(console.width, WIDTH)
    if name is None:
        _list(console)
    else:
        _show(console, find(name), wait)


def _list(console: Console) -> None:
    console.print(Text(str(say("experiments.list"))))
    console.print()
    for name in NAMES:
        line = str(say(f"experiments.{area_of(name).removeprefix('experiments_')}"))
        console.print(Text.assemble("  ", (f"{name:22}", "bold"), line), overflow="ellipsis", no_wrap=True)
    console.print()
    console.print(Text(f"  {say('experiments.how')}", "dim"))


def _show(console: Console, experiment: Experiment, wait: bool) -> None:
    console.print(Rule(Text(experiment.name, "bold"), characters="-" if plain() else "─", align="left"))
    with services(experiment) as started:  # they load while it is read what they will do
        _tell(console, say("experiments.breaks"), experiment.said("breaks"))
        _tell(console, say("experiments.predict"), experiment.said("predict"))
        if wait:
            console.print(Text(str(say("experiments.press")), "dim"))
            sys.stdin.readline()
        else:
            console.print(Text(str(say("experiments.playing")), "dim"))
            console.print()
        try:
            with grounds(started) as (healthy, broken):
                rows = experiment.compare(healthy, broken)
        except Silent as silence:
            waited = say("experiments.waited", seconds=f"{PATIENCE_S:g}", what=silence.awaited)
            raise Unavailable("service", str(waited)) from silence
        except Gone as gone:
            raise _why_gone(started) from gone
    explain(console, experiment, rows)


def _why_gone(started: Sequence[Service]) -> Unavailable:
    """Return what a service that has ended said last."""
    for service in started:
        service.settle()
    ended = next((service for service in started if service.exit_code is not None), started[0])
    said = ended.log.prints[-1] if ended.log.prints else "it said nothing"
    return Unavailable("service", f"it ended while it was played on: {said}")


def explain(console: Console, experiment: Experiment, rows: Sequence[Row]) -> None:
    """Show what was seen on both sides, what to make of it, and where to read on."""
    console.print(side_by_side(rows))
    console.print()
    _tell(console, say("experiments.look"), experiment.said("look"))
    _tell(console, say("experiments.why"), experiment.said("why"))
    check = [] if experiment.check is None else [str(say("experiments.check", check=experiment.check))]
    _places(console, say("experiments.code"), [str(place) for place in experiment.code])
    _places(console, say("experiments.held"), [*check, *(str(place) for place in experiment.tests)])


def _tell(console: Console, head: Words, words: Words) -> None:
    console.print(Text(str(head), "bold"))
    console.print(Padding(prose(str(words)), (0, 0, 1, 2)))


def _places(console: Console, head: Words, places: Sequence[str]) -> None:
    console.print(Text(str(head), "bold"))
    for place in places:
        console.print(Padding(Text(place, "dim", overflow="fold"), (0, 0, 0, 2)))
