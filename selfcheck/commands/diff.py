"""`selfcheck diff`: what the solution changes."""

from typing import Annotated

import typer

from selfcheck.commands.common import Language, carry_out, speak
from selfcheck.texts import say


def command(
    exercise: Annotated[int | None, typer.Argument(min=1, max=4, help=str(say("help.exercise")))] = None,
    lang: Language = None,
) -> None:
    """Show what the solution changes in the starter."""
    from selfcheck.differing import show

    speak(lang)
    raise carry_out(lambda: show(exercise))
