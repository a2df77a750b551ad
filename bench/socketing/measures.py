"""Measures that `bench/delivering/measures.py` has not: sessions on which a run is played, and a storm over them."""

import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from functools import partial

from bench.delivering import writing
from bench.delivering.children import Line
from bench.delivering.measures import Bench
from bench.delivering.servers import Server
from bench.delivering.writing import Pace, Place
from bench.socketing.fronts import SOCKET, Followed, follow
from gateway.doorbell import bell_of
from shared.events import Event, EventKind


@dataclass(frozen=True, slots=True)
class Played:
    """What came out. `behind_s`: from the writer's end until the last front end had everything."""

    followed: Followed
    cpu_s: float
    seconds: float
    behind_s: float
    more_kib: float  # what the server holds at the end, beside what it held when all were attached
    connections: int  # of the server, to Redis

    @property
    def cost_us(self) -> float:
        """CPU-microseconds of the server per event."""
        return self.cpu_s / self.followed.events * 1e6


async def ring(place: Place, runs: Sequence[str], line: Line) -> int:
    """Ring the bells of these runs' sessions, as a gateway does that has accepted a message."""
    async with writing.ports(place) as doors:
        for run in runs:
            await doors.output.append([Event(bell_of(f"s-{run}"), 0, EventKind.RING, "{}")], 0)
    return len(runs)


def played(bench: Bench, server: Server, kind: str, sessions: int, events: int, redis_port: int, storm: bool) -> Played:
    """Watch so many sessions, one front end each, and play a run on each of them.

    Sockets are there before their run is; a stream cannot be, so the runs are opened first and its connecting counts.
    """
    runs, pace = bench.names(sessions), Pace(1, max(0.005, sessions / 2000))
    attach = partial(follow, server.port, kind, runs, events, storm)
    if kind == SOCKET.name:
        _attached(bench, attach)
        before, began, held = server.cpu_s(), time.monotonic(), server.memory_kib()
        _written(bench, partial(writing.open_runs, bench.place, runs), partial(ring, bench.place, runs))
    else:
        _written(bench, partial(writing.open_runs, bench.place, runs))
        before, began = server.cpu_s(), time.monotonic()
        _attached(bench, attach)
        held = server.memory_kib()
    _written(bench, partial(writing.work, bench.place, runs, events, pace))
    written = time.monotonic()
    bench.crowd.hear("over")
    over = time.monotonic()
    spent, more = server.cpu_s() - before, server.memory_kib() - held
    connections = server.connections_to(redis_port)
    bench.crowd.tell("leave")
    return Played(bench.crowd.result(Followed), spent, over - began, over - written, more, connections)


def _attached(bench: Bench, attach: partial[Coroutine[None, None, Followed]]) -> None:
    bench.crowd.begin(attach)
    bench.crowd.hear("attached")


def _written(bench: Bench, *jobs: partial[Coroutine[None, None, int]]) -> None:
    for job in jobs:
        bench.writer.begin(job)
        bench.writer.result(int)
