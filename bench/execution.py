"""What executing costs a worker: the dual write, claims beside many ended runs, and 500 runs at once.

    python bench/execution.py [--events 400]

On services of our own, or those of `REDIS_URL` and `DATABASE_URL` (nothing is left behind there). What is compared is
measured in one run and in turn, so that the machine's mood meets both sides. CPU is this process's own: the services'
is not counted. Ratios travel; absolute numbers do not.
"""

import argparse
import asyncio
import gc
import logging
import os
import secrets
import statistics
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]
import psycopg
import redis.asyncio
import uvloop
from psycopg import sql
from psycopg.rows import TupleRow
from rich.console import Console
from rich.table import Table

from selfcheck.local.services import local_services
from shared.adapters.clock import SystemClock
from shared.adapters.postgres import PostgresStore, drop_schema
from shared.adapters.redis import RedisBus, delete_prefix
from shared.addresses import Urls, choose
from shared.bootstrap import Ports
from shared.events import Event, EventKind, encode_data
from shared.exercises import load
from shared.ledger import Ledger
from shared.logs import ROOT
from shared.ports import Claim
from shared.settings import Settings
from worker.bootstrap import build
from worker.executor import Executor
from worker.models.port import Fragment, Piece, Request
from worker.signals import Signals

SOLUTION: Final = Path(__file__).resolve().parent.parent / "solution"
RULES: Final = load(SOLUTION, SOLUTION).exercises
SETTINGS: Final = Settings()
WORD: Final = " working"

WRITERS: Final = 32  # runs that are written at once
BATCH: Final = SETTINGS.flush_rows
ROUNDS: Final = 5
ENDED_RUNS: Final = (10, 1_000, 100_000)
CLAIMS: Final = 250
AT_ONCE: Final = 500

NOT_ENDED: Final = "status IN ('pending', 'running', 'streaming')"
CLAIMED_AGAIN: Final = "attempt > 1"

Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Speaker:
    """A model that says a number of fragments, `pace_s` apart; at 0 it lets everybody else go on between two."""

    events: int
    pace_s: float = 0.0

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Say them."""
        for _ in range(self.events):
            await asyncio.sleep(self.pace_s)
            yield Fragment(WORD)


@dataclass(frozen=True, slots=True)
class Place:
    """A schema and a prefix of our own, and the ports on them."""

    urls: Urls
    name: str
    ports: Ports
    ledger: Ledger
    connection: psycopg.AsyncConnection[TupleRow]  # for what no port can be asked

    async def opened(self, count: int, *, ring: bool = False) -> None:
        """Open this many pending runs, each in a session of its own."""
        for _ in range(count):
            accepted = await self.ledger.accept("m", secrets.token_hex(8), "u", "hello")
            if ring:
                await self.ports.queue.put(accepted.message.session_id)

    async def claimed(self, count: int) -> list[Claim]:
        """Open runs and claim them."""
        await self.opened(count)
        claims = [await self.ledger.claim("bench", timedelta(hours=1)) for _ in range(count)]
        return [claim for claim in claims if claim is not None]

    async def execute(self, statement: str, *arguments: int) -> int:
        """Run a statement with our schema and these numbers in it; return how many rows it found or changed."""
        composed = sql.SQL(statement).format(sql.Identifier(self.name), *map(sql.Literal, arguments))
        return (await self.connection.execute(composed)).rowcount

    async def count(self, condition: str) -> int:
        """Return how many runs there are of a kind."""
        return await self.execute(f"SELECT FROM {{}}.runs WHERE {condition}")


@asynccontextmanager
async def open_place(urls: Urls) -> AsyncIterator[Place]:
    """Open an empty place; it is removed afterwards."""
    name, clock = f"bench_{secrets.token_hex(6)}", SystemClock()
    bus = await RedisBus.connect(urls.redis, prefix=name)
    store = await PostgresStore.open(urls.database, schema=name, clock=clock)
    connection = await psycopg.AsyncConnection.connect(urls.database, autocommit=True)
    try:
        ports = Ports(store, bus.output, bus.queue, bus.marks, store, store)
        yield Place(urls, name, ports, Ledger(store, clock, RULES), connection)
    finally:
        await connection.close()
        await store.close()
        await bus.close()
        await delete_prefix(urls.redis, name)
        await drop_schema(urls.database, name)


async def cpu_of(work: Callable[[], Awaitable[None]]) -> float:
    """Return how much CPU this process needs for it, in seconds."""
    gc.collect()
    began = time.process_time()
    await work()
    return time.process_time() - began


# --- The dual write ---------------------------------------------------------------------------------------------------


def batches(run_id: str, count: int) -> Sequence[Sequence[Event]]:
    """Return a run's fragments, encoded, in batches as the worker flushes them."""
    events = [Event(run_id, seq, EventKind.DELTA, encode_data({"text": WORD})) for seq in range(count)]
    return [events[start : start + BATCH] for start in range(0, count, BATCH)]


async def insert(place: Place, count: int) -> None:
    """Insert events, a plain statement for each batch, on one connection."""
    statement = sql.SQL(
        "INSERT INTO {}.messages (run_id, seq, kind, data)"
        " SELECT %(run)s, * FROM unnest(%(seqs)s::bigint[], %(kinds)s::text[], %(data)s::text[])"
    ).format(sql.Identifier(place.name))
    run_id = secrets.token_hex(16)
    database = psycopg.AsyncConnection.connect(place.urls.database, autocommit=True, prepare_threshold=0)
    async with await database as connection:
        for batch in batches(run_id, count):
            values: dict[str, object] = {
                "run": run_id,
                "seqs": [event.seq for event in batch],
                "kinds": [event.kind.value for event in batch],
                "data": [event.data for event in batch],
            }
            await connection.execute(statement, values)


async def add(place: Place, count: int) -> None:
    """Add events to a stream, a pipeline of plain XADDs for each batch, by the client of the library."""
    run_id = secrets.token_hex(16)
    async with redis.asyncio.from_url(place.urls.redis) as client:
        for batch in batches(run_id, count):
            pipeline = client.pipeline(transaction=False)
            for event in batch:
                pipeline.xadd(f"{place.name}:{run_id}", {"s": event.seq, "k": event.kind.value, "d": event.data})
            await pipeline.execute()


async def write(place: Place, claims: Sequence[Claim], events: int) -> None:
    """Execute runs at once, from the first fragment to the end, by both ways."""
    ports = place.ports
    executor = Executor(place.ledger, ports, SystemClock(), Speaker(events), SETTINGS)
    await asyncio.gather(*(executor.execute(claim, Signals()) for claim in claims))


async def dual_write(urls: Urls, events: int) -> list[Row]:
    """Compare the dual write with its two halves, as plain as they can be."""
    count = WRITERS * events
    rates: dict[str, list[float]] = {"insert": [], "add": [], "write": []}
    async with open_place(urls) as place:
        for _ in range(ROUNDS):
            claims = await place.claimed(WRITERS)
            works: dict[str, Callable[[], Awaitable[None]]] = {
                "insert": lambda: insert(place, count),
                "add": lambda: add(place, count),
                "write": lambda claims=claims: write(place, claims, events),  # type: ignore[misc]
            }
            for name, work in works.items():
                rates[name].append(count / await cpu_of(work))
    ratios = [own / min(*halves) for own, *halves in zip(rates["write"], rates["insert"], rates["add"], strict=True)]
    inserted, added, written = (f"{statistics.median(each):,.0f}" for each in rates.values())
    return [
        (f"batched insert, {BATCH} rows each", f"{inserted} events per CPU-second", ""),
        (f"pipelined XADD, {BATCH} each", f"{added} events per CPU-second", ""),
        (f"dual write, {WRITERS} runs at once", f"{written} events per CPU-second", ""),
        ("  of the slower half", f"{statistics.median(ratios):.2f}", "at least 0.5"),
    ]


# --- Claims beside many ended runs ------------------------------------------------------------------------------------

END_MANY: Final = """
INSERT INTO {0}.runs (id, session_id, user_id, status, attempt, created_at, updated_at, ordinal, inputs)
SELECT 'ended-' || n, 'ended-' || n / 10, 'u', 'done', 1, now(), now(), n % 10, 1 FROM generate_series(1, {1}) AS n
"""


async def claims(urls: Urls) -> list[Row]:
    """Claim runs beside few and many ended ones, by turns."""
    took: dict[int, list[float]] = {ended: [] for ended in ENDED_RUNS}
    async with AsyncExitStack() as stack:
        places = {ended: await stack.enter_async_context(open_place(urls)) for ended in ENDED_RUNS}
        for ended, place in places.items():
            await place.execute(END_MANY, ended)
            await place.opened(CLAIMS)
            await place.execute("ANALYZE {}.runs")  # as the server does by itself some time later
        for _ in range(CLAIMS):
            for ended, place in places.items():
                began = time.perf_counter()
                claim = await place.ledger.claim("bench", SETTINGS.lease)
                took[ended].append(time.perf_counter() - began)
                assert claim is not None, "there is one more"
    medians = {ended: statistics.median(seconds) for ended, seconds in took.items()}
    rows = [
        (f"claims beside {ended:,} ended runs", f"{1 / each:,.0f} per second", "") for ended, each in medians.items()
    ]
    few, *others = medians.values()
    return [*rows, ("  the slowest of them, of the first", f"{few / max(few, *others):.2f}", "at least 0.8")]


# --- Many runs at once ------------------------------------------------------------------------------------------------


async def many(urls: Urls, events: int) -> list[Row]:
    """Have one worker execute many runs at once, at the pace of a model."""
    model = Speaker(events, SETTINGS.fragment_pace.total_seconds())
    async with open_place(urls) as place:
        consumer = build(place.ports, RULES, replace(SETTINGS, concurrency=AT_ONCE), model)
        await place.opened(AT_ONCE, ring=True)
        resident = [_resident_mib()]

        async def work() -> None:
            working = asyncio.create_task(consumer.run())
            while await place.count(NOT_ENDED):
                resident.append(_resident_mib())
                await asyncio.sleep(0.5)
            consumer.drain()
            await working

        began = time.perf_counter()
        cpu = await cpu_of(work)
        took = time.perf_counter() - began
        again = await place.count(CLAIMED_AGAIN)
    return [
        (f"{AT_ONCE} runs of {events + 1} events at once, all ended", f"{took:.1f} s", ""),
        ("  claimed more than once", f"{again}", "0"),
        ("  CPU per event, from claim to end", f"{1e6 * cpu / AT_ONCE / (events + 1):,.0f} µs", ""),
        ("  memory per run", f"{1024 * (max(resident) - resident[0]) / AT_ONCE:,.0f} KiB", ""),
    ]


def _resident_mib() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


# --- All of it --------------------------------------------------------------------------------------------------------


async def measure(urls: Urls, events: int) -> list[Row]:
    """Measure everything; memory first, before others have grown the process."""
    return [*await many(urls, 40), *await dual_write(urls, events), *await claims(urls)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=400, help="fragments of each run of the dual write")
    events = parser.parse_args().events
    logging.getLogger(ROOT).addHandler(logging.NullHandler())
    with ExitStack() as stack:
        urls = choose({**os.environ, "MOCK": ""})
        if urls is None:
            services = stack.enter_context(local_services())
            urls = Urls(services.redis_url, services.database_url)
        rows = uvloop.run(measure(urls, events))
    table = Table(title="what executing costs a worker", title_justify="left")
    for column in ("what", "measured", "wanted"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
