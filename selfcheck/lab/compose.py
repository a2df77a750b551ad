"""The composition root of the judged service: the production gateway and worker, between the lab's wrappers."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from starlette.applications import Starlette

import gateway.bootstrap
import worker.bootstrap
from gateway.server import Server
from selfcheck.lab.controls import Control, Gate, GatedModel, GatewayControls, WorkerControls, route
from selfcheck.lab.observed import observed
from selfcheck.lab.shuffle import ShuffledOutput
from selfcheck.spec import ServiceSpec
from shared.adapters.clock import MovedClock, SystemClock
from shared.addresses import Urls
from shared.bootstrap import Ports, open_ports
from shared.exercises import Exercises
from shared.ledger import Ledger
from shared.ports import Clock
from shared.settings import Settings
from worker.models.port import Model
from worker.models.scripted import ScriptedModel


def import_adapters() -> None:
    """Load the adapters of the real services."""
    import shared.adapters.postgres
    import shared.adapters.redis  # noqa: F401


def import_memory() -> None:
    """Load the adapters in memory: for a process that has time before it is told what to serve."""
    import shared.adapters.memory  # noqa: F401


async def serve(spec: ServiceSpec, exercises: Exercises, listener: socket.socket) -> None:
    """Run what the spec asks for until the server is told to end."""
    settings = Settings.from_environment({**os.environ, **spec.settings})
    urls = Urls(spec.redis_url, spec.database_url) if spec.redis_url else None
    gate = Gate()
    watched = observed(exercises, gate.closed)
    clock: Clock = SystemClock()
    controls: dict[str, Control] = {}
    async with AsyncExitStack() as stack:
        ports = await stack.enter_async_context(open_ports(urls, settings))
        if spec.token:
            moved, shuffled = MovedClock(), ShuffledOutput(ports.output)
            clock, ports = moved, replace(ports, output=shuffled)
            if "gateway" in spec.roles:
                controls |= GatewayControls(gate, moved, shuffled, exercises).controls()
            if "worker" in spec.roles:
                ledger = Ledger(ports.store, SystemClock(), watched)
                controls |= WorkerControls(gate, ports, ledger, settings).controls()
        if "worker" in spec.roles:
            model: Model = GatedModel(ScriptedModel(settings.fragment_pace), gate)
            await stack.enter_async_context(_working(ports, watched, settings, model))
        gateway_, feeds = gateway.bootstrap.build(ports, watched, clock, settings)
        routes = [route(spec.token, controls)] if spec.token else []
        app = gateway_.app(*routes) if "gateway" in spec.roles else Starlette(routes=routes)
        await Server(app, feeds, settings).serve(sockets=[listener])


@asynccontextmanager
async def _working(ports: Ports, exercises: Exercises, settings: Settings, model: Model) -> AsyncIterator[None]:
    consumer = worker.bootstrap.build(ports, exercises, settings, model)
    task = asyncio.create_task(consumer.run())
    try:
        yield
    finally:
        consumer.drain()
        await task
