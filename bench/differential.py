"""Play random operations on memory and on Redis with PostgreSQL, and count the answers that differ. There have to be 0.

    python bench/differential.py [--sequences 2000] [--seed 1] [--at-once 4] [--minutes 30]

Each sequence is played on empty ports (`tests/contract/operations.py`). The first answers that differ are shown with
the seed of their sequence, from which `random_steps` makes it again. Servers are started for it, unless `REDIS_URL` and
`DATABASE_URL` name some; whatever it wrote there is removed.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from shared.adapters.clock import MovedClock
from shared.adapters.postgres import PostgresStore, drop_schema
from shared.adapters.redis import RedisBus, delete_prefix
from tests.contract.adapters import Ports, open_memory
from tests.contract.operations import play, random_steps
from tests.support.real import Urls, audit_of, own_name, real_urls

LENGTHS = (15, 30, 60, 300)
"""How many operations a sequence has, in turn. Faults in what comes first show in short ones without the noise of what
comes later; runs that pile up, are given back, taken over and archived take long ones."""

EMPTY = "TRUNCATE {0}.runs, {0}.inputs, {0}.messages, {0}.transitions, {0}.questions, {0}.forks RESTART IDENTITY"


@dataclass(slots=True)
class Count:
    """What has been played, and the first difference of each sequence that has one."""

    sequences: int = 0
    steps: int = 0
    differences: list[str] = field(default_factory=list)


class Real:
    """The real adapters, opened once and emptied for every sequence: opening takes longer than playing."""

    def __init__(self, urls: Urls, name: str, ports: Ports) -> None:
        self._urls = urls
        self._name = name
        self._ports = ports

    async def emptied(self) -> Ports:
        """Return the ports, empty, at the clock's first moment."""
        await delete_prefix(self._urls.redis, self._name)
        async with await psycopg.AsyncConnection.connect(self._urls.database, autocommit=True) as connection:
            await connection.execute(sql.SQL(EMPTY).format(sql.Identifier(self._name)))
        self._ports.clock.advance(MovedClock().now() - self._ports.clock.now())
        return self._ports


@asynccontextmanager
async def opened(urls: Urls) -> AsyncIterator[Real]:
    """Open the real adapters under a name of their own, and remove it all in the end."""
    name, clock = own_name(), MovedClock()
    bus = await RedisBus.connect(urls.redis, prefix=name)
    store = await PostgresStore.open(urls.database, schema=name, clock=clock)
    try:
        yield Real(urls, name, Ports(
            store, bus.output, bus.queue, bus.marks, store, store, clock,
            flush=lambda: delete_prefix(urls.redis, name),
            audit=lambda run_id: audit_of(urls.database, name, run_id),
        ))  # fmt: skip
    finally:
        await store.close()
        await bus.close()
        await delete_prefix(urls.redis, name)
        await drop_schema(urls.database, name)


async def compare(seeds: Iterator[int], urls: Urls, until: float, count: Count) -> None:
    """Play sequences on both, one after the other, while there are seeds and time left."""
    async with opened(urls) as real:
        for seed in seeds:
            played = random_steps(seed, LENGTHS[seed % len(LENGTHS)])
            theirs = await play(await real.emptied(), played)
            async with open_memory() as memory:
                ours = await play(memory, played)
            count.sequences += 1
            count.steps += len(played)
            for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
                if one != other:
                    count.differences.append(f"seed {seed}, step {place}, {played[place]}: memory {one}, real {other}")
                    break
            if time.monotonic() > until:
                return


async def compare_all(sequences: int, seed: int, at_once: int, until: float) -> Count:
    """Play all sequences, some at once."""
    urls, seeds, count = real_urls(), iter(range(seed, seed + sequences)), Count()
    await asyncio.gather(*(compare(seeds, urls, until, count) for _ in range(at_once)))
    return count


def main() -> int:
    """Play and print; exit code 1 when an answer differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sequences", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=30)
    given = parser.parse_args()
    began = time.monotonic()
    until = began + 60 * given.minutes
    count = asyncio.run(compare_all(given.sequences, given.seed, given.at_once, until))
    for difference in count.differences[:10]:
        print(difference)
    print(
        f"{count.sequences} sequences, {count.steps} operations on each side, {len(count.differences)} differences,"
        f" {time.monotonic() - began:.0f} s"
    )
    return 1 if count.differences else 0


if __name__ == "__main__":
    sys.exit(main())
