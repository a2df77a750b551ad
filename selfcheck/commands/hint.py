"""`selfcheck hint`: help, a little at a time."""

from typing import Annotated

import typer

from selfcheck import early
from selfcheck.commands.common import Language, Tree, carry_out, speak
from selfcheck.texts import say


def command(
    exercise: Annotated[int, typer.Argument(min=1, max=4, help=str(say("help.hint_exercise")))],
    level: Annotated[int | None, typer.Option(min=1, max=3, help=str(say("help.level")))] = None,
    again: Annotated[bool, typer.Option("--again", help=str(say("help.again")))] = False,
    tree: Tree = early.DEFAULT_TREE,
    lang: Language = None,
) -> None:
    """Show the next hint for an exercise: a question, the shape, nearly the code."""
    from selfcheck.hints.showing import show

    speak(lang)
    raise carry_out(lambda: show(tree, exercise, level, again=again))
