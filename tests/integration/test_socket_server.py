"""Sockets over real connections: codes that arrive, clients that do not read, ends that come in time."""

import asyncio
import select
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
import uvloop
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.websocket import MOST_PIECES
from shared.questions import QuestionState
from tests.support.dialling import UPGRADE, deaf_socket, dialling, masked
from tests.support.houses import LEASE, SETTINGS, delta, deltas, done, house, log
from tests.support.lines import brief, full_log
from tests.support.processes import running
from tests.support.serving import held, serving, until_held, until_left

PATIENCE_S = 60.0  # for a whole test; nothing here waits for a fraction of it

FLOOD = [*(delta(seq, "x" * 8000) for seq in range(1200)), done(1200)]
"""More than all buffers of a connection hold."""

TOO_BIG = b"frame with 1048576 bytes exceeds limit of 65536 bytes"


@pytest.fixture(autouse=True)
def goodbye(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every client the time that it needs to take a goodbye, on a busy machine too."""
    monkeypatch.setattr("gateway.websocket.GOODBYE_S", 2 * PATIENCE_S)


Runner = Callable[[Coroutine[None, None, None]], None]
runners = pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])


def patient(main: Callable[[], Coroutine[None, None, None]]) -> Coroutine[None, None, None]:
    """Return a test that has an end."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await main()

    return bounded()


@asynccontextmanager
async def raw(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connect without any library."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def reset(client: socket.socket) -> None:
    """Wait until the other side has reset the connection, without reading from it."""
    poll = select.poll()
    poll.register(client, 0)
    ((_, events),) = await asyncio.to_thread(poll.poll, PATIENCE_S * 1000)
    assert events & (select.POLLERR | select.POLLHUP)


@runners
def test_a_conversation_goes_over_one_connection(runner: Runner) -> None:
    """Connect, send, follow, answer, follow on, send again: one socket, each event once, as it is in the store."""

    async def main() -> None:
        gateway = house()
        async with serving(gateway) as (_, port), dialling(port) as caller, http(port) as client:
            assert brief(await caller.frame()) == ("session_opened", "", None)
            run_id = await send(client)
            await caller.until("run_started", run_id)
            assert await gateway.store.claim("w", LEASE, "s") is not None
            events = full_log(run_id)
            await gateway.ask("q", run_id)
            await gateway.write(*events[:5])
            await caller.until("question")
            await caller.say({"type": "answer", "question_id": "q", "text": "yes"})
            (answered,) = await caller.until("answered")
            assert answered["data"] == {"question_id": "q", "counted": True, "text": "yes"}
            question = await gateway.store.question("q")
            assert question is not None and question.state is QuestionState.ANSWERED
            await gateway.write(*events[5:])
            await caller.until("done")
            assert [frame["seq"] for frame in caller.frames if frame["seq"] is not None] == list(range(len(events)))

    runner(patient(main))


def http(port: int) -> httpx.AsyncClient:
    """Return an HTTP client of a gateway."""
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_S)


async def send(client: httpx.AsyncClient) -> str:
    """Send a message of session "s"; return its run."""
    answer = await client.post("/chat", json={"session_id": "s", "text": "hello"})
    return str(answer.json()["run_id"])


# --- codes ------------------------------------------------------------------------------------------------------------


@runners
@pytest.mark.parametrize(
    ("sent", "code", "reason"),
    [
        ("x" * (1 << 20), 1009, TOO_BIG.decode()),
        (b"\x00", 1003, "frame: is binary; expected a text"),
        ("hello", 4400, "frame: is no JSON: Expecting value: line 1 column 1 (char 0)"),
        (["a"] * (MOST_PIECES + 9), 1009, f"a message in more than {MOST_PIECES} pieces"),
    ],
    ids=["large", "binary", "no JSON", "pieces"],
)
def test_a_client_can_read_why_it_was_closed(
    runner: Runner, sent: str | bytes | list[str], code: int, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """However much of what it sends is still on its way: the code arrives, every time, and nothing is logged loudly."""

    async def main() -> None:
        gateway = house()
        async with serving(gateway) as (server, port):
            for _ in range(5):
                async with dialling(port) as caller:
                    await caller.frame()
                    with suppress(ConnectionClosed):  # while it was sending
                        await caller.connection.send(sent)
                    assert await caller.closed() == (code, reason)
            await until_left(server)

    runner(patient(main))
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == []


@runners
def test_a_reason_waits_for_a_client_that_sends_first(runner: Runner) -> None:
    """A client that looks at nothing before it has sent a whole MiB finds the code all the same, and no reset."""

    def send_and_read(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(UPGRADE % b"/sessions/s/socket")
            while b"session_opened" not in client.recv(4096):
                pass
            client.sendall(b"\x81\xff" + (1 << 20).to_bytes(8, "big") + bytes(4))
            for _ in range(16):
                client.sendall(bytes(1 << 16))
            received = b""
            while more := client.recv(4096):
                received += more
            return received

    async def main() -> None:
        async with serving(house()) as (server, port):
            for _ in range(3):
                assert b"\x88" + bytes((2 + len(TOO_BIG),)) + b"\x03\xf1" + TOO_BIG in await asyncio.to_thread(
                    send_and_read, port
                )
            await until_left(server)

    runner(patient(main))


@runners
@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (masked(1, b"\xff"), 1007),
        (masked(1, b"a", fin=False) + masked(0, b"\xff"), 1007),
        (b"\x81\x01a", 1002),  # not masked
        (masked(3, b""), 1002),  # no such opcode
        (masked(0, b""), 1002),  # goes on with nothing
    ],
)
def test_what_is_no_websocket_is_closed(
    runner: Runner, sent: bytes, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A text that is not UTF-8, a frame without a mask, an unknown one: a close frame, and no traceback."""

    async def main() -> None:
        gateway = house()
        async with serving(gateway) as (_, port), raw(port) as (reader, writer):
            writer.write(UPGRADE % b"/sessions/s/socket")
            await reader.readuntil(b"session_opened")
            writer.write(sent)
            rest = await reader.read()
            assert b"\x88" in rest and code.to_bytes(2, "big") in rest

    runner(patient(main))
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == []


@runners
@pytest.mark.parametrize(("query", "code"), [({"cursor": "x"}, 4400), ({"cursor": "7-0"}, 4404), ({"v": "2"}, 4406)])
def test_what_is_asked_for_is_refused_by_a_code(runner: Runner, query: dict[str, str], code: int) -> None:
    """A cursor that is none, or another session's, and a version that is not spoken."""

    async def main() -> None:
        async with serving(house()) as (_, port), dialling(port, "s", True, **query) as caller:
            assert (await caller.closed())[0] == code

    runner(patient(main))


@runners
def test_a_session_with_many_sockets_refuses_the_next(runner: Runner) -> None:
    """Those that it may have are served, others are closed with 4429 at once, and their connections are gone."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, max_session_sockets=20))
        async with serving(gateway) as (server, port), AsyncExitStack() as stack:
            callers = [await stack.enter_async_context(dialling(port)) for _ in range(60)]
            for caller in callers[:20]:
                assert brief(await caller.frame()) == ("session_opened", "", None)
            assert {(await caller.closed())[0] for caller in callers[20:]} == {4429}
            await until_left(server, 20)

    runner(patient(main))


# --- clients that do not do their part --------------------------------------------------------------------------------


@runners
def test_a_client_that_never_reads_is_cut_off(runner: Runner, caplog: pytest.LogCaptureFixture) -> None:
    """It is reset, and neither process nor system keeps anything for it; nothing but the drop is logged (C4)."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, send_timeout=timedelta(milliseconds=200)))
        async with serving(gateway) as (server, port):
            await gateway.streaming()
            await gateway.end(FLOOD)
            with closing(deaf_socket(port)) as client:
                await reset(client)
            await until_left(server)

    runner(patient(main))
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == ["client_dropped"]


@runners
def test_little_waits_for_a_client_that_does_not_read(runner: Runner) -> None:
    """What the process holds for it is one chunk at most, whatever the run has (C4)."""

    async def main() -> None:
        gateway = house()
        async with serving(gateway) as (server, port):
            await gateway.streaming()
            await gateway.publish(*FLOOD)
            with closing(deaf_socket(port)):
                await until_held(server)
                assert held(server) <= 128 * 1024 + 9000

    runner(patient(main))


@runners
def test_pings_of_the_protocol_do_not_pile_up(runner: Runner) -> None:
    """A client that sends pings and never reads is not read from while its pongs wait."""

    async def main() -> None:
        gateway = house()
        pings = masked(9, b"x" * 100) * 5_000
        async with serving(gateway) as (server, port):
            with closing(deaf_socket(port)) as client:
                client.setblocking(False)
                while b"session_opened" not in await asyncio.get_running_loop().sock_recv(client, 4096):
                    pass
                flooding = asyncio.create_task(flood(client, pings))
                await until_held(server)
                for _ in range(2_000):
                    await asyncio.sleep(0)
                assert held(server) < 1 << 20, "as much as one read brings, and no more"
                assert not flooding.done()
                flooding.cancel()

    runner(patient(main))


@runners
def test_who_reads_on_is_read_from_again(runner: Runner) -> None:
    """A client that did not read for a while has its frames answered when it does."""

    async def main() -> None:
        gateway = house()
        async with serving(gateway) as (server, port), raw(port) as (reader, writer):
            await gateway.streaming()
            await gateway.end(FLOOD)
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(UPGRADE % b"/sessions/s/socket")
            await until_held(server)
            writer.write(masked(1, b'{"type":"ping"}') + masked(9, b"pong me"))
            writer.transport.resume_reading()  # type: ignore[attr-defined]
            tail = b""
            while b"pong me" not in tail:
                tail = tail[-9:] + await reader.read(1 << 16)

    runner(patient(main))


async def flood(client: socket.socket, data: bytes) -> None:
    """Send without an end."""
    loop = asyncio.get_running_loop()
    while True:
        await loop.sock_sendall(client, data)


@runners
def test_a_client_that_never_pongs_reads_why_it_is_closed(runner: Runner, caplog: pytest.LogCaptureFixture) -> None:
    """4408 with a reason; the line's own log says no more than that it was closed."""

    async def main() -> None:
        hurried = {"ping_every": timedelta(milliseconds=30), "pong_wait": timedelta(milliseconds=30)}
        gateway = house(settings=replace(SETTINGS, **hurried))  # type: ignore[arg-type]
        async with serving(gateway) as (_, port), dialling(port, pongs=False) as caller:
            assert await caller.closed() == (4408, "nothing came from you for 0.03 s after a ping")

    runner(patient(main))
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == []


@runners
@pytest.mark.parametrize("sent", [b"", masked(3, b"")])
def test_a_goodbye_that_nobody_answers_is_not_waited_for(
    runner: Runner, sent: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A client that is closed, by a line or because of what it has sent, and stays, is cut off after a moment."""
    monkeypatch.setattr("gateway.websocket.GOODBYE_S", 0.05)

    async def main() -> None:
        async with serving(house()) as (server, port):
            with closing(deaf_socket(port, b"/sessions/s/socket" + (b"" if sent else b"?v=2"))) as client:
                client.setblocking(False)
                while sent and b"session_opened" not in await asyncio.get_running_loop().sock_recv(client, 4096):
                    pass
                client.send(sent)
                await reset(client)
            await until_left(server)

    runner(patient(main))
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == []


# --- the end of a gateway ---------------------------------------------------------------------------------------------


@runners
def test_a_gateway_that_ends_closes_every_line(runner: Runner) -> None:
    """Resting and busy ones get 1001, what was ready before it; one that does not read holds nobody up (C5)."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, send_timeout=timedelta(milliseconds=200)))
        async with AsyncExitStack() as stack:
            server, port = await stack.enter_async_context(serving(gateway))
            await gateway.streaming()
            busy = await stack.enter_async_context(dialling(port))
            resting = await stack.enter_async_context(dialling(port, "t"))
            await busy.until("run_started")
            await resting.frame()
            deaf = stack.enter_context(closing(deaf_socket(port)))
            await gateway.publish(*deltas(0, 3))
            server.end()
            assert (await busy.closed())[0] == (await resting.closed())[0] == 1001
            assert [frame["cursor"] for frame in busy.frames[2:]] == ["0-0", "0-1", "0-2"]
            deaf.close()

    runner(patient(main))


# --- what is no socket ------------------------------------------------------------------------------------------------


@runners
@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        (b"GET", b"/healthz", b"200"),
        (b"GET", b"/sessions/s/sockets", b"404"),
        (b"GET", b"/sessions/a/b/socket", b"404"),
        (b"GET", b"/sessions/s/socket#a", b"426"),
        (b"GET", b"http://x/sessions/s/socket", b"426"),
        (b"POST", b"/sessions/s/socket", b"405"),
    ],
)
def test_an_upgrade_elsewhere_is_not_made(
    runner: Runner, method: bytes, target: bytes, status: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """The request is answered as if nobody had asked for one (RFC 9110, section 7.8), and nobody is warned."""

    async def main() -> None:
        async with serving(house()) as (_, port), raw(port) as (reader, writer):
            writer.write((UPGRADE % target).replace(b"GET", method, 1).replace(b"host", b"content-length: 0\r\nhost"))
            assert (await reader.readline()).split()[1] == status

    runner(patient(main))
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == []


@runners
@pytest.mark.parametrize(
    ("change", "status"),
    [
        ((b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==", b"x: y"), b"400"),
        ((b"version: 13", b"version: 12"), b"400"),
        ((b"host: x", b"host: x\r\na: " + b"b" * 20_000), b"431"),
        ((b"host: x", b"host: x" + b"\r\na: b" * 500), b"431"),
    ],
)
def test_an_upgrade_that_is_none_is_answered(runner: Runner, change: tuple[bytes, bytes], status: bytes) -> None:
    """A handshake without its key, of another version, or too large: a status, and the connection ends."""

    async def main() -> None:
        async with serving(house()) as (_, port), raw(port) as (reader, writer):
            writer.write((UPGRADE % b"/sessions/s/socket").replace(*change))
            assert (await reader.readline()).split()[1] == status
            await reader.read()

    runner(patient(main))


@runners
def test_a_full_gateway_answers_with_a_problem(runner: Runner) -> None:
    """The upgrade is refused with 503, a problem document and Retry-After."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, max_sockets=1))
        async with serving(gateway) as (_, port), dialling(port) as caller:
            await caller.frame()
            with pytest.raises(InvalidStatus) as refused:
                async with dialling(port, "t"):
                    pass
            response = refused.value.response
            assert (response.status_code, response.headers["retry-after"]) == (503, "1")
            assert response.headers["content-type"] == "application/problem+json"

    runner(patient(main))


def test_who_has_no_socket_does_not_load_what_they_need() -> None:
    """A gateway that has served everything else has neither the library nor our part of it in its memory."""
    script = """
import asyncio, json, sys
import httpx
from tests.support.houses import house, log
from tests.support.serving import held, serving, until_held, until_left

async def main():
    gateway = house()
    await gateway.ended(log(2))
    async with serving(gateway) as (_, port):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            for path in ("/healthz", "/runs/r/events", "/sessions/s/events", "/sessions/s/socket"):
                await client.get(path)
            await client.post("/runs/r/answers", json={"question_id": "q", "text": "yes"})
    ours = {"gateway.line", "gateway.sockets", "gateway.websocket", "shared.envelope", "shared.contract"}
    loaded = {"websockets", *ours} & sys.modules.keys()
    print(json.dumps({"event": "loaded", "modules": sorted(loaded)}), file=sys.stderr)

asyncio.run(main())
"""
    with running("-c", script, given={"PYTHONPATH": "src:."}) as child:
        assert child.until("loaded")["modules"] == []
    assert sys.modules["websockets"] is not None


@runners
def test_a_line_goes_on_where_another_connection_ended(runner: Runner) -> None:
    """Cut by the client after any frame, the next connection has the rest: the union is the log, each event once."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(4, "a"))
        await gateway.ended(log(3, "b"))
        async with serving(gateway) as (_, port):
            got: list[tuple[str, str | None, str | None]] = []
            cursor = ""
            while len(got) < 9:
                async with dialling(port, "s", True, cursor=cursor) as caller:
                    assert (await caller.frame())["cursor"] == cursor
                    for _ in range(min(2, 9 - len(got))):
                        got.append(brief(await caller.frame()))
                    cursor = caller.cursor
            assert got == [
                *[("run_started", "0-", "a"), *((e.kind.value, f"0-{e.seq}", "a") for e in log(4, "a"))],
                *[("run_started", "1-", "b"), *((e.kind.value, f"1-{e.seq}", "b") for e in log(3, "b"))],
            ]

    runner(patient(main))
