"""The schema: made or brought up to date at the start, by whichever process comes first."""

from collections.abc import Sequence

from psycopg import errors

from shared.adapters.postgres.database import Connection
from shared.adapters.postgres.statements import composed
from shared.errors import Misconfigured

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('koda:' || %(name)s, 0))"
_VERSION = "SELECT version FROM {schema}.schema_version"
# The tables of the catalogue, not functions like to_regclass: those answer from a cache which, in a transaction that
# had to wait for the lock, may not know yet what was made meanwhile.
_VERSIONED = "SELECT FROM pg_catalog.pg_tables WHERE schemaname = %(name)s AND tablename = 'schema_version'"
_BEGIN = (
    "CREATE TABLE {schema}.schema_version (version integer NOT NULL); INSERT INTO {schema}.schema_version VALUES (0)"
)
_NOTE = "UPDATE {schema}.schema_version SET version = %(version)s"


async def prepare(connection: Connection, schema: str, steps: Sequence[bytes], address: str) -> None:
    """Bring the schema to the version that `steps` lead to, one step a version. At that version nothing is touched.

    Any number of processes may do this at once: a lock of the database lets one go ahead, the others find it done.

    Raises:
        Misconfigured: the schema is newer than `steps`, or the user may not create what is missing.
    """
    if await _version(connection, schema) == len(steps):
        return
    try:
        async with connection.transaction():
            await connection.execute(_LOCK, {"name": schema})
            version = await _version(connection, schema)
            if version > len(steps):
                problem = f"the schema {schema} at {address} is version {version}, this code knows {len(steps)}"
                raise Misconfigured("store", problem, "bring the code up to date, or set KODA_SCHEMA to another name")
            await _upgrade(connection, schema, steps, version)
    except errors.InsufficientPrivilege as error:
        problem = f"{address}: the user {connection.info.user} may not make the schema {schema}: {error}"
        remedy = "grant CREATE on the database, or set KODA_SCHEMA to a schema that this user owns"
        raise Misconfigured("store", problem, remedy) from error


async def _upgrade(connection: Connection, schema: str, steps: Sequence[bytes], version: int) -> None:
    if version == 0:
        await _make(connection, schema)
    for step in steps[version:]:
        await connection.execute(step, prepare=False)
    await connection.execute(composed(_NOTE, schema), {"version": len(steps)})


async def _make(connection: Connection, schema: str) -> None:
    # Not "IF NOT EXISTS": that wants the right to create schemas also when there is nothing to create.
    if not await _any(connection, "SELECT FROM pg_catalog.pg_namespace WHERE nspname = %(name)s", schema):
        await connection.execute(composed("CREATE SCHEMA {schema}", schema))
    await connection.execute(composed(_BEGIN, schema), prepare=False)


async def _version(connection: Connection, schema: str) -> int:
    """Return the schema's version; 0 when there is none yet."""
    if not await _any(connection, _VERSIONED, schema):
        return 0
    cursor = await connection.execute(composed(_VERSION, schema))
    row = await cursor.fetchone()
    assert row is not None, "the version has one row"
    version: int = row[0]
    return version


async def _any(connection: Connection, query: str, schema: str) -> bool:
    cursor = await connection.execute(query, {"name": schema})
    return await cursor.fetchone() is not None
