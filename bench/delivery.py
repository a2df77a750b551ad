"""What delivering costs: the gateway beside what else could stand in its place, on real services, in one run.

    python bench/delivery.py [--quick]

Ours is the production gateway, `python -m gateway`. The references (`delivering/references.py`) are bare ASGI, with one
send a frame and with ready frames joined; sse-starlette; and the gateway that one writes first. All of them serve the
same runs from the same Valkey, each in a process of its own, whose CPU time and memory are read from outside; writers
and readers are in two further processes. Everything is on 127.0.0.1 and ends with this process.

Ratios travel; absolute numbers do not. It takes about five minutes, `--quick` about one.
"""

import argparse
import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack

from rich.console import Console

from bench.delivering import rows
from bench.delivering.measures import Bench, live, opened
from bench.delivering.report import table, where
from bench.delivering.rows import FULL, KINDS, QUICK, Row, Sizes
from bench.delivering.servers import OURS, Server, serving
from selfcheck.local_services import LocalServices, local_services

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="less of everything, one turn each")
    sizes = QUICK if parser.parse_args().quick else FULL
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection is a file, here and in all that is started
    console, began = Console(width=200), time.monotonic()
    for line in where():
        console.print(line)
    found: list[Row] = []
    with local_services() as services, opened(services) as bench:
        for row in measured(bench, services, sizes):
            found.append(row)
            console.print(f"  {time.monotonic() - began:5.0f} s  {row.what}", style="dim", highlight=False)
    console.print(table(TITLE, HEADINGS, found))
    for line in where()[:1]:
        console.print(f"{line}; took {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
