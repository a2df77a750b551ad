"""How long a learner waits: the whole self-check against the floor of what it has to import, pair by pair.

    python bench/loop.py [--pairs 15]

The floor is `python -c "import typer, rich.console, httpx"` in the same environment. Both are whole processes, timed
from outside, in turn, so that the machine's mood meets both. Ratios travel; absolute times do not.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from selfcheck.early import Started

ROOT = Path(__file__).resolve().parent.parent
FLOOR = [sys.executable, "-c", "import typer, rich.console, httpx"]
CHECK = [sys.executable, "-c", "from selfcheck.entry import main; main()", "--tree", "solution"]
JUDGE = [sys.executable, "-c", "import selfcheck.play, selfcheck.judge, selfcheck.report"]
BARE = [sys.executable, "-c", "pass"]


def timed(command: list[str]) -> float:
    """Return how long a command takes as a whole process, in seconds."""
    environment = {**os.environ, "MOCK": "1", "SELFTEST": "1"}
    began = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def service_ready() -> float:
    """Return how long the service takes from its start until it serves, in seconds."""
    began = time.perf_counter()
    started = Started(str(ROOT / "solution"))
    stderr = started.process.stderr
    assert stderr is not None, "it was asked for"
    for line in stderr:
        if b'"event":"ready"' in line:
            break
    took = time.perf_counter() - began
    started.end()
    return took


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    pairs = parser.parse_args().pairs
    measured: dict[str, Callable[[], float]] = {
        "floor: import typer, rich.console, httpx": lambda: timed(FLOOR),
        "the whole self-check, six checks pass": lambda: timed(CHECK),
        "  an interpreter that does nothing": lambda: timed(BARE),
        "  the judge's own imports": lambda: timed(JUDGE),
        "  the service, start until it serves (beside them)": service_ready,
    }
    for measure in measured.values():
        measure()  # writes bytecode, warms the disk cache
    rows = {name: [] for name in measured}  # type: dict[str, list[float]]
    for _ in range(pairs):
        for name, measure in measured.items():
            rows[name].append(measure())
    floor, whole, _, judge, service = rows.values()
    ratios = [check / base for check, base in zip(whole, floor, strict=True)]
    rest = [check - max(own, beside) for check, own, beside in zip(whole, judge, service, strict=True)]
    table = Table(title=f"{pairs} pairs", title_justify="left")
    for column in ("what", "min ms", "median ms", "max ms"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, times in {**rows, "  the rest: playing six checks, the report, the end": rest}.items():
        table.add_row(name, *(f"{1000 * pick(times):.0f}" for pick in (min, statistics.median, max)))
    console = Console(width=100)
    console.print(table)
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    console.print(f"whole / floor, pair by pair: median {statistics.median(ratios):.2f} ({spread}); at most 2.5, aim 2")


if __name__ == "__main__":
    main()
