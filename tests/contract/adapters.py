"""The adapters under contract, each as one opened set of ports, and the decorator that runs a test on all of them.

A test of this directory is a coroutine that takes `Ports` and knows no adapter:

    @on_each_adapter
    async def test_an_unknown_run_has_no_entries(ports: Ports) -> None: ...

Every test gets ports of its own, empty, and a minute; nothing it waits for takes a fraction of that.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest

from shared.adapters.clock import MovedClock
from shared.adapters.memory import MemoryBus, MemoryInputQueue, MemoryMarks, MemoryOutputStream, MemoryStore
from shared.forks import Forks
from shared.ports import InputQueue, Marks, OutputStream, Store
from shared.questions import Questions
from shared.run import RunStatus

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Audit:
    """What a test compares of one audit row. Its time and its row number are the store's own affair."""

    source: RunStatus
    target: RunStatus
    attempt: int
    why: str


@dataclass(frozen=True, slots=True)
class Ports:
    """One adapter of every port, opened and empty, and what a test may do to the services behind it.

    `flush` empties the bus (streams, groups, fences, marks are gone; connections stay). `audit` reads a run's audit
    rows, oldest first. `clock` is the one the store reads where it reads any; a test moves it and stamps values by it.
    """

    store: Store
    output: OutputStream
    queue: InputQueue
    marks: Marks
    questions: Questions
    forks: Forks
    clock: MovedClock
    flush: Callable[[], Awaitable[None]]
    audit: Callable[[str], Awaitable[Sequence[Audit]]]


Opener = Callable[[], AbstractAsyncContextManager[Ports]]


@asynccontextmanager
async def open_memory() -> AsyncIterator[Ports]:
    """Open the memory adapters on a bus and a store of their own."""
    clock, bus = MovedClock(), MemoryBus()
    store = MemoryStore(clock)

    async def flush() -> None:
        bus.flush()

    async def audit(run_id: str) -> Sequence[Audit]:
        return [Audit(row.source, row.target, row.attempt, row.why) for row in store.transitions(run_id)]

    output, queue, marks = MemoryOutputStream(bus), MemoryInputQueue(bus), MemoryMarks(bus)
    yield Ports(store, output, queue, marks, store, store, clock, flush, audit)
    await store.close()


def opener_of(adapter: str) -> Opener:
    """Return what opens the adapter of this name. Opening the real one skips the test where it cannot be had."""
    if adapter == "memory":
        return open_memory
    # Not at the top: that module makes the `Ports` of this one.
    from tests.support.real import open_real

    return open_real


async def _with_ports(opener: Opener, test: Callable[[Ports], Awaitable[None]]) -> None:
    async with opener() as ports, asyncio.timeout(PATIENCE_S):
        await test(ports)


def on_each_adapter(test: Callable[[Ports], Coroutine[None, None, None]]) -> Callable[[str], None]:
    """Make a coroutine test one that pytest runs once per adapter."""

    @pytest.mark.parametrize("adapter", ["memory", "real"])
    def run(adapter: str) -> None:
        asyncio.run(_with_ports(opener_of(adapter), test))

    # Not functools.wraps: pytest would follow it to the coroutine and look for a fixture named `ports`.
    run.__name__, run.__qualname__ = test.__name__, test.__qualname__
    run.__module__, run.__doc__ = test.__module__, test.__doc__
    return run
