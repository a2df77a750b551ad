"""`selfcheck serve`: the service alone."""

from typing import Annotated

import typer

from selfcheck.commands.common import Language, Tree, carry_out, speak
from selfcheck.texts import say


def command(
    tree: Tree = "solution",
    port: Annotated[int, typer.Option(min=0, max=65535, help=str(say("help.port")))] = 8000,
    lang: Language = None,
) -> None:
    """Run the service for hands and curl, in memory, until Ctrl-C."""
    from selfcheck.serving import serve

    speak(lang)
    raise carry_out(lambda: serve(tree, port))
