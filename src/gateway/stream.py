"""The response that carries a feed: raw ASGI, one send per chunk, bounded by the client's appetite."""

import asyncio
import logging
from contextlib import aclosing
from datetime import timedelta
from http import HTTPStatus

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from gateway import sse
from gateway.feed import Feed, Feeds
from gateway.waiters import Waiters
from shared.logs import logger, note

log = logger("gateway")


class RunStream(Response):
    """A run's stream from a cursor on, or 204 when there is nothing after the cursor and never will be.

    Everything that can be refused is refused before the first byte, as a problem document. Ends with the run, with the
    client, or when the client takes nothing for `send_timeout`.
    """

    def __init__(
        self,
        feeds: Feeds,
        waiters: Waiters,
        run_id: str,
        cursor: str | None,
        headers: dict[str, str],
        send_timeout: timedelta,
    ) -> None:
        super().__init__(status_code=HTTPStatus.NO_CONTENT, headers=headers)
        self._feeds = feeds
        self._waiters = waiters
        self._run_id = run_id
        self._cursor = cursor
        self._send_timeout_s = send_timeout.total_seconds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until it ends or the client leaves, which it may do before the first byte."""
        with self._waiters.admit(self._run_id):
            serving = asyncio.create_task(self._serve(scope, receive, send))
            leaving = asyncio.create_task(_until_left(receive))
            try:
                await asyncio.wait((serving, leaving), return_when=asyncio.FIRST_COMPLETED)
            finally:
                serving.cancel()
                leaving.cancel()
                await asyncio.gather(serving, leaving, return_exceptions=True)
        if not serving.cancelled():
            serving.result()  # raises what was refused before the first byte

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._feeds.open(self._run_id, self._cursor) as feed:
            if feed is not None and scope["method"] != "HEAD":
                await self._send_all(feed, send)
                return
            if feed is not None:
                self.status_code, self.raw_headers = HTTPStatus.OK, self._head()
            await super().__call__(scope, receive, send)

    async def _send_all(self, feed: Feed, send: Send) -> None:
        try:
            await self._pass(send, {"type": "http.response.start", "status": HTTPStatus.OK, "headers": self._head()})
            last = await self._pass_chunks(feed, send)
            await self._pass(send, {"type": "http.response.body", "body": last})
        except _ClientGone as gone:
            note(log, "client_dropped", logging.WARNING, run_id=self._run_id, why=str(gone))

    async def _pass_chunks(self, feed: Feed, send: Send) -> bytes:
        """Send the feed's chunks; return what is to be the last one."""
        try:
            async with aclosing(feed.chunks()) as chunks:
                async for chunk in chunks:
                    await self._pass(send, {"type": "http.response.body", "body": chunk, "more_body": True})
        except _ClientGone:
            raise
        except Exception:
            log.exception("stream_crashed", extra={"fields": {"run_id": self._run_id}})
            return sse.error("internal", "a fault of ours; it has been logged; reconnect")
        return b""

    async def _pass(self, send: Send, message: Message) -> None:
        try:
            async with asyncio.timeout(self._send_timeout_s):
                await send(message)
        except TimeoutError as stalled:
            raise _ClientGone(f"it took nothing for {self._send_timeout_s} s") from stalled
        except OSError as gone:  # as ASGI servers may say it
            raise _ClientGone(f"the server says so: {gone}") from gone

    def _head(self) -> list[tuple[bytes, bytes]]:
        return [*sse.HEADERS, *self.raw_headers]


class _ClientGone(Exception):
    """Nothing that is sent arrives any more."""


async def _until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
