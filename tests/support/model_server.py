"""A server of a model on 127.0.0.1 that sends exactly the bytes it is told to, when it is told to.

It runs on the loop of the test, so that an event of the test holds it up or lets it go.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from shared.events import Json

STREAM = "text/event-stream; charset=utf-8"
NOT_LONG = 60.0  # seconds after which a test has failed, on however busy a machine


@dataclass(slots=True)
class Exchange:
    """One request, and the way to answer it."""

    method: str
    path: str
    headers: dict[str, str]
    body: Json
    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter

    async def begin(self, status: int = 200, content_type: str = STREAM, **headers: str) -> None:
        """Send the head of an answer in chunks."""
        fields = {"content-type": content_type, "transfer-encoding": "chunked", **headers}
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        await self.send(f"HTTP/1.1 {status} Whatever\r\n{head}\r\n".encode())

    async def say(self, *chunks: bytes) -> None:
        """Send parts of the body, each as one chunk: however they travel, they are read one by one."""
        for chunk in chunks:
            await self.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))

    async def end(self) -> None:
        """Send the end of the body."""
        await self.send(b"0\r\n\r\n")

    async def send(self, raw: bytes) -> None:
        """Send bytes as they are."""
        self._writer.write(raw)
        await self._writer.drain()

    async def left(self) -> None:
        """Return when the client has gone."""
        with suppress(ConnectionResetError):
            assert await self._reader.read(1) == b"", "a client says nothing more"

    def close(self) -> None:
        """End the connection when what was sent has left, in the middle of whatever it is."""
        self._writer.close()

    def break_off(self) -> None:
        """End the connection with a reset: what was sent may never arrive."""
        self._writer.transport.abort()


Answer = Callable[[Exchange], Awaitable[None]]


@dataclass(slots=True)
class ModelServer:
    """A server at work: where it is, what it was asked, and over how many connections."""

    base_url: str = ""
    asked: list[Exchange] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[ModelServer]:
    """Serve while the block lasts. A connection stays open after its answer; a fault in `answer` comes out here."""
    server, tasks = ModelServer(), set[asyncio.Task[None]]()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            while (exchange := await _request(reader, writer)) is not None:
                server.asked.append(exchange)
                await answer(exchange)
        finally:
            writer.transport.abort()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(converse(reader, writer)))

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    host, port = listening.sockets[0].getsockname()
    server.base_url = f"http://{host}:{port}/v1"
    try:
        async with asyncio.timeout(NOT_LONG):
            yield server
    finally:
        listening.close()
        for task in tasks:
            if not task.done():
                task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        faults = [fault for fault in outcomes if isinstance(fault, Exception) and not isinstance(fault, OSError)]
        assert not faults, faults


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange | None:
    """Read a request; None when the client has left."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None
    line, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = line.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines if each)}
    body: Json = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
    return Exchange(method, path, headers, body, reader, writer)


# --- What such servers send -------------------------------------------------------------------------------------------

DONE = b"data: [DONE]\n\n"


def chunk(delta: dict[str, Json] | None = None, finish: str | None = None, **more: Json) -> bytes:
    """Return the event of one chunk, as OpenAI writes it."""
    choice: dict[str, Json] = {"index": 0, "delta": delta or {}, "logprobs": None, "finish_reason": finish}
    return data({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice], "usage": None, **more})


def spoken(*fragments: str) -> bytes:
    """Return a chunk for each piece of text."""
    return b"".join(chunk({"content": fragment}) for fragment in fragments)


def usage(prompt: int, completion: int) -> bytes:
    """Return the last chunk, which has no choice."""
    counts: Json = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return data({"object": "chat.completion.chunk", "choices": [], "usage": counts})


def data(value: Json) -> bytes:
    """Return an event."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def bytewise(stream: bytes) -> Iterable[bytes]:
    """Cut bytes into single ones."""
    return (stream[at : at + 1] for at in range(len(stream)))
