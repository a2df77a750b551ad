"""One connection shared by all commands that answer at once.

Each command is sent as soon as it is called, without waiting for the replies to earlier ones; the server replies in the
order of the commands, so the next reply belongs to the caller who has waited longest. What is called at the same time
thus travels together, and nobody waits for a free connection. Whoever is cancelled only leaves: the reply is read
all the same, and dropped.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from redis import exceptions
from redis.asyncio.connection import AbstractConnection

from shared.adapters.redis.protocol import Reply

CONNECT_S: Final = 2.0
ANSWER_S: Final = 5.0
"""How long a command may take. Its connection is given up then: what is behind it may be dead."""


class Pipe:
    """The shared connection, made by `connect` at the first command, and anew by the first after it was lost."""

    def __init__(self, connect: Callable[[], AbstractConnection]) -> None:
        self._connect = connect
        self._connection: AbstractConnection | None = None
        self._opening: asyncio.Task[AbstractConnection] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: deque[asyncio.Future[Reply]] = deque()

    async def call(self, packed: bytes) -> Reply:
        """Send one packed command and return its reply.

        Raises:
            RedisError: the reply is an error, the connection was lost, or none could be made.
            TimeoutError: there was no reply within `ANSWER_S`.
        """
        connection = self._connection or await self._open()
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append(reply)
        try:
            async with asyncio.timeout(ANSWER_S):
                # Nothing is awaited between the line above and the write, so commands and futures have one order.
                await connection.send_packed_command(packed, check_health=False)
                return await reply
        except TimeoutError:
            if self._connection is connection and self._reader is not None:
                self._reader.cancel()
            raise

    async def close(self) -> None:
        """Close the connection. Whoever waits for a reply gets an error."""
        for task in (self._opening, self._reader):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError, exceptions.RedisError, OSError):
                    await task

    async def _open(self) -> AbstractConnection:
        """Return a new connection; all who ask meanwhile share the attempt and its outcome."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._make())
            self._opening.add_done_callback(self._opened)
        return await asyncio.shield(self._opening)

    async def _make(self) -> AbstractConnection:
        connection = self._connect()
        try:
            # redis-py bounds the connecting alone, not the greeting that follows.
            async with asyncio.timeout(CONNECT_S):
                await connection.connect()  # type: ignore[no-untyped-call]
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        self._connection = connection
        self._reader = asyncio.create_task(self._read(connection, self._waiting))
        return connection

    def _opened(self, attempt: "asyncio.Task[AbstractConnection]") -> None:
        self._opening = None
        if not attempt.cancelled():
            attempt.exception()  # looked at: all who waited for it may have been cancelled

    async def _read(self, connection: AbstractConnection, waiting: "deque[asyncio.Future[Reply]]") -> None:
        lost: Exception = exceptions.ConnectionError("the connection was closed")
        try:
            while True:
                try:
                    reply: Reply = await connection.read_response(timeout=math.inf)
                except exceptions.ResponseError as refusal:
                    _settle(waiting.popleft(), refusal)
                else:
                    future = waiting.popleft()
                    if not future.done():
                        future.set_result(reply)
        except (exceptions.RedisError, OSError) as error:
            lost = error
        finally:
            # The next command makes a connection of its own, with a queue of its own.
            self._connection, self._waiting = None, deque()
            for future in waiting:
                _settle(future, lost)
            await connection.disconnect(nowait=True)


def _settle(future: "asyncio.Future[Reply]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
