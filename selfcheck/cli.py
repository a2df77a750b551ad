"""The command line: the sub-commands, in the order in which one comes to need them."""

from collections.abc import Sequence

import typer

from selfcheck.commands import chat, diff, experiment, interview, run, serve
from selfcheck.outcome import PASSED, USAGE

app = typer.Typer(
    name="selfcheck",
    help="Check the four exercises of the Koda lab, end to end.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.command("run")(run.command)
app.command("diff")(diff.command)
app.command("serve")(serve.command)
app.command("chat")(chat.command)
app.command("experiment")(experiment.command)
app.command("interview")(interview.command)


def run_command_line(arguments: Sequence[str]) -> int:
    """Carry the command out and return its exit code."""
    try:
        app(list(arguments))
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else USAGE
    return PASSED
