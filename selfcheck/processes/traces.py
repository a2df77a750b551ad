"""What a service leaves behind on real Redis and PostgreSQL, and its removal: nobody's data is touched.

Every service that is started works under a key prefix and an SQL schema of its own.
"""

import os
from collections.abc import Mapping

PREFIX = "selfcheck_"


def own_names() -> dict[str, str]:
    """Return settings under which nobody has worked yet, as environment variables."""
    name = PREFIX + os.urandom(6).hex()
    return {"KODA_PREFIX": name, "KODA_SCHEMA": name}


def remove(redis_url: str, database_url: str, settings: Mapping[str, str]) -> None:
    """Remove what a service under these settings has written.

    Raises:
        Unavailable: a service is away, so something may be left; the name begins with `selfcheck_`.
    """
    import asyncio

    from shared.adapters.postgres import drop_schema
    from shared.adapters.redis import delete_prefix

    async def both() -> None:
        await asyncio.gather(
            delete_prefix(redis_url, settings["KODA_PREFIX"]), drop_schema(database_url, settings["KODA_SCHEMA"])
        )

    asyncio.run(both())
