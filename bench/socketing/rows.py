"""The rows of the table: what is measured, in which size, and what the target says of it.

Both ways take turns within a row, on one gateway and with runs written alike, and each is first as often as the other,
so that the machine's mood meets both.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.delivering import measures
from bench.delivering import readers as streams
from bench.delivering.measures import Bench, Hold, Live, Read
from bench.delivering.rows import Row, Values, ratio, shown, spread
from bench.delivering.servers import OURS, Server, serving
from bench.delivering.writing import FLAT_OUT, Pace
from bench.socketing import readers as sockets
from bench.socketing.fronts import KINDS, SOCKET, STREAM
from bench.socketing.measures import Played, played

READ: Final[Mapping[str, Read]] = {STREAM.name: streams.read, SOCKET.name: sockets.read}
HOLD: Final[Mapping[str, Hold]] = {STREAM.name: streams.hold, SOCKET.name: sockets.hold}

LEAST: Final = 0.7  # what a socket is to carry of what a stream does
MOST_BACK_S: Final = 30.0  # for 1,000 of them, on a machine that does other things besides
MOST_CONNECTIONS: Final = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is done: all numbers that the quick form makes smaller."""

    turns: int
    fan_events: int
    many_events: int
    past_events: int
    latency_events: int
    idle: int
    sessions: int
    played_events: int


FULL: Final = Sizes(5, 1000, 100, 2000, 300, 1000, 1000, 20)
QUICK: Final = Sizes(2, 500, 50, 2000, 200, 500, 200, 20)


def pairs(number: int, measure: Callable[[Read], float]) -> Values:
    """Measure both ways so many times, in turn, and in the other order every other time."""
    values: dict[str, list[float]] = {name: [] for name in READ}
    for turn in range(number):
        for name in sorted(READ, reverse=turn % 2 == 0):
            values[name].append(measure(READ[name]))
    return values


def rate_row(what: str, values: Values) -> Row:
    """Return a row of frames per CPU-second."""
    found = ratio(values, SOCKET.name, STREAM.name)
    got = f"{found:.2f} × ({spread(values, SOCKET.name, STREAM.name)})"
    return Row(what, shown(values, "{:,.0f}"), f"≥ {LEAST} × SSE", got, found >= LEAST)


def throughput(bench: Bench, server: Server, sizes: Sizes) -> Iterator[Row]:
    """Frames per CPU-second of the gateway, and what a frame costs those that read it."""
    fan, many = sizes.fan_events, sizes.many_events
    lives: dict[Read, list[Live]] = {read: [] for read in READ.values()}

    def live(runs: int, watchers: int, events: int, pace: Pace) -> Callable[[Read], float]:
        def measure(read: Read) -> float:
            lives[read].append(measures.live(bench, server, runs, watchers, events, pace, read))
            return lives[read][-1].rate

        return measure

    def past(read: Read) -> float:
        return measures.history(bench, server, 50, sizes.past_events, read)

    paced = Pace(1, 0.02)
    yield rate_row(f"1 run × 50 watchers × {fan:,}, flat out", pairs(2 * sizes.turns, live(1, 50, fan, FLAT_OUT)))
    fanned = {name: [*lives[read]] for name, read in READ.items()}
    yield rate_row(f"50 sessions × 1 × {many:,}, 2,500/s in all", pairs(sizes.turns, live(50, 1, many, paced)))
    yield rate_row(f"50 sessions × 1 × {4 * many:,}, flat out", pairs(sizes.turns, live(50, 1, 4 * many, FLAT_OUT)))
    what = f"50 watchers read a history of {sizes.past_events:,} at once"
    yield rate_row(what, pairs(3 * sizes.turns, past))  # it is soon over, and so disturbed most easily
    yield readers_row(fanned)


def readers_row(lives: Mapping[str, Sequence[Live]]) -> Row:
    """Return what a frame costs the gateway and, in a process of their own, its readers, where a frame costs least."""
    values = {name: [each.readers_us for each in found] for name, found in lives.items()}
    gateway = shown({name: [each.cost_us for each in found] for name, found in lives.items()}, "{:.1f}")
    cells = {name: f"{cell} of {gateway[name]}" for name, cell in shown(values, "{:.1f}").items()}
    most = max(each.readers_cpu_s / each.cpu_s for found in lives.values() for each in found)
    return Row("readers' CPU per frame, µs, beside the gateway's", cells, "less", f"≤ {most:.2f} ×", most < 1)


def latency(bench: Bench, server: Server, sizes: Sizes) -> Iterator[Row]:
    """Publish → client: one run, one watcher, a fragment every 5 ms."""
    lives: dict[str, list[Live]] = {name: [] for name in READ}
    for _ in range(sizes.turns):
        for name, read in READ.items():
            lives[name].append(measures.live(bench, server, 1, 1, sizes.latency_events, Pace(1, 0.005), read))
    for percent in (50, 99):
        values = {name: [each.quantile_ms(percent) for each in found] for name, found in lives.items()}
        got = f"{ratio(values, SOCKET.name, STREAM.name):.2f} × ({spread(values, SOCKET.name, STREAM.name)})"
        yield Row(f"publish → client, a fragment every 5 ms: p{percent}, ms", shown(values, "{:.2f}"), "", got)


def memory(bench: Bench, sizes: Sizes) -> Iterator[Row]:
    """Memory per idle connection, each in a gateway of its own."""
    values: dict[str, list[float]] = {}
    for name, hold in HOLD.items():
        with serving(OURS, bench.place) as server:
            values[name] = [measures.idle_kib(bench, server, sizes.idle, 50, hold)]
    got = f"{ratio(values, SOCKET.name, STREAM.name):.1f} ×"
    yield Row(f"memory, {sizes.idle:,} idle on 50 silent runs, KiB each", shown(values, "{:.1f}"), "", got)
    with serving(OURS, bench.place) as server:
        silent = measures.idle_kib(bench, server, sizes.idle, 50, sockets.hold_silent)
    what = f"memory, {sizes.idle:,} idle on as many sessions without a run, KiB each"
    yield Row(what, {SOCKET.name: f"{silent:.1f}"})


def sessions(bench: Bench, server: Server, sizes: Sizes, redis_port: int) -> Iterator[Row]:
    """Many sessions, one connection each, on each of which a run is played; and again, all cut in the middle."""
    number, events = sizes.sessions, sizes.played_events
    what = f"{number:,} sessions × a run of {events}"

    def play(storm: bool) -> dict[str, Played]:
        return {name: played(bench, server, name, number, events, redis_port, storm) for name in KINDS}

    calm = play(storm=False)
    yield _whole(f"{what}: lost / other than the log", calm)
    cells = {name: f"{each.seconds:.1f}, {1000 * each.behind_s:.0f}" for name, each in calm.items()}
    yield Row("  from the first to the last event, s; the last behind its writer, ms", cells)
    yield _cost(calm)
    cut = play(storm=True)
    yield _whole(f"{what}, all cut at once: lost / other than the log", cut)
    yield _back(f"  until the last of {number:,} is let in again, s", cut)
    yield _cost(cut)
    yield _connections(cut)


def _cost(found: Mapping[str, Played]) -> Row:
    costs = {name: [each.cost_us] for name, each in found.items()}
    got = f"{ratio(costs, SOCKET.name, STREAM.name):.1f} ×"
    return Row("  gateway's CPU per event, all that belongs to it included, µs", shown(costs, "{:.0f}"), "", got)


def _whole(what: str, found: Mapping[str, Played]) -> Row:
    all_ = [each.followed for each in found.values()]
    cells = {name: f"{each.followed.lost} / {each.followed.twice}" for name, each in found.items()}
    came = " · ".join(f"{each.connections:,}" for each in all_)
    met = all(each.lost == each.twice == 0 for each in all_)
    return Row(what, cells, "0 / 0", f"{came} connections", met)


def _back(what: str, found: Mapping[str, Played]) -> Row:
    cells = {name: f"{each.followed.away_s:.1f}" for name, each in found.items()}
    most, more = found[SOCKET.name].followed.away_s, found[SOCKET.name].more_kib
    return Row(what, cells, f"≤ {MOST_BACK_S:.0f}", f"{most:.1f}; {more / 1024:.0f} MiB more", most <= MOST_BACK_S)


def _connections(found: Mapping[str, Played]) -> Row:
    number = max(each.connections for each in found.values())
    cells = {name: f"{each.connections}" for name, each in found.items()}
    return Row("connections to Redis", cells, f"≤ {MOST_CONNECTIONS}", f"{number}", number <= MOST_CONNECTIONS)
