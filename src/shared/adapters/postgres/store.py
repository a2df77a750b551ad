"""The whole store: its parts on one database."""

from collections.abc import Sequence

from shared.adapters.postgres.accepting import Accepting
from shared.adapters.postgres.database import Database
from shared.adapters.postgres.executing import Executing
from shared.adapters.postgres.forking import Forking
from shared.adapters.postgres.questioning import Questioning
from shared.adapters.postgres.reading import Reading
from shared.adapters.postgres.schema import prepare
from shared.adapters.postgres.statements import composed, schema_steps, statements
from shared.ports import Clock


class PostgresStore(Accepting, Executing, Reading, Questioning, Forking):
    """`Store`, `Questions` and `Forks` on PostgreSQL. Make it with `open`, give it back with `close`."""

    @classmethod
    async def open(
        cls, url: str, *, schema: str, clock: Clock, steps: Sequence[bytes] | None = None
    ) -> "PostgresStore":
        """Return the store when the database at `url` has answered and holds our tables, made now if need be.

        `schema` is the SQL schema of all our tables. `clock` gives the times of status changes; leases go by the
        database's. `steps` are the versions of the schema (ours, unless a test brings others).

        Raises:
            Unavailable: nobody answered within 3 s.
            Misconfigured: we are refused, lack rights, the server is too old, the schema too new, or `url` is no
                address. The message never holds the password.
        """
        named = statements(schema)
        database = Database(url)
        async with database.connect() as connection:
            await prepare(connection, schema, schema_steps(schema) if steps is None else steps, database.address)
        await database.open()
        return cls(database, named, clock)

    async def ping(self) -> None:
        """Return when the database answers."""
        await self.database.change(self._statements["ping"])

    async def close(self) -> None:
        """Give back all connections."""
        await self.database.close()


async def check_database(url: str) -> None:
    """Return when the database at `url` has answered and will do. Nothing is made in it.

    Raises:
        Unavailable, Misconfigured: as in `PostgresStore.open`.
    """
    async with Database(url).connect():
        pass


async def drop_schema(url: str, schema: str) -> None:
    """Drop the schema with all that is in it: for tests, and after a self-check on shared services."""
    async with Database(url).connect() as connection:
        await connection.execute(composed("DROP SCHEMA IF EXISTS {schema} CASCADE", schema))
