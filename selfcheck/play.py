"""One run of the self-check: judge the tree, show and write each result as it comes."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from selfcheck import early, report
from selfcheck.console import out
from selfcheck.judge import Judge
from selfcheck.process import Service
from selfcheck.results import CheckResult, Report, write_json
from selfcheck.spec import ServiceSpec
from selfcheck.trees import kit_root

MOST_PRINTS = 10


@dataclass(frozen=True, slots=True)
class Options:
    """What to check, and where to say so."""

    tree: str
    only: int | None
    seed: int
    json: Path | None


def run(options: Options, started: early.Started | None) -> Report:
    """Judge a tree and return the whole report. `started` is a service that may be the right one.

    Raises:
        Misconfigured: the results cannot be written where they should be.
        Unavailable: the service cannot be started.
    """
    root = str(kit_root())
    wanted = early.plain_spec(early.find_tree(options.tree, root), early.find_tree("solution", root))
    judge = Judge(*_adopt(wanted, started), options.seed)
    results: list[CheckResult] = []

    def so_far() -> Report:
        return Report("mock", options.tree, options.seed, tuple(results))

    report.show_head(out, so_far())
    try:
        for result in judge.judge(options.only):
            results.append(result)
            report.show_line(out, result)
            if options.json is not None:
                write_json(options.json, so_far())
        report.show_details(out, so_far(), judge.prints[-MOST_PRINTS:])
    finally:
        judge.close()
    return so_far()


def _adopt(wanted: early.Plain, started: early.Started | None) -> tuple[ServiceSpec, Service | None]:
    """Take the service that was started on a guess, if the guess was right."""
    if started is None:
        return msgspec.convert(wanted, ServiceSpec, strict=False), None
    if {**started.spec, "token": ""} != {**wanted, "token": ""}:
        started.end()
        return msgspec.convert(wanted, ServiceSpec, strict=False), None
    spec = msgspec.convert(started.spec, ServiceSpec, strict=False)
    return spec, Service(spec, started.process)
