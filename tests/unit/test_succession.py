"""Which run of a session comes next, and how often the store is asked."""

import asyncio

from gateway.succession import Successions
from shared.adapters.memory import MemoryStore
from shared.ports import StoredRun
from tests.support.houses import House, house, log


class Asked(MemoryStore):
    """Counts how often the newest run is asked for."""

    times = 0

    async def latest_run(self, session_id: str) -> StoredRun | None:
        """Return it."""
        self.times += 1
        return await super().latest_run(session_id)


def asked(gateway: House) -> int:
    """Return how often a gateway has asked."""
    assert isinstance(gateway.store, Asked)
    return gateway.store.times


def test_a_run_that_is_known_is_not_asked_for_again() -> None:
    """What is asked of a run's place among others does not change; that there is none yet may."""

    async def main() -> None:
        gateway = house(store=Asked)
        runs = Successions(gateway.store).of("s")
        assert (await runs.run(0), await runs.run(0), asked(gateway)) == (None, None, 2)
        await gateway.ended(log(2))
        first = [await runs.run(0) for _ in range(3)]
        assert ([each.run.id for each in first if each is not None], asked(gateway)) == (["r", "r", "r"], 3)
        assert (await runs.run(1), asked(gateway)) == (None, 4)
        await gateway.ended(log(2, "r2"))
        found = [await runs.run(ordinal) for ordinal in (1, 0, 1, 2)]
        assert [each and each.run.id for each in found] == ["r2", "r", "r2", None]

    asyncio.run(main())
