"""Faults at random: what may be done to a fleet that is at work, one after the other, some of them overlapping.

Two things are not done, because nothing could be promised of them (`docs/faults.md`): the bus is not emptied while it
holds the only copy of something that a waiter has seen, and nobody dies before what he had published by then is stored.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Final, Protocol

import psycopg
from psycopg import sql
from redis.asyncio import Redis

from tests.support.fleet import Fleet
from tests.support.member import Member
from tests.support.patience import lapse, until

WORKERS: Final = 3
GATEWAYS: Final = 2

LEASE_S: Final = 1.5
SETTINGS: Final = {"KODA_LEASE": f"{LEASE_S}s", "KODA_MAX_ATTEMPTS": "1000", "KODA_FRAGMENT_PACE": "50ms"}
"""How a fleet has to be set up for it: no run may give up, however often its owner dies."""
LONG_SLEEP_S: Final = (LEASE_S + 0.5, LEASE_S + 3.5)
SHORT_SLEEP_S: Final = (0.1, 1.0)
LONGEST_S: Final = 8.0  # a service says nothing: the adapters give up a connection after 5 and 7 s
GRACE_S: Final = 0.2  # after this long, who woke up has done what he was about to do
BATCH_S: Final = 0.3  # a worker stores what he has published 200 ms later at the latest (FLUSH_EVERY)
PACE_S: Final = (0.0, 0.5)

Fault = Callable[[], Awaitable[bool]]
"""Does one thing, if it can be done now; returns whether it was."""


class Crowd(Protocol):
    """What the damage is done to."""

    def seen(self) -> Mapping[str, int]:
        """Return the newest seq that somebody has who follows, by run."""
        ...

    async def look(self) -> None:
        """Keep what the streams hold now."""
        ...


class Mayhem:
    """Does damage to a fleet under a crowd; `done` counts it.

    No service is away or asleep for more than `longest_s`.
    """

    def __init__(self, fleet: Fleet, seed: int, crowd: Crowd, longest_s: float = LONGEST_S) -> None:
        self.done: Counter[str] = Counter()
        self._fleet = fleet
        self._chance = random.Random(seed)
        self._crowd = crowd
        self._longest_s = longest_s
        self._over = False
        self._repairs: set[asyncio.Task[None]] = set()
        self._kinds: dict[str, tuple[int, Fault]] = {
            "worker killed": (5, lambda: self._to_one("worker", self._kill)),
            "worker slept past its lease": (5, lambda: self._to_one("worker", self._put_to_sleep)),
            "worker slept a moment": (2, lambda: self._to_one("worker", self._put_to_nap)),
            "worker told to end": (3, lambda: self._to_one("worker", self._tell_to_end)),
            "gateway killed": (3, lambda: self._to_one("gateway", self._kill)),
            "gateway told to end": (2, lambda: self._to_one("gateway", self._tell_to_end)),
            "gateway slept": (1, lambda: self._to_one("gateway", self._put_to_sleep)),
            "redis restarted with its data": (2, self._redis_restarted),
            "redis restarted empty": (2, self._redis_emptied),
            "redis killed": (1, self._redis_killed),
            "redis flushed": (1, self._redis_flushed),
            "redis slept": (1, self._redis_slept),
            "postgres restarted": (2, self._postgres_restarted),
            "postgres killed": (1, self._postgres_killed),
            "postgres slept": (1, self._postgres_slept),
            "consumer group gone": (1, self._group_gone),
        }

    async def over(self, work: Coroutine[None, None, None]) -> None:
        """Do damage while this work lasts, then repair it all.

        Raises:
            ExceptionGroup: of what the work or the damage raised.
        """
        await asyncio.gather(*(self._fleet.hire(room) for room in ["gateway"] * GATEWAYS + ["worker"] * WORKERS))
        async with asyncio.TaskGroup() as tasks:
            damage = tasks.create_task(self._damage())
            await tasks.create_task(work)
            self._over = True
            await damage  # not cancelled: what it has begun to stop has to be started again
        while self._repairs:
            await asyncio.gather(*self._repairs)
        await self._fleet.restore()

    async def _damage(self) -> None:
        bag: list[str] = []  # so that none is left out for long
        while not self._over:
            await lapse(self._chance.uniform(*PACE_S))
            if not bag:
                bag = [kind for kind, (often, _) in self._kinds.items() for _ in range(often)]
                self._chance.shuffle(bag)
            await self._do(bag.pop())

    async def _do(self, kind: str) -> None:
        if await self._kinds[kind][1]():
            self.done[kind] += 1

    # members

    async def _to_one(self, room: str, do: Callable[[Member], Awaitable[None]]) -> bool:
        """Do something to a member, if at least one more is at work."""
        members = self._fleet.gateways if room == "gateway" else self._fleet.workers
        able = [member for member in members if _able(member)]
        if len(able) < 2:
            return False
        await do(self._chance.choice(able))
        return True

    async def _kill(self, member: Member) -> None:
        await member.kill()
        self._later(self._replace(member))

    async def _tell_to_end(self, member: Member) -> None:
        member.terminate()
        self._later(self._replace(member))

    async def _put_to_sleep(self, member: Member) -> None:
        member.pause()
        self._later(self._wake(member, self._chance.uniform(*LONG_SLEEP_S)))

    async def _put_to_nap(self, member: Member) -> None:
        member.pause()
        self._later(self._wake(member, self._chance.uniform(*SHORT_SLEEP_S)))

    async def _wake(self, member: Member, after_s: float) -> None:
        await lapse(after_s)
        member.resume()
        await lapse(GRACE_S)
        await self._crowd.look()  # is there anything of what it wrote late?

    async def _replace(self, member: Member) -> None:
        await member.ended()
        await self._fleet.hire(member.room)

    def _later(self, repair: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(repair)
        self._repairs.add(task)
        task.add_done_callback(self._repairs.discard)

    # services

    async def _redis_restarted(self) -> bool:
        redis = self._fleet.services.redis
        await asyncio.to_thread(redis.stop)
        await self._while_away()
        await asyncio.to_thread(redis.start)
        return True

    async def _redis_slept(self) -> bool:
        redis = self._fleet.services.redis
        redis.pause()
        await self._while_away()
        redis.resume()
        return True

    async def _redis_emptied(self) -> bool:
        redis = self._fleet.services.redis
        await self._calm()
        await asyncio.to_thread(redis.stop)
        await self._settled()  # from here on the store has it all, so anybody may die
        await self._while_away()
        await asyncio.to_thread(redis.restart, empty=True)
        return True

    async def _redis_killed(self) -> bool:
        redis = self._fleet.services.redis
        await self._calm()
        await asyncio.to_thread(redis.kill)
        await self._settled()
        await self._while_away()
        await asyncio.to_thread(redis.start)  # with what it had when it was last stopped, or with nothing
        return True

    async def _redis_flushed(self) -> bool:
        await self._calm()
        async with Redis.from_url(self._fleet.services.redis_url) as client:
            await client.flushall()
        await self._settled()
        return True

    async def _group_gone(self) -> bool:
        async with Redis.from_url(self._fleet.services.redis_url) as client:
            await client.delete(f"{self._fleet.prefix}:in")
        return True

    async def _postgres_restarted(self) -> bool:
        postgres = self._fleet.services.postgres
        await asyncio.to_thread(postgres.stop)
        await self._while_away()
        await asyncio.to_thread(postgres.start)
        return True

    async def _postgres_killed(self) -> bool:
        postgres = self._fleet.services.postgres
        await asyncio.to_thread(postgres.kill)
        await self._while_away()
        await asyncio.to_thread(postgres.start)
        return True

    async def _postgres_slept(self) -> bool:
        postgres = self._fleet.services.postgres
        await asyncio.to_thread(postgres.pause)
        await self._while_away()
        await asyncio.to_thread(postgres.resume)
        return True

    async def _while_away(self) -> None:
        """Leave a service away for a while, and now and then have somebody die meanwhile."""
        if self._chance.random() < 0.4:
            await self._do(self._chance.choice(["worker killed", "gateway killed"]))
        # Seldom for long: mostly it is the moment that matters.
        await lapse(self._longest_s * self._chance.random() ** 4)

    async def _calm(self) -> None:
        """Return when every run has an owner who is awake, and the store has what the stream had of it then."""
        await until("every run has an owner who is awake", self._owned)
        tails = {run_id: await self._tail(run_id) for run_id in self._crowd.seen()}
        await until("what was published is stored", lambda: self._stored(tails))
        await self._crowd.look()

    async def _settled(self) -> None:
        """Return when the store has all that waiters have seen of what was published up to now."""
        await lapse(BATCH_S)  # in which a gateway hands on what it has, and a worker stores what he has published
        seen = dict(self._crowd.seen())
        await until("what was seen is stored", lambda: self._stored(seen))

    async def _owned(self) -> bool | None:
        query = "SELECT owner, leased_until > now() FROM {}.runs WHERE status IN ('running', 'streaming')"
        statement = sql.SQL(query).format(sql.Identifier(self._fleet.prefix))
        async with await psycopg.AsyncConnection.connect(self._fleet.services.database_url) as connection:
            rows = await (await connection.execute(statement)).fetchall()
        able = {worker.pid for worker in self._fleet.workers if _able(worker)}
        return all(leased and owner and int(owner.split("-")[-2]) in able for owner, leased in rows) or None

    async def _tail(self, run_id: str) -> int:
        return max((event.seq for event in await self._fleet.ports.output.entries(run_id)), default=-1)

    async def _stored(self, wanted: Mapping[str, int]) -> bool | None:
        for run_id, seq in wanted.items():
            stored = await self._fleet.ports.store.run(run_id)
            if stored is None or (-1 if stored.last_seq is None else stored.last_seq) < seq:
                return None
        return True


def _able(member: Member) -> bool:
    """Whether it is at work, and will be."""
    return not (member.paused or member.told)
