"""What a gateway or a worker that is a process of its own is made from, read from its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.addresses import Urls
from shared.errors import InvalidField, Misconfigured
from shared.exercises import Exercises, load
from shared.foreign import shown
from shared.settings import Settings

TREE: Final = "solution"  # in the current directory, which is then the kit's


@dataclass(frozen=True, slots=True)
class Start:
    """All that a composition root needs and cannot know."""

    urls: Urls
    settings: Settings
    exercises: Exercises


def start_from(environment: Mapping[str, str]) -> Start:
    """Read `REDIS_URL`, `DATABASE_URL`, `KODA_TREE` (default: `solution`), and the settings.

    Raises:
        InvalidField: an address is not given. Memory is no choice here: nothing in it reaches another process.
        Misconfigured: a setting cannot be read, or the tree does not load.
    """
    urls = _urls(environment)
    settings = Settings.from_environment(environment)
    tree = Path(environment.get("KODA_TREE") or TREE)
    if not tree.is_dir():
        remedy = "set KODA_TREE to a folder that holds lifecycle.py and delivery.py"
        raise Misconfigured("exercises", f"there is no folder {shown(tree)}", remedy)
    # Nobody stands in: a run that other bodies than the chosen ones have decided on would be nobody's answer.
    return Start(urls, settings, load(tree, tree).exercises)


def _urls(environment: Mapping[str, str]) -> Urls:
    if environment.get("MOCK") == "1":
        raise InvalidField("MOCK", "processes cannot share a memory; unset it, and set REDIS_URL and DATABASE_URL")
    redis, database = environment.get("REDIS_URL"), environment.get("DATABASE_URL")
    if redis and database:
        return Urls(redis, database)
    missing = [name for name, url in (("REDIS_URL", redis), ("DATABASE_URL", database)) if not url]
    problem = "not set; gateway and worker meet in Redis and PostgreSQL, and need the addresses of both"
    raise InvalidField(" and ".join(missing), problem)
