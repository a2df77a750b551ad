"""A store in a schema of its own, a connection beside it, and what a test of the real adapter does with both."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from shared.adapters.clock import SystemClock
from shared.adapters.postgres import PostgresStore, drop_schema
from shared.adapters.postgres.statements import composed, schema_steps, statements
from tests.support.patience import patiently
from tests.support.real import own_name
from tests.support.runs import a_message, a_run

PATIENCE_S = 60.0
AN_HOUR = timedelta(hours=1)
TABLES = {"runs", "inputs", "messages", "transitions", "questions", "forks"}


def run(test: Coroutine[None, None, None]) -> None:
    """Run a coroutine with a limit that only a hang reaches."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await test

    asyncio.run(bounded())


@dataclass(frozen=True, slots=True)
class Opened:
    """A store, and a connection beside it that a test plays another process with."""

    store: PostgresStore
    other: AsyncConnection[TupleRow]
    schema: str

    async def ask(self, query: str, **values: object) -> list[TupleRow]:
        """Run a statement on the other connection; `{schema}` stands for the schema."""
        cursor = await self.other.execute(composed(query, self.schema), values)
        return await cursor.fetchall() if cursor.description else []

    async def somebody_waits(self) -> None:
        """Return when a statement of the store waits for a lock."""
        query = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%%' || %(schema)s || '%%'"
        async with await AsyncConnection.connect(self.other.info.dsn, password=self.other.info.password) as watcher:
            await watcher.set_autocommit(True)
            while not await (await watcher.execute(query, {"schema": self.schema})).fetchall():
                pass  # every look is a round trip


@asynccontextmanager
async def opened(url: str, versions: int | None = None) -> AsyncIterator[Opened]:
    """Open a store in a schema of its own, which is dropped afterwards: of this many versions, or the newest.

    One of an earlier version speaks as that did, with all that it has not got left out.
    """
    schema = own_name()
    steps = schema_steps(schema)[:versions]
    store = await patiently(lambda: PostgresStore.open(url, schema=schema, clock=SystemClock(), steps=steps))
    if len(steps) < 4:
        store._statements = {name: _before_version_4(text) for name, text in statements(schema).items()}
    try:
        async with await AsyncConnection.connect(url, autocommit=True) as other:
            yield Opened(store, other, schema)
    finally:
        await store.close()
        await drop_schema(url, schema)


def _before_version_4(statement: bytes) -> bytes:
    """Leave out of a statement what it says of runs that are given back; there were no hand-overs."""
    for late in (
        b", given_back = false",
        b", given_back = true",
        b",\n       handovers = handovers + (owner IS NOT NULL AND NOT %(counts)s)::integer",
    ):
        statement = statement.replace(late, b"")
    return statement.replace(b"NULL, handovers FROM", b"NULL, 0 FROM").replace(b"resumed, handovers", b"resumed, 0")


async def started(store: PostgresStore, run_id: str = "r", session_id: str = "s", lease: timedelta = AN_HOUR) -> None:
    """Open a run with one message and claim it."""
    await store.open_run(a_run(run_id, session_id), a_message(f"m-{run_id}", session_id))
    claim = await store.claim("w", lease, session_id)
    assert claim is not None and claim.run.id == run_id


async def rows_read(here: Opened, name: str, values: dict[str, object]) -> int:
    """Return how many rows the statement's scans have read, thrown away ones included; undo it."""
    async with here.other.transaction(force_rollback=True):
        explain = b"EXPLAIN (ANALYZE, FORMAT JSON) " + statements(here.schema)[name]
        row = await (await here.other.execute(explain, values, prepare=False)).fetchone()
    assert row is not None
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return read_by(plan[0]["Plan"])


def read_by(node: dict[str, object]) -> int:
    """Return how many rows the scans of a plan and its parts have read."""
    own = 0
    if node.get("Relation Name") in TABLES and "Scan" in str(node["Node Type"]):
        loops = float(str(node["Actual Loops"]))
        own = round(loops * sum(float(str(node.get(key, 0))) for key in ("Actual Rows", "Rows Removed by Filter")))
    parts = node.get("Plans", [])
    assert isinstance(parts, list)
    return own + sum(read_by(part) for part in parts)
