"""`selfcheck grade`: judge many submissions."""

from pathlib import Path
from typing import Annotated

import typer

from selfcheck.commands.common import Language, carry_out, speak


def command(
    places: Annotated[list[str], typer.Argument(metavar="DIR...", help="A submission, or a folder of them.")],
    out: Annotated[Path, typer.Option(help="Folder for grades.csv, results.json and what is known.")] = Path("grades"),
    jobs: Annotated[int | None, typer.Option(min=1, max=256, help="How many at once; by default one per core.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="How the bus shuffles; without it, the assignment's.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Judge again what has been judged already.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit's XML to this file.")] = None,
    gradescope: Annotated[bool, typer.Option("--gradescope", help="Also write a results.json for each.")] = False,
    seconds: Annotated[float, typer.Option(min=1, help="How long a submission may take.")] = 60,
    cpu: Annotated[int, typer.Option(min=1, help="Seconds of CPU that a service of it may take.")] = 20,
    memory: Annotated[int, typer.Option(min=128, help="Memory that it may take, in MiB.")] = 768,
    output: Annotated[int, typer.Option(min=1, help="What a service of it may print, in MiB.")] = 16,
    processes: Annotated[int, typer.Option(min=16, help="Processes and threads that it may have.")] = 64,
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
