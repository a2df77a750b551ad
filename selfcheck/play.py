"""One run of the self-check: judge the tree, as often as is asked for, show and write each result as it comes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from selfcheck import early, interrupts
from selfcheck.console import out, tell
from selfcheck.judge import Judge
from selfcheck.processes.held import Service
from selfcheck.recognising import explained, recognised, service_name
from selfcheck.reporting import report
from selfcheck.reporting.sheet import Sheet
from selfcheck.results import CheckResult, Finding, Report, State
from selfcheck.spec import BOTH, ServiceSpec, new_token
from selfcheck.texts import say
from selfcheck.trees import folder_of, kit_root
from shared.addresses import Urls, choose
from shared.errors import Misconfigured, Unavailable

MOST_PRINTS = 10


def run(options: early.Options, started: early.Started | None) -> Report:
    """Judge a tree and return the whole report. `started` is a service in memory that loads already.

    A service that cannot be had is no exception here: it is a report in which every check that is left says so.

    Raises:
        Misconfigured: there is no such tree, the results cannot be written where they should be, or the settings
            contradict each other.
    """
    folder_of(options.tree)
    urls = choose(os.environ)
    sheet = Sheet(options, "real" if options.real or urls is not None else "mock")
    sheet.write()  # whether it can be written is known before anything is played, and nobody reads older results
    out.outlives_its_reader = True
    report.show_head(out, sheet.report())
    told: Finding | None = None
    try:
        with _services(options, urls) as where:
            for number in range(1, options.repeat + 1):
                if options.repeat > 1:
                    report.show_repetition(out, number, options.repeat)
                _judge(options, sheet, Judge(*first_service(options.tree, where, started), options.seed))
                started = None
    except Unavailable as fault:
        if fault.service in {"--json", "--junit", "settings"}:
            raise
        tell(explained(fault))
        told = finding_of(fault)
        for check in sheet.left():
            sheet.add(CheckResult(check.id, check.name, check.exercise, State.ENVIRONMENT, told))
    sheet.keep()
    report.show_details(out, sheet.report(), sheet.prints[-MOST_PRINTS:], sheet.around(), told)
    return sheet.report()


def _judge(options: early.Options, sheet: Sheet, judge: Judge) -> None:
    """Judge the tree once."""
    interrupts.raise_once()
    try:
        for result in judge.judge(options.only):
            sheet.add(result)
    finally:
        judge.close()
        sheet.prints, sheet.log = judge.prints, judge.log


@contextmanager
def _services(options: early.Options, urls: Urls | None) -> Iterator[Urls | None]:
    """Give the real services, started for this run if none are named; None means in memory."""
    if not options.real or urls is not None:
        yield urls
        return
    from selfcheck.local.services import local_services

    interrupts.raise_once()
    with local_services() as local:
        yield Urls(local.redis_url, local.database_url)


def first_service(tree: str, urls: Urls | None, started: early.Started | None) -> tuple[ServiceSpec, Service | None]:
    """Return the spec of the services to judge with, and the one that was started before this was loaded, if any."""
    if started is not None and urls is None:
        spec = ServiceSpec(started.tree, started.stand_in, (), started.token, BOTH, early.LAB_SETTINGS)
        return spec, Service(spec, {"+".join(spec.roles): started.process})
    root = str(kit_root())
    spec = ServiceSpec(
        early.find_tree(tree, root), early.find_tree("solution", root), (), new_token(), BOTH, early.LAB_SETTINGS
    )
    if urls is not None:
        spec = msgspec.structs.replace(spec, redis_url=urls.redis, database_url=urls.database)
    return spec, None


def finding_of(fault: Unavailable) -> Finding:
    """Return what to say in each check that a service could not be had for."""
    remedy = recognised(fault.remedy) if isinstance(fault, Misconfigured) else say("playing.start_it")
    rule = say("playing.service_answers", service=service_name(fault))
    return Finding(rule, "", remedy, recognised(fault.problem))
