"""The command line. Each command reads its options, asks one module for the work, and shows what comes back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from selfcheck import console, early
from shared.errors import KodaError, Misconfigured

PASSED, NOT_PASSED, USAGE, ENVIRONMENT, INTERRUPTED = 0, 1, 2, 3, 130
DEFAULT_SEED = 7

app = typer.Typer(
    name="selfcheck",
    help="Check the four exercises of the Koda lab, end to end.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

_started: early.Started | None = None

Tree = Annotated[str, typer.Option(help="Folder with the exercises to check.")]


def run_command_line(arguments: Sequence[str], started: early.Started | None) -> int:
    """Carry the command out and return its exit code. `started` is the service that was started on a guess."""
    global _started
    _started = started
    try:
        app(list(arguments), standalone_mode=True)
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else USAGE
    except KeyboardInterrupt:
        console.err.print("stopped")
        return INTERRUPTED
    except KodaError as fault:
        console.err.print(f"selfcheck: {fault}", style="red", markup=False)
        return USAGE if isinstance(fault, Misconfigured) and fault.service == "settings" else ENVIRONMENT
    finally:
        if _started is not None:
            _started.end()
    return PASSED


@app.command()
def run(
    tree: Tree = "starter",
    only: Annotated[int | None, typer.Option(min=1, max=6, help="One check alone.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides how the bus shuffles.")] = DEFAULT_SEED,
    real: Annotated[bool, typer.Option("--real", help="On a PostgreSQL and a Valkey started for this run.")] = False,
    json: Annotated[Path | None, typer.Option(help="Also write the results to this file, after every check.")] = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 also when a check does not pass.")] = False,
) -> None:
    """Play the six checks."""
    global _started
    from selfcheck import play

    started, _started = _started, None
    report = play.run(play.Options(tree, only, seed, real, json), started)
    if any(check.status == "environment" for check in report.checks):
        raise typer.Exit(ENVIRONMENT)
    if report.passed < len(report.checks) and not exit_zero:
        raise typer.Exit(NOT_PASSED)


@app.command()
def serve(
    tree: Tree = "solution",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8000,
) -> None:
    """Run the service for hands and curl, in memory, until Ctrl-C."""
    from selfcheck import serving

    serving.serve(tree, port)


@app.command()
def diff(
    exercise: Annotated[int | None, typer.Argument(min=1, max=4, help="One exercise; without it, all.")] = None,
) -> None:
    """Show what the solution changes in the starter."""
    from selfcheck import trees

    for line in trees.difference(exercise).splitlines():
        styles = {"+": "green", "-": "red", "@": "cyan"}
        bold = line.startswith(("+++", "---"))
        console.out.print(line, style="bold" if bold else styles.get(line[:1], ""), markup=False, soft_wrap=True)
