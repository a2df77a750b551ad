"""Lanes: a few connections that read the output streams of all followers of this process.

A lane is one connection that blocks on many streams at once (XREAD with a position for each, never `$`). What arrives
is decoded once and given to every follower of its run. Who wants to join a lane that is blocked wakes it through a
stream that only this lane reads.

A stream's position belongs to the lane; every follower has its own as well, and takes no entry at or before
it. So a follower may join at any position: the lane goes back to it, and nobody gets an entry twice.
"""

import asyncio
import secrets
from contextlib import suppress
from datetime import timedelta
from typing import Final

from shared.adapters.redis.channel import READ, Channel, Follower
from shared.adapters.redis.connect import Line, Script, Server
from shared.adapters.redis.entries import START, order, position_of
from shared.adapters.redis.keys import Keys
from shared.adapters.redis.protocol import Argument, milliseconds, pack, pack_argument
from shared.backoff import delay
from shared.errors import Unavailable
from shared.logs import logger

log = logger("bus")

LANES: Final = 4
CROWDED: Final = 64
"""Streams in a lane from which on another lane is opened: the server's work for one read grows with its streams."""

LOOK_EVERY: Final = timedelta(seconds=2)
"""How long a read blocks, and how often streams are looked at for having begun again."""

REST: Final = timedelta(microseconds=200)
REST_LEAST: Final = timedelta(milliseconds=2)
REST_MOST: Final = timedelta(milliseconds=10)
"""The least time from the end of one read to that of the next: so much for each stream, within these bounds. A read
costs the same for one entry as for many, and more for more streams; what arrives while a lane rests comes with the next
read. A run that is no faster than a reader's eye never waits for it alone."""

TURNS: Final = 3
"""Turns of the event loop that a lane lets pass before it reads on: what it has read first gets to where it goes."""

PAUSE: Final = timedelta(milliseconds=50)
PAUSE_CAP: Final = timedelta(seconds=2)
"""The pauses before trying again while the server is away: from 50 ms to 2 s."""

_WAKE = Script("wake.lua")
_WAKE_LIFE: Final = timedelta(minutes=1)


class Lane:
    """One connection and the streams it reads. It lives until it is closed, with or without streams."""

    def __init__(self, server: Server, wake_key: str) -> None:
        self.channels: dict[bytes, Channel] = {}
        self._server = server
        self._wake_key = wake_key
        self._packed_wake_key = pack_argument(wake_key)
        self._woken_at = START
        self._wakes = 0
        self._changed = asyncio.Event()
        self._look_at = 0.0
        self._rested_at = 0.0
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._wake())]

    def wake(self) -> None:
        """Have the lane begin its read anew, with the streams it has now."""
        self._changed.set()

    async def close(self) -> None:
        """End the lane and close its connection."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task

    async def _read(self) -> None:
        failures = 0
        while True:
            try:
                async with self._server.line() as line:
                    self._look_at = 0.0
                    while True:
                        await self._read_once(line)
                        await self._rest()
                        failures = 0
            except Exception as fault:
                if not isinstance(fault, Unavailable):  # nobody waits for this task, and all its streams wait for it
                    log.exception("lane_crashed")
                failures += 1
                await asyncio.sleep(delay(failures, PAUSE_CAP, PAUSE).total_seconds())

    async def _read_once(self, line: Line) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._look_at:
            self._look_at = now + LOOK_EVERY.total_seconds()
            await self._look(line)
        sent = {key: channel.at for key, channel in self.channels.items()}
        reply = await line.call(self._request(), LOOK_EVERY)
        assert reply is None or isinstance(reply, list)
        for stream in reply or ():
            assert isinstance(stream, list)
            key, entries = stream
            assert isinstance(key, bytes) and isinstance(entries, list)
            channel = self.channels.get(key)
            if channel is None:
                if key == self._wake_key.encode():
                    self._woken_at = position_of(entries[-1])
            elif channel.at == sent.get(key):
                channel.deliver(entries)

    async def _rest(self) -> None:
        for _ in range(TURNS):
            await asyncio.sleep(0)
        now = asyncio.get_running_loop().time()
        rest = min(max(len(self.channels) * REST, REST_LEAST), REST_MOST)
        until = self._rested_at + rest.total_seconds()
        if until > now:
            await asyncio.sleep(until - now)
        self._rested_at = max(now, until)

    def _request(self) -> bytes:
        channels = self.channels.values()
        head: tuple[Argument, ...] = (b"XREAD", b"COUNT", READ, b"BLOCK", milliseconds(LOOK_EVERY), b"STREAMS")
        parts = [b"*%d\r\n" % (len(head) + 2 + 2 * len(channels)), *map(pack_argument, head), self._packed_wake_key]
        parts += [channel.packed_key for channel in channels]
        parts.append(pack_argument(self._woken_at))
        parts += [channel.packed_at for channel in channels]
        return b"".join(parts)

    async def _look(self, line: Line) -> None:
        """Find the streams that have vanished or begun again, with smaller ids: after a restart, or an expiry."""
        channels = list(self.channels.values())
        if not channels:
            return
        # As they stand before the server is asked: who joins meanwhile may rightly be further than its answer.
        stands = [[(follower, follower.at) for follower in channel.followers] for channel in channels]
        packed = b"".join(pack("XREVRANGE", channel.key, "+", "-", "COUNT", 1) for channel in channels)
        answers = await line.calls(packed, len(channels))
        for channel, standing, newest in zip(channels, stands, answers, strict=True):
            assert isinstance(newest, list)
            end = order(position_of(newest[0]) if newest else START)
            for follower, at in standing:
                if order(at) > end:
                    channel.begin_again(follower)

    async def _wake(self) -> None:
        failures = 0
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._wakes += 1
            try:
                await self._server.script(_WAKE, [self._wake_key], [self._wakes, milliseconds(_WAKE_LIFE)])
                failures = 0
            except Unavailable:
                self._changed.set()
                failures += 1
                await asyncio.sleep(delay(failures, PAUSE_CAP, PAUSE).total_seconds())


class Lanes:
    """All lanes of one process."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys
        self._lanes: list[Lane] = []
        self._places: dict[str, tuple[Lane, Channel]] = {}

    def join(self, follower: Follower) -> None:
        """Have a follower's stream read from where the follower stands."""
        place = self._places.get(follower.key)
        if place is None:
            place = self._places[follower.key] = self._open(follower)
            place[0].wake()
        lane, channel = place
        if order(follower.at) < order(channel.at):
            channel.go_to(follower.at)
            lane.wake()
        channel.followers.append(follower)
        follower.joined = True

    def leave(self, follower: Follower) -> None:
        """Forget a follower. Leaving twice, or without having joined, is fine."""
        place = self._places.get(follower.key)
        if place is None:
            return
        lane, channel = place
        if follower in channel.followers:
            channel.followers.remove(follower)
        if not channel.followers:
            del self._places[follower.key], lane.channels[follower.key.encode()]

    async def close(self) -> None:
        """End all lanes."""
        for lane in self._lanes:
            await lane.close()
        self._lanes.clear()

    def _open(self, follower: Follower) -> tuple[Lane, Channel]:
        lane, channel = self._roomy(), Channel(follower.run_id, follower.key, follower.at)
        lane.channels[follower.key.encode()] = channel
        return lane, channel

    def _roomy(self) -> Lane:
        """Return the lane with the fewest streams; a new one when all are crowded."""
        lane = min(self._lanes, key=lambda lane: len(lane.channels), default=None)
        if lane is None or (len(lane.channels) >= CROWDED and len(self._lanes) < LANES):
            lane = Lane(self._server, self._keys.wake(secrets.token_hex(8)))
            self._lanes.append(lane)
        return lane
