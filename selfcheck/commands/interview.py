"""`selfcheck interview`: the questions that the lesson prepares for."""

import sys
from typing import Annotated

import typer

from selfcheck.commands.common import Language, carry_out, speak
from selfcheck.texts import say


def command(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help=str(say("help.questions")))] = None,
    listed: Annotated[bool, typer.Option("--list", help=str(say("help.list")))] = False,
    read: Annotated[bool, typer.Option("--read", help=str(say("help.read")))] = False,
    lang: Language = None,
) -> None:
    """Be asked what the lesson prepares for: think, reveal point by point, tick what you had."""
    from selfcheck.interview import interviewer, questions
    from selfcheck.keyboard import Lines

    speak(lang)
    try:
        asked = interviewer.chosen(names or ())
    except LookupError as unknown:
        known = ", ".join(each.name for each in questions.QUESTIONS)
        problem = say("interview.unknown", name=str(unknown.args[0]), names=known)
        raise typer.BadParameter(str(problem), param_hint="NAME") from None
    if listed:
        raise carry_out(interviewer.list_all)
    if read:
        raise carry_out(lambda: interviewer.show_all(asked))
    lines = Lines(interactive=sys.stdin.isatty())
    raise carry_out(lambda: interviewer.interview(asked, lines.line))
