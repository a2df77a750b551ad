"""What the commands share: options, and how a command's end becomes an exit code."""

from collections.abc import Callable
from typing import Annotated, TypeAlias

import typer

from selfcheck import interrupts, outcome, texts
from selfcheck.outcome import PASSED, said
from selfcheck.texts import say

Tree: TypeAlias = Annotated[str, typer.Option(help=str(say("help.tree")))]
Language: TypeAlias = Annotated[str | None, typer.Option("--lang", help=str(say("help.lang")))]


def speak(lang: Language = None) -> None:
    """Show messages in the language that `--lang` names. Without it the environment's is in use already.

    Raises:
        typer.BadParameter: we have no texts in that language.
    """
    chosen = next((each for each in texts.LANGUAGES if each == lang), None)
    if chosen is not None:
        outcome.speak(chosen)
    elif lang is not None:
        problem = say("usage.not_one_of", value=repr(lang), choices=", ".join(texts.LANGUAGES))
        raise typer.BadParameter(str(problem), param_hint="--lang")


def carry_out(
    command: Callable[[], int | None], take_interrupts: Callable[[], None] = interrupts.raise_once
) -> "typer.Exit":
    """Carry a command out and return what ends the program: raise it. None for an exit code is 0."""

    def work() -> int:
        take_interrupts()
        return command() or PASSED

    return typer.Exit(said(work))


__all__ = ["Language", "Tree", "carry_out", "speak"]
