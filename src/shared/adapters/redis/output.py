"""The output streams: one per run, fenced when written, read by whoever follows."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from shared.adapters.redis.channel import READ, Follower
from shared.adapters.redis.connect import Script, Server
from shared.adapters.redis.entries import UNREADABLE, entries_of, event_of, position_of
from shared.adapters.redis.keys import Keys
from shared.adapters.redis.lanes import PAUSE, PAUSE_CAP, Lanes
from shared.adapters.redis.marks import MARKS
from shared.adapters.redis.protocol import Argument, milliseconds
from shared.backoff import delay
from shared.errors import Fenced, Unavailable
from shared.events import Event
from shared.ports import Mark

SPARE_LIFE: Final = timedelta(hours=24)
"""The life of a stream and a fence that nobody has expired yet. A run that is not over by then loses nothing: the
store has its events, and its next append begins the stream again."""

_APPEND = Script("append.lua")
_RAISE_FENCE = Script("raise_fence.lua")
_FENCED: Final = -1


class RedisOutputStream:
    """`OutputStream` on Redis."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys
        self._lanes = Lanes(server, keys)

    async def append(self, events: Sequence[Event], attempt: int) -> frozenset[Mark]:
        """Append events of one run, fenced by `attempt`, and return the run's marks."""
        run_id = events[0].run_id
        keys = [self._keys.output(run_id), self._keys.fence(run_id)]
        keys += [self._keys.mark(run_id, mark) for mark in MARKS]
        arguments: list[Argument] = [attempt, milliseconds(SPARE_LIFE)]
        for event in events:
            arguments += (event.seq, event.kind.value, event.data)
        answer = await self._server.script(_APPEND, keys, arguments)
        assert isinstance(answer, int)
        if answer == _FENCED:
            raise Fenced(run_id, attempt)
        return frozenset(mark for bit, mark in enumerate(MARKS) if answer & 1 << bit)

    async def raise_fence(self, run_id: str, attempt: int) -> None:
        """Refuse every later append whose attempt is below `attempt`."""
        await self._server.script(_RAISE_FENCE, [self._keys.fence(run_id)], [attempt, milliseconds(SPARE_LIFE)])

    async def entries(self, run_id: str) -> Sequence[Event]:
        """Return what the stream holds, oldest first, but for what cannot be read.

        A later version may have kinds of events that this one does not know. Who takes such a run over has most of
        them in the store already, and must not be stopped by them for ever.
        """
        entries = await self._server.command("XRANGE", self._keys.output(run_id), "-", "+")
        assert isinstance(entries, list)
        events: list[Event] = []
        for entry in entries:
            with suppress(*UNREADABLE):
                events.append(event_of(run_id, entry))
        return events

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Yield all entries from the stream's start, without end.

        A follower first reads by itself what is there, then joins a lane. It comes back to reading by itself when it
        was too slow for the lane.
        """
        follower = Follower(run_id, self._keys.output(run_id))
        try:
            while True:
                events = await self._read_on(follower)
                if events:
                    yield events
                if len(events) == READ:
                    continue
                self._lanes.join(follower)
                while events := await follower.take():
                    yield events
        finally:
            self._lanes.leave(follower)

    async def expire(self, run_id: str, ttl: timedelta) -> None:
        """Let stream and fence vanish `ttl` from now. A write keeps the life that a key has."""
        life = max(milliseconds(ttl), 0)
        for key in (self._keys.output(run_id), self._keys.fence(run_id)):
            await self._server.command("PEXPIRE", key, life)

    async def close(self) -> None:
        """End the lanes. Whoever still follows hears nothing any more."""
        await self._lanes.close()

    async def _read_on(self, follower: Follower) -> list[Event]:
        failures = 0
        while True:
            try:
                reply = await self._server.command("XREAD", "COUNT", READ, "STREAMS", follower.key, follower.taken)
            except Unavailable:
                failures += 1
                await asyncio.sleep(delay(failures, PAUSE_CAP, PAUSE).total_seconds())
                continue
            entries = entries_of(reply)
            if entries:
                follower.taken = follower.at = position_of(entries[-1])
            return [event_of(follower.run_id, entry) for entry in entries]
