"""The whole of `bench/socket.py`, which is only the way in: what is compared, in which order, and the table."""

from collections.abc import Iterator

from bench.delivering.measures import Bench, live
from bench.delivering.report import show
from bench.delivering.rows import Row
from bench.delivering.servers import OURS, serving
from bench.socketing import rows
from bench.socketing.fronts import SOCKET, STREAM
from bench.socketing.rows import FULL, QUICK, READ, Sizes
from selfcheck.local.services import LocalServices

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
    show(about, "less of everything", TITLE, HEADINGS, {True: QUICK, False: FULL}, measured)
