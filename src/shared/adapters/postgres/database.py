"""One PostgreSQL database: its connections, its errors in our words.

Every statement is a transaction of its own (autocommit) and is prepared by the connection that runs it first.
"""

import asyncio
import logging
import os
import re
import select
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Final, TypeAlias, TypeVar

import psycopg
from psycopg import AsyncConnection, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import AsyncRowFactory, TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from shared.adapters.postgres.turns import NoTurn, Turns
from shared.errors import Misconfigured, Unavailable

T = TypeVar("T")
Connection: TypeAlias = AsyncConnection[TupleRow]

OLDEST: Final = 13
CONNECTIONS: Final = 8
"""Per process, one of them for what must not wait behind all the rest. A statement takes about 1 ms, so 64 runs that
flush five times a second keep one of them busy."""

CONNECT_S: Final = 3
ACQUIRE_S: Final = 2.0
"""How long a call waits for a connection while nobody gets one. Where the pool itself is waited for, it is by its own
limit, which leaves no connection behind, and not by ours."""
RECONNECT_S: Final = 2.0
"""After this long the pool gives a lost connection up, and the next call begins a new one. Each of its attempts waits
twice as long as the last: by its own limit, five minutes, a database that is back would go unnoticed for two."""
STATEMENT_S: Final = 5.0
"""How long the server may work on a statement; it ends it then."""
ANSWER_S: Final = 7.0
"""How long we wait for a server that does not even say that: then the connection is given up."""

_SETTINGS: Final = f"""
    SET statement_timeout = '{STATEMENT_S:.0f}s';
    SET idle_in_transaction_session_timeout = '{STATEMENT_S:.0f}s';
    SET default_transaction_isolation = 'read committed';
    SET plan_cache_mode = force_generic_plan;
    SET TimeZone = 'UTC'"""
# A statement that has waited for a row goes on with the row as it is then. With another isolation it would fail, and of
# two messages that come at once one would be refused.
# No value of ours changes what plan is best, and planning takes ten times as long as most of what is planned.

_PASSING: Final = ("starting up", "shutting down", "recovery", "too many", "reserved", "not accepting")
"""Words of a refusal that is over some time later; connection errors have no code that would tell."""

_WRITE: Final = "write postgresql://user:password@host:port/database"
_PORTS: Final = re.compile(r"[0-9,]*")  # one for each host

# What the pool has to say it says by raising, too. Without a handler it would write on the terminal of a command.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class Taken(Unavailable):
    """A unique constraint was violated. Never leaves the adapter."""

    def __init__(self, constraint: str) -> None:
        self.constraint = constraint
        super().__init__("store", f"a row violates {constraint}")


class Database:
    """The pool of connections to one database. Nothing is connected before `open`.

    Every call raises `Unavailable` when the server does not do its part, `Misconfigured` when it never will.
    """

    def __init__(self, url: str) -> None:
        self.address = _address(url)
        self._url = url
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            kwargs={"autocommit": True, "prepare_threshold": 0, "connect_timeout": CONNECT_S},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=ACQUIRE_S,
            open=False,
            reconnect_timeout=RECONNECT_S,
            configure=_configure,
            num_workers=2,
        )
        self._turns = Turns(CONNECTIONS - 1, timedelta(seconds=ACQUIRE_S))

    async def open(self) -> None:
        """Open the pool and wait for its first connection. Later ones, after a restart too, it makes by itself."""
        with self._translated():
            await self._pool.open(wait=True, timeout=CONNECT_S)

    async def close(self) -> None:
        """Close all connections; calls afterwards raise `Unavailable`. Closing twice is fine."""
        await self._pool.close()

    async def rows(self, statement: bytes, make: AsyncRowFactory[T], **values: object) -> list[T]:
        """Run a statement and return what `make` makes of each row."""
        async with self.connection() as connection:
            return await _fetched(connection, statement, make, values)

    async def urgent_rows(self, statement: bytes, make: AsyncRowFactory[T], **values: object) -> list[T]:
        """Do the same out of turn. For one call at a time: there is one connection for it."""
        with self._translated(), heeding_cancellation():
            async with self._lent() as connection:
                return await _fetched(connection, statement, make, values)

    async def row(self, statement: bytes, make: AsyncRowFactory[T], **values: object) -> T | None:
        """Run a statement and return what `make` makes of its only row, None when there is none."""
        rows = await self.rows(statement, make, **values)
        return rows[0] if rows else None

    async def change(self, statement: bytes, **values: object) -> int:
        """Run a statement and return how many rows it has changed."""
        async with self.connection() as connection:
            cursor = await connection.execute(statement, values)
            return cursor.rowcount

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """Make a connection beside the pool, once: what is wrong with the address is known by then, and said.

        Raises:
            Unavailable: nobody answers there within `CONNECT_S`.
            Misconfigured: somebody does, and refuses us or is too old.
        """
        with self._translated():
            try:
                async with asyncio.timeout(CONNECT_S):
                    connection = await AsyncConnection.connect(self._url, autocommit=True, connect_timeout=CONNECT_S)
            except TimeoutError:
                raise Unavailable("store", f"{self.address} did not answer within {CONNECT_S} s") from None
            except psycopg.OperationalError as error:
                raise self._refused(error) from error
            async with connection:
                self._check(connection)
                yield connection

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend a connection of the pool in turn; what is done with it has `ANSWER_S` altogether."""
        with self._translated(), heeding_cancellation():
            async with self._turns.turn(), self._lent() as connection:
                yield connection

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[Connection]:
        connection = await self._living()
        try:
            async with connection:
                with _bounded(connection):
                    yield connection
        finally:
            await self._pool.putconn(connection)

    async def _living(self) -> Connection:
        """Take a connection from the pool that the server has not closed.

        After a restart all idle ones are dead. The pool's own `check` would pause for a second between two of them.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + ACQUIRE_S
        while True:
            connection = await self._pool.getconn(deadline - loop.time())
            if not _is_dead(connection):
                return connection
            await connection.close()
            await self._pool.putconn(connection)  # which makes a new one in its place

    def _refused(self, error: psycopg.OperationalError) -> Unavailable:
        text = _one_line(error)
        _, fatal, reason = text.partition("FATAL: ")
        if not fatal or any(word in reason for word in _PASSING):
            return Unavailable("store", f"{self.address}: {reason.strip() or text}")
        problem = f"{self.address} refuses us: {reason.strip()}"
        return Misconfigured("store", problem, "mend DATABASE_URL: postgresql://user:password@host:port/database")

    def _check(self, connection: Connection) -> None:
        version, encoding = connection.info.server_version, connection.info.parameter_status("server_encoding")
        if version < OLDEST * 10_000:
            problem = f"the PostgreSQL at {self.address} is version {version // 10_000}, which is too old"
            raise Misconfigured("store", problem, f"give it PostgreSQL {OLDEST} or newer")
        if encoding != "UTF8":
            problem = f"the database at {self.address} has the encoding {encoding}, which cannot hold every text"
            raise Misconfigured("store", problem, "create one with ENCODING 'UTF8'")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except errors.UniqueViolation as error:
            raise Taken(error.diag.constraint_name or "?") from error
        except errors.InsufficientPrivilege as error:
            problem = f"{self.address}: {_one_line(error)}"
            raise Misconfigured("store", problem, "give the user of DATABASE_URL the rights for it") from error
        except (errors.UndefinedTable, errors.InvalidSchemaName, errors.UndefinedColumn) as error:
            problem = f"{self.address}: our schema is gone or damaged: {_one_line(error)}"
            raise Misconfigured("store", problem, "start again: what is missing is made at the start") from error
        except (PoolTimeout, NoTurn) as error:
            problem = f"no connection to {self.address} within {ACQUIRE_S:g} s"
            raise Unavailable("store", problem) from error
        except (psycopg.Error, OSError) as error:
            raise Unavailable("store", f"{self.address}: {_one_line(error)}") from error


async def _configure(connection: Connection) -> None:
    # Statements, not start-up options: a proxy between us and the server may refuse those.
    await connection.execute(_SETTINGS, prepare=False)


def _is_dead(connection: Connection) -> bool:
    """Tell whether the server has closed an idle connection: its socket says so, without a round trip."""
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


async def _fetched(
    connection: Connection, statement: bytes, make: AsyncRowFactory[T], values: Mapping[str, object]
) -> list[T]:
    cursor = connection.cursor(row_factory=make)
    await cursor.execute(statement, values)
    return await cursor.fetchall()


@contextmanager
def heeding_cancellation() -> Iterator[None]:
    """Cancel, at the block's end, a task that was cancelled in the block and has not noticed.

    psycopg's pool waits by `asyncio.wait_for`, which before Python 3.12 drops a cancellation that comes in the moment
    of what was waited for; and psycopg raises the server's error instead, where there is one. Whoever waits for the
    end of such a task would wait for ever.
    """
    task = asyncio.current_task()
    assert task is not None, "calls are made in a task"
    before = task.cancelling()
    try:
        yield
    finally:
        if task.cancelling() > before:
            raise asyncio.CancelledError


@contextmanager
def _bounded(connection: Connection) -> Iterator[None]:
    """Give a connection up when the server keeps silent: the statement then fails as if it had closed it.

    Cancelling would not do: psycopg then asks the same silent server to cancel, and waits for that.
    """
    timer = asyncio.get_running_loop().call_later(ANSWER_S, _hang_up, connection)
    try:
        yield
    finally:
        timer.cancel()


def _hang_up(connection: Connection) -> None:
    if not connection.closed:
        with socket.socket(fileno=os.dup(connection.fileno())) as ours:
            ours.shutdown(socket.SHUT_RDWR)


def _address(url: str) -> str:
    """Return host and port, never the password.

    Raises:
        Misconfigured: the text is no address.
    """
    try:
        given: Mapping[str, object] = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Not chained, not quoted: the library's text holds what it could not read, which may be the password.
        raise Misconfigured("store", "DATABASE_URL is not an address", _WRITE) from None
    port = f"{given.get('port') or 5432}"
    if _PORTS.fullmatch(port) is None:  # a password that is not escaped: user:pass/word@host has a port of that kind
        raise Misconfigured("store", "DATABASE_URL is not an address", _WRITE)
    return f"{given.get('host') or 'localhost'}:{port}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
