"""A connection: uvicorn's protocol for HTTP, with bounds on what a client may take up, and for how long.

A head that does not come (`request_timeout`) or does not end (`MOST_HEAD`), and an answer of which nothing is taken
(`send_timeout`), end the connection. And who has left has left all of it: uvicorn tells only the newest of several
requests that came at once, and an older one, such as a stream, would go on for nobody.
"""

import asyncio
import logging
import re
import socket
import struct
from contextlib import suppress
from typing import Final, Protocol

from starlette.types import ASGIApp
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from gateway.waiter import ABORT
from shared.logs import logger, note
from shared.settings import Settings

log = logger("gateway")

MOST_HEAD: Final = 256 * 1024
"""Bytes of a request beside its body. As much is read in one piece at the most, and so refused by nobody's accident."""

_SOCKET: Final = re.compile(rb"/sessions/[^/?#]+/socket(?:\?[^#]*)?")

_UNSENT_IS_LOST: Final = struct.pack("ii", 1, 0)  # `struct linger`: on, for no time

_REFUSAL: Final = b"HTTP/1.1 %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_SLOW: Final = _REFUSAL % b"408 Request Timeout"
_TOO_LARGE: Final = _REFUSAL % b"431 Request Header Fields Too Large"


class _Cycle(Protocol):
    """One request and its response, as uvicorn's protocols have it."""

    disconnected: bool
    message_event: asyncio.Event
    response_complete: bool


class Connection(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # whichever of uvicorn's it is, it is a class
    """A connection that holds one chunk that its client does not take, and that a request can abort.

    To close it would not do: a transport first waits until it has written everything, and what it has written the
    system keeps, some megabytes, for as long as the client's machine says that it is there.
    """

    app_state: dict[str, object]  # every request gets a copy
    cycle: _Cycle | None  # of the newest request whose head is complete
    loop: asyncio.AbstractEventLoop
    scope: dict[str, object]
    timeout_keep_alive: float
    transport: asyncio.Transport

    def __init__(self, settings: Settings, **uvicorns: object) -> None:
        super().__init__(**uvicorns)
        self.timeout_keep_alive = settings.keep_alive.total_seconds()
        self._request_timeout_s = settings.request_timeout.total_seconds()
        self._send_timeout_s = settings.send_timeout.total_seconds()
        self._served: _Cycle | None = None  # the request that is being answered
        self._head_size: int | None = None  # None: nothing of a request has come, or h11 counts
        self._waiting: asyncio.TimerHandle | None = None  # for a head
        self._looking: asyncio.TimerHandle | None = None  # whether something was taken
        self._untaken: int | None = None  # bytes that waited at the last look, -1 before it; None: there are none

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # whoever sends waits until all that was sent before is written
        self.app_state = {**self.app_state, ABORT: self._abort}
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, for all requests."""
        super().connection_lost(exc)
        self._stop_timers()
        if self._served is not None and not self._served.response_complete:
            self._served.disconnected = True
            self._served.message_event.set()

    # in

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        before = self.cycle
        if before is None or before.response_complete:
            self._wait_for_head()
        super().data_received(data)
        if self.cycle is not before and self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self._head_size is not None:
            self._head_size += len(data)
            if self._head_size > MOST_HEAD:
                self._refuse(_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        super().on_message_begin()
        self._head_size = 0

    def on_body(self, body: bytes) -> None:
        """Take a part of a body: how much of that may wait is its reader's affair."""
        super().on_body(body)
        if self._head_size is not None:
            self._head_size -= len(body)

    def _start_asgi_task(self, cycle: _Cycle, app: ASGIApp) -> None:
        self._served = cycle
        super()._start_asgi_task(cycle, app)

    def _wait_for_head(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(self._request_timeout_s, self._too_slow)

    def _too_slow(self) -> None:
        self._refuse(b"" if self._head_size is None else _TOO_SLOW)

    def _refuse(self, answer: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:  # nothing can be said in between
            self._abort()
        else:
            self.transport.write(answer)
            self.transport.close()

    # out

    def pause_writing(self) -> None:
        """Note that something waits to be taken. The timer is not moved each time, so that a chunk costs nothing."""
        super().pause_writing()
        self._untaken = -1
        if self._looking is None:
            self._looking = self.loop.call_later(self._send_timeout_s, self._look)

    def resume_writing(self) -> None:
        """Note that all has been taken."""
        super().resume_writing()
        self._untaken = None

    def _look(self) -> None:
        self._looking = None
        if self._untaken is None:
            return
        size = self.transport.get_write_buffer_size()
        if size == self._untaken:
            note(log, "client_dropped", logging.WARNING, after_s=self._send_timeout_s)
            self._abort()
        else:
            self._untaken = size
            self._looking = self.loop.call_later(self._send_timeout_s, self._look)

    # to a WebSocket

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
        self._stop_timers()
        self.app_state, self.scope = {}, {}

    def _stop_timers(self) -> None:
        for timer in (self._waiting, self._looking):
            if timer is not None:
                timer.cancel()
        self._head_size = None

    def _abort(self) -> None:
        abort(self.transport)


def abort(transport: asyncio.WriteTransport) -> None:
    """Close a connection at once, unsent bytes and all."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is not None:  # it may be gone by itself in this very moment
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _UNSENT_IS_LOST)
    transport.abort()
