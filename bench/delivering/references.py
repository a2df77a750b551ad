"""What the gateway is measured against, each an ASGI application on the same server, reading the same output streams.

    python -m bench.delivering.references KIND

`raw`         bare ASGI, one read of the bus per run, one send a frame: a floor, without store, order or heartbeat
`joined`      the same, what is ready together in one send
`starlette`   sse-starlette's response over the same read
`naive`       the gateway one writes first: `StreamingResponse`, an `XREAD BLOCK` per waiter on a connection of its own,
              one send a frame, the bus for its only memory

It listens on a free port and says so like the gateway: one JSON line on stderr.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Final

import uvicorn
import uvloop
from redis.asyncio import Redis
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from shared.adapters.process import listen

URL: Final = os.environ.get("REDIS_URL", "")
KEY: Final = os.environ.get("KODA_PREFIX", "") + ":out:{%s}"
BLOCK_MS: Final = 15_000
LAST: Final = b"done"

Entry = tuple[bytes, bytes, bytes]
"""Seq, kind and data of an event."""


async def entries(run_id: str) -> AsyncIterator[list[Entry]]:
    """Yield a run's entries from its start, on a connection of their own."""
    # Without limit: redis-py's own (5 s) would end a block that is longer.
    client = Redis.from_url(URL, socket_timeout=None, protocol=2)
    at: bytes | str = "0-0"
    try:
        while True:
            reply: object = await client.xread({KEY % run_id: at}, block=BLOCK_MS)
            batch: list[Entry] = []
            assert isinstance(reply, list)
            for _, found in reply:
                batch += [(fields[b"s"], fields[b"k"], fields[b"d"]) for _, fields in found]
                at = found[-1][0]
            yield batch
    finally:
        await client.aclose()


def frame(entry: Entry) -> bytes:
    """Return an event as it leaves."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % entry


def cursor(scope: Scope) -> int:
    """Return the seq to begin with."""
    for name, value in scope["headers"]:
        if name == b"last-event-id":
            return int(value) + 1
    return 0


class Tail:
    """What a run has brought so far, and what it brings: read once, for all who wait."""

    def __init__(self, run_id: str) -> None:
        self.entries: list[Entry] = []
        self.frames: list[bytes] = []
        self.changed = asyncio.Event()
        self.reading = asyncio.create_task(self._read(run_id))

    @property
    def over(self) -> bool:
        """Whether the last event has come."""
        return bool(self.entries) and self.entries[-1][1] == LAST

    async def _read(self, run_id: str) -> None:
        async for batch in entries(run_id):
            self.entries += batch
            self.frames += map(frame, batch)
            self.changed.set()
            self.changed = asyncio.Event()
            if self.over:
                return


class Tails:
    """The tails of all runs that somebody has asked for."""

    def __init__(self) -> None:
        self._tails: dict[str, Tail] = {}

    def of(self, run_id: str) -> Tail:
        """Return a run's tail."""
        if run_id not in self._tails:
            self._tails[run_id] = Tail(run_id)
        return self._tails[run_id]


def raw(*, joined: bool) -> ASGIApp:
    """Return the floor."""
    tails = Tails()

    async def app(scope: Scope, _: Receive, send: Send) -> None:
        tail, at = tails.of(scope["path"].split("/")[2]), cursor(scope)
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"retry: 1000\n", "more_body": True})
        while True:
            changed, new = tail.changed, tail.frames[at:]
            at += len(new)
            for body in [b"".join(new)] if joined and new else new:
                await send({"type": "http.response.body", "body": body, "more_body": True})
            if tail.over and at == len(tail.frames):
                break
            if changed is tail.changed:
                await changed.wait()
        await send({"type": "http.response.body", "body": b""})

    return app


def sse_starlette() -> ASGIApp:
    """Return sse-starlette's response over the same read."""
    tails = Tails()

    async def stream(tail: Tail, at: int) -> AsyncIterator[ServerSentEvent]:
        while True:
            changed, new = tail.changed, tail.entries[at:]
            at += len(new)
            for seq, kind, data in new:
                yield ServerSentEvent(data.decode(), event=kind.decode(), id=seq.decode(), sep="\n")
            if tail.over and at == len(tail.entries):
                return
            if changed is tail.changed:
                await changed.wait()

    async def serve(request: Request) -> Response:
        tail = tails.of(request.path_params["run_id"])
        return EventSourceResponse(stream(tail, cursor(request.scope)), sep="\n")

    return Starlette(routes=[Route("/runs/{run_id}/events", serve)])


def naive() -> ASGIApp:
    """Return the gateway that one writes first."""

    async def stream(run_id: str, start: int) -> AsyncIterator[bytes]:
        yield b"retry: 1000\n"
        async for batch in entries(run_id):
            for entry in batch:
                if int(entry[0]) >= start:
                    yield frame(entry)
                if entry[1] == LAST:
                    return

    async def serve(request: Request) -> Response:
        body = stream(request.path_params["run_id"], cursor(request.scope))
        return StreamingResponse(body, media_type="text/event-stream")

    return Starlette(routes=[Route("/runs/{run_id}/events", serve)])


KINDS: Final = {
    "raw": lambda: raw(joined=False),
    "joined": lambda: raw(joined=True),
    "starlette": sse_starlette,
    "naive": naive,
}


async def main(kind: str) -> None:
    """Serve until killed."""
    listener = listen({"PORT": "0"}, 0)
    config = uvicorn.Config(
        KINDS[kind](), lifespan="off", ws="none", log_config=None, access_log=False, server_header=False
    )
    print(json.dumps({"event": "listening", "port": listener.getsockname()[1]}), file=sys.stderr, flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
