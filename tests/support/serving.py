"""A gateway on memory adapters behind its own server, on a free port of 127.0.0.1."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.server import Server
from shared.adapters.process import Unsignalled
from shared.settings import Settings
from tests.support.houses import SETTINGS, House


class Quiet(Unsignalled, Server):
    """The server, which leaves the signals alone."""


@asynccontextmanager
async def serving(gateway: House, settings: Settings = SETTINGS) -> AsyncIterator[tuple[Quiet, int]]:
    """Serve a gateway on 127.0.0.1 while the block lasts."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    server = Quiet(gateway.app, gateway.feeds, settings)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield server, listener.getsockname()[1]
    finally:
        server.end()
        await serving


async def until_left(server: Server, most: int = 0) -> None:
    """Return when the server has no more connections than so many."""
    while len(server.server_state.connections) > most:  # noqa: ASYNC110  # it tells nobody
        await asyncio.sleep(0)


def held(server: Server) -> int:
    """Return how many bytes wait in the process for clients to take them."""
    return sum(each.transport.get_write_buffer_size() for each in server.server_state.connections)


async def until_held(server: Server) -> None:
    """Return when some do."""
    while not held(server):  # noqa: ASYNC110  # it tells nobody
        await asyncio.sleep(0)
