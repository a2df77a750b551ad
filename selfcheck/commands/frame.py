"""What Typer itself says of a command line, in the language in use: the frame of `--help`, and mistakes.

It has no translations of its own, so its lines are recognised, as errors of services are. In English nothing is done.
"""

import io
import sys
from typing import Final

import typer
from typer._click.exceptions import ClickException  # the root of all mistakes; public is only one of its kinds
from typer.core import TyperCommand, TyperGroup

from selfcheck.recognising import recognised
from selfcheck.texts import Message, english, in_use, say, text

__all__ = ["ClickException", "Command", "Group", "framed", "tell_mistake"]

_AREAS: Final = ("usage",)
_REMARKS: Final = (say("usage.default", value=""), say("usage.required"))  # behind an option, in brackets


class Command(TyperCommand):
    """A sub-command."""

    def get_help(self, ctx: typer.Context) -> str:  # type: ignore[override]  # Typer makes no other kind of context
        """Return what `--help` says."""
        return framed(super().get_help(ctx))

    def get_usage(self, ctx: typer.Context) -> str:  # type: ignore[override]
        """Return the line that says how the command is called."""
        return framed(super().get_usage(ctx))


class Group(TyperGroup):
    """The command that has the others."""

    def get_help(self, ctx: typer.Context) -> str:  # type: ignore[override]
        """Return what `--help` says."""
        return framed(super().get_help(ctx))

    def get_usage(self, ctx: typer.Context) -> str:  # type: ignore[override]
        """Return the line that says how the command is called."""
        return framed(super().get_usage(ctx))


def framed(said: str) -> str:
    """Return what Typer said, line by line, in the language in use."""
    return said if in_use() == "en" else "\n".join(_line(line) for line in said.split("\n"))


def tell_mistake(mistake: ClickException) -> int:
    """Say on standard error what is wrong with a command line, and return the exit code."""
    said = io.StringIO()
    mistake.show(said)  # asked for without a command, help is shown where it belongs, and not here
    sys.stderr.write(framed(said.getvalue()))
    return mistake.exit_code


def _line(line: str) -> str:
    bare = line.strip()
    words = recognised(bare, _AREAS)
    if isinstance(words, Message):
        return line.replace(bare, text(words))
    for remark in _REMARKS:
        line = line.replace(f"[{english(remark)}", f"[{text(remark)}")
    return line
