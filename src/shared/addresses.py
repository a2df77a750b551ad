"""Where the real services are, or that there are none: read from the environment, before anything is opened."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Urls:
    """Where the real services are."""

    redis: str
    database: str


def choose(environment: Mapping[str, str]) -> Urls | None:
    """Return the addresses of the real services, or None for memory: `MOCK=1`, or neither address given.

    Raises:
        Misconfigured: only one of the two addresses is given.
    """
    if environment.get("MOCK") == "1":
        return None
    redis, database = environment.get("REDIS_URL"), environment.get("DATABASE_URL")
    if redis and database:
        return Urls(redis, database)
    if redis or database:
        given, missing = ("REDIS_URL", "DATABASE_URL") if redis else ("DATABASE_URL", "REDIS_URL")
        raise Misconfigured("settings", f"{given} is set and {missing} is not", f"set {missing} too, or MOCK=1")
    return None
