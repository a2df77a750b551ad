"""Run the self-check on the solution again and again, to see that it always passes and always says the same.

    python -m bench.soak [RUNS]

Of 100 runs, 60 are the same in every way, 20 have ten other seeds, each twice, and 20 run while every core is busy. It
prints how many checks passed and how many runs differ, in a byte of their `checks`, from the first one with their seed.
Ends with 1 when a check did not pass or a run differs.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKS = 6
DEFAULT_SEED = 7
GROUPS = {"the same": 6, "other seeds": 2, "under load": 2}  # of ten runs


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the self-check: what it passed, what it wrote of its checks, and how long it took."""

    passed: int
    checks: bytes
    took_s: float


def run(seed: int, folder: Path) -> Run:
    """Run the self-check on the solution, in memory."""
    file = folder / "results.json"
    file.unlink(missing_ok=True)
    command = [sys.executable, "-m", "selfcheck", "run", "--tree", "solution", "--seed", str(seed), "--json", str(file)]
    began = time.monotonic()
    subprocess.run(command, cwd=ROOT, env={**os.environ, "MOCK": "1"}, capture_output=True, check=False)
    took_s = time.monotonic() - began
    written = file.read_bytes() if file.exists() else b"{}"
    return Run(json.loads(written).get("passed", 0), written.partition(b'"checks"')[2], took_s)


@contextlib.contextmanager
def load(cores: int) -> Iterator[None]:
    """Keep so many cores busy."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main(runs: int) -> int:
    """Run them all, print what came of it, and return the exit code."""
    first: dict[int, bytes] = {}
    passed, differing = 0, 0
    times: dict[str, list[float]] = {name: [] for name in GROUPS}
    groups = [name for name, share in GROUPS.items() for _ in range(runs * share // 10)]
    with tempfile.TemporaryDirectory() as folder:
        for at, (name, count) in enumerate(zip(groups, _counted(groups), strict=True), 1):
            seed = 100 + count // 2 if name == "other seeds" else DEFAULT_SEED
            with load((os.cpu_count() or 1) if name == "under load" else 0):
                came = run(seed, Path(folder))
            passed += came.passed
            differs = came.checks != first.setdefault(seed, came.checks)
            differing += differs
            times[name].append(came.took_s)
            if differs or came.passed < CHECKS:
                print(f"run {at}, {name}, seed {seed}: {came.passed} pass{', and it differs' * differs}", flush=True)
    print(f"runs              {len(groups)}")
    print(f"checks passed     {passed} of {CHECKS * len(groups)}")
    print(f"differing results {differing}")
    for name, took in times.items():
        print(f"{name:17} {len(took):3} runs, {statistics.median(took):.2f} s at the median, {max(took):.2f} s at most")
    return 0 if passed == CHECKS * len(groups) and not differing else 1


def _counted(names: list[str]) -> Iterator[int]:
    """Count each name's occurrences from 0."""
    seen: Counter[str] = Counter()
    for name in names:
        yield seen[name]
        seen[name] += 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
