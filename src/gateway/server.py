"""The gateway's HTTP server: uvicorn, with a gentle end for open streams, and a certain one where nobody reads."""

import asyncio
import math
import re
import socket
import struct
from contextlib import suppress
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.server import ServerState

from gateway.feeds import Feeds
from gateway.waiter import ABORT
from shared.settings import Settings

_SOCKET: Final = re.compile(rb"/sessions/[^/?#]+/socket(?:\?[^#]*)?")

_UNSENT_IS_LOST: Final = struct.pack("ii", 1, 0)  # `struct linger`: on, for no time


class _Connection(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # whichever of uvicorn's it is, it is a class
    """A connection that holds one chunk that its client does not take, and that a request can abort.

    To close it would not do: a transport first waits until it has written everything, and what it has written the
    system keeps, some megabytes, for as long as the client's machine says that it is there.
    """

    app_state: dict[str, object]  # every request gets a copy
    scope: dict[str, object]
    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # whoever sends waits until all that was sent before is written
        self.app_state = {**self.app_state, ABORT: self._abort}

    def _should_upgrade_to_ws(self) -> bool:
        """Whether this request may become a WebSocket. On all other paths, the wish is ignored, as HTTP allows."""
        target = getattr(self, "url", None) or self.scope["raw_path"]  # by httptools, or by h11
        assert isinstance(target, bytes)
        return self.scope["method"] == "GET" and _SOCKET.fullmatch(target) is not None

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: that somebody asks for an upgrade elsewhere is no fault of the installation."""

    def handle_websocket_upgrade(self, *request: object) -> None:
        """Hand the connection on, and hold nothing of it: what is in a circle stays for long."""
        super().handle_websocket_upgrade(*request)
        self.app_state, self.scope = {}, {}

    def _abort(self) -> None:
        abort(self.transport)


def abort(transport: asyncio.Transport) -> None:
    """Close a connection at once, unsent bytes and all."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is not None:  # it may be gone by itself in this very moment
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _UNSENT_IS_LOST)
    transport.abort()


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
                http=_Connection,
                proxy_headers=False,  # nobody here asks who or where a client is
                lifespan="off",
                ws=_socket,  # type: ignore[arg-type]  # a maker of protocols is as good as a class
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
