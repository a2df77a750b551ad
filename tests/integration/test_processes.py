"""The gateway and the worker as processes: what they need, how they start, and how signals end them."""

import asyncio
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from client.follow import open_stream
from shared.adapters.postgres import drop_schema
from shared.adapters.redis import delete_prefix
from tests.support.processes import END_S, ROOT, Child, environment, nobody, running
from tests.support.real import own_name, real_urls

PROCESSES = ("gateway", "worker")

NOT_SET = "not set; gateway and worker meet in Redis and PostgreSQL, and need the addresses of both"

# The processes as they are, but with memory behind them, so that starting and ending can be looked at alone.
ON_MEMORY = """
import sys
from importlib import import_module
from shared.adapters.process import run
from shared.bootstrap import open_ports
room, work = sys.argv[1], sys.argv[2]
module = import_module(f"{room}.__main__")
module.open_ports = lambda urls, settings: open_ports(None, settings)
sys.exit(run(room, getattr(module, work)))
"""


def _addresses(host: str) -> dict[str, str]:
    return {"REDIS_URL": f"redis://:secret@{host}/0", "DATABASE_URL": f"postgresql://koda:secret@{host}/koda"}


@contextmanager
def _on_memory(room: str, work: str, **settings: str) -> Iterator[tuple[Child, httpx.Client]]:
    given = {**_addresses("127.0.0.1:1"), "PORT": "0", **settings}
    with running("-c", ON_MEMORY, room, work, given=given) as child, _client(child) as client:
        yield child, client


def _client(child: Child) -> httpx.Client:
    return httpx.Client(base_url=child.url(), trust_env=False, timeout=END_S)


# what must be given


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_without_addresses_says_so_in_one_line(process: str) -> None:
    """Exit code 2: its caller has something to give."""
    with running("-m", process) as child:
        assert child.ended() == 2
    (line,) = child.lines
    why = f"REDIS_URL and DATABASE_URL: {NOT_SET}"
    assert {**line, "at": ""} == {"at": "", "level": "error", "room": process, "event": "not_started", "why": why}


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_whose_services_are_away_says_so_in_one_line(process: str) -> None:
    """Exit code 3, the address and no password: whoever keeps the process may try again."""
    with nobody() as host, running("-m", process, given=_addresses(host)) as child:
        assert child.ended() == 3
    (line,) = child.lines
    assert line["event"] == "not_started"
    assert host in str(line["why"])
    assert "secret" not in str(line)


def test_settings_that_cannot_be_used_stop_a_process() -> None:
    """Exit code 3, and the line names the variable."""
    with nobody() as host, running("-m", "worker", given={**_addresses(host), "KODA_LEASE": "soon"}) as child:
        assert child.ended() == 3
    (line,) = child.lines
    assert str(line["why"]).startswith("settings: KODA_LEASE='soon' is not a duration")


def test_a_person_reads_sentences_and_not_json() -> None:
    """On a terminal the same line comes out readable."""
    ours, theirs = pty.openpty()
    line = b""
    try:
        with os.fdopen(theirs, "wb") as terminal:
            command = [sys.executable, "-m", "worker"]
            done = subprocess.run(command, cwd=ROOT, env=environment(), stderr=terminal, check=False)
        assert done.returncode == 2
        while not line.endswith(b"\n"):
            line += os.read(ours, 4096)
    finally:
        os.close(ours)
    assert line[12:].decode() == f" error worker not_started why=REDIS_URL and DATABASE_URL: {NOT_SET}\r\n"


# how they end


def test_a_gateway_tells_its_streams_before_it_ends() -> None:
    """C5: SIGTERM with an open stream. Its client is told to go elsewhere, and the process ends with exit code 0."""
    with _on_memory("gateway", "serve") as (gateway, client):
        opened = client.post("/chat", json={"session_id": "s", "text": "hello"}).json()
        with open_stream(client, opened["run_id"]) as stream:
            gateway.signal(signal.SIGTERM)
            assert [event.event for event in stream.events] == ["error"]
        assert gateway.ended() == 0
    assert [line["event"] for line in gateway.lines] == ["listening", "message_accepted", "stopping"]
    assert gateway.lines[-1]["signal"] == "SIGTERM"


def test_a_gateway_that_drains_can_be_ended_at_once() -> None:
    """A second signal does not wait for a request whose body never comes, however long draining may take."""
    head = ("POST /chat HTTP/1.1", "Host: koda", "Content-Length: 9", "Expect: 100-continue", "", "")
    with (
        _on_memory("gateway", "serve", KODA_DRAIN="9h") as (gateway, client),
        socket.create_connection((client.base_url.host, client.base_url.port or 0), timeout=END_S) as connection,
    ):
        connection.sendall("\r\n".join(head).encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 100 ")  # now somebody waits for the body
        gateway.signal(signal.SIGTERM)
        gateway.until("stopping")
        gateway.signal(signal.SIGTERM)
        assert gateway.ended() == 143


def test_a_worker_drains_and_ends() -> None:
    """SIGINT is as good as SIGTERM; until then it answers for its health."""
    with _on_memory("worker", "work") as (worker, client):
        assert client.get("/healthz").json() == {"status": "ok"}
        worker.until("working")
        assert 'koda_log_lines_total{event="working",room="worker"} 1' in client.get("/metrics").text
        worker.signal(signal.SIGINT)
        assert worker.ended() == 0
    assert [line["event"] for line in worker.lines] == ["listening", "working", "stopping", "draining"]


def test_two_workers_share_a_machine() -> None:
    """Unless `PORT` says where, a worker listens nowhere."""
    with running("-c", ON_MEMORY, "worker", "work", given=_addresses("127.0.0.1:1")) as worker:
        worker.until("working")
        worker.signal(signal.SIGTERM)
        assert worker.ended() == 0
    assert [line["event"] for line in worker.lines] == ["working", "stopping", "draining"]


def test_an_address_that_is_taken_is_named() -> None:
    """Exit code 3: two gateways cannot have one port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with running("-c", ON_MEMORY, "gateway", "serve", given={**_addresses("127.0.0.1:1"), "PORT": port}) as child:
            assert child.ended() == 3
    (line,) = child.lines
    problem = f"cannot listen on 127.0.0.1, port {port}: Address already in use"
    assert line["why"] == f"settings: {problem}; change HOST or PORT"


def test_a_message_given_to_one_process_is_answered_by_another() -> None:
    """The whole way on real services: HTTP in, queue, worker, stream, SSE out; then both end when asked."""
    urls, name = real_urls(), own_name()
    given = {"REDIS_URL": urls.redis, "DATABASE_URL": urls.database, "KODA_PREFIX": name, "KODA_SCHEMA": name}
    given |= {"KODA_FRAGMENT_PACE": "0s", "PORT": "0"}
    try:
        with running("-m", "gateway", given=given) as gateway, running("-m", "worker", given=given) as worker:
            with _client(gateway) as client:
                assert client.get("/readyz").json() == {"status": "ready"}
                opened = client.post("/chat", json={"session_id": "s", "text": "hello"}).json()
                with open_stream(client, opened["run_id"]) as stream:
                    events = list(stream.events)
            assert [event.id for event in events] == [str(seq) for seq in range(len(events))]
            assert {event.event for event in events[:-1]} == {"delta"}
            assert events[-1].event == "done"
            for process in (gateway, worker):
                process.signal(signal.SIGTERM)
            assert (gateway.ended(), worker.ended()) == (0, 0)
    finally:
        asyncio.run(_swept(urls.redis, urls.database, name))


async def _swept(redis: str, database: str, name: str) -> None:
    await delete_prefix(redis, name)
    await drop_schema(database, name)
