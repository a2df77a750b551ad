"""`selfcheck chat`: a front end in the terminal."""

from typing import Annotated

import typer

from selfcheck import interrupts
from selfcheck.commands.common import Language, Tree, carry_out, speak


def command(
    url: Annotated[str | None, typer.Option(help="A running gateway; without it, one in memory is started.")] = None,
    session: Annotated[str | None, typer.Option(help="The session to talk in; without it, a new one.")] = None,
    tree: Tree = "solution",
    lang: Language = None,
) -> None:
    """Talk to the service: a small front end in the terminal, or with messages on standard input, one a line."""
    from selfcheck.chat import chat

    speak(lang)
    raise carry_out(lambda: chat(url, session, tree), interrupts.raise_each_time)
