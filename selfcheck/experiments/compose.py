"""The composition root of the experiments: the production gateway and worker in memory, with one part replaced.

Loaded by a service that an experiment has started, and by nobody else. There are two gateways in it, as there would be
behind any load balancer: what is shared out between readers only shows where there are two of them.
"""

import asyncio
import os
import socket
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

import gateway.bootstrap
import worker.bootstrap
from gateway.server import Server
from selfcheck.experiments import parts
from selfcheck.experiments.places import LONG_REPLY, LOST_SEQ, SECOND
from selfcheck.lab.controls import Control, Gate, GatedModel, GatewayControls, WorkerControls, route
from selfcheck.lab.shuffle import ShuffledOutput
from selfcheck.spec import ServiceSpec
from shared.adapters.clock import MovedClock, SystemClock
from shared.adapters.memory import MemoryBus, MemoryInputQueue, MemoryMarks, MemoryOutputStream, MemoryStore
from shared.bootstrap import Ports, open_ports
from shared.events import Event, Json
from shared.exercises import Exercises
from shared.ledger import Ledger
from shared.logs import logger, note
from shared.ports import Ending
from shared.run import RunStatus
from shared.settings import Settings
from worker.models.port import Fragment, Model
from worker.models.script import Script
from worker.models.scripted import ScriptedModel

log = logger("lab")


@dataclass(frozen=True, slots=True)
class House:
    """What a service is built from."""

    bus: MemoryBus
    ports: Ports
    exercises: Exercises
    model: Model
    controls: Mapping[str, Control] = field(default_factory=dict)  # beside the lab's


class GroupOutput(MemoryOutputStream):
    """Output streams that are read by a consumer group: each entry goes to one of those who follow.

    Who has waited longest gets the next one, as it is with XREADGROUP.
    """

    def __init__(self, bus: MemoryBus) -> None:
        super().__init__(bus)
        self._line: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # a lock lets in by order of coming

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event], None]:
        """Yield the entries that this consumer is given."""
        while True:
            async with self._line[run_id]:
                events = await self._given(run_id)
            yield events

    async def _given(self, run_id: str) -> Sequence[Event]:
        bus, key = self._bus, self._bus.output_key(run_id)
        while True:
            stream = bus.outputs.get(key)
            if stream is not None:
                group = stream.group("waiters")
                if entries := group.deliver("a waiter", 1, bus.seconds()):
                    group.acknowledge(entry_id for entry_id, _ in entries)
                    return [event for _, event in entries]
            await bus.waiters.wait(key)


class NotedStore(MemoryStore):
    """A store that says when it was given the events of a run."""

    async def append(self, run_id: str, attempt: int, events: Sequence[Event]) -> None:
        """Append, and say so."""
        await self._keep(run_id, attempt, events)
        note(log, "flushed", run_id=run_id, seq=events[-1].seq)

    async def _keep(self, run_id: str, attempt: int, events: Sequence[Event]) -> None:
        await super().append(run_id, attempt, events)


class ForgetfulStore(NotedStore):
    """A store that keeps runs and messages, and no event of any run."""

    async def _keep(self, run_id: str, attempt: int, events: Sequence[Event]) -> None:
        pass

    async def finish(
        self, run_id: str, attempt: int, source: RunStatus, target: RunStatus, last: Sequence[Event],
        inputs_read: int | None, why: str,
    ) -> Ending:  # fmt: skip
        """End the run, and keep nothing of its end but the status."""
        return await super().finish(run_id, attempt, source, target, [], inputs_read, why)


class RenumberedStore(MemoryStore):
    """A store that gets the numbers that begin anew with each rerun."""

    def __init__(self, numbers: parts.Renumbering) -> None:
        super().__init__(SystemClock())
        self._numbers = numbers

    async def append(self, run_id: str, attempt: int, events: Sequence[Event]) -> None:
        """Append under the new numbers."""
        await super().append(run_id, attempt, self._numbers.of(events))

    async def finish(
        self, run_id: str, attempt: int, source: RunStatus, target: RunStatus, last: Sequence[Event],
        inputs_read: int | None, why: str,
    ) -> Ending:  # fmt: skip
        """End the run under the new numbers."""
        return await super().finish(run_id, attempt, source, target, self._numbers.of(last), inputs_read, why)


def _consumer_group(house: House, broken: bool) -> House:
    return replace(house, ports=replace(house.ports, output=GroupOutput(house.bus))) if broken else house


def _seq_reset(house: House, broken: bool) -> House:
    if not broken:
        return house
    numbers, ports = parts.Renumbering(), house.ports
    output = parts.RenumberedOutput(ports.output, numbers)
    return replace(house, ports=replace(ports, output=output, store=RenumberedStore(numbers)))


def _stream_without_store(house: House, broken: bool) -> House:
    async def vanish(arguments: list[Json]) -> Json:
        """Let a run's stream be gone, as it is after its time, or when the bus was restarted empty."""
        (run_id,) = arguments
        await house.ports.output.expire(str(run_id), timedelta(0))
        return None

    store = (ForgetfulStore if broken else NotedStore)(SystemClock())
    return replace(house, ports=replace(house.ports, store=store), controls={"vanish": vanish})


def _store_without_stream(house: House, broken: bool) -> House:
    if not broken:
        return house
    ports = house.ports
    return replace(house, ports=replace(ports, output=parts.StoreForStream(ports.output, ports.store, ports.marks)))


def _no_terminal_states(house: House, broken: bool) -> House:
    return replace(house, exercises=replace(house.exercises, transition=parts.anything_goes)) if broken else house


def _unbounded_buffer(house: House, broken: bool) -> House:
    """Lose a number on the way to the waiter, in both: that the guard is gone is a matter of settings."""
    watched = parts.Watched(house.exercises.SeqOrderer)
    return replace(
        house,
        ports=replace(house.ports, output=parts.LossyOutput(house.ports.output, LOST_SEQ)),
        exercises=replace(house.exercises, SeqOrderer=watched),
        model=ScriptedModel(timedelta(0), Script(tuple(Fragment(f" word {n}") for n in range(LONG_REPLY + 1)))),
        controls={"held": watched.control},
    )


_COMPOSED: Final[Mapping[str, Callable[[House, bool], House]]] = {
    "consumer-group": _consumer_group,
    "seq-reset": _seq_reset,
    "stream-without-store": _stream_without_store,
    "store-without-stream": _store_without_stream,
    "no-terminal-states": _no_terminal_states,
    "unbounded-buffer": _unbounded_buffer,
}


async def serve(spec: ServiceSpec, exercises: Exercises, listener: socket.socket) -> None:
    """Run the service of an experiment until the server is told to end."""
    settings = Settings.from_environment({**os.environ, **spec.settings})
    gate, clock, bus = Gate(), MovedClock(), MemoryBus(settings.prefix)
    async with AsyncExitStack() as stack:
        ports = await stack.enter_async_context(open_ports(None, settings))
        ports = replace(ports, output=MemoryOutputStream(bus), queue=MemoryInputQueue(bus), marks=MemoryMarks(bus))
        plain = House(bus, ports, exercises, ScriptedModel(settings.fragment_pace))
        house = _COMPOSED[spec.experiment](plain, spec.broken)
        model = GatedModel(house.model, gate)
        consumer = worker.bootstrap.build(house.ports, house.exercises, settings, model)
        working = asyncio.create_task(consumer.run())
        # Nothing is shuffled here: they write down what the bus delivers to each gateway.
        first, second = ShuffledOutput(house.ports.output), ShuffledOutput(house.ports.output)
        ours, feeds = gateway.bootstrap.build(replace(house.ports, output=first), house.exercises, clock, settings)
        theirs, _ = gateway.bootstrap.build(replace(house.ports, output=second), house.exercises, clock, settings)
        ledger = Ledger(house.ports.store, SystemClock(), house.exercises)
        controls = {
            **WorkerControls(gate, house.ports, ledger, settings).controls(),
            **GatewayControls(gate, clock, first, house.exercises).controls(),
            "arrivals_second": GatewayControls(gate, clock, second, house.exercises).arrivals,
            **house.controls,
        }
        app = _two_doors(ours.app(route(spec.token, controls)), theirs.app())
        await Server(app, feeds, settings).serve(sockets=[listener])
        consumer.drain()
        await working


def _two_doors(first: ASGIApp, second: ASGIApp) -> ASGIApp:
    """Put two gateways behind one address: paths that begin with `SECOND` are the second one's."""

    async def enter(scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path.startswith(SECOND):
            path = path.removeprefix(SECOND)
            await second({**scope, "path": path, "raw_path": path.encode()}, receive, send)
        else:
            await first(scope, receive, send)

    return enter
