"""What a worker shows of itself."""

import asyncio
import logging

from shared.logs import ROOT, logger, note
from shared.metrics import Metrics
from tests.support.asking import Answer, ask
from worker.health import CountingHandler, health_app


def _asked(metrics: Metrics, method: str, path: str) -> Answer:
    return asyncio.run(ask(health_app(metrics), method, path))


def test_a_worker_whose_loop_turns_is_well() -> None:
    """The answer asks nothing of any service."""
    answer = _asked(Metrics(), "GET", "/healthz")
    assert (answer.status, answer.json()) == (200, {"status": "ok"})


def test_lines_are_counted_by_event_and_moves_by_where_they_lead() -> None:
    """A run's text and ids are not among the labels, so that there are few series."""
    metrics = Metrics()
    log, handler = logger("test_health"), CountingHandler(metrics)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        note(log, "run_moved", run_id="r-1", source="running", target="done")
        note(log, "run_moved", run_id="r-2", source="running", target="done")
        note(log, "claim_failed", logging.WARNING, why="away")
        note(log, "looked", logging.DEBUG)
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    answer = _asked(metrics, "GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.body.decode() == (
        "# HELP koda_log_lines_total What has happened, by room and event.\n"
        "# TYPE koda_log_lines_total counter\n"
        'koda_log_lines_total{event="run_moved",room="test_health",target="done"} 2\n'
        'koda_log_lines_total{event="claim_failed",room="test_health"} 1\n'
    )
    assert logger("test_health").name == f"{ROOT}.test_health"


def test_a_worker_answers_nothing_else() -> None:
    """It serves nobody."""
    assert _asked(Metrics(), "GET", "/chat").status == 404
    assert _asked(Metrics(), "POST", "/healthz").status == 405
