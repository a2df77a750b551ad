"""Where adapters are chosen."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from shared.addresses import Urls, choose
from shared.bootstrap import open_ports
from shared.errors import Misconfigured
from shared.settings import Settings

REDIS, DATABASE = "redis://127.0.0.1:1", "postgresql://127.0.0.1:1/x"


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"MOCK": "1"},
        {"MOCK": "1", "REDIS_URL": REDIS},
        {"MOCK": "1", "REDIS_URL": REDIS, "DATABASE_URL": DATABASE},
        {"REDIS_URL": "", "DATABASE_URL": ""},
        {"MOCK": "0"},
    ],
)
def test_memory_is_chosen_by_word_or_for_want_of_addresses(environment: dict[str, str]) -> None:
    """`MOCK=1` wins over addresses; without any, an empty one included, memory is what there is."""
    assert choose(environment) is None


def test_both_addresses_choose_the_real_services() -> None:
    """Two addresses are taken as they are; a `MOCK` that is not 1 changes nothing."""
    both = {"REDIS_URL": REDIS, "DATABASE_URL": DATABASE}
    assert choose(both) == choose(both | {"MOCK": "0"}) == Urls(REDIS, DATABASE)


@pytest.mark.parametrize(("given", "missing"), [("REDIS_URL", "DATABASE_URL"), ("DATABASE_URL", "REDIS_URL")])
@pytest.mark.parametrize("other", [{}, {"MOCK": ""}])
def test_one_address_alone_is_a_mistake(given: str, missing: str, other: dict[str, str]) -> None:
    """Half a choice is told, with the variable to set, instead of being guessed at."""
    with pytest.raises(Misconfigured) as refused:
        choose({given: "x", **other})
    assert str(refused.value) == f"settings: {given} is set and {missing} is not; set {missing} too, or MOCK=1"


def test_ports_in_memory_meet_in_one_store_and_one_bus() -> None:
    """What is opened works at once, under the prefix of the settings."""

    async def ring() -> int:
        async with open_ports(None, Settings(prefix="mine")) as ports:
            await ports.store.ping()
            await ports.queue.put("s")
            return await ports.queue.depth()

    assert asyncio.run(ring()) == 1


SCRIPT = """
import asyncio, sys
from shared.bootstrap import open_ports
from shared.settings import Settings

async def look() -> None:
    async with open_ports(None, Settings()):
        print(sorted({"redis", "psycopg"} & sys.modules.keys()))

asyncio.run(look())
"""


def test_memory_needs_no_driver() -> None:
    """A process on memory imports neither driver, so the lab starts fast and without them."""
    src = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={"PYTHONPATH": src}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
