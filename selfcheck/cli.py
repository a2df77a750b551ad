"""The command line. Each command reads its options, asks one module for the work, and shows what comes back."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from selfcheck import early, interrupts
from selfcheck.outcome import PASSED, USAGE, play_and_report, said

app = typer.Typer(
    name="selfcheck",
    help="Check the four exercises of the Koda lab, end to end.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

Tree = Annotated[str, typer.Option(help="Folder with the exercises.")]


def run_command_line(arguments: Sequence[str]) -> int:
    """Carry the command out and return its exit code."""
    try:
        app(list(arguments))
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else USAGE
    return PASSED


@app.command()
def run(
    tree: Tree = early.DEFAULT_TREE,
    only: Annotated[int | None, typer.Option(min=1, max=6, help="One check alone.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides how the bus shuffles.")] = early.DEFAULT_SEED,
    json: Annotated[str | None, typer.Option(help="Also write the results to this file, after every check.")] = None,
    real: Annotated[bool, typer.Option("--real", help="On a PostgreSQL and a Valkey started for this run.")] = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 also when a check does not pass.")] = False,
) -> None:
    """Play the six checks."""
    raise typer.Exit(play_and_report(early.Options(tree, only, seed, json, real=real, exit_zero=exit_zero)))


@app.command()
def serve(
    tree: Tree = "solution",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8000,
) -> None:
    """Run the service for hands and curl, in memory, until Ctrl-C."""
    from selfcheck import serving

    _say(lambda: serving.serve(tree, port))


@app.command()
def chat(
    url: Annotated[str | None, typer.Option(help="A running gateway; without it, one in memory is started.")] = None,
    session: Annotated[str | None, typer.Option(help="The session to talk in; without it, a new one.")] = None,
    tree: Tree = "solution",
) -> None:
    """Talk to the service: a small front end in the terminal, or with messages on standard input, one a line."""
    from selfcheck.chat import chat as talk

    _say(lambda: talk(url, session, tree), interrupts.raise_each_time)


@app.command()
def diff(
    exercise: Annotated[int | None, typer.Argument(min=1, max=4, help="One exercise; without it, all.")] = None,
) -> None:
    """Show what the solution changes in the starter."""
    from selfcheck import differing

    _say(lambda: differing.show(exercise))


def _say(command: Callable[[], None], take_interrupts: Callable[[], None] = interrupts.raise_once) -> None:
    def carry_out() -> int:
        take_interrupts()
        command()
        return PASSED

    raise typer.Exit(said(carry_out))
