"""One connection shared by all commands that answer at once.

A command is sent without waiting for the replies to earlier ones. The server replies in the order of the commands, so
the next reply belongs to the caller who has waited longest. What is called at the same time travels together, and
nobody waits for a free connection. Whoever is cancelled only leaves: what is under way for it is sent and read all
the same, and the reply dropped.
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
        self._exchange: Exchange | None = None
        self._opening: asyncio.Task[Exchange] | None = None

    async def call(self, packed: bytes) -> Reply:
        """Send one packed command and return its reply.

        Raises:
            RedisError: the reply is an error, the connection was lost, or none could be made.
            TimeoutError: there was no reply within `ANSWER_S`, or no connection within `CONNECT_S`.
        """
        exchange = self._exchange
        if exchange is None or exchange.ended:
            exchange = await self._open()
        try:
            async with asyncio.timeout(ANSWER_S):
                return await exchange.ask(packed)
        except TimeoutError:
            exchange.give_up()
            raise

    async def close(self) -> None:
        """Close the connection. Whoever waits for a reply gets an error."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        if self._exchange is not None:
            await self._exchange.close()

    async def _open(self) -> "Exchange":
        """Return a new exchange; all who ask meanwhile share the attempt and its outcome."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._make())
            self._opening.add_done_callback(self._opened)
        return await asyncio.shield(self._opening)

    async def _make(self) -> "Exchange":
        connection = self._connect()
        try:
            # redis-py bounds the connecting alone, not the greeting that follows.
            async with asyncio.timeout(CONNECT_S):
                await connection.connect()  # type: ignore[no-untyped-call]
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        self._exchange = Exchange(connection)
        return self._exchange

    def _opened(self, attempt: "asyncio.Task[Exchange]") -> None:
        self._opening = None
        if not attempt.cancelled():
            attempt.exception()  # looked at: all who waited for it may have been cancelled


class Exchange:
    """What goes on over one connection, from its beginning to its loss."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection = connection
        self._waiting: deque[asyncio.Future[Reply]] = deque()
        self._unsent: list[bytes] = []
        self._more = asyncio.Event()
        self._sender = asyncio.create_task(self._send())
        self._reader = asyncio.create_task(self._read())
        self.ended = False

    def ask(self, packed: bytes) -> "asyncio.Future[Reply]":
        """Put a command in line and return its reply to come."""
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append(reply)
        self._unsent.append(packed)
        self._more.set()
        return reply

    def give_up(self) -> None:
        """Close the connection without waiting for anything."""
        self.ended = True
        self._reader.cancel()

    async def close(self) -> None:
        """Close the connection and wait until that is done."""
        self.give_up()
        await asyncio.gather(self._reader, self._sender, return_exceptions=True)

    async def _send(self) -> None:
        # A task of its own: redis-py closes a connection when a send is cancelled, and callers are cancelled at will.
        # The reader meets the same loss, and tells those who wait. A RuntimeError is uvloop's word for it.
        with suppress(exceptions.RedisError, OSError, RuntimeError):
            while True:
                await self._more.wait()
                self._more.clear()
                packed, self._unsent = b"".join(self._unsent), []
                await self._connection.send_packed_command(packed, check_health=False)

    async def _read(self) -> None:
        lost: Exception = exceptions.ConnectionError("the connection was closed")
        try:
            while True:
                try:
                    reply: Reply = await self._connection.read_response(timeout=math.inf)
                except exceptions.ResponseError as refusal:
                    _settle(self._waiting.popleft(), refusal)
                    if is_demoted(refusal):
                        return
                else:
                    future = self._waiting.popleft()
                    if not future.done():
                        future.set_result(reply)
        except (exceptions.RedisError, OSError) as error:
            lost = error
        finally:
            self.ended = True
            self._sender.cancel()
            for future in self._waiting:
                _settle(future, lost)
            await self._connection.disconnect(nowait=True)


def is_demoted(refusal: exceptions.ResponseError) -> bool:
    """Tell whether a server refuses to be written to: another has taken its place, and a new connection finds that one.

    Before Redis 7, a script's refusal is quoted in an error of the script.
    """
    return isinstance(refusal, exceptions.ReadOnlyError) or "-READONLY" in str(refusal)


def _settle(future: "asyncio.Future[Reply]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
