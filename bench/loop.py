"""How long a learner waits: the whole self-check against the floor of what it has to import, pair by pair.

    python bench/loop.py [--pairs 15] [--saves 15]

The floor is `python -c "import typer, rich.console, httpx"` in the same environment. Both are whole processes, timed
from outside, in turn, so that the machine's mood meets both. Ratios travel; absolute times do not.

Below it is what somebody waits for who has `selfcheck watch` running: from the moment at which a file has been
written until the first line with a verdict can be read, and until that of all six can.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from selfcheck.early import Started

ROOT = Path(__file__).resolve().parent.parent
FLOOR = [sys.executable, "-c", "import typer, rich.console, httpx"]
CHECK = [sys.executable, "-c", "from selfcheck.entry import main; main()", "--tree", "solution"]
JUDGE = [sys.executable, "-c", "import selfcheck.play, selfcheck.judge, selfcheck.reporting.report"]
BARE = [sys.executable, "-c", "pass"]
APART_S = 1.5  # between two saves: whoever reads what came of one does not save sooner
VERDICT = re.compile(r"\d\d:\d\d:\d\d")
SAVES = {
    "save → first verdict, it passes": "return int(last_event_id) + 1",
    "save → first verdict, it does not (tried again, symptom named)": "return int(last_event_id) + 2",
}


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


def saved(saves: int) -> dict[str, list[float]]:
    """Return how long verdicts take from a save on, by what is waited for, in seconds."""
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        shutil.copytree(ROOT / "solution", tree)
        file = tree / "delivery.py"
        source = file.read_text("utf-8")
        line = "return int(last_event_id) + 1"
        assert line in source, "this is what is changed"
        command = [sys.executable, "-m", "selfcheck", "watch", "--tree", str(tree)]
        environment = {**os.environ, "MOCK": "1", "SELFCHECK_HOME": folder, "PYTHONUTF8": "1"}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as watch:
            assert watch.stdout is not None, "it was asked for"
            _ = [*_until_all(watch.stdout)]
            for number in range(saves):
                for name, body in SAVES.items():
                    time.sleep(APART_S)
                    file.write_text(source.replace(line, f"_ = {number}\n    {body}"), "utf-8")
                    began = time.perf_counter()
                    times = [at - began for at in _until_all(watch.stdout)]
                    rows.setdefault(name, []).append(times[0])
                    rows.setdefault(f"  {name.partition(',')[2].strip()}: until all six", []).append(times[-1])
            watch.terminate()
    return rows


def _until_all(lines: Iterable[str]) -> Iterator[float]:
    """Yield when each verdict could be read."""
    for line in lines:
        if " of 6 pass" in line:
            return
        if VERDICT.search(line) and " saved:" not in line and "every check" not in line:
            yield time.perf_counter()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--saves", type=int, default=15)
    given = parser.parse_args()
    pairs = given.pairs
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
    console = Console(width=100)
    show(console, f"{pairs} pairs", {**rows, "  the rest: playing six checks, the report, the end": rest})
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    console.print(f"whole / floor, pair by pair: median {statistics.median(ratios):.2f} ({spread}); at most 2.5, aim 2")
    show(console, f"{given.saves} saves of each kind beside a running watch", saved(given.saves))


def show(console: Console, title: str, rows: dict[str, list[float]]) -> None:
    """Print a table of times."""
    table = Table(title=title, title_justify="left")
    for column in ("what", "min ms", "median ms", "max ms"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, times in rows.items():
        table.add_row(name, *(f"{1000 * pick(times):.0f}" for pick in (min, statistics.median, max)))
    console.print(table)


if __name__ == "__main__":
    main()
