"""Open a socket of an ASGI application as a server would, frame by frame, with a client that may stop reading or leave.

`opening` is for one that is served on a moved loop; what is sent on real connections is in `dialling.py`. Every frame
that comes is held against the contract.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

import msgspec
from starlette.types import ASGIApp, Message

from bench.socketing.readers import Frames
from gateway.line import BATCH
from shared.events import Json
from tests.support.asking import Answer
from tests.support.lines import Frame, read

NO_MORE: Final[Message] = {"type": "websocket.disconnect", "code": 1005}


@dataclass(slots=True)
class Socket:
    """A socket, as far as its frames have come. Make it with `opening`."""

    app: ASGIApp
    scope: dict[str, object]
    takes: int | None  # messages that the client's side takes before it blocks; None: all
    pongs: bool  # whether pings are answered
    sent: list[Message] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)  # all that have come, but pings that were answered
    raised: Exception | None = None
    _inbox: "asyncio.Queue[Message]" = field(default_factory=asyncio.Queue)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _takes_more: asyncio.Event = field(default_factory=asyncio.Event)
    _read: int = 0
    _over: bool = False

    async def run(self) -> None:
        """Be the server of this one socket."""
        self._inbox.put_nowait({"type": "websocket.connect"})
        try:
            await self.app(self.scope, self._inbox.get, self._send)
        except Exception as fault:
            self.raised = fault
        finally:
            self._over = True
            self._changed.set()

    async def _send(self, message: Message) -> None:
        while self.takes is not None and len(self.sent) >= self.takes:
            await self._takes_more.wait()
        self.sent.append(message)
        if message["type"] == "websocket.send":
            texts = Frames().feed(message[BATCH]) if BATCH in message else [message["text"].encode()]
            for frame in map(read, texts):
                if frame["kind"] == "ping" and self.pongs:
                    self.say({"type": "pong"})
                else:
                    self.frames.append(frame)
        if message["type"] == "websocket.close":
            self._inbox.put_nowait(NO_MORE)
        self._changed.set()

    # the client

    def say(self, frame: Json) -> None:
        """Send a frame."""
        self.say_text(msgspec.json.encode(frame).decode())

    def say_text(self, text: str) -> None:
        """Send a text, whatever it is."""
        self._inbox.put_nowait({"type": "websocket.receive", "text": text})

    def say_binary(self, data: bytes) -> None:
        """Send what no client of ours sends."""
        self._inbox.put_nowait({"type": "websocket.receive", "bytes": data})

    def leave(self) -> None:
        """Close the connection, as a client does at any time."""
        self._inbox.put_nowait(NO_MORE)

    def take_all(self) -> None:
        """Read on, after `takes` had stopped it."""
        self.takes = None
        self._takes_more.set()

    @property
    def unread(self) -> int:
        """How many frames of the client's the application has not taken."""
        return self._inbox.qsize()

    @property
    def over(self) -> bool:
        """Whether the application is through with the socket."""
        return self._over

    async def next(self, count: int) -> list[Frame]:
        """Return the next frames that have not been asked for, waiting for as many."""
        end = self._read + count
        while len(self.frames) < end and not self._over:
            self._changed.clear()
            await self._changed.wait()
        frames = self.frames[self._read : end]
        assert len(frames) == count, f"it ended after {frames}, with {self.sent[-1]}"
        self._read = end
        return frames

    async def frame(self) -> Frame:
        """Return the next frame."""
        return (await self.next(1))[0]

    async def until(self, kind: str, run_id: str | None = None) -> list[Frame]:
        """Return the next frames up to the first of this kind (and run)."""
        frames = [await self.frame()]
        while frames[-1]["kind"] != kind or run_id not in (None, frames[-1]["run_id"]):
            frames.append(await self.frame())
        return frames

    async def closed(self) -> tuple[int, str]:
        """Return code and reason with which it is closed, once it is."""
        while not self._over:
            self._changed.clear()
            await self._changed.wait()
        last = self.sent[-1]
        assert (self.raised, last["type"]) == (None, "websocket.close")
        return int(last["code"]), str(last["reason"])

    async def refused(self) -> Answer:
        """Return the answer with which the upgrade was refused."""
        while not self._over:
            self._changed.clear()
            await self._changed.wait()
        start, *bodies = self.sent
        assert start["type"] == "websocket.http.response.start"
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(int(start["status"]), headers, b"".join(body["body"] for body in bodies))


@asynccontextmanager
async def opening(
    app: ASGIApp, target: str = "/sessions/s/socket", takes: int | None = None, pongs: bool = True, batches: bool = True
) -> AsyncIterator[Socket]:
    """Open a socket at `target` (path and query, percent-encoded); on leaving, the client has left."""
    raw_path, _, query = target.partition("?")
    extensions: dict[str, object] = {"websocket.http.response": {}}
    scope: dict[str, object] = {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": unquote(raw_path),
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [],
        "subprotocols": [],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "extensions": {**extensions, BATCH: {}} if batches else extensions,
    }
    socket = Socket(app, scope, takes, pongs)
    serving = asyncio.create_task(socket.run())
    try:
        yield socket
    finally:
        socket.leave()
        await serving
