"""The servers under measurement: each a process of its own, whose CPU time and memory are read from outside."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import psutil  # type: ignore[import-untyped]  # comes with the extra

from bench.delivering.writing import Place

ROOT: Final = Path(__file__).resolve().parents[2]

OURS: Final = "gateway"
COMMANDS: Final = {
    OURS: ("-m", "gateway"),
    **{kind: ("-m", "bench.delivering.references", kind) for kind in ("naive", "raw", "joined", "starlette")},
}
"""By name: what Python is started with."""

START_S: Final = 30.0

RAISED: Final = {"KODA_REPLAY_CAP": "20000", "KODA_MAX_RUN_WAITERS": "10000"}
"""The gateway's bounds that the bench has to go beyond."""


def cpu_s(pid: int) -> float:
    """Return the CPU time that a process has used so far, in seconds."""
    tasks = Path(f"/proc/{pid}/task")
    try:
        times = [int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()]
    except OSError:  # not Linux, or one without these numbers; the others are in steps of 10 ms
        spent = psutil.Process(pid).cpu_times()
        return float(spent.user + spent.system)
    return sum(times) / 1e9


@dataclass(frozen=True, slots=True)
class Server:
    """One server, listening."""

    name: str
    port: int
    pid: int

    def cpu_s(self) -> float:
        """Return the CPU time that it has used so far, in seconds."""
        return cpu_s(self.pid)

    def memory_kib(self) -> float:
        """Return the memory that it holds and nobody shares."""
        return float(psutil.Process(self.pid).memory_full_info().uss) / 1024

    def connections_to(self, port: int) -> int:
        """Return how many connections it has to a port of this machine."""
        connections = psutil.Process(self.pid).net_connections("tcp")
        return sum(bool(each.raddr) and each.raddr.port == port for each in connections)


@contextmanager
def serving(name: str, place: Place, more: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Run a server while the block lasts."""
    environment = {
        **os.environ,
        **RAISED,
        **(more or {}),
        "REDIS_URL": place.urls.redis,
        "DATABASE_URL": place.urls.database,
        "KODA_PREFIX": place.name,
        "KODA_SCHEMA": place.name,
        "KODA_TREE": str(ROOT / "solution"),
        "PORT": "0",
    }
    command = [sys.executable, *COMMANDS[name]]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None, "it was asked for"
            yield Server(name, _port(process.stderr), process.pid)
        finally:
            process.kill()


def _port(lines: IO[str]) -> int:
    """Return the port that the server says it listens on, and read on beside us: a full pipe would stop it."""
    ports: queue.Queue[int] = queue.Queue()

    def read() -> None:
        for line in lines:
            said: dict[str, object] = json.loads(line)
            if said["event"] == "listening" and isinstance(said["port"], int):
                ports.put(said["port"])

    threading.Thread(target=read, daemon=True).start()
    return ports.get(timeout=START_S)
