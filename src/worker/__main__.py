"""A worker as a process: `python -m worker`, with Redis and PostgreSQL behind it. Any number of them share the work.

`REDIS_URL` and `DATABASE_URL` say where these are, `KODA_TREE` whose exercises to use, `KODA_MODEL` which model answers
(`openai` needs `OPENAI_…`: `worker/models/endpoint.py`), `KODA_…` every number (`shared/settings.py`). When `PORT` is
set, `/healthz` and `/metrics` answer there (on `HOST`, 127.0.0.1). A signal lets running runs finish for a while and
gives back the rest; exit codes are in `shared/adapters/process.py`.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import uvicorn

from shared.adapters.process import Stop, Unsignalled, listen, run
from shared.bootstrap import open_ports
from shared.logs import ROOT, logger, note
from shared.metrics import Metrics
from shared.start import start_from
from shared.tally import tallied
from worker.bootstrap import build
from worker.health import CountingHandler, health_app
from worker.models.choice import open_model

log = logger("worker")

ANSWER_S: Final = 1  # how long an answer about our health may hold up our end


async def work(environment: Mapping[str, str], stop: Stop) -> None:
    """Execute runs until stopped."""
    start = start_from(environment)
    async with (
        open_model(environment, start.settings) as model,
        open_ports(start.urls, start.settings) as ports,
        _health(environment),
    ):
        consumer = build(ports, start.exercises, start.settings, model)
        stop.by(consumer.drain)
        note(log, "working")
        await consumer.run()


@asynccontextmanager
async def _health(environment: Mapping[str, str]) -> AsyncIterator[None]:
    """Answer for our health where `PORT` says; nowhere when it is unset, for workers may share a machine."""
    if not environment.get("PORT"):
        yield
        return
    metrics, listener = Metrics(), listen(environment, 0)
    counting, server = CountingHandler(metrics), Unsignalled(_quiet(metrics))
    logging.getLogger(ROOT).addHandler(counting)
    host, port, *_ = listener.getsockname()
    note(log, "listening", host=host, port=port)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        with tallied(metrics):
            yield
    finally:
        server.end()
        await serving
        logging.getLogger(ROOT).removeHandler(counting)


def _quiet(metrics: Metrics) -> uvicorn.Config:
    app = health_app(metrics)
    return uvicorn.Config(
        app, lifespan="off", ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=ANSWER_S
    )


if __name__ == "__main__":
    sys.exit(run("worker", work))
