"""Two hundred submissions: how long grading takes, what memory, and whether it gives the same bytes twice.

    python bench/grade.py [--count 200] [--jobs N] [--once]

The submissions are those of `tests/mutants`: what learners write, right or wrong, over and over until there are enough,
with one in forty hostile. Memory is what all processes of the grading hold together, shared pages counted once for each
of a share's holders (PSS), looked at four times a second; and the most that the command itself has ever held.
"""

import argparse
import filecmp
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from tests.mutants.catalog import BROKEN, HOSTILE, MISTAKES, VARIANTS, write
from tests.support.judging import ROOT, tree_with

EVERY_HOSTILE = 40
LOOK_EVERY_S = 0.25
MIB = 1 << 20


def make(folder: Path, count: int) -> None:
    """Write so many submissions into a folder."""
    honest = cycle([*MISTAKES, *VARIANTS])
    hostile = cycle([*BROKEN, *HOSTILE])
    for number in range(count):
        at = folder / f"student-{number:03}"
        if number % EVERY_HOSTILE == EVERY_HOSTILE - 1:
            write(next(islice(hostile, 6, None)), at)
        elif number % 4 == 0:
            tree_with(at / "starter", [each for each in (1, 2, 3, 4) if number // 4 >> each - 1 & 1])
        else:
            write(next(honest), at)


def held_by(leader: int) -> int:
    """Return what a process and all below it hold, in bytes."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_bytes().rpartition(b")")[2].split()[1])
        except OSError:
            continue
    below = {leader}
    while more := {pid for pid, parent in parents.items() if parent in below and pid not in below}:
        below |= more
    return sum(_pss(pid) for pid in below)


def _pss(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0)


def graded(submissions: Path, out: Path, jobs: int) -> tuple[float, float, int, int]:
    """Grade; return the seconds, those of CPU, the most that the command held, and the most that all held together."""
    command = [sys.executable, "-m", "selfcheck", "grade", str(submissions), "--out", str(out), "--jobs", str(jobs)]
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    most_all = 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        most_all = max(most_all, held_by(process.pid))
        time.sleep(LOOK_EVERY_S)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"exit code {process.returncode}"
    cpu_s = usage.ru_utime + usage.ru_stime
    return time.perf_counter() - began, cpu_s, usage.ru_maxrss * 1024, most_all


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--once", action="store_true", help="do not grade a second time")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        make(room / "class", asked.count)
        for turn in range(1 if asked.once else 2):
            took_s, cpu_s, command, everything = graded(room / "class", room / str(turn), asked.jobs)
            spent = f"{took_s:.1f} s, of CPU {cpu_s:.1f} s, {cpu_s / asked.count * 1000:.0f} ms each"
            print(f"{asked.count} submissions, {asked.jobs} at once: {spent}", flush=True)
            print(f"  peak memory: the command {command / MIB:.0f} MiB, all together {everything / MIB:.0f} MiB")
        if not asked.once:
            for file in ("grades.csv", "results.json"):
                same = filecmp.cmp(room / "0" / file, room / "1" / file, shallow=False)
                print(f"  {file}: {'the same bytes twice' if same else 'DIFFERS'}")


if __name__ == "__main__":
    main()
