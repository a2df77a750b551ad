"""What a process's log says, as numbers."""

import logging
from collections.abc import AsyncGenerator
from datetime import timedelta

from shared.events import EventKind
from shared.logs import logger, note
from shared.metrics import Metrics
from shared.tally import tallied
from tests.support.inside import Acting, answer
from tests.support.moved_loop import pass_time, settle
from tests.support.scenes import on
from tests.support.workshop import Puppet, Workshop, open_workshop, with_settings, working
from worker.asking import ask_user
from worker.forking import Task, fork
from worker.models.port import Fragment, ModelFailed, Piece, Request, Usage
from worker.monitor import report

in_a_workshop = on(open_workshop)


def counted(metrics: Metrics) -> dict[str, float]:
    """Return every series that counted, buckets aside."""
    lines = [line.rpartition(" ") for line in metrics.text().splitlines() if line and not line.startswith("#")]
    return {series: float(value) for series, _, value in lines if "_bucket" not in series}


@in_a_workshop
async def test_a_runs_life_is_counted(shop: Workshop) -> None:
    """From its opening to its end: a merge and a retry on the way, and the tokens of voided replies too."""
    metrics, model = Metrics(), Puppet()
    with_settings(shop, sweep_every=timedelta(seconds=1), backoff_cap=timedelta(0))
    with tallied(metrics):
        await shop.accept("one", told=False)
        async with working(shop, model):
            first = await model.call(0)  # a second after it was opened
            await pass_time(2)
            await first.say("a")
            await shop.accept("two", told=False)
            await first.end(Usage(10, 1))
            await (await model.call(1)).fail(ModelFailed("overloaded"))
            second = await model.call(2)
            await second.give(Fragment("b"), Usage(20, 2))
            await second.end()
    told = counted(metrics)
    assert told.pop('koda_status_seconds_sum{status="streaming"}') < 1.1
    assert {series: round(value, 1) for series, value in told.items()} == {
        'koda_runs_ended_total{status="done"}': 1,
        "koda_first_token_seconds_sum": 3,
        "koda_first_token_seconds_count": 1,
        'koda_status_seconds_sum{status="pending"}': 1,
        'koda_status_seconds_count{status="pending"}': 1,
        'koda_status_seconds_sum{status="running"}': 2,
        'koda_status_seconds_count{status="running"}': 1,
        'koda_status_seconds_count{status="streaming"}': 1,
        "koda_retries_total": 1,
        'koda_takeovers_total{why="retry"}': 1,
        'koda_reruns_total{reason="merge"}': 1,
        'koda_reruns_total{reason="retry"}': 1,
        'koda_tokens_total{direction="input"}': 30,
        'koda_tokens_total{direction="output"}': 3,
    }


@in_a_workshop
async def test_what_runs_do_besides_replying_is_counted(shop: Workshop) -> None:
    """Questions by what became of them, sub-runs split off and gone on with, and reports that nobody took."""
    metrics = Metrics()

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        await fork([Task("well", "a"), Task("badly", "b")])
        await ask_user("one?")
        yield Fragment(await ask_user("two?"))
        report(EventKind.DONE, "that is not for me to say", {})

    async def well(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment(await ask_user("may I?"))

    async def badly(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment("a")
        raise ModelFailed("no", permanent=True)

    with tallied(metrics):
        async with working(shop, Acting(deed, parts={"a": well, "b": badly})):
            run_id = (await shop.accept()).run_id
            await settle()
            await answer(shop, run_id, "yes")
            await pass_time(122)
    told = {series: count for series, count in counted(metrics).items() if "seconds" not in series}
    assert told == {
        'koda_runs_ended_total{status="done"}': 2,
        'koda_runs_ended_total{status="failed"}': 1,
        'koda_questions_total{outcome="asked"}': 2,
        'koda_questions_total{outcome="answered"}': 1,
        'koda_questions_total{outcome="expired"}': 1,
        'koda_questions_total{outcome="refused"}': 1,
        "koda_forks_total": 2,
        'koda_subtasks_total{outcome="done"}': 1,
        'koda_subtasks_total{outcome="failed"}': 1,
        "koda_reports_dropped_total": 1,
    }


def test_what_else_is_counted() -> None:
    """Refused moves and holes, with what waited behind them; nothing of others, and nothing after the block."""
    metrics, log = Metrics(), logger("test_tally")
    log.setLevel(logging.INFO)
    try:
        with tallied(metrics):
            note(log, "illegal_transition", source="done", target="streaming")
            note(log, "run_given_back", why="takeover")
            note(log, "reply_complete", usage={})
            note(log, "backfilled", held=70)
            note(log, "anything_else", target="done")
            log.error("work_crashed")
        note(log, "illegal_transition", source="done", target="streaming")
    finally:
        log.setLevel(logging.NOTSET)
    assert counted(metrics) == {
        "koda_illegal_transitions_total": 1,
        "koda_backfills_total": 1,
        "koda_held_events_sum": 70,
        "koda_held_events_count": 1,
    }
