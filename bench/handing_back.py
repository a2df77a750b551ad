"""How long a run is nobody's when it is given back: to the next worker, and to the next try.

    python bench/handing_back.py [--rounds 10]

On services of our own, with the settings of production but for DRAIN, which is 100 ms here: what a run may still be
written for is no time that it waits. A hand-over is between real processes, from SIGTERM to the successor's first event
at a waiter, DRAIN included. A retry is told without its pause (0.5 to 1 s), which is meant to be.
"""

import argparse
import asyncio
import logging
import secrets
import statistics
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from selfcheck.local.services import LocalServices, local_services
from shared.adapters.clock import SystemClock
from shared.adapters.postgres import drop_schema
from shared.adapters.redis import delete_prefix
from shared.addresses import Urls
from shared.bootstrap import open_ports
from shared.exercises import load
from shared.ledger import Ledger
from shared.logs import ROOT
from shared.settings import Settings
from tests.support.fleet import Fleet, open_fleet
from tests.support.watching import Waiter
from worker.bootstrap import build
from worker.models.port import Fragment, ModelFailed, Piece, Request

SOLUTION: Final = Path(__file__).resolve().parent.parent / "solution"
RULES: Final = load(SOLUTION, SOLUTION).exercises
DEFAULTS: Final = {"KODA_LEASE": "15s", "KODA_RENEW_EVERY": "5s", "KODA_SWEEP_EVERY": "5s", "KODA_DRAIN": "100ms"}
SLOW: Final = {"KODA_FRAGMENT_PACE": "1s"}  # so that no run ends before its worker is told to

Row = tuple[str, str, str, str]


def row(what: str, seconds: Sequence[float]) -> Row:
    """Return a row of the table."""
    shown = (f"{1000 * value:,.0f} ms" for value in (min(seconds), statistics.median(seconds), max(seconds)))
    return (what, *shown)  # type: ignore[return-value]  # three of them


# --- Hand-overs -------------------------------------------------------------------------------------------------------


async def handovers(services: LocalServices, rounds: int) -> list[float]:
    """Tell the owner of a run to end, again and again, while another worker is idle."""
    async with open_fleet(services, **DEFAULTS, **SLOW, KODA_MAX_ATTEMPTS="1000") as fleet:
        await asyncio.gather(fleet.hire("gateway"), fleet.hire("worker"), fleet.hire("worker"))
        return [await _handed_over(fleet) for _ in range(rounds)]


async def _handed_over(fleet: Fleet) -> float:
    body = {"session_id": secrets.token_hex(8), "text": "hello"}
    run_id = (await fleet.client.post("/chat", json=body)).raise_for_status().json()["run_id"]
    waiter = Waiter(fleet.client, run_id)
    await waiter.reached(0)
    owner = await fleet.owner(run_id)
    began = time.perf_counter()
    owner.terminate()
    await waiter.has(lambda waiter: "rerun" in waiter.kinds())
    took = time.perf_counter() - began
    await fleet.client.post(f"/runs/{run_id}/cancel")
    await asyncio.gather(owner.ended(), waiter.ended(), fleet.hire("worker"))
    return took


# --- Retries ----------------------------------------------------------------------------------------------------------


class Failing:
    """A model that fails each run's first attempt, and keeps when it did and when it was asked again.

    `over` is set when that has come to this many `runs`.
    """

    def __init__(self, runs: int) -> None:
        self.over = asyncio.Event()
        self._runs = runs
        self.failed: dict[str, float] = {}
        self.again: dict[str, float] = {}

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Fail, or say a word."""
        if request.run_id not in self.failed:
            self.failed[request.run_id] = time.perf_counter()
            raise ModelFailed("overloaded")
        self.again[request.run_id] = time.perf_counter()
        if len(self.again) == self._runs:
            self.over.set()
        yield Fragment("hello")


class Pauses(logging.Handler):
    """Keeps how long runs were to wait, from the log."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Take one line."""
        if record.getMessage() == "run_given_back":
            fields: dict[str, str | float] = getattr(record, "fields", {})
            self.of[str(fields["run_id"])] = float(fields["after_s"])


async def retries(services: LocalServices, rounds: int) -> list[float]:
    """Have runs fail one after the other, so that they meet the sweep at any moment; return what each lost."""
    name, model, pauses = f"bench_{secrets.token_hex(6)}", Failing(rounds), Pauses()
    urls, log = Urls(services.redis_url, services.database_url), logging.getLogger(ROOT)
    log.addHandler(pauses)
    log.setLevel(logging.INFO)
    try:
        settings = Settings(prefix=name, schema=name)
        async with open_ports(urls, settings) as ports:
            workers = [build(ports, RULES, settings, model) for _ in range(2)]
            working = [asyncio.create_task(worker.run()) for worker in workers]
            ledger = Ledger(ports.store, SystemClock(), RULES)
            for _ in range(rounds):
                accepted = await ledger.accept("m", secrets.token_hex(8), "u", "hello")
                await ports.queue.put(accepted.message.session_id)
                await asyncio.sleep(0.37)
            await model.over.wait()
            for worker in workers:
                worker.drain()
            await asyncio.gather(*working)
    finally:
        log.removeHandler(pauses)
        await delete_prefix(urls.redis, name)
        await drop_schema(urls.database, name)
    return [model.again[run_id] - failed - pauses.of[run_id] for run_id, failed in model.failed.items()]


# --- Both -------------------------------------------------------------------------------------------------------------


async def measure(rounds: int) -> list[Row]:
    """Measure both."""
    with local_services() as services:
        return [
            row("from SIGTERM to the successor's first event", await handovers(services, rounds)),
            row("from a failure to the next try, its pause apart", await retries(services, 2 * rounds)),
        ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    table = Table(title="how long a run that is given back is nobody's", title_justify="left")
    for column in ("what", "least", "median", "most"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with suppress(KeyboardInterrupt):
        for each in asyncio.run(measure(rounds)):
            table.add_row(*each)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
