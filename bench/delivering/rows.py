"""The rows of the table: what is measured, in which size, and what the target says of it.

Servers take turns within a row, so that the machine's mood meets all of them; ratios are taken within a turn.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.delivering import measures
from bench.delivering.cuts import Resumed, Tally, total
from bench.delivering.measures import Bench, Live
from bench.delivering.servers import OURS, Server, serving
from bench.delivering.writing import FLAT_OUT, Pace

NAIVE: Final = "naive"
KINDS: Final = (OURS, NAIVE, "raw", "joined", "starlette")

Values = Mapping[str, Sequence[float]]
"""What came out, by server, in the order of the turns."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is done: all numbers that the quick form makes smaller."""

    turns: int
    latency_turns: int
    latency_events: int
    fan_events: int
    many_events: int
    growth_waiters: tuple[int, ...]
    idle_waiters: tuple[int, ...]
    cut_events: int
    cut_times: int


FULL: Final = Sizes(3, 5, 300, 2000, 150, (1, 100, 1000), (1000, 5000), 300, 2)
QUICK: Final = Sizes(1, 3, 200, 1000, 60, (1, 100), (1000,), 150, 1)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table. `met` is None where there is no target."""

    what: str
    cells: Mapping[str, str]
    target: str = ""
    got: str = ""
    met: bool | None = None


def turns(number: int, servers: Sequence[Server], measure: Callable[[Server], float]) -> Values:
    """Measure each server so many times, one after the other."""
    values: dict[str, list[float]] = {server.name: [] for server in servers}
    for _ in range(number):
        for server in servers:
            values[server.name].append(measure(server))
    return values


def shown(values: Values, form: str) -> dict[str, str]:
    """Return the medians, written in this form."""
    return {name: form.format(statistics.median(each)) for name, each in values.items()}


def ratio(values: Values, one: str = OURS, other: str = NAIVE) -> float:
    """Return one's to the other's: the median of the turns' ratios."""
    return statistics.median(a / b for a, b in zip(values[one], values[other], strict=True))


def spread(values: Values, one: str = OURS, other: str = NAIVE) -> str:
    """Return the smallest and largest ratio of a turn."""
    each = [a / b for a, b in zip(values[one], values[other], strict=True)]
    return f"{min(each):.1f} to {max(each):.1f}" if len(each) > 1 else "one turn"


def latency(bench: Bench, servers: Sequence[Server], sizes: Sizes) -> list[Row]:
    """Publish → client: one run, one waiter, a fragment every 5 ms."""
    found: dict[str, list[Live]] = {server.name: [] for server in servers}
    for _ in range(sizes.latency_turns):
        for server in servers:
            found[server.name].append(measures.live(bench, server, 1, 1, sizes.latency_events, Pace(1, 0.005)))
    rows: list[Row] = []
    for percent, most in ((50, 1.5), (99, 2.0)):
        values = {name: [each.quantile_ms(percent) for each in lives] for name, lives in found.items()}
        rows.append(
            Row(
                f"publish → client, a fragment every 5 ms: p{percent}, ms",
                shown(values, "{:.2f}"),
                f"≤ {most} × naive",
                f"{ratio(values):.2f} × ({spread(values)})",
                ratio(values) <= most,
            )
        )
    return rows


def rate_row(what: str, values: Values, least: float | None = None) -> Row:
    """Return a row of frames per CPU-second; `least` is the target, if there is one."""
    cells, got = shown(values, "{:,.0f}"), f"{ratio(values):.1f} × ({spread(values)})"
    if least is None:
        return Row(what, cells, "", got)
    return Row(what, cells, f"≥ {least:.0f} × naive", got, ratio(values) >= least)


def throughput(bench: Bench, servers: Sequence[Server], sizes: Sizes) -> list[Row]:
    """Frames per CPU-second of the server."""

    def fan(server: Server) -> float:
        return measures.live(bench, server, 1, 50, sizes.fan_events, FLAT_OUT).rate

    def many(server: Server) -> float:
        return measures.live(bench, server, 50, 1, sizes.many_events, Pace(1, 0.02)).rate

    def many_at_once(server: Server) -> float:
        return measures.live(bench, server, 50, 1, 4 * sizes.many_events, FLAT_OUT).rate

    def past(server: Server) -> float:
        return measures.history(bench, server, 50, 2000)

    return [
        rate_row(f"1 run × 50 waiters × {sizes.fan_events}, flat out", turns(sizes.turns, servers, fan), 3),
        rate_row(f"50 runs × 1 waiter × {sizes.many_events}, 2,500/s in all", turns(sizes.turns, servers, many), 2),
        rate_row(f"50 runs × 1 waiter × {4 * sizes.many_events}, flat out", turns(1, servers, many_at_once)),
        rate_row("50 waiters read a history of 2,000 at once", turns(sizes.turns, servers, past), 4),
    ]


def memory(bench: Bench, sizes: Sizes) -> list[Row]:
    """Memory per idle waiter, each in a server of its own, on 50 runs."""
    rows: list[Row] = []
    for waiters in sizes.idle_waiters:
        values: dict[str, list[float]] = {}
        for name in KINDS:
            with serving(name, bench.place) as server:
                values[name] = [measures.idle_kib(bench, server, waiters, 50)]
        ours = values[OURS][0]
        what = f"memory per idle waiter, {waiters:,} of them, KiB"
        rows.append(Row(what, shown(values, "{:.1f}"), "≤ 20", f"{ours:.1f}", ours <= 20))
    return rows


def resume(bench: Bench, servers: Sequence[Server], sizes: Sizes) -> Row:
    """Resume with 10,000 events to come."""
    found: dict[str, list[Resumed]] = {server.name: [] for server in servers}
    for _ in range(sizes.turns):
        for server in servers:
            found[server.name].append(measures.resumed(bench, server, 10_000))
    values = {name: [each.seconds * 1000 for each in all_] for name, all_ in found.items()}
    exact = all(each.exact for each in found[OURS])
    ours = statistics.median(values[OURS])
    what = "resume with 10,000 events to come, ms"
    got = f"{ours:.0f}, {'exact' if exact else 'NOT EXACT'}"
    return Row(what, shown(values, "{:.0f}"), "exact, ≤ 100", got, exact and ours <= 100)


def cuts(bench: Bench, servers: Sequence[Server], sizes: Sizes) -> Row:
    """Cut at random and resumed: paced and in bursts, from the start and from mid-run on, during and after the run."""
    tallies: dict[str, Tally] = {}
    for server in servers:
        if server.name in (OURS, NAIVE):
            paces = [Pace(1, 0.005), Pace(20, 0.08)] * sizes.cut_times
            each = [measures.cut(bench, server, sizes.cut_events, pace, 2 * seed) for seed, pace in enumerate(paces)]
            tallies[server.name] = total(each)
    ours = tallies[OURS]
    cells = {name: f"{each.lost} / {each.twice}" for name, each in tallies.items()}
    got = f"{ours.lost} / {ours.twice} in {ours.resumes:,} resumes"
    met = ours.lost == ours.twice == 0 and ours.resumes >= 200
    return Row("lost / twice, cut at random and resumed", cells, "0 / 0, ≥ 200 resumes", got, met)


def growth(bench: Bench, server: Server, sizes: Sizes, redis_port: int) -> list[Row]:
    """What a frame costs as waiters become more: of one run, and each of a run of its own."""
    one = [measures.live(bench, server, 1, waiters, 200, Pace(1, 0.005)).cost_us for waiters in sizes.growth_waiters]
    own = [
        measures.live(bench, server, waiters, 1, max(20, 800 // waiters), Pace(1, max(0.005, waiters / 4000))).cost_us
        for waiters in sizes.growth_waiters
    ]
    numbers = ", ".join(f"{waiters:,}" for waiters in sizes.growth_waiters)
    rows = [
        Row(
            f"CPU per frame, µs: {numbers} waiters of {whose}",
            {OURS: " · ".join(f"{each:.1f}" for each in costs)},
            "does not grow",
            f"{costs[-1] / costs[0]:.2f} ×",
            max(costs[1:]) <= 1.1 * costs[0],
        )
        for whose, costs in (("one run", one), ("as many runs", own))
    ]
    most = sizes.growth_waiters[-1]
    number = measures.connections(bench, server, most, redis_port)
    what = f"connections to Redis, {most:,} waiters of as many runs"
    return [*rows, Row(what, {OURS: f"{number}"}, "≤ 16", f"{number}", number <= 16)]
