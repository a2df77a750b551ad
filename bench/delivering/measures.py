"""The measures: what is done to one server, and what comes out of it."""

import statistics
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TypeAlias

from bench.delivering import cuts, readers, writing
from bench.delivering.children import Child, Line
from bench.delivering.cuts import Resumed, Tally
from bench.delivering.readers import Arrival, Crowd
from bench.delivering.servers import Server, cpu_s
from bench.delivering.writing import FLAT_OUT, Pace, Place
from selfcheck.local.services import LocalServices
from shared.addresses import Urls

Read: TypeAlias = Callable[[int, Sequence[str], int, int, Line], Coroutine[None, None, Crowd]]
Hold: TypeAlias = Callable[[int, Sequence[str], int, Line], Coroutine[None, None, Crowd]]
"""How a crowd reads, or holds: `readers.read` and `readers.hold`, or what stands in for them."""


@dataclass(slots=True)
class Bench:
    """What all measures work with: the services, and the processes that write and read."""

    place: Place
    crowd: Child
    writer: Child
    _numbers: "count[int]" = field(default_factory=count)

    def names(self, number: int) -> list[str]:
        """Return ids of runs that nobody has opened."""
        return [f"run{next(self._numbers)}" for _ in range(number)]

    def runs(self, number: int) -> list[str]:
        """Open new runs and return their ids."""
        runs = self.names(number)
        self.writer.begin(partial(writing.open_runs, self.place, runs))
        self.writer.result(int)
        return runs

    def finished(self, events: int) -> str:
        """Write a run that has ended and return its id."""
        (run,) = self.names(1)
        self.writer.begin(partial(writing.finished, self.place, run, events))
        self.writer.result(int)
        return run


@contextmanager
def opened(services: LocalServices) -> Iterator[Bench]:
    """Start the processes that write and read."""
    place = Place(Urls(services.redis_url, services.database_url), "bench")
    bench = Bench(place, Child(), Child())
    try:
        yield bench
    finally:
        bench.crowd.close()
        bench.writer.close()


@dataclass(frozen=True, slots=True)
class Live:
    """What came out of a live measure. Latencies are those of the first waiter of the first run."""

    frames: int
    cpu_s: float
    readers_cpu_s: float
    latencies_ms: Sequence[float]

    @property
    def rate(self) -> float:
        """Frames per CPU-second of the server."""
        return self.frames / self.cpu_s

    @property
    def cost_us(self) -> float:
        """CPU-microseconds of the server per frame."""
        return self.cpu_s / self.frames * 1e6

    @property
    def readers_us(self) -> float:
        """CPU-microseconds of the readers per frame: what is measured must not be these."""
        return self.readers_cpu_s / self.frames * 1e6

    def quantile_ms(self, percent: int) -> float:
        """Return a quantile of the latencies."""
        return statistics.quantiles(self.latencies_ms, n=100, method="inclusive")[percent - 1]


def live(
    bench: Bench,
    server: Server,
    runs: int,
    waiters: int,
    events: int,
    pace: Pace = FLAT_OUT,
    read: Read = readers.read,
) -> Live:
    """Attach so many waiters to each of so many new runs, write the runs, and wait until everybody has everything."""
    ids = bench.runs(runs)
    bench.crowd.begin(partial(read, server.port, ids, waiters, events))
    bench.crowd.hear("attached")
    before, readers_before = server.cpu_s(), cpu_s(bench.crowd.pid)
    bench.writer.begin(partial(writing.write, bench.place, ids, events, pace))
    got = bench.crowd.result(Crowd)
    spent, readers_spent = server.cpu_s() - before, cpu_s(bench.crowd.pid) - readers_before
    written = bench.writer.result(list)
    assert got.frames == runs * waiters * events, got
    bench.writer.begin(partial(writing.end, bench.place, ids, events))
    bench.writer.result(int)
    return Live(got.frames, spent, readers_spent, _latencies(written, got.arrivals))


def _latencies(written: Sequence[int], arrivals: Sequence[Arrival]) -> list[float]:
    latencies: list[float] = []
    for arrival in arrivals:
        while len(latencies) < arrival.frames:
            latencies.append((arrival.at_ns - written[len(latencies)]) / 1e6)
    return latencies


def history(bench: Bench, server: Server, waiters: int, events: int, read: Read = readers.read) -> float:
    """Have so many waiters read a run that has ended, all at once; return frames per CPU-second."""
    run = bench.finished(events)
    before = server.cpu_s()
    bench.crowd.begin(partial(read, server.port, [run], waiters, events))
    bench.crowd.hear("attached")
    got = bench.crowd.result(Crowd)
    assert got.frames == waiters * events, got
    return got.frames / (server.cpu_s() - before)


def idle_kib(bench: Bench, server: Server, waiters: int, runs: int, hold: Hold = readers.hold) -> float:
    """Attach waiters to silent runs, as many to each; return what each costs. The server is to be a new one."""
    ids = bench.runs(runs)
    _held(bench, server, ids[:1], 50, hold)  # what is made once is not counted
    before = server.memory_kib()
    return (_held(bench, server, ids, waiters // runs, hold) - before) / waiters


def connections(bench: Bench, server: Server, waiters: int, port: int, hold: Hold = readers.hold) -> int:
    """Return how many connections to a port a server has while so many waiters watch as many runs."""
    bench.crowd.begin(partial(hold, server.port, bench.runs(waiters), 1))
    bench.crowd.hear("attached")
    number = server.connections_to(port)
    _let_go(bench)
    return number


def _held(bench: Bench, server: Server, ids: Sequence[str], waiters: int, hold: Hold) -> float:
    bench.crowd.begin(partial(hold, server.port, ids, waiters))
    bench.crowd.hear("attached")
    held = server.memory_kib()
    _let_go(bench)
    return held


def _let_go(bench: Bench) -> None:
    bench.crowd.tell("leave")
    bench.crowd.result(Crowd)


def resumed(bench: Bench, server: Server, events: int) -> Resumed:
    """Have one reader resume a run that has ended, with so many events to come."""
    run = bench.finished(events + 1)
    expected = writing.frames(run, 1, events + 1)
    bench.crowd.begin(partial(cuts.resume, server.port, run, 0, expected))
    bench.crowd.hear("attached")
    return bench.crowd.result(Resumed)


def cut(bench: Bench, server: Server, events: int, pace: Pace, seed: int) -> Tally:
    """Cut readers of three runs while these are written, and again after their end."""
    ids = bench.runs(3)
    bench.crowd.begin(partial(cuts.read_cut, server.port, ids, 6, events, seed))
    bench.crowd.hear("attached")
    bench.writer.begin(partial(writing.work, bench.place, ids, events, pace))
    bench.writer.result(int)
    during = bench.crowd.result(Tally)
    bench.crowd.begin(partial(cuts.read_cut, server.port, ids, 6, events, seed + 1))
    bench.crowd.hear("attached")
    return cuts.total([during, bench.crowd.result(Tally)])
