"""How often a lane reads, told without a server and in moved time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count, pairwise

import pytest

from shared.adapters.redis.channel import Follower
from shared.adapters.redis.connect import Line, Server
from shared.adapters.redis.keys import Keys
from shared.adapters.redis.lanes import Lanes
from shared.adapters.redis.protocol import Reply
from tests.support.moved_loop import now, pass_time, run


class Eager(Server, Line):
    """A server that has a new entry of run 0 for every read, and the only line to it. Keeps when it was read."""

    def __init__(self, after_s: float = 0) -> None:
        Server.__init__(self, "redis://127.0.0.1:1/0", "test")
        self._after_s = after_s
        self.reads: list[float] = []
        self._numbers = count(1)

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        """Lend the line."""
        yield self

    async def call(self, packed: bytes, block: timedelta = timedelta(0)) -> Reply:
        """Answer a read."""
        self.reads.append(now())
        await asyncio.sleep(self._after_s)
        entry: Reply = [b"%d-0" % next(self._numbers), [b"s", b"0", b"k", b"delta", b"d", b"{}"]]
        return [[Keys("test").output("run0").encode(), [entry]]]

    async def calls(self, packed: bytes, replies: int, block: timedelta = timedelta(0)) -> list[Reply]:
        """Answer a look at where the streams end: far ahead."""
        return [[[b"999999-0", []]]] * replies


@pytest.mark.parametrize(("streams", "apart_s"), [(1, 0.002), (10, 0.002), (20, 0.004), (50, 0.01), (60, 0.01)])
def test_a_lane_rests_between_reads_for_each_of_its_streams(streams: int, apart_s: float) -> None:
    """0.2 ms for each, 2 ms at the least, 10 ms at the most; what comes in the meantime comes with the next read."""

    async def main() -> None:
        server, keys = Eager(), Keys("test")
        lanes = Lanes(server, keys)
        for number in range(streams):
            lanes.join(Follower(f"run{number}", keys.output(f"run{number}")))
        await pass_time(0.1)
        await lanes.close()
        assert [later - earlier for earlier, later in pairwise(server.reads[1:])] == pytest.approx(
            [apart_s] * (len(server.reads) - 2)
        )
        assert len(server.reads) >= 0.1 / apart_s

    run(main())


def test_what_was_read_goes_out_before_the_next_read() -> None:
    """An event gets to a task behind the follower's before its lane, rested though it is, has read again."""

    async def main() -> None:
        server, keys = Eager(after_s=0.005), Keys("test")
        lanes, follower = Lanes(server, keys), Follower("run0", keys.output("run0"))
        lanes.join(follower)
        arrived = asyncio.Event()

        async def hand_on() -> None:
            await follower.take()
            arrived.set()

        handing_on = asyncio.create_task(hand_on())
        await arrived.wait()
        assert (len(server.reads), now()) == (1, 0.005)
        await handing_on
        await lanes.close()

    run(main())
