"""The gateway over real sockets: uvicorn on one side; httpx, a common SSE client and bare bytes on the other."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx
import uvicorn
from httpx_sse import aconnect_sse

from client.sse import EventStreamParser, ServerEvent
from shared.adapters.memory import MemoryStore
from shared.events import decode_data
from shared.ports import StoredRun
from tests.support.houses import SETTINGS, House, as_sent, delta, deltas, done, house, log

PATIENCE_S = 60.0  # for a whole test; nothing here waits for a fraction of it


@dataclass(slots=True)
class Served:
    """A gateway that is served, and a client of it."""

    house: House
    server: uvicorn.Server
    port: int
    http: httpx.AsyncClient

    async def waiters(self) -> str:
        """Return how many streams are open, as the metrics tell it."""
        text = (await self.http.get("/metrics")).text
        return next(line.split()[1] for line in text.splitlines() if line.startswith("koda_waiters "))

    async def until_waiters(self, count: str) -> None:
        """Return when so many streams are open."""
        while await self.waiters() != count:  # noqa: ASYNC110  # only the gateway knows, and it is asked as anybody may
            await asyncio.sleep(0)


@asynccontextmanager
async def serving(gateway: House) -> AsyncIterator[Served]:
    """Serve a gateway on 127.0.0.1 while the block lasts."""
    listener = socket.create_server(("127.0.0.1", 0))
    port: int = listener.getsockname()[1]
    config = uvicorn.Config(gateway.app, lifespan="off", ws="none", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    served = asyncio.create_task(server.serve(sockets=[listener]))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S, trust_env=False) as http:
        try:
            yield Served(gateway, server, port, http)
        finally:
            gateway.feeds.stop()
            server.should_exit = True
            await served


def over_http(gateway: House, test: Callable[[Served], Awaitable[None]]) -> None:
    """Run a test against a served gateway."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_S), serving(gateway) as served:
            await test(served)

    asyncio.run(main())


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a bare connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def bare(port: int, request: bytes) -> bytes:
    """Send bytes as they are; return all that comes until the server closes."""
    async with connected(port) as (reader, writer):
        writer.write(request)
        return await reader.read()


def events_of(answer: bytes) -> list[ServerEvent]:
    """Return the events in the chunked body of a whole answer."""
    _, _, rest = answer.partition(b"\r\n\r\n")
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return EventStreamParser().feed(body)


def test_a_message_and_its_stream() -> None:
    """A message is sent, its run is watched live by a common client, and both see what the worker writes."""

    async def test(served: Served) -> None:
        sent = await served.http.post("/chat", json={"session_id": "s", "text": "hello"})
        assert sent.status_code == 202
        run_id = sent.json()["run_id"]
        async with aconnect_sse(served.http, "GET", sent.json()["events_url"]) as watched:
            assert watched.response.headers["cache-control"] == "no-cache, no-transform"
            assert await served.house.store.claim("w", SETTINGS.lease, "s") is not None
            await served.house.publish(*log(4, run_id))
            seen = [(int(event.id), event.event, event.data) async for event in watched.aiter_sse()]
        assert seen == [(event.seq, event.kind.value, event.data) for event in log(4, run_id)]

    over_http(house(), test)


def test_a_message_answered_by_its_stream() -> None:
    """POST with `Accept: text/event-stream` streams on the connection that the message came on."""

    async def test(served: Served) -> None:
        headers, body = {"accept": "text/event-stream"}, {"session_id": "s", "text": "hello"}
        async with aconnect_sse(served.http, "POST", "/chat", json=body, headers=headers) as watched:
            run_id = watched.response.headers["x-run-id"]
            assert await served.house.store.claim("w", SETTINGS.lease, "s") is not None
            await served.house.publish(*log(2, run_id))
            assert [event.event async for event in watched.aiter_sse()] == ["delta", "done"]

    over_http(house(), test)


def test_the_first_bytes_come_at_once() -> None:
    """The head and the retry line of a run that has nothing yet are on the wire before anything else happens."""

    async def test(served: Served) -> None:
        await served.house.run()
        async with served.http.stream("GET", "/runs/r/events") as answer:
            chunks = answer.aiter_raw()
            assert (answer.status_code, await anext(chunks)) == (200, b"retry: 1000\n")

    over_http(house(), test)


def test_heartbeats_are_on_the_wire() -> None:
    """Silence is filled with comments, which no client takes for events."""

    async def test(served: Served) -> None:
        await served.house.streaming()
        async with served.http.stream("GET", "/runs/r/events") as answer:
            body = b""
            async for chunk in answer.aiter_raw():
                body += chunk
                if body.count(b": ping\n") == 3:
                    await served.house.publish(done(0))
        assert body.startswith(b"retry: 1000\n: ping\n: ping\n: ping\n")
        assert EventStreamParser().feed(body) == as_sent([done(0)])

    over_http(house(settings=replace(SETTINGS, heartbeat=timedelta(milliseconds=20))), test)


def test_a_cursor_of_any_bytes() -> None:
    """Whatever bytes a header may hold on the wire: a stream, from the event after a cursor or from 0 (R1, R2)."""
    values = [b"\xb2", b"-1", b"1_000", b"+7", b"9" * 25, b"9" * 5000, b"", "٣".encode(), b"\xff\xfe", b"1"]

    async def test(served: Served) -> None:
        await served.house.ended(log(4))
        for value in values:
            head = b"GET /runs/r/events HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
            answer = await bare(served.port, head + b"last-event-id: %s\r\n\r\n" % value)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert events_of(answer) == as_sent(log(4)[2 if value == b"1" else 0 :]), value

    over_http(house(), test)


def test_a_path_of_any_bytes() -> None:
    """Whatever a path spells: what is not there is 404, as a problem document."""

    async def test(served: Served) -> None:
        for target in ("/runs/%00", "/runs/%ED%A0%80/events", "/runs/%FF", "/%00", "/runs/a%2Fb", "/chat/"):
            answer = await served.http.get(target)
            assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json"), target
            assert answer.json()["status"] == 404

    over_http(house(), test)


def test_an_end_leaves_the_connection_usable() -> None:
    """A whole stream, 204, a refusal and a HEAD are followed by the next answer on the same connection (R10)."""

    async def test(served: Served) -> None:
        await served.house.ended(log(3))
        head = b" HTTP/1.1\r\nhost: x\r\n"
        requests = [
            b"GET /runs/r/events" + head + b"\r\n",
            b"GET /runs/r/events" + head + b"last-event-id: 2\r\n\r\n",
            b"HEAD /runs/r/events" + head + b"\r\n",
            b"GET /runs/x" + head + b"\r\n",
            b"GET /healthz" + head + b"connection: close\r\n\r\n",
        ]
        answer = await bare(served.port, b"".join(requests))
        assert re.findall(rb"HTTP/1\.1 (\d+)", answer) == [b"200", b"204", b"200", b"404", b"200"]
        assert answer.endswith(b'{"status":"ok"}')

    over_http(house(), test)


def test_a_body_that_is_too_large() -> None:
    """Announced, it is refused before it is sent; in chunks, as soon as it is too much; the gateway serves on."""

    async def test(served: Served) -> None:
        announced = b"POST /chat HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\nexpect: 100-continue\r\n\r\n"
        async with connected(served.port) as (reader, writer):
            writer.write(announced)
            assert await reader.readline() == b"HTTP/1.1 413 Request Entity Too Large\r\n"

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(100):
                yield b" " * 1000

        answer = await served.http.post("/chat", content=pieces())
        assert (answer.status_code, answer.json()["field"]) == (413, "body")
        assert (await served.http.get("/healthz")).status_code == 200

    over_http(house(), test)


def test_a_client_that_leaves() -> None:
    """A client that goes away in the middle of a stream costs nothing any more."""

    async def test(served: Served) -> None:
        await served.house.streaming()
        async with served.http.stream("GET", "/runs/r/events") as answer:
            chunks = answer.aiter_raw()  # kept: with the last of its readers, httpx gives a connection up
            assert await anext(chunks)
            assert await served.waiters() == "1"
        await served.until_waiters("0")

    over_http(house(), test)


def test_a_client_that_never_reads() -> None:
    """A client that takes nothing is dropped, and a reader of the same run gets all of it (C4)."""

    async def test(served: Served) -> None:
        await served.house.streaming()
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", served.port))
        deaf.sendall(b"GET /runs/r/events HTTP/1.1\r\nhost: x\r\n\r\n")
        await served.until_waiters("1")
        events = [delta(seq, "x" * 8000) for seq in range(1200)]
        async with served.http.stream("GET", "/runs/r/events") as answer:
            parser, read = EventStreamParser(), 0
            chunks = answer.aiter_raw()
            await served.until_waiters("2")
            # More than every buffer on the way can hold, and piece by piece, so that the reader keeps up.
            for start in range(0, len(events), 20):
                await served.house.publish(*events[start : start + 20])
                while read < start + 20:
                    read += len(parser.feed(await anext(chunks)))
            await served.until_waiters("1")
            await served.house.publish(done(1200))
            assert [event.event for event in parser.feed(await anext(chunks))] == ["done"]
        deaf.close()

    over_http(house(settings=replace(SETTINGS, send_timeout=timedelta(seconds=1))), test)


def test_a_gateway_that_stops() -> None:
    """Open streams are told and closed; the server, which here would wait for them for ever, is gone (C5)."""

    async def test(served: Served) -> None:
        await served.house.streaming()

        async def watch(cursor: str) -> list[ServerEvent]:
            async with served.http.stream("GET", "/runs/r/events", headers={"last-event-id": cursor}) as answer:
                return EventStreamParser().feed(b"".join([chunk async for chunk in answer.aiter_raw()]))

        await served.house.write(*deltas(0, 3))
        watching = [asyncio.create_task(watch(cursor)) for cursor in ("", "0", "1")]
        await served.until_waiters("3")
        served.house.feeds.stop()
        served.server.should_exit = True
        for first, watched in enumerate(await asyncio.gather(*watching)):
            *events, error = watched
            assert (events, error.event) == (as_sent(deltas(first, 3)), "error")
            assert decode_data(error.data)["code"] == "going_away"

    over_http(house(), test)


class CrashingStore(MemoryStore):
    """Has a fault."""

    async def run(self, run_id: str) -> StoredRun | None:
        """Crash."""
        raise ZeroDivisionError("a secret")


def test_a_fault_of_ours() -> None:
    """A crash before the first byte is a document, not an empty stream, and the gateway serves on (C6)."""

    async def test(served: Served) -> None:
        for _ in range(2):
            answer = await served.http.get("/runs/r/events")
            assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
            assert "secret" not in answer.text
        assert (await served.http.get("/healthz")).status_code == 200

    over_http(house(store=CrashingStore), test)


def test_many_readers_of_one_run() -> None:
    """Thirty connections to one run all read the same log (one read of the bus behind them)."""

    async def test(served: Served) -> None:
        await served.house.streaming()
        limits = httpx.Limits(max_connections=None)
        base = served.http.base_url
        async with httpx.AsyncClient(base_url=base, limits=limits, timeout=PATIENCE_S, trust_env=False) as http:

            async def watch() -> list[ServerEvent]:
                async with http.stream("GET", "/runs/r/events") as answer:
                    return EventStreamParser().feed(b"".join([chunk async for chunk in answer.aiter_raw()]))

            watching = [asyncio.create_task(watch()) for _ in range(30)]
            await served.until_waiters("30")
            for event in log(30):
                await served.house.write(event)
                await asyncio.sleep(0)
            assert await asyncio.gather(*watching) == [as_sent(log(30))] * 30

    over_http(house(), test)
