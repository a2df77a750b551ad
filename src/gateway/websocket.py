"""A WebSocket connection: uvicorn's protocol on the library `websockets`, with the bounds and the ends of this house.

- It is read from only while it is written to without waiting: a client that sends and does not read has replies waiting
  (to pings of the protocol too), and these must not pile up.
- It is closed with a code that its client can still read: the connection is kept for a moment, and what comes in it is
  dropped. Closed at once with bytes unread, it would be reset, and the code lost with it.
- Several frames are taken at once (`line.BATCH`).
"""

from contextlib import suppress
from typing import Final

import uvicorn
from starlette.types import Message
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame
from websockets.http11 import Request
from websockets.protocol import State

from gateway.connection import abort
from gateway.line import BATCH
from gateway.waiter import ABORT
from shared.envelope import CloseCode

GOODBYE_S: Final = 2.0
"""How long a client has to take a goodbye and answer it. After that it is cut off."""

MOST_PIECES: Final = 64
"""Fragments of one message. A frame of ours needs none; empty ones would add up to no size and yet to a heap."""

_REFUSED: Final = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class _Failed(Exception):
    """The connection is closed: what else came with what it was closed for is not looked at."""


class WebSocket(WebSocketsSansIOProtocol):
    """One connection, after its request for an upgrade."""

    def __init__(self, config: uvicorn.Config, server_state: ServerState, app_state: dict[str, object]) -> None:
        super().__init__(config, server_state, {**app_state, ABORT: self._abort})
        self._failed = False

    # in

    def data_received(self, data: bytes) -> None:
        """Take bytes, or drop them once nothing that comes matters any more."""
        if self._failed:
            return
        with suppress(_Failed):
            super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self._failed = True
            self.transport.write(b"".join(self.conn.data_to_send()) or _REFUSED)
            self.transport.close()

    def handle_connect(self, event: Request) -> None:
        """Begin to serve a request for an upgrade."""
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["extensions"][BATCH] = {}
        del self.request  # a socket is open for long, and this is not needed any more

    def handle_cont(self, event: Frame) -> None:
        """Take a further fragment of a message."""
        if len(self.frames) >= MOST_PIECES:
            self._fail(CloseCode.TOO_BIG, f"a message in more than {MOST_PIECES} pieces")
        else:
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Hand on a message that is complete."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self._fail(CloseCode.NO_TEXT, "a text that is not UTF-8")
                return
        super().send_receive_event_to_app()

    def _fail(self, code: CloseCode, reason: str) -> None:
        self.conn.fail(code, reason)
        self.handle_parser_exception()
        raise _Failed

    def handle_parser_exception(self) -> None:
        """Say why this cannot go on, and wait a moment for it to be read."""
        assert self.conn.close_sent is not None
        self._failed = True
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.resume_reading()  # so that what is on its way does not reset the connection
        self.transport.write_eof()
        self._say_goodbye()

    def pause_writing(self) -> None:
        """Read nothing while the client takes nothing."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read on, unless the application is not through with what it has."""
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()

    async def receive(self) -> Message:  # type: ignore[override]  # both are ASGI messages
        """Return the next message, and read on when there is no other, and the client takes what it is sent."""
        message = await self.queue.get()
        if self.read_paused and self.queue.empty():
            self.read_paused = False
            if self.writable.is_set():
                self.transport.resume_reading()
        return message  # type: ignore[return-value]

    # out

    async def send(self, message: Message) -> None:  # type: ignore[override]  # ASGI's, and one of ours
        """Send a message when all before it is written."""
        if self._failed:
            raise ClientDisconnected
        frames: bytes | None = message.get(BATCH)
        if frames is None:
            await super().send(message)  # type: ignore[arg-type]
            if message["type"] == "websocket.close":
                self._say_goodbye()
            return
        await self.writable.wait()
        if self.disconnected or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.transport.write(frames)

    # the end

    def shutdown(self) -> None:
        """Leave the goodbye to the application: it has one for every line, and may have something to send before it."""
        if not self.handshake_complete:
            super().shutdown()

    def _say_goodbye(self) -> None:
        if self.close_timer is not None:
            self.close_timer.cancel()
        if not self.transport.is_closing():
            self.close_timer = self.loop.call_later(GOODBYE_S, self._abort)

    def _abort(self) -> None:
        abort(self.transport)
