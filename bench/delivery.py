"""What delivering costs: the gateway beside what else could stand in its place, on real services, in one run.

    python bench/delivery.py [--quick]

Ours is the production gateway, `python -m gateway`. The references (`delivering/references.py`) are bare ASGI, with one
send a frame and with ready frames joined; sse-starlette; and the gateway that one writes first. All of them serve the
same runs from the same Valkey, each in a process of its own, whose CPU time and memory are read from outside; writers
and readers are in two further processes. Everything is on 127.0.0.1 and ends with this process.

Ratios travel; absolute numbers do not. It takes about five minutes, `--quick` about one.
"""

from collections.abc import Iterator
from contextlib import ExitStack

from bench.delivering import rows
from bench.delivering.measures import Bench, live
from bench.delivering.report import show
from bench.delivering.rows import FULL, KINDS, QUICK, Row, Sizes
from bench.delivering.servers import OURS, Server, serving
from selfcheck.local.services import LocalServices

TITLE = "medians; frames per CPU-second of the server unless it says otherwise"
HEADINGS = {OURS: "ours", "naive": "naive", "raw": "raw ASGI", "joined": "joined", "starlette": "sse-starlette"}


def measured(bench: Bench, services: LocalServices, sizes: Sizes) -> Iterator[Row]:
    """Measure row by row."""
    with ExitStack() as stack:
        servers: list[Server] = [stack.enter_context(serving(name, bench.place)) for name in KINDS]
        for server in servers:
            live(bench, server, 1, 1, 50)  # what is made once is not measured
        yield from rows.latency(bench, servers, sizes)
        yield from rows.throughput(bench, servers, sizes)
        yield rows.resume(bench, servers, sizes)
        yield rows.cuts(bench, servers, sizes)
        yield from rows.growth(bench, servers[0], sizes, services.redis.port)
    yield from rows.memory(bench, sizes)


def main() -> None:
    """Measure and print."""
    show(__doc__, "less of everything, one turn each", TITLE, HEADINGS, {True: QUICK, False: FULL}, measured)


if __name__ == "__main__":
    main()
