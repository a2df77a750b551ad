"""`selfcheck chat`: a front end in the terminal."""

from typing import Annotated

import typer

from selfcheck import interrupts
from selfcheck.commands.common import Language, Tree, carry_out, speak
from selfcheck.texts import say


def command(
    url: Annotated[str | None, typer.Option(help=str(say("help.url")))] = None,
    session: Annotated[str | None, typer.Option(help=str(say("help.session")))] = None,
    tree: Tree = "solution",
    lang: Language = None,
) -> None:
    """Talk to the service: a small front end in the terminal, or with messages on standard input, one a line."""
    from selfcheck.chat.start import chat

    speak(lang)
    raise carry_out(lambda: chat(url, session, tree), interrupts.raise_each_time)
