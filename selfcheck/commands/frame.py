"""What Typer itself says of a command line, in the language in use: the frame of `--help`, and mistakes.

It has no translations of its own, so its lines are recognised, as errors of services are. In English nothing is done.
"""

import io
import re
import shutil
import sys
from typing import Final

import typer
from rich.cells import cell_len
from typer._click.exceptions import ClickException  # the root of all mistakes; public is only one of its kinds
from typer.core import TyperCommand, TyperGroup

from selfcheck.recognising import recognised
from selfcheck.texts import Message, english, in_use, say, text
from selfcheck.wrapping import wrapped

__all__ = ["ClickException", "Command", "Group", "framed", "tell_mistake"]

WIDTH: Final = 78  # what Typer takes of a terminal at the most

_AREAS: Final = ("usage",)
_GOES_ON: Final = re.compile(r" {4,}\S")
_ROW: Final = re.compile(r"(  \S.*?  +)(\S.*)")
_REMARKS: Final = (say("usage.default", value=""), say("usage.required"))  # behind an option, in brackets


class Command(TyperCommand):
    """A sub-command."""

    def get_short_help_str(self, limit: int = 45) -> str:  # a line more costs less than half a sentence
        """Return what stands beside the command's name: all of it."""
        return self.help or ""

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
    """Return what Typer said in the language in use, broken into lines as that is."""
    if in_use() == "en":
        return said
    width = min(shutil.get_terminal_size().columns, WIDTH)
    return "\n".join(broken for line in _unbroken(said) for broken in _broken(_line(line), width))


def tell_mistake(mistake: ClickException) -> int:
    """Say on standard error what is wrong with a command line, and return the exit code."""
    said = io.StringIO()
    mistake.show(said)  # asked for without a command, help is shown where it belongs, and not here
    sys.stderr.write(framed(said.getvalue()))
    return mistake.exit_code


def _unbroken(said: str) -> list[str]:
    """Return the lines as they were before Typer broke them: what goes on stands deeper than what begins."""
    lines: list[str] = []
    for line in said.split("\n"):
        if lines and _GOES_ON.match(line):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return lines


def _line(line: str) -> str:
    bare = line.strip()
    words = recognised(bare, _AREAS)
    if isinstance(words, Message):
        return line.replace(bare, text(words))
    for remark in _REMARKS:
        line = line.replace(f"[{english(remark)}", f"[{text(remark)}")
    return line


def _broken(line: str, width: int) -> list[str]:
    """Return a line as lines of this width: an option or a command keeps the column of what is said of it."""
    row = _ROW.fullmatch(line)
    begins, words = row.groups() if row else ("", line)
    first, *more = wrapped(words, width - cell_len(begins)) or [""]
    return [begins + first, *(" " * cell_len(begins) + each for each in more)]
