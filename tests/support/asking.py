"""Ask an ASGI application as a server would, byte for byte: what no HTTP client lets through gets through here.

`ask` returns a whole answer. `Call` is a request whose answer is read as it comes, by a client that may stop reading or
leave at any point.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

import msgspec
from starlette.types import ASGIApp, Message

from client.sse import EventStreamParser, ServerEvent
from shared.events import Json

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `raised` is what the application raised after it had answered, for the server's log."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    raised: Exception | None = None

    def json(self) -> dict[str, Json]:
        """Return the body as the JSON object that it is."""
        document: Json = msgspec.json.decode(self.body)
        assert isinstance(document, dict)
        return document

    def problem(self) -> dict[str, Json]:
        """Return the problem document that it is (RFC 9457)."""
        assert self.headers["content-type"] == "application/problem+json"
        document = self.json()
        always = {"type", "title", "status", "detail"}
        assert always <= document.keys() <= always | {"field", "answer"}
        assert document["status"] == self.status
        return document


@dataclass(slots=True)
class Call:
    """A request and its answer, as far as it has come. Make it with `calling`."""

    app: ASGIApp
    scope: dict[str, object]
    body: list[bytes]
    takes: int | None  # messages that the client's side takes before it blocks; None: all
    sent: list[Message] = field(default_factory=list)
    raised: Exception | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _left: asyncio.Event = field(default_factory=asyncio.Event)
    _takes_more: asyncio.Event = field(default_factory=asyncio.Event)
    _read: int = 0
    _over: bool = False
    _parser: EventStreamParser = field(default_factory=EventStreamParser)
    _events: list[ServerEvent] = field(default_factory=list)

    async def run(self) -> None:
        """Be the server of this one request."""
        try:
            await self.app(self.scope, self._receive, self._send)
        except Exception as fault:
            self.raised = fault
        finally:
            self._over = True
            self._changed.set()

    async def _receive(self) -> Message:
        if self.body and not self._left.is_set():
            chunk = self.body.pop(0)
            return {"type": "http.request", "body": chunk, "more_body": bool(self.body)}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        while self.takes is not None and len(self.sent) >= self.takes:
            await self._takes_more.wait()
        self.sent.append(message)
        self._changed.set()

    def leave(self) -> None:
        """Close the connection, as a client does at any time."""
        self._left.set()

    def take_all(self) -> None:
        """Read on, after `takes` had stopped it."""
        self.takes = None
        self._takes_more.set()

    @property
    def over(self) -> bool:
        """Whether the application is through with the request."""
        return self._over

    async def started(self) -> int:
        """Return the status, as soon as it has come."""
        await self._until(1)
        start = self.sent[0]
        assert start["type"] == "http.response.start"
        status: int = start["status"]
        return status

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an answer that has started."""
        pairs: list[tuple[bytes, bytes]] = self.sent[0]["headers"]
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}

    async def chunk(self) -> bytes:
        """Return the next piece of the body, b"" at its end."""
        await self.started()
        while True:
            self._read += 1
            await self._until(self._read + 1)
            if len(self.sent) <= self._read:
                return b""
            body: bytes = self.sent[self._read].get("body", b"")
            if body:
                return body

    async def event(self) -> ServerEvent | None:
        """Return the next event of the stream, None at its end."""
        while not self._events:
            chunk = await self.chunk()
            if not chunk:
                return None
            self._events += self._parser.feed(chunk)
        return self._events.pop(0)

    async def events(self, count: int | None = None) -> list[ServerEvent]:
        """Return the next `count` events of the stream; all, up to its end, when None."""
        events: list[ServerEvent] = []
        while (count is None or len(events) < count) and (event := await self.event()) is not None:
            events.append(event)
        return events

    async def _until(self, messages: int) -> None:
        while len(self.sent) < messages and not self._over:
            self._changed.clear()
            await self._changed.wait()

    async def answer(self) -> Answer:
        """Return the whole answer, as soon as it has come."""
        await self.started()
        while not self._over:
            self._changed.clear()
            await self._changed.wait()
        body: bytes = b"".join(message.get("body", b"") for message in self.sent[1:])
        complete = len(self.sent) > 1 and not self.sent[-1].get("more_body", False)
        assert complete, "the answer has an end"
        return Answer(await self.started(), self.headers, body, self.raised)


@asynccontextmanager
async def calling(
    app: ASGIApp,
    method: str,
    target: str,
    headers: Headers = (),
    body: bytes | Sequence[bytes] = b"",
    takes: int | None = None,
) -> AsyncIterator[Call]:
    """Begin a request to `target` (path and query, percent-encoded); on leaving, the client has left.

    Headers go out as they are given; names are lower case. A body of several pieces comes as these.
    """
    raw_path, _, query = target.partition("?")
    scope: dict[str, object] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw_path),
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": list(headers),
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    call = Call(app, scope, [body] if isinstance(body, bytes) else list(body), takes)
    serving = asyncio.create_task(call.run())
    try:
        yield call
    finally:
        call.leave()
        await serving


async def ask(
    app: ASGIApp, method: str, target: str, headers: Headers = (), body: bytes | Sequence[bytes] = b""
) -> Answer:
    """Make a request and return its whole answer."""
    async with calling(app, method, target, headers, body) as call:
        return await call.answer()
