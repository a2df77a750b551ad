"""One Redis server: its connections, its errors in our words, and the check that it will do.

Commands answer at once and share one connection (`pipe.py`). Blocking reads have connections of their own, because such
a connection is busy for as long as it blocks, and is closed when its reader is cancelled: the reply would still
come, and be taken for the reply to the next command.

redis-py's clients are not used, only its connections: what a reply looks like is then the protocol's affair and not
that of a client's version.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from hashlib import sha1
from importlib import resources
from typing import Final

from redis import exceptions
from redis.asyncio.connection import AbstractConnection, BlockingConnectionPool, Connection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from shared.adapters.redis.pipe import ANSWER_S, CONNECT_S, Pipe, is_demoted
from shared.adapters.redis.protocol import Argument, Reply, pack
from shared.errors import Misconfigured, Unavailable

OLDEST: Final = (6, 2)
"""The first version with XAUTOCLAIM."""

BLOCKING: Final = 8
"""Connections for blocking reads: the readers of the output streams (4) and whoever takes from the input stream."""

START_S: Final = 3.0

_OF_A_POOL: Final = frozenset({"max_connections", "timeout"})
"""What an address may say of redis-py's pools. How many connections there are, and who waits how long, is said here."""


class Script:
    """A Lua script of this package; the server knows it by its digest once it has run."""

    def __init__(self, name: str) -> None:
        self.source = resources.files(__package__).joinpath(name).read_bytes()
        self.digest = sha1(self.source, usedforsecurity=False).hexdigest()


def _options(url: str) -> dict[str, object]:
    """Read the address; what we have to decide ourselves wins over what it says.

    Raises:
        Misconfigured: it is none.
    """
    try:
        given = parse_url(url)
    except ValueError:
        # Not chained, not quoted: the library's text may hold a part of what it could not read, such as the password.
        raise Misconfigured("bus", "REDIS_URL is not an address", "write redis://user:password@host:port/0") from None
    options: dict[str, object] = {
        "connection_class": Connection,
        **given,
        # The shape of replies differs between the versions of the protocol; redis-py 8 would ask for the third.
        "protocol": 2,
        # A reply is bytes, and what is read of it says so.
        "decode_responses": False,
        "socket_connect_timeout": CONNECT_S,
        # redis-py's own limit (5 s unless told otherwise) would end a longer block. `Pipe` and `Line` bound every read,
        # each by what it is for.
        "socket_timeout": None,
        # Not repeated here: whether a command whose reply was lost was carried out, only its caller can judge.
        "retry": Retry(NoBackoff(), 0),
        "retry_on_error": [],
        # A lost connection is found by reading it (the pipe always does) or by a look at its socket (the pool).
        "health_check_interval": 0,
    }
    return {name: value for name, value in options.items() if name not in _OF_A_POOL}


def _pool(options: Mapping[str, object], size: int, client_name: str) -> BlockingConnectionPool:
    named = {**options, "client_name": client_name}
    return BlockingConnectionPool(size, CONNECT_S, **named)  # type: ignore[arg-type]  # redis-py checks them, by name


class Server:
    """A Redis or Valkey server. Nothing is connected before the first command.

    Every call raises `Unavailable` when the server does not do its part, `Misconfigured` when it never will.
    """

    def __init__(self, url: str, client_name: str) -> None:
        options = _options(url)
        self.address = str(options.get("path") or f"{options.get('host', 'localhost')}:{options.get('port', 6379)}")
        self._closed = False
        commands = _pool(options, 1, f"{client_name}:commands")
        try:
            commands.make_connection()  # type: ignore[no-untyped-call]  # connects nowhere yet
        except (exceptions.RedisError, TypeError, ValueError):
            problem = "REDIS_URL has an option, behind its question mark, that is of no use here"
            raise Misconfigured("bus", problem, "mend REDIS_URL: redis://user:password@host:port/0") from None
        self._pipe = Pipe(commands.make_connection)
        self._lines = _pool(options, BLOCKING, f"{client_name}:blocking")

    async def command(self, *command: Argument) -> Reply:
        """Send one command and return its reply."""
        with self._translated():
            return await self._call(pack(*command))

    async def script(self, script: Script, keys: list[str], arguments: list[Argument]) -> Reply:
        """Run a script, which may be new to the server: it was restarted, or dropped its scripts."""
        call: tuple[Argument, ...] = (len(keys), *keys, *arguments)
        with self._translated():
            try:
                return await self._call(pack("EVALSHA", script.digest, *call))
            except exceptions.NoScriptError:
                return await self._call(pack("EVAL", script.source, *call))

    @asynccontextmanager
    async def line(self) -> "AsyncIterator[Line]":
        """Lend a connection for blocking reads. It is closed when a read is cancelled or fails."""
        with self._translated():
            self._check_open()
            async with asyncio.timeout(CONNECT_S):
                connection: AbstractConnection = await self._lines.get_connection()  # type: ignore[no-untyped-call]
            try:
                yield Line(connection)
            finally:
                await self._lines.release(connection)

    async def check(self) -> None:
        """Return when the server answers, within `START_S`, and will do."""
        try:
            async with asyncio.timeout(START_S):
                about = await self.command("INFO", "server")
        except TimeoutError:
            raise Unavailable("bus", f"{self.address} did not answer within {START_S:.0f} s") from None
        assert isinstance(about, bytes)
        facts = dict(line.split(":", 1) for line in about.decode().splitlines() if ":" in line)
        if facts.get("redis_mode") == "cluster":
            problem = f"{self.address} is a node of a cluster, and a lane reads streams of many slots at once"
            raise Misconfigured("bus", problem, "give it a single server")
        version = facts["redis_version"]
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
            problem = f"the Redis at {self.address} is version {version}, which is too old"
            raise Misconfigured("bus", problem, "give it Redis 6.2 or newer, or Valkey")

    async def ping(self) -> None:
        """Return when the server answers, within `START_S`."""
        try:
            async with asyncio.timeout(START_S):
                await self.command("PING")
        except TimeoutError:
            raise Unavailable("bus", f"{self.address} did not answer within {START_S:.0f} s") from None

    async def close(self) -> None:
        """Close all connections; calls afterwards raise `Unavailable`. Closing twice is fine."""
        self._closed = True
        await self._pipe.close()
        await self._lines.disconnect()

    async def _call(self, packed: bytes) -> Reply:
        self._check_open()
        return await self._pipe.call(packed)

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("bus", f"the connection to {self.address} was closed")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except exceptions.AuthenticationError as error:
            problem = f"{self.address} refuses our user name or password"
            raise Misconfigured("bus", problem, "mend REDIS_URL: redis://user:password@host:port/0") from error
        except exceptions.NoPermissionError as error:
            raise Misconfigured("bus", f"{self.address}: {error}", "give the user the rights for it") from error
        except (exceptions.RedisError, OSError, TimeoutError) as error:
            raise Unavailable("bus", f"{self.address}: {str(error) or 'no answer in time'}") from error


class Line:
    """A connection that is this caller's alone: its commands may block."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection = connection

    async def call(self, packed: bytes, block: timedelta = timedelta(0)) -> Reply:
        """Send one packed command that blocks for up to `block`, and return its reply."""
        (reply,) = await self.calls(packed, 1, block)
        return reply

    async def calls(self, packed: bytes, replies: int, block: timedelta = timedelta(0)) -> list[Reply]:
        """Send packed commands in one piece and return their replies; the first that is an error is raised."""
        async with asyncio.timeout(block.total_seconds() + ANSWER_S):
            await self._send(packed)
            answers = [await self._answer() for _ in range(replies)]  # all of them: none may be left for the next call
        for answer in answers:
            if isinstance(answer, exceptions.ResponseError):
                if is_demoted(answer):
                    await self._connection.disconnect(nowait=True)
                raise answer
        return [answer for answer in answers if not isinstance(answer, exceptions.ResponseError)]

    async def _send(self, packed: bytes) -> None:
        try:
            await self._connection.send_packed_command(packed, check_health=False)
        except RuntimeError as error:  # uvloop's word for a connection that was reset since the last call
            raise exceptions.ConnectionError(str(error)) from error

    async def _answer(self) -> "Reply | exceptions.ResponseError":
        try:
            reply: Reply = await self._connection.read_response(timeout=math.inf)
        except exceptions.ResponseError as refusal:
            return refusal
        return reply


def error_code(error: Unavailable) -> str:
    """Return the code of the server's error reply ("NOGROUP", …), "" when it was none."""
    reply = error.__cause__
    return str(reply).partition(" ")[0] if isinstance(reply, exceptions.ResponseError) else ""
