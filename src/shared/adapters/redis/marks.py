"""Marks: keys that expire. Only their being there means something."""

from datetime import timedelta

from shared.adapters.redis.connect import Server
from shared.adapters.redis.keys import Keys
from shared.adapters.redis.protocol import milliseconds
from shared.ports import Mark

MARKS = tuple(Mark)
"""The order in which marks are asked for; `append.lua` answers a bit for each."""


class RedisMarks:
    """`Marks` on Redis."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys

    async def set(self, run_id: str, mark: Mark, ttl: timedelta) -> None:
        """Set a mark; it expires after `ttl`."""
        life = milliseconds(ttl)
        if life <= 0:  # the server calls this an error; the port says it is gone at once
            await self.clear(run_id, mark)
        else:
            await self._server.command("SET", self._keys.mark(run_id, mark), "1", "PX", life)

    async def read(self, run_id: str) -> frozenset[Mark]:
        """Return the marks that are set and not expired."""
        values = await self._server.command("MGET", *(self._keys.mark(run_id, mark) for mark in MARKS))
        assert isinstance(values, list)
        return frozenset(mark for mark, value in zip(MARKS, values, strict=True) if value is not None)

    async def clear(self, run_id: str, mark: Mark) -> None:
        """Remove a mark."""
        await self._server.command("DEL", self._keys.mark(run_id, mark))
