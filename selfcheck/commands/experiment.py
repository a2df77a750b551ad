"""`selfcheck experiment`: break one promise on purpose, and look."""

import sys
from typing import Annotated

import typer

from selfcheck.commands.common import Language, carry_out, speak
from selfcheck.texts import say


def command(
    name: Annotated[str | None, typer.Argument(help=str(say("help.experiment_name")))] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help=str(say("help.no_wait")))] = False,
    lang: Language = None,
) -> None:
    """Break one promise of the house on purpose and see what becomes of it, beside a service as it is."""
    from selfcheck.console import out
    from selfcheck.experiments import NAMES
    from selfcheck.experiments.showing import show

    speak(lang)
    if name is not None and name not in NAMES:
        problem = say("experiments.unknown", name=name, names=", ".join(NAMES))
        raise typer.BadParameter(str(problem), param_hint="NAME")
    wait = not no_wait and sys.stdin.isatty() and out.is_terminal
    raise carry_out(lambda: show(out, name, wait))
