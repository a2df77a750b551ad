"""`selfcheck watch`: judge at every save."""

from typing import Annotated

import typer

from selfcheck import early
from selfcheck.commands.common import Language, Tree, carry_out, speak
from selfcheck.texts import say


def command(
    tree: Tree = early.DEFAULT_TREE,
    only: Annotated[int | None, typer.Option(min=1, max=6, help=str(say("help.only")))] = None,
    seed: Annotated[int, typer.Option(min=0, help=str(say("help.seed")))] = early.DEFAULT_SEED,
    poll: Annotated[bool, typer.Option("--poll", help=str(say("help.poll")))] = False,
    lang: Language = None,
) -> None:
    """Play the checks at every save, those first that it can affect."""
    from selfcheck.watch.start import watch

    speak(lang)
    raise carry_out(lambda: watch(early.Options(tree, only, seed), poll=poll))
