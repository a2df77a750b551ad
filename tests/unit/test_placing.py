"""Where a connection starts, and what is read to find that out. What it comes to on the wire is in `test_feed.py`."""

import asyncio
from collections.abc import Sequence

import pytest

from gateway import sse
from gateway.frames import frame
from gateway.hub import Channel
from gateway.placing import Place, find_place
from gateway.reading import Reading
from gateway.sse import gap, snapshot
from gateway.standing import Standing
from shared.adapters.memory import MemoryBus, MemoryOutputStream
from shared.events import Event
from tests.support.houses import House, deltas, house
from tests.support.moved_loop import run

CAP = 10


class CountedOutput(MemoryOutputStream):
    """Counts how often it is read as a whole."""

    def __init__(self, bus: MemoryBus) -> None:
        super().__init__(bus)
        self.reads = 0

    async def entries(self, run_id: str) -> Sequence[Event]:
        """Read it, which takes a turn of the loop."""
        self.reads += 1
        await asyncio.sleep(0)
        return await super().entries(run_id)


async def found(gateway: House, start: int, arrived: Sequence[Event] = ()) -> tuple[Place, int]:
    """Return the place of a reader, and how often the stream was read to find it."""
    channel = Channel()
    channel.add([frame(event) for event in arrived])
    stored = await gateway.store.run("r")
    assert stored is not None and isinstance(gateway.output, CountedOutput)
    place = await find_place(stored, start, CAP, Reading(gateway.store, "r"), channel, gateway.output, sse)
    return place, gateway.output.reads


@pytest.mark.parametrize(
    ("start", "arrived", "expected"),
    [
        (0, 0, (Place(0), 0)),
        (4, 0, (Place(4), 0)),
        (5, 0, (Place(5), 1)),
        (8, 0, (Place(8), 1)),
        (8, 8, (Place(8), 0)),
        (9, 8, (Place(4, (gap(8, 0, 7), snapshot(3, Standing("0 1 2 3 ")))), 1)),
    ],
)
def test_the_stream_is_read_when_nothing_else_can_tell(start: int, arrived: int, expected: tuple[Place, int]) -> None:
    """The store has 4 events, the stream 8: who is ahead of the store is looked for among the arrivals, then there."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        await gateway.streaming()
        await gateway.publish(*deltas(0, 8))
        await gateway.flush(*deltas(0, 4))
        assert await found(gateway, start, deltas(0, arrived)) == expected

    run(main())


def test_the_stream_is_read_once_for_all_who_come_at_once() -> None:
    """However many are ahead of the store together: one read is under way, and the next is everybody else's (C7)."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        assert isinstance(gateway.output, CountedOutput)
        await gateway.streaming()
        await gateway.publish(*deltas(0, 8))
        stored = await gateway.store.run("r")
        assert stored is not None
        reading, output = Reading(gateway.store, "r"), gateway.output
        places = (find_place(stored, start, CAP, reading, Channel(), output, sse) for start in (1, 8) * 50)
        assert await asyncio.gather(*places) == [Place(1), Place(8)] * 50
        assert output.reads == 2

    run(main())


@pytest.mark.parametrize(("start", "position"), [(0, 12), (1, 12), (2, 2), (11, 11)])
def test_a_long_way_is_made_in_one_step(start: int, position: int) -> None:
    """As many events as the cap are sent one by one, one more makes a snapshot of them all."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        await gateway.streaming()
        await gateway.write(*deltas(0, 12))
        text = "".join(f"{seq} " for seq in range(12))
        before = (snapshot(11, Standing(text)),) if position == 12 else ()
        assert await found(gateway, start) == (Place(position, before), 0)

    run(main())
