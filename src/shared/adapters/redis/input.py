"""The input queue: one stream and one consumer group."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from shared.adapters.redis.connect import Script, Server, error_code
from shared.adapters.redis.keys import Keys
from shared.adapters.redis.protocol import Argument, Reply, milliseconds, pack
from shared.errors import Unavailable
from shared.ports import Delivery

GROUP: Final = "workers"
MAKINGS: Final = 3
"""How often one call makes the group. It is once, or once more when the service is emptied under a call that blocks."""

DEAD_AFTER: Final = timedelta(days=1)
"""The silence of a consumer after which it is forgotten, if it has nothing pending. Each worker that begins has a new
name, and the group would remember them all. One that is alive is heard of every few seconds."""
FORGET_EVERY: Final = timedelta(hours=1)

_ACKNOWLEDGE = Script("acknowledge.lua")
_FORGET = Script("forget.lua")
_GONE: Final = frozenset({"NOGROUP", "UNBLOCKED"})
"""What the server says when stream or group are gone: to a call that comes, and to one that was blocked."""
_DONE: Final = b"0-0"
"""The position that XAUTOCLAIM answers when it has seen all pending entries."""


class RedisInputQueue:
    """`InputQueue` on Redis."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._key = keys.input
        self._forget_at = 0.0

    async def put(self, session_id: str) -> None:
        """Ring the doorbell of a session."""
        await self._server.command("XADD", self._key, "*", "s", session_id)

    async def take(self, consumer: str, count: int, block: timedelta) -> Sequence[Delivery]:
        """Take up to `count` new entries, waiting up to `block` for the first."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + block.total_seconds()
        for _ in range(MAKINGS):
            left = timedelta(seconds=max(deadline - loop.time(), 0))
            try:
                return await self._take(consumer, count, left)
            except Unavailable as error:
                await self._make_group(error)
        raise Unavailable("bus", f"the group of {self._key} vanished {MAKINGS} times in one call")

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Remove entries for good."""
        if deliveries:
            await self._server.script(_ACKNOWLEDGE, [self._key], [GROUP, *(delivery.id for delivery in deliveries)])

    async def reclaim(self, consumer: str, idle: timedelta, count: int) -> Sequence[Delivery]:
        """Take over up to `count` entries that have been pending for `idle`; oldest first."""
        await self._forget_the_dead()
        try:
            return await self._reclaim(consumer, idle, count)
        except Unavailable as error:
            await self._make_group(error)
            return []

    async def depth(self) -> int:
        """Return how many entries are in the stream."""
        length = await self._server.command("XLEN", self._key)
        assert isinstance(length, int)
        return length

    async def _take(self, consumer: str, count: int, block: timedelta) -> list[Delivery]:
        head: list[Argument] = ["XREADGROUP", "GROUP", GROUP, consumer, "COUNT", count]
        tail: list[Argument] = ["STREAMS", self._key, ">"]
        wait = milliseconds(block)
        if wait <= 0:  # BLOCK 0 would wait for ever
            return _deliveries(await self._server.command(*head, *tail))
        async with self._server.line() as line:
            return _deliveries(await line.call(pack(*head, "BLOCK", wait, *tail), block))

    async def _reclaim(self, consumer: str, idle: timedelta, count: int) -> list[Delivery]:
        taken: list[Delivery] = []
        start: Reply = _DONE
        while len(taken) < count:
            # A call looks at ten times COUNT pending entries and may return with fewer, or none: it is asked again.
            command: list[Argument] = ["XAUTOCLAIM", self._key, GROUP, consumer, milliseconds(idle)]
            reply = await self._server.command(*command, _bytes(start), "COUNT", count - len(taken))
            assert isinstance(reply, list)
            start, entries = reply[0], reply[1]
            taken.extend(_entries(entries))
            if start == _DONE:
                break
        return taken

    async def _forget_the_dead(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._forget_at:
            self._forget_at = now + FORGET_EVERY.total_seconds()
            with suppress(Unavailable):  # it is no more than tidy
                await self._server.script(_FORGET, [self._key], [GROUP, milliseconds(DEAD_AFTER)])

    async def _make_group(self, error: Unavailable) -> None:
        """Make the group, from the stream's beginning, if its absence was the error; else raise the error again."""
        if error_code(error) not in _GONE:
            raise error
        try:
            await self._server.command("XGROUP", "CREATE", self._key, GROUP, "0", "MKSTREAM")
        except Unavailable as refusal:
            if error_code(refusal) != "BUSYGROUP":  # somebody else was faster
                raise


def _bytes(reply: Reply) -> bytes:
    assert isinstance(reply, bytes)
    return reply


def _deliveries(reply: Reply) -> list[Delivery]:
    """Read the reply of XREADGROUP on one stream: nothing, or [[key, entries]]."""
    if reply is None:
        return []
    assert isinstance(reply, list) and isinstance(reply[0], list)
    return _entries(reply[0][1])


def _entries(entries: Reply) -> list[Delivery]:
    """Read entries: [id, [name, value]] each, or nothing for one that was deleted (XAUTOCLAIM before Redis 7)."""
    assert isinstance(entries, list)
    found: list[Delivery] = []
    for entry in entries:
        if isinstance(entry, list) and isinstance(entry[1], list):
            found.append(Delivery(_bytes(entry[0]).decode(), _bytes(entry[1][1]).decode()))
    return found
