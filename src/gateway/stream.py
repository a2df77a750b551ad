"""The response that carries a feed: raw ASGI, one send per chunk, bounded by the client's appetite."""

import logging
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway import sse
from gateway.chunks import Chunks
from gateway.feeds import Feeds
from gateway.waiter import Waiter
from gateway.waiters import Waiters
from shared.logs import logger, note
from shared.text import clean

log = logger("gateway")


@dataclass(frozen=True, slots=True)
class Streams:
    """`GET /runs/{run_id}/events`: the run's stream. A cursor in the header wins over one in the query."""

    feeds: Feeds
    waiters: Waiters
    send_timeout_s: float

    def of(self, run_id: str, scope: Scope) -> "RunStream":
        """Return the answer to a request for a stream. A run id that no store can hold belongs to no run."""
        request = Request(scope)
        cursor = request.headers.get("last-event-id", request.query_params.get("last_event_id"))
        return RunStream(self, clean(run_id), cursor, {})


class RunStream(Response):
    """A run's stream from a cursor on, or 204 when there is nothing after the cursor and never will be.

    Everything that can be refused is refused before the first byte, as a problem document. Ends with the run, with the
    client, or when the client takes nothing for `send_timeout`.
    """

    def __init__(self, streams: Streams, run_id: str, cursor: str | None, headers: dict[str, str]) -> None:
        super().__init__(status_code=HTTPStatus.NO_CONTENT, headers=headers)
        self._streams = streams
        self._run_id = run_id
        self._cursor = cursor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until it ends or the client leaves, which it may do before the first byte."""
        streams = self._streams
        with streams.waiters.admit(self._run_id), Waiter(scope, receive, send, streams.send_timeout_s) as waiter:
            found = await streams.feeds.find(self._run_id, self._cursor)
            if found.over or scope["method"] == "HEAD":
                if not found.over:
                    self.status_code, self.raw_headers = HTTPStatus.OK, self._head()
                await super().__call__(scope, receive, send)
                return
            async with streams.feeds.join(found) as channel:
                with channel.waking(waiter.wake):
                    feed = await streams.feeds.begin(found, channel, sse, waiter.now)
                    del found  # a stream is open for long, and this is not needed any more
                    await self._send_all(Chunks(self._run_id, feed, waiter, streams.feeds.common), waiter)
        if waiter.stalled:
            note(log, "client_dropped", logging.WARNING, run_id=self._run_id, after_s=streams.send_timeout_s)

    async def _send_all(self, chunks: Chunks, waiter: Waiter) -> None:
        try:
            await waiter.send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": self._head()})
            while chunk := await chunks.next():
                await waiter.send({"type": "http.response.body", "body": chunk, "more_body": True})
            await waiter.send({"type": "http.response.body", "body": b""})
        except OSError as gone:  # as ASGI servers may say it
            note(log, "client_dropped", logging.WARNING, run_id=self._run_id, why=str(gone))

    def _head(self) -> list[tuple[bytes, bytes]]:
        return [*sse.HEADERS, *self.raw_headers]
