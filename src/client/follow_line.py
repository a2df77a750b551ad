"""Follow a session's line with `websockets`: `LineFollower` and `AsyncLineFollower` carry out what `line.py` decides.

    follower = LineFollower("http://127.0.0.1:8000", "s")
    for arrival in follower.arrivals():
        session, effects = reduce(session, arrival)   # an `Answered` or `Rejected` is for whoever has answered

The library is loaded with the first connection: who follows runs alone does without.
"""

import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, closing
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from client.line import Line, LineArrival

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection as AsyncConnection
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import ClientConnection

_CONNECT_S: Final = 10.0  # to connect, and to have the upgrade answered
_GOODBYE_S: Final = 1.0  # for the server's half of a close
_MOST_BYTES: Final = 64 * 1024 * 1024  # of a frame; the text of a long run comes in one


class LineFollower:
    """Follows the line of one session in the caller's thread. `answer` may be called from any."""

    def __init__(self, url: str, session: str | Line, *, pause: Callable[[timedelta], None] | None = None) -> None:
        """Follow a session of the gateway at `url` (http or https), by its id or as a `Line` that was begun.

        `pause` waits between two connections; sleeping is the default.
        """
        self.line = Line(session) if isinstance(session, str) else session
        self._url = _socket_url(url)
        self._pause = pause or _sleep
        self._lock = threading.Lock()  # for the line; nothing is sent or waited for under it
        self._socket: ClientConnection | None = None

    def arrivals(self) -> Generator[LineArrival]:
        """Yield what arrives, each event once and in order, over all runs of the session, until the caller leaves.

        Raises:
            LineRefused: the gateway's answer, or its close code, is final.
            LineLost: too many connections in a row brought nothing new.
            BadPayload: the gateway sent what cannot be read.
        """
        while True:
            with closing(self._connection()) as connection:
                yield from connection
            yield from self.line.lost()
            self._pause(self.line.next_pause())

    def answer(self, question_id: str, text: str) -> None:
        """Answer a question, now or as soon as there is a connection. What becomes of it arrives."""
        with self._lock:
            self.line.answer(question_id, text)
        self._send()

    def _connection(self) -> Generator[LineArrival]:
        """Yield what one connection brings."""
        from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
        from websockets.sync.client import connect

        try:
            with connect(
                self._url + self.line.begin(), open_timeout=_CONNECT_S, close_timeout=_GOODBYE_S, ping_interval=None,
                compression=None, max_size=_MOST_BYTES,
            ) as socket, closing(socket):  # fmt: skip
                self._socket = socket
                yield from self._frames(socket)
        except ConnectionClosed as end:
            _note_end(self.line, end)
        except InvalidStatus as refusal:
            self.line.refused(refusal.response.status_code, refusal.response.headers)
        except (OSError, EOFError, InvalidHandshake) as error:
            self.line.broke(error)
        finally:
            self._socket = None

    def _frames(self, socket: "ClientConnection") -> Generator[LineArrival]:
        while True:
            arrivals: list[LineArrival] = []
            try:
                text = socket.recv(self.line.wait_s)
            except TimeoutError:
                if not self.line.silence():
                    return
            else:
                with self._lock:
                    arrivals = self.line.take(text)
            self._send()
            yield from arrivals

    def _send(self) -> None:
        """Send what there is to be sent, if there is a connection. One that breaks is the reader's to find out."""
        from websockets.exceptions import ConnectionClosed

        socket = self._socket
        if socket is None:
            return
        with self._lock:
            frames = self.line.to_send()
        try:
            for frame in frames:
                socket.send(frame)
        except (ConnectionClosed, OSError):
            pass


class AsyncLineFollower:
    """Does what `LineFollower` does, in an event loop."""

    def __init__(
        self, url: str, session: str | Line, *, pause: Callable[[timedelta], Awaitable[None]] | None = None
    ) -> None:
        """Follow a session of the gateway at `url`, by its id or as a `Line` that was begun."""
        self.line = Line(session) if isinstance(session, str) else session
        self._url = _socket_url(url)
        self._pause = pause or _async_sleep
        self._socket: AsyncConnection | None = None

    async def arrivals(self) -> AsyncGenerator[LineArrival]:
        """Yield what arrives, as `LineFollower.arrivals` does. Wrap it in `contextlib.aclosing` to leave it early."""
        while True:
            async with aclosing(self._connection()) as connection:
                async for arrival in connection:
                    yield arrival
            for arrival in self.line.lost():
                yield arrival
            await self._pause(self.line.next_pause())

    async def answer(self, question_id: str, text: str) -> None:
        """Answer a question, now or as soon as there is a connection. What becomes of it arrives."""
        self.line.answer(question_id, text)
        await self._send()

    async def _connection(self) -> AsyncGenerator[LineArrival]:
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

        try:
            async with connect(
                self._url + self.line.begin(), open_timeout=_CONNECT_S, close_timeout=_GOODBYE_S, ping_interval=None,
                compression=None, max_size=_MOST_BYTES,
            ) as socket:  # fmt: skip
                self._socket = socket
                try:
                    async with aclosing(self._frames(socket)) as arrivals:
                        async for arrival in arrivals:
                            yield arrival
                finally:
                    await socket.close()
        except ConnectionClosed as end:
            _note_end(self.line, end)
        except InvalidStatus as refusal:
            self.line.refused(refusal.response.status_code, refusal.response.headers)
        except (OSError, EOFError, InvalidHandshake) as error:
            self.line.broke(error)
        finally:
            self._socket = None

    async def _frames(self, socket: "AsyncConnection") -> AsyncGenerator[LineArrival]:
        import asyncio

        while True:
            arrivals: list[LineArrival] = []
            try:
                async with asyncio.timeout(self.line.wait_s):
                    text = await socket.recv()
            except TimeoutError:
                if not self.line.silence():
                    return
            else:
                arrivals = self.line.take(text)
            await self._send()
            for arrival in arrivals:
                yield arrival

    async def _send(self) -> None:
        from websockets.exceptions import ConnectionClosed

        if self._socket is None:
            return
        try:
            for frame in self.line.to_send():
                await self._socket.send(frame)
        except (ConnectionClosed, OSError):
            pass  # the reader finds out


def _note_end(line: Line, end: "ConnectionClosed") -> None:
    """Note how a connection ended: by the server's word, or by what neither of us wanted."""
    if end.rcvd is not None:
        line.closed(end.rcvd.code, end.rcvd.reason)
    else:
        line.broke(end)


def _socket_url(url: str) -> str:
    """Return the address of a gateway for sockets (RFC 6455, section 3), without a slash at its end."""
    scheme, separator, rest = url.partition("://")
    return f"{ {'http': 'ws', 'https': 'wss'}.get(scheme, scheme) }{separator}{rest}".rstrip("/")


def _sleep(duration: timedelta) -> None:
    time.sleep(duration.total_seconds())


async def _async_sleep(duration: timedelta) -> None:
    import asyncio  # not above: whoever follows without an event loop starts faster without it

    await asyncio.sleep(duration.total_seconds())
