"""`selfcheck grade`: judge many submissions."""

from pathlib import Path
from typing import Annotated

import typer

from selfcheck.commands.common import Language, carry_out, speak
from selfcheck.texts import say


def command(
    places: Annotated[list[str], typer.Argument(metavar="DIR...", help=str(say("grading.help_places")))],
    out: Annotated[Path, typer.Option(help=str(say("grading.help_out")))] = Path("grades"),
    jobs: Annotated[int | None, typer.Option(min=1, max=256, help=str(say("grading.help_jobs")))] = None,
    seed: Annotated[int | None, typer.Option(min=0, help=str(say("grading.help_seed")))] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help=str(say("grading.help_fresh")))] = False,
    junit: Annotated[Path | None, typer.Option(help=str(say("grading.help_junit")))] = None,
    gradescope: Annotated[bool, typer.Option("--gradescope", help=str(say("grading.help_gradescope")))] = False,
    seconds: Annotated[float, typer.Option(min=1, help=str(say("grading.help_seconds")))] = 60,
    cpu: Annotated[int, typer.Option(min=1, help=str(say("grading.help_cpu")))] = 20,
    memory: Annotated[int, typer.Option(min=128, help=str(say("grading.help_memory")))] = 768,
    output: Annotated[int, typer.Option(min=1, help=str(say("grading.help_output")))] = 16,
    processes: Annotated[int, typer.Option(min=16, help=str(say("grading.help_processes")))] = 64,
    lang: Language = None,
) -> None:
    """Judge many submissions, each on its own and out of the solution's reach."""
    import os

    from selfcheck.grading.grade import Wish, grade
    from selfcheck.grading.orders import MIB, Limits

    speak(lang)
    limits = Limits(seconds, cpu, memory * MIB, output * MIB, processes)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    here = Path.cwd()
    wish = Wish(
        places, here / out, jobs or cores, limits, seed, fresh, None if junit is None else here / junit, gradescope
    )  # fmt: skip
    raise carry_out(lambda: grade(wish))
