"""`selfcheck verify`: the kit proves itself."""

from pathlib import Path
from typing import Annotated

import typer

from selfcheck.commands.common import Language, carry_out, speak
from selfcheck.texts import say


def command(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help=str(say("verifying.help_names")))] = None,
    only: Annotated[str | None, typer.Option(metavar="PART", help=str(say("verifying.help_only")))] = None,
    json: Annotated[Path | None, typer.Option(help=str(say("verifying.help_json")))] = None,
    lang: Language = None,
) -> None:
    """Prove the kit: trees, wrong submissions, texts, screens."""
    from selfcheck.verifying.verify import NAMES, Wish, verify

    speak(lang)
    parts = [each for each in NAMES if each == only or (only is None and (each == "mutants" or not names))]
    if not parts:
        problem = say("usage.not_one_of", value=repr(only), choices=", ".join(NAMES))
        raise typer.BadParameter(str(problem), param_hint="--only")
    wish = Wish(NAMES if len(parts) == len(NAMES) else parts, names or (), json)
    raise carry_out(lambda: verify(wish))
