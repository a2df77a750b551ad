"""Whole workers on the ports of any adapter, and a gateway's hand. Waits are short; leases are shortened by hand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from shared.bootstrap import Ports
from shared.events import TERMINAL, Event
from shared.ledger import Ledger
from shared.ports import Accepted, Clock, Mark
from shared.run import RunStatus
from shared.settings import MERGE_WINDOW, Settings
from tests.contract import adapters
from tests.support.workshop import RULES, first_of_each
from worker.archivist import Archivist
from worker.consumer import Consumer
from worker.executor import Executor
from worker.models.port import Model
from worker.orphans import Orphans

MOMENT = timedelta(milliseconds=50)
SETTINGS = replace(Settings(), sweep_every=MOMENT, renew_every=MOMENT, look_every=MOMENT, backoff_cap=MOMENT)
AT_ONCE = timedelta(0)


@dataclass(frozen=True, slots=True)
class Floor:
    """Where workers and a gateway's hand meet."""

    ports: Ports
    clock: Clock

    @property
    def ledger(self) -> Ledger:
        """The gateway's."""
        return Ledger(self.ports.store, self.clock, RULES)

    async def accept(self, message_id: str, *, told: bool = True) -> Accepted:
        """Take a message as the gateway does. Not `told`: its doorbell or mark is lost."""
        accepted = await self.ledger.accept(message_id, "s", "u", message_id)
        if told and accepted.merged:
            await self.ports.marks.set(accepted.run_id, Mark.RERUN, MERGE_WINDOW)
        elif told:
            await self.ports.queue.put("s")
        return accepted

    async def status(self, run_id: str) -> RunStatus:
        """Return where a run stands."""
        stored = await self.ports.store.run(run_id)
        assert stored is not None
        return stored.run.status

    async def told(self, run_id: str, until: int | None = None) -> list[Event]:
        """Return what a waiter is told, each seq once, up to one seq or to the run's end."""
        seen: list[Event] = []
        following = self.ports.output.follow(run_id)
        async for batch in following:
            seen += batch
            if any(event.kind in TERMINAL or event.seq == until for event in batch):
                break
        await following.aclose()
        return first_of_each(seen)

    async def log(self, run_id: str) -> list[Event]:
        """Return what the store has of a run."""
        return list(await self.ports.store.events(run_id, 0, 1000))


def floor_on(ports: adapters.Ports) -> Floor:
    """Return the floor on an adapter's ports."""
    return Floor(Ports(ports.store, ports.output, ports.queue, ports.marks, ports.questions, ports.forks), ports.clock)


@asynccontextmanager
async def working(
    floor: Floor, model: Model, name: str, settings: Settings = SETTINGS
) -> AsyncIterator[asyncio.Task[None]]:
    """Have a worker work inside the block; cancelling it is its sudden death, and so is the block's end."""
    ports = floor.ports
    archivist = Archivist(ports.store, floor.clock, settings)
    orphans = Orphans(ports.forks, floor.ledger, ports.marks)
    executes = executor(floor, model, settings)
    consumer = Consumer(name, floor.ledger, ports.store, ports.queue, executes, archivist, orphans, settings)
    task = asyncio.create_task(consumer.run())
    try:
        yield task
    finally:
        await die(task)


def executor(floor: Floor, model: Model, settings: Settings = SETTINGS) -> Executor:
    """Return an executor of the floor's runs."""
    return Executor(floor.ledger, floor.ports, floor.clock, model, settings)


async def die(worker: "asyncio.Task[None]") -> None:
    """End a worker at once. What it had claimed stays claimed."""
    worker.cancel()
    await asyncio.wait((worker,))
