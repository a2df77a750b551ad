"""The whole of `bench/socket.py`, which is only the way in: what is compared, in which order, and the table."""

import argparse
import resource
import time
from collections.abc import Iterator

from rich.console import Console

from bench.delivering.measures import Bench, live, opened
from bench.delivering.report import table, where
from bench.delivering.rows import Row
from bench.delivering.servers import OURS, serving
from bench.socketing import rows
from bench.socketing.fronts import SOCKET, STREAM
from bench.socketing.rows import FULL, QUICK, READ, Sizes
from selfcheck.local_services import LocalServices, local_services

TITLE = "medians; frames per CPU-second of the gateway unless it says otherwise"
HEADINGS = {STREAM.name: "SSE", SOCKET.name: "socket"}


def measured(bench: Bench, services: LocalServices, sizes: Sizes) -> Iterator[Row]:
    """Measure row by row."""
    with serving(OURS, bench.place) as server:
        for read in READ.values():
            live(bench, server, 1, 1, 50, read=read)  # what is made once is not measured
        yield from rows.throughput(bench, server, sizes)
        yield from rows.latency(bench, server, sizes)
    with serving(OURS, bench.place) as server:
        yield from rows.sessions(bench, server, sizes, services.redis.port)
    yield from rows.memory(bench, sizes)


def main(about: str | None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="less of everything")
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
