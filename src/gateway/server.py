"""The gateway's HTTP server: uvicorn, with the end of a process made gentle to open streams."""

import math
import socket

import uvicorn
from starlette.types import ASGIApp

from gateway.feeds import Feeds
from shared.settings import Settings


class Server(uvicorn.Server):
    """Serves until SIGTERM or SIGINT; then tells every open stream to reconnect elsewhere, drains, and returns.

    Without the telling, a graceful shutdown waits for streams that do not end (uvicorn#2829).
    """

    def __init__(self, app: ASGIApp, feeds: Feeds, settings: Settings) -> None:
        self._feeds = feeds
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",
                ws="none",
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
