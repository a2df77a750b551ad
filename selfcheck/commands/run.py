"""`selfcheck run`: play the six checks."""

from typing import Annotated

import typer

from selfcheck import early
from selfcheck.commands.common import Language, Tree, speak
from selfcheck.outcome import play_and_report


def command(
    tree: Tree = early.DEFAULT_TREE,
    only: Annotated[int | None, typer.Option(min=1, max=6, help="One check alone.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides how the bus shuffles.")] = early.DEFAULT_SEED,
    json: Annotated[str | None, typer.Option(help="Also write the results to this file, after every check.")] = None,
    real: Annotated[bool, typer.Option("--real", help="On a PostgreSQL and a Valkey started for this run.")] = False,
    lang: Language = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 also when a check does not pass.")] = False,
) -> None:
    """Play the six checks."""
    speak(lang)
    raise typer.Exit(play_and_report(early.Options(tree, only, seed, json, lang, real=real, exit_zero=exit_zero)))
