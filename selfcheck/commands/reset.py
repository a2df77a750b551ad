"""`selfcheck reset`: put one exercise back."""

import sys
from typing import Annotated

import typer

from selfcheck import early
from selfcheck.commands.common import Language, Tree, carry_out, speak
from selfcheck.outcome import USAGE
from selfcheck.texts import say


def command(
    exercise: Annotated[int, typer.Argument(min=1, max=4, help=str(say("help.reset_exercise")))],
    file: Annotated[bool, typer.Option("--file", help=str(say("help.reset_file")))] = False,
    yes: Annotated[bool, typer.Option("--yes", help=str(say("help.reset_yes")))] = False,
    tree: Tree = early.DEFAULT_TREE,
    lang: Language = None,
) -> None:
    """Put one exercise back as it came; a dated copy of the file is kept."""
    from selfcheck.console import tell
    from selfcheck.keyboard import Lines
    from selfcheck.resetting import reset

    speak(lang)
    if not yes and not sys.stdin.isatty():
        tell(say("resetting.nobody_to_ask"))
        raise typer.Exit(USAGE)
    lines = Lines(interactive=True)
    raise carry_out(lambda: reset(tree, exercise, whole_file=file, confirm=None if yes else lines.line))
