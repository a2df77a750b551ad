"""The command line: the sub-commands, in the order in which one comes to need them.

Typer reads help where it is written, when this is imported: the language has to be known by then.
"""

from collections.abc import Sequence

import typer

from selfcheck.commands import chat, diff, doctor, experiment, grade, hint, interview, reset, run, serve, verify, watch
from selfcheck.commands.common import speak
from selfcheck.commands.frame import ClickException, Command, Group, tell_mistake
from selfcheck.interrupts import INTERRUPTED
from selfcheck.outcome import NOT_PASSED, PASSED
from selfcheck.texts import say

app = typer.Typer(
    name="selfcheck",
    cls=Group,
    help=str(say("help.selfcheck")),
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.callback()(speak)
app.command("run", cls=Command, help=str(say("help.run")))(run.command)
app.command("watch", cls=Command, help=str(say("help.watch")))(watch.command)
app.command("hint", cls=Command, help=str(say("help.hint")))(hint.command)
app.command("diff", cls=Command, help=str(say("help.diff")))(diff.command)
app.command("reset", cls=Command, help=str(say("help.reset")))(reset.command)
app.command("verify", cls=Command, help=str(say("help.verify")))(verify.command)
app.command("grade", cls=Command, help=str(say("help.grade")))(grade.command)
app.command("serve", cls=Command, help=str(say("help.serve")))(serve.command)
app.command("chat", cls=Command, help=str(say("help.chat")))(chat.command)
app.command("doctor", cls=Command, help=str(say("help.doctor")))(doctor.command)
app.command("experiment", cls=Command, help=str(say("help.experiment")))(experiment.command)
app.command("interview", cls=Command, help=str(say("help.interview")))(interview.command)


def run_command_line(arguments: Sequence[str]) -> int:
    """Carry the command out and return its exit code."""
    try:
        code: object = app(list(arguments), prog_name="selfcheck", standalone_mode=False)
    except ClickException as mistake:
        return tell_mistake(mistake)
    except typer.Abort:  # the end of a question
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads the help has left
        return NOT_PASSED
    return code if isinstance(code, int) else PASSED
