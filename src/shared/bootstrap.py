"""Where adapters are chosen: in memory, or Redis and PostgreSQL. Nothing else in the house knows which.

Only what is chosen is imported.
"""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from shared.addresses import Urls
from shared.errors import Unavailable
from shared.forks import Forks
from shared.ports import InputQueue, Marks, OutputStream, Store
from shared.questions import Questions
from shared.settings import Settings


@dataclass(frozen=True, slots=True)
class Ports:
    """The doors of one process, open."""

    store: Store
    output: OutputStream
    queue: InputQueue
    marks: Marks
    questions: Questions
    forks: Forks


@asynccontextmanager
async def open_ports(urls: Urls | None, settings: Settings) -> AsyncIterator[Ports]:
    """Open the doors; on leaving, give back every connection.

    Raises:
        Unavailable: a service does not answer.
        Misconfigured: it does, but cannot be used as it is.
    """
    if urls is None:
        from shared.adapters.clock import SystemClock
        from shared.adapters.memory import MemoryBus, MemoryInputQueue, MemoryMarks, MemoryOutputStream, MemoryStore

        memory, tables = MemoryBus(settings.prefix), MemoryStore(SystemClock())
        yield Ports(tables, MemoryOutputStream(memory), MemoryInputQueue(memory), MemoryMarks(memory), tables, tables)
        return
    async with _open_real(urls, settings) as ports:
        yield ports


async def faults_of(urls: Urls, settings: Settings) -> tuple[Unavailable | None, Unavailable | None]:
    """Say what keeps the bus and the store from being used, each for itself; None where nothing does. Makes nothing."""
    from shared.adapters.postgres import check_database
    from shared.adapters.redis import RedisBus

    async def greet() -> None:
        await (await RedisBus.connect(urls.redis, prefix=settings.prefix)).close()

    return await _fault(greet()), await _fault(check_database(urls.database))


async def _fault(attempt: Awaitable[None]) -> Unavailable | None:
    try:
        await attempt
    except Unavailable as fault:
        return fault
    return None


@asynccontextmanager
async def _open_real(urls: Urls, settings: Settings) -> AsyncIterator[Ports]:
    from shared.adapters.clock import SystemClock
    from shared.adapters.postgres import PostgresStore
    from shared.adapters.redis import RedisBus

    bus = await RedisBus.connect(urls.redis, prefix=settings.prefix)
    try:
        store = await PostgresStore.open(urls.database, schema=settings.schema, clock=SystemClock())
        try:
            yield Ports(store, bus.output, bus.queue, bus.marks, store, store)
        finally:
            await store.close()
    finally:
        await bus.close()
