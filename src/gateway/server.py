"""The gateway's HTTP server: uvicorn, with a gentle end for open streams, and a certain one where nobody reads."""

import asyncio
import math
import socket
from functools import partial

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from gateway.connection import Connection
from gateway.feeds import Feeds
from shared.settings import Settings


def _socket(config: uvicorn.Config, server_state: ServerState, app_state: dict[str, object]) -> asyncio.Protocol:
    """Make the protocol of a WebSocket. The first one loads the library: who has none does without."""
    from gateway.websocket import WebSocket

    return WebSocket(config, server_state, app_state)


class Server(uvicorn.Server):
    """Serves until SIGTERM or SIGINT; then tells every open stream to reconnect elsewhere, drains, and returns.

    Without the telling, a graceful shutdown waits for streams that do not end (uvicorn#2829).
    """

    def __init__(self, app: ASGIApp, feeds: Feeds, settings: Settings) -> None:
        self._feeds = feeds
        super().__init__(
            uvicorn.Config(
                app,
                http=partial(Connection, settings),  # type: ignore[arg-type]  # a maker is as good as a class
                proxy_headers=False,  # nobody here asks who or where a client is
                lifespan="off",
                ws=_socket,  # type: ignore[arg-type]  # the same
                ws_max_size=settings.max_body,
                ws_ping_interval=None,  # the line pings by itself, with frames that a page can answer and see
                ws_per_message_deflate=False,  # a stream is not compressed either, and each state takes some 300 KiB
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=math.ceil(settings.drain.total_seconds()),
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, end the streams, let running requests finish within `drain`."""
        self._feeds.stop()
        await super().shutdown(sockets)
