"""`selfcheck run`: play the six checks."""

from typing import Annotated

import typer

from selfcheck import early
from selfcheck.commands.common import Language, Tree, speak
from selfcheck.outcome import play_and_report
from selfcheck.texts import say


def command(
    tree: Tree = early.DEFAULT_TREE,
    only: Annotated[int | None, typer.Option(min=1, max=6, help=str(say("help.only")))] = None,
    seed: Annotated[int, typer.Option(min=0, help=str(say("help.seed")))] = early.DEFAULT_SEED,
    repeat: Annotated[int, typer.Option(min=1, max=early.MOST_REPEATED, help=str(say("help.repeat")))] = 1,
    json: Annotated[str | None, typer.Option(help=str(say("help.json")))] = None,
    junit: Annotated[str | None, typer.Option(help=str(say("help.junit")))] = None,
    real: Annotated[bool, typer.Option("--real", help=str(say("help.real")))] = False,
    lang: Language = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help=str(say("help.exit_zero")))] = False,
) -> None:
    """Play the six checks."""
    speak(lang)
    options = early.Options(tree, only, seed, repeat, json, junit, lang, real=real, exit_zero=exit_zero)
    raise typer.Exit(play_and_report(options))
