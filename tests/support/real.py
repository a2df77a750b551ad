"""The real adapters for tests: services of our own, started once per test run, or those of the environment.

`REDIS_URL` and `DATABASE_URL`, when both are set, name servers to use; else a Valkey and a PostgreSQL are started when
the first test needs them, and stopped when the test run ends. Where that cannot be done the test is skipped, except in
CI (`CI` is set), where it fails: a green run there has run everything.
"""

import atexit
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache

import psycopg
import pytest
from psycopg import sql

from selfcheck.local.services import LocalServices, local_services
from shared.adapters.clock import MovedClock
from shared.adapters.postgres import PostgresStore, drop_schema
from shared.adapters.redis import RedisBus, delete_prefix
from shared.errors import Unavailable
from shared.run import RunStatus
from tests.contract.adapters import Audit, Ports
from tests.contract.values import a_moment_later
from tests.support.patience import patiently


@dataclass(frozen=True, slots=True)
class Urls:
    """Where the services of this test run are."""

    redis: str
    database: str


@cache
def _started(purpose: str) -> LocalServices | Unavailable:
    """Start a pair of services, one per purpose and test run."""
    stack = ExitStack()
    try:
        services = stack.enter_context(local_services())
    except Unavailable as error:
        return error
    atexit.register(stack.close)
    return services


def _or_skip(services: LocalServices | Unavailable) -> LocalServices:
    if isinstance(services, LocalServices):
        return services
    if os.environ.get("CI"):
        pytest.fail(f"the real services cannot be started: {services}")
    pytest.skip(f"the real services cannot be started: {services}")


def real_urls() -> Urls:
    """Return where the services are, started now if need be; skips the test (in CI: fails it) where there are none."""
    redis, database = os.environ.get("REDIS_URL"), os.environ.get("DATABASE_URL")
    if redis and database:
        return Urls(redis, database)
    services = _or_skip(_started("shared"))
    return Urls(services.redis_url, services.database_url)


def services_to_break() -> LocalServices:
    """Return services that a test may stop, pause and empty; it leaves them running. Skips like `real_urls`."""
    services = _or_skip(_started("to break"))
    services.redis.start()
    services.postgres.start()
    return services


def own_name() -> str:
    """Return a name that no other test has: for a key prefix and a SQL schema."""
    return f"test_{secrets.token_hex(6)}"


@asynccontextmanager
async def open_real() -> AsyncIterator[Ports]:
    """Open Redis and PostgreSQL under a prefix and a schema of their own, which are removed afterwards."""
    urls, name, clock = real_urls(), own_name(), MovedClock()
    bus = await patiently(lambda: RedisBus.connect(urls.redis, prefix=name))
    store = await patiently(lambda: PostgresStore.open(urls.database, schema=name, clock=clock))

    async def flush() -> None:
        await delete_prefix(urls.redis, name)
        await a_moment_later()  # no restart, which this stands for, takes less

    async def audit(run_id: str) -> Sequence[Audit]:
        return await audit_of(urls.database, name, run_id)

    try:
        yield Ports(store, bus.output, bus.queue, bus.marks, store, store, clock, flush, audit)
    finally:
        await store.close()
        await bus.close()
        await delete_prefix(urls.redis, name)
        await drop_schema(urls.database, name)


async def audit_of(url: str, schema: str, run_id: str) -> list[Audit]:
    """Read the audit rows of a run, oldest first."""
    query = "SELECT source, target, attempt, why FROM {}.transitions WHERE run_id = %s ORDER BY serial"
    async with await psycopg.AsyncConnection.connect(url) as connection:
        cursor = await connection.execute(sql.SQL(query).format(sql.Identifier(schema)), [run_id])
        rows = await cursor.fetchall()
    return [Audit(RunStatus(source), RunStatus(target), attempt, why) for source, target, attempt, why in rows]
