"""The gateway's own server over real sockets: what it does where uvicorn alone would wait for ever."""

import asyncio
import select
import socket
from collections.abc import Callable, Coroutine
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
import uvloop

from gateway.connection import MOST_HEAD
from gateway.server import Server
from tests.support.houses import SETTINGS, delta, done, house
from tests.support.serving import serving, until_left

PATIENCE_S = 60.0  # for a whole test; nothing here waits for a fraction of it

FLOOD = [*(delta(seq, "x" * 8000) for seq in range(1200)), done(1200)]
"""More than all buffers of a connection hold."""

Runner = Callable[[Coroutine[None, None, None]], None]


def deaf_client(port: int, headers: bytes = b"", path: bytes = b"/runs/r/events") -> socket.socket:
    """Ask for something, the stream of run `r` as a rule, and never read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET %b HTTP/1.1\r\nhost: x\r\n%b\r\n" % (path, headers))
    return client


async def reset(client: socket.socket) -> bool:
    """Wait until the other side has reset the connection, without reading from it."""
    poll = select.poll()
    poll.register(client, 0)
    ((_, events),) = await asyncio.to_thread(poll.poll, PATIENCE_S * 1000)
    return bool(events & (select.POLLERR | select.POLLHUP))


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("headers", [b"", b"connection: close\r\n"])
@pytest.mark.parametrize("live", [True, False])
def test_a_client_that_never_reads_is_cut_off(
    runner: Runner, headers: bytes, live: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It is reset, and neither process nor system keeps anything for it; nothing but the drop is logged (C4)."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, send_timeout=timedelta(milliseconds=200)))
        async with asyncio.timeout(PATIENCE_S), serving(gateway) as (server, port):
            await gateway.streaming()
            await (gateway.publish(*FLOOD) if live else gateway.end(FLOOD))
            with closing(deaf_client(port, headers)) as client:
                assert await reset(client)
            assert server.server_state.connections == set()

    runner(main())
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == ["client_dropped"]


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
def test_little_waits_for_a_client_that_does_not_read(runner: Runner) -> None:
    """What the process holds for it is one chunk at most, whatever the run has (C4)."""

    async def main() -> None:
        gateway = house()
        async with asyncio.timeout(PATIENCE_S), serving(gateway) as (server, port):
            await gateway.streaming()
            await gateway.publish(*FLOOD)
            with closing(deaf_client(port)):
                assert await held(server) <= 128 * 1024 + 9000
            gateway.feeds.stop()

    runner(main())


async def held(server: Server) -> int:
    """Return how many bytes wait in the process for the only client, as soon as some do."""
    while True:
        for connection in server.server_state.connections:
            size: int = connection.transport.get_write_buffer_size()
            if size:
                return size
        await asyncio.sleep(0)


IMPATIENT = replace(
    SETTINGS, request_timeout=timedelta(milliseconds=100), send_timeout=timedelta(milliseconds=100),
    heartbeat=timedelta(milliseconds=50),
)  # fmt: skip


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"GET /healthz HTTP/1.1\r\nhost: x\r\n", b"HTTP/1.1 408 Request Timeout\r\n"),
        (b"POST /chat HTTP/1.1\r\ncontent-length: 9\r\n\r\n{", b"HTTP/1.1 408 Request Timeout\r\n"),
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_request_that_does_not_come_is_not_waited_for(runner: Runner, sent: bytes, answer: bytes) -> None:
    """Who connects and says nothing, or stops in the middle, has as long as anybody and is then told, or cut off."""

    async def main() -> None:
        gateway = house(settings=IMPATIENT)
        async with asyncio.timeout(PATIENCE_S), serving(gateway, IMPATIENT) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            assert await reader.readline() == answer
            writer.close()

    runner(main())


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
def test_a_connection_is_kept_for_another_request(runner: Runner) -> None:
    """As long as `keep_alive` says, however little patience there is for a request that has begun."""

    async def get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET /healthz HTTP/1.1\r\n\r\n")
        return (await reader.readuntil(b'{"status":"ok"}'))[:15]

    async def main() -> None:
        gateway = house(settings=IMPATIENT)
        async with asyncio.timeout(PATIENCE_S), serving(gateway, IMPATIENT) as (_, port):
            kept, silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            assert await get(*kept) == b"HTTP/1.1 200 OK"
            assert await silent[0].read() == b""
            assert await get(*kept) == b"HTTP/1.1 200 OK"
            for _, writer in (kept, silent):
                writer.close()
        brief = replace(IMPATIENT, keep_alive=timedelta(milliseconds=50))
        async with asyncio.timeout(PATIENCE_S), serving(gateway, brief) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await get(reader, writer) == b"HTTP/1.1 200 OK"
            assert await reader.read() == b""
            writer.close()

    runner(main())


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
def test_a_head_without_end_is_refused(runner: Runner) -> None:
    """What is kept of a head has a bound, although its parser knows none."""

    async def main() -> None:
        gateway = house()
        async with asyncio.timeout(PATIENCE_S), serving(gateway) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = b"GET /healthz HTTP/1.1\r\n"
            writer.write(head + b"x: " + b"y" * (MOST_HEAD + 1 - len(head) - 3))
            assert await reader.readline() == b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
            writer.close()

    runner(main())


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
def test_who_leaves_leaves_all_requests(runner: Runner, caplog: pytest.LogCaptureFixture) -> None:
    """A stream behind which its client has sent another request ends with the connection, and without a word."""

    async def main() -> None:
        gateway = house(settings=IMPATIENT)
        async with asyncio.timeout(PATIENCE_S), serving(gateway, IMPATIENT) as (server, port):
            await gateway.streaming()
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"GET /runs/r/events HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n")
                client.setblocking(False)
                await asyncio.get_running_loop().sock_recv(client, 1)
            await until_left(server)
            while server.server_state.tasks:  # noqa: ASYNC110  # they tell nobody
                await asyncio.sleep(0)

    runner(main())
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == []


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("headers", [b"", b"connection: close\r\n"])
def test_an_answer_that_nobody_takes_is_not_kept(
    runner: Runner, headers: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """A whole session, asked for and never read, goes the way of a stream: its connection is reset."""

    async def main() -> None:
        gateway = house(settings=IMPATIENT)
        async with asyncio.timeout(PATIENCE_S), serving(gateway, IMPATIENT) as (server, port):
            await gateway.streaming()
            await gateway.end(FLOOD)
            with closing(deaf_client(port, headers, b"/sessions/s")) as client:
                assert await reset(client)
            assert server.server_state.connections == set()

    runner(main())
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == ["client_dropped"]
