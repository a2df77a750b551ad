"""Break everything at random under many runs, and count what is lost, duplicated or stuck. All three have to be 0.

    python bench/faults.py [--runs 200] [--seed 1] [--at-once 12] [--minutes 15]

Real gateways and workers on a Redis and a PostgreSQL of our own, all of them killed, paused and restarted, one after
the other and some at once (`tests/support/mayhem.py`), under conversations with waiters that join, leave and come back
(`tests/support/conversations.py`). Two things are not done, for nothing could be promised then: `docs/faults.md`. It
stops when all conversations are over, and fails if they are not after `--minutes`; either way nothing of it is left.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter

from rich.console import Console
from rich.table import Table

from selfcheck.local.services import local_services
from tests.support.conversations import Crowd, Tally
from tests.support.fleet import open_fleet
from tests.support.mayhem import SETTINGS, Mayhem


async def broken(runs: int, seed: int, at_once: int, minutes: float) -> tuple[Tally, Counter[str]]:
    """Have `runs` conversations under mayhem; return what they came to, and the faults by kind."""
    with local_services() as services:
        async with asyncio.timeout(60 * minutes), open_fleet(services, **SETTINGS) as fleet:
            crowd = Crowd(fleet, seed)
            mayhem = Mayhem(fleet, seed, crowd)
            try:
                await mayhem.over(crowd.converse(runs, at_once))
                return await crowd.add_up(), mayhem.done
            finally:
                await crowd.leave()


def main() -> int:
    """Run and print; exit code 1 when something was lost, duplicated or stuck."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=15)
    given = parser.parse_args()
    began = time.monotonic()
    tally, faults = asyncio.run(broken(given.runs, given.seed, given.at_once, given.minutes))
    took = time.monotonic() - began
    table = Table(title=f"seed {given.seed}", title_justify="left", show_header=False)
    ends = ", ".join(f"{count} {end}" for end, count in sorted(tally.ends.items()))
    rows: dict[str, object] = {"runs": f"{tally.runs} ({ends})", "waiters": tally.waiters}
    rows |= {"faults": faults.total()}
    rows |= {f"  {kind}": count for kind, count in faults.most_common()}
    rows |= {"take-overs": tally.take_overs, "reruns": tally.reruns}
    wrong = {"lost": tally.wrong.lost, "duplicated": tally.wrong.duplicated, "stuck": tally.wrong.stuck}
    rows |= {name: len(list_) for name, list_ in wrong.items()}
    rows |= {"time": f"{took:.0f} s"}
    for name, value in rows.items():
        table.add_row(name, str(value))
    console = Console(width=100)
    for name, cases in wrong.items():
        for case in cases[:10]:
            console.print(f"{name}: {case}", markup=False, soft_wrap=True)
    console.print(table)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
