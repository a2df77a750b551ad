"""Dial a session's socket as a client does, with the library `websockets`, on a real connection.

Every frame that comes is held against the contract, and pings are answered as they are read.
"""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from shared.events import Json
from tests.support.lines import Frame, read

UPGRADE = (
    b"GET %b HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@dataclass(slots=True)
class Caller:
    """A client with its connection. Make it with `dialling`."""

    connection: ClientConnection
    pongs: bool
    frames: list[Frame] = field(default_factory=list)  # all that have been read, but pings that were answered

    async def frame(self) -> Frame:
        """Return the next frame. Raises `ConnectionClosed` when there is none any more."""
        while True:
            text = await self.connection.recv()
            assert isinstance(text, str)
            frame = read(text)
            if frame["kind"] != "ping" or not self.pongs:
                self.frames.append(frame)
                return frame
            await self.say({"type": "pong"})

    async def until(self, kind: str, run_id: str | None = None) -> list[Frame]:
        """Return the next frames up to the first of this kind (and run)."""
        frames = [await self.frame()]
        while frames[-1]["kind"] != kind or run_id not in (None, frames[-1]["run_id"]):
            frames.append(await self.frame())
        return frames

    async def say(self, frame: Json) -> None:
        """Send a frame."""
        await self.connection.send(msgspec.json.encode(frame).decode())

    async def closed(self) -> tuple[int, str]:
        """Read to the end; return code and reason of the server's close, 1006 when there was none."""
        try:
            while True:
                await self.frame()
        except ConnectionClosed as closed:
            return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (1006, "")

    @property
    def cursor(self) -> str:
        """The cursor of the newest frame that has one: where to go on from."""
        cursors = [frame["cursor"] for frame in self.frames if frame["cursor"] is not None]
        return str(cursors[-1]) if cursors else ""


def address(base: str, session_id: str = "s", **query: str) -> str:
    """Return the address of a session's socket at a gateway's base URL (`http://…`)."""
    found = f"ws{base.removeprefix('http')}/sessions/{quote(session_id, safe='')}/socket"
    return f"{found}?{urlencode(query)}" if query else found


@asynccontextmanager
async def dialling(base: str | int, session_id: str = "s", pongs: bool = True, **query: str) -> AsyncIterator[Caller]:
    """Open a session's socket at a gateway's base URL, or port; on leaving, it is closed."""
    base = f"http://127.0.0.1:{base}" if isinstance(base, int) else base
    url = address(base, session_id, **query)
    # All that comes is taken in: a client that has stopped reading would wait for the answer to its close.
    async with connect(url, proxy=None, ping_interval=None, max_size=None, max_queue=None) as connection:
        yield Caller(connection, pongs)


def deaf_socket(port: int, target: bytes = b"/sessions/s/socket") -> socket.socket:
    """Ask for an upgrade, and never read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    client.sendall(UPGRADE % target)
    return client


def masked(opcode: int, data: bytes, fin: bool = True) -> bytes:
    """Return a frame of less than 126 bytes, as a client sends it (RFC 6455, section 5.2), masked with zeros."""
    assert len(data) < 126
    return bytes(((0x80 if fin else 0) | opcode, 0x80 | len(data), 0, 0, 0, 0)) + data
