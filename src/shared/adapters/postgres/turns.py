"""Who has a connection next: first come, first served, for as long as anybody is served.

A pool's own limit on waiting does not tell a database that is busy from one that is away. Where five hundred runs begin
at once, most of their calls would give up, come back, and stand at the end of the line again.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta


class NoTurn(Exception):
    """Nobody was served for as long as anybody waits."""


class Turns:
    """A number of places, and a line of those who wait for one. For one event loop."""

    def __init__(self, places: int, patience: timedelta) -> None:
        self._free = places
        self._patience_s = patience.total_seconds()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._served = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place and hold it while the block lasts; who comes out without an error was served.

        Raises:
            NoTurn: for the time of the patience, no block was left that way.
        """
        if self._free:  # nobody waits then
            self._free -= 1
        else:
            await self._wait()
        try:
            yield
            self._served += 1
        finally:
            self._pass_on()

    async def _wait(self) -> None:
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        try:
            while not mine.done():
                served = self._served
                await asyncio.wait((mine,), timeout=self._patience_s)
                if served == self._served and not mine.done():
                    raise NoTurn
        except BaseException:
            if mine.done():
                self._pass_on()
            mine.cancel()
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            following = self._waiting.popleft()
            if not following.done():  # it has left the line
                following.set_result(None)
                return
        self._free += 1
