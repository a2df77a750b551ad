"""Reading from the store for many at once: asked once, said to all, and never what was so before one asked."""

import asyncio
from collections.abc import Sequence

import pytest

from gateway.frames import Frame, frame
from gateway.reading import KEPT_S, PAGE, Reading, Readings
from gateway.standing import Standing
from shared.adapters.clock import MovedClock
from shared.adapters.memory import MemoryStore
from shared.errors import Unavailable
from shared.events import Event, reply_text
from shared.ports import StoredRun
from shared.run import RunStatus
from tests.support.houses import SETTINGS, House, deltas, done, house, log
from tests.support.moved_loop import pass_time, run, settle


class Slow(MemoryStore):
    """Answers, with what it had when it was asked, when the test says so; keeps what was asked of the log."""

    def __init__(self, clock: MovedClock) -> None:
        super().__init__(clock)
        self.asked: list[int] = []
        self.runs_asked = 0
        self.answers = asyncio.Event()

    async def events(self, run_id: str, start: int, limit: int) -> Sequence[Event]:
        """Read a page."""
        self.asked.append(start)
        page = await super().events(run_id, start, limit)
        await self.answers.wait()
        return page

    async def run(self, run_id: str) -> StoredRun | None:
        """Read a run."""
        self.runs_asked += 1
        stored = await super().run(run_id)
        await self.answers.wait()
        return stored


def slow_house() -> tuple[House, Slow]:
    """Build a gateway on a store that answers when the test says so."""
    gateway = house(store=Slow)
    assert isinstance(gateway.store, Slow)
    return gateway, gateway.store


def frames(events: Sequence[Event]) -> list[Frame]:
    """Return events as they are sent."""
    return [frame(event) for event in events]


def test_many_who_ask_at_once_are_answered_by_one_read() -> None:
    """Those who ask while a read is under way share the next one; each gets the log from its own place on."""

    async def main() -> None:
        gateway, store = slow_house()
        await gateway.ended(log(5))
        reading = Reading(store, "r")
        asking = [asyncio.create_task(reading.frames(start)) for start in (3, 4, 0, 2)]
        await settle()
        store.answers.set()
        assert [await task for task in asking] == [frames(log(5)[start:]) for start in (3, 4, 0, 2)]
        assert store.asked == [3, 0]

    run(main())


def test_a_log_that_has_come_to_its_end_meanwhile_is_enough() -> None:
    """Those who waited while another read all that they want, the end included, have it without a read."""

    async def main() -> None:
        gateway, store = slow_house()
        await gateway.ended(log(5))
        reading = Reading(store, "r")
        asking = [asyncio.create_task(reading.frames(start)) for start in (0, 0, 3)]
        await settle()
        store.answers.set()
        assert [await task for task in asking] == [frames(log(5)[start:]) for start in (0, 0, 3)]
        assert store.asked == [0]

    run(main())


def test_what_is_read_was_asked_for_after_one_came() -> None:
    """Whoever comes while a read is under way has what was written before it came, although that read has not."""

    async def main() -> None:
        gateway, store = slow_house()
        await gateway.streaming()
        await gateway.flush(*deltas(0, 2))
        reading = Reading(store, "r")
        early = asyncio.create_task(reading.frames(0))
        await settle()
        await gateway.flush(*deltas(2, 4))
        late = asyncio.create_task(reading.frames(0))
        await settle()
        store.answers.set()
        assert (await early, await late) == (frames(deltas(0, 2)), frames(deltas(0, 4)))
        assert store.asked == [0, 2]

    run(main())


def test_a_log_that_has_its_end_is_not_read_again() -> None:
    """What has been read of an ended run serves whoever starts inside it; who starts before it has it read anew."""

    async def main() -> None:
        gateway, store = slow_house()
        store.answers.set()
        await gateway.ended(log(5))
        reading = Reading(store, "r")
        for start in (2, 2, 3, 4, 1, 2):
            assert await reading.frames(start) == frames(log(5)[start:])
        assert store.asked == [2, 1]

    run(main())


def test_a_log_that_grows_is_read_on() -> None:
    """What has been read of a live run is not read again, what has come since is."""

    async def main() -> None:
        gateway, store = slow_house()
        store.answers.set()
        await gateway.streaming()
        reading = Reading(store, "r")
        for end in (2, 2, 3):
            await gateway.flush(*deltas(0, end))
            assert await reading.frames(0) == frames(deltas(0, end))
        assert store.asked == [0, 2, 2]

    run(main())


def test_a_long_log_is_read_in_pages() -> None:
    """Pages of 1,000 rows follow each other until one is not full."""

    async def main() -> None:
        gateway, store = slow_house()
        store.answers.set()
        await gateway.streaming()
        await gateway.flush(*deltas(0, 2 * PAGE))
        assert await Reading(store, "r").frames(1) == frames(deltas(1, 2 * PAGE))
        assert store.asked == [1, PAGE + 1]

    run(main())


def test_rows_that_have_become_one_text_are_a_hole() -> None:
    """A log that is archived between two reads has its end, and not what was before it."""

    async def main() -> None:
        gateway, store = slow_house()
        store.answers.set()
        await gateway.streaming()
        await gateway.flush(*deltas(0, 2))
        reading = Reading(store, "r")
        await reading.frames(0)
        await gateway.end(log(5))
        await store.archive("r", "the whole text")
        assert await reading.frames(0) == frames([*deltas(0, 2), done(4)])
        assert await reading.frames(3) == frames([done(4)])

    run(main())


def test_who_leaves_takes_no_read_away_from_others() -> None:
    """When the one who reads for all is cancelled, the next reads for the rest."""

    async def main() -> None:
        gateway, store = slow_house()
        await gateway.ended(log(5))
        reading = Reading(store, "r")
        asking = [asyncio.create_task(reading.frames(0)) for _ in range(4)]
        await settle()
        asking[0].cancel()
        await settle()
        asking[1].cancel()
        await settle()
        store.answers.set()
        assert [await task for task in asking[2:]] == [frames(log(5))] * 2
        assert len(store.asked) == 3

    run(main())


def test_a_store_that_is_away_is_asked_once_for_all() -> None:
    """All who waited for a read that failed are told so; who comes later has the store asked again."""

    async def main() -> None:
        gateway, store = slow_house()
        await gateway.streaming()
        await gateway.flush(*deltas(0, 2))
        reading = Reading(store, "r")
        first = asyncio.create_task(reading.frames(0))
        await settle()
        rest = [asyncio.create_task(reading.frames(0)) for _ in range(3)]
        await settle()
        store.away(True)
        store.answers.set()
        assert await first == frames(deltas(0, 2))
        for task in rest:
            with pytest.raises(Unavailable):
                await task
        assert store.asked == [0, 2]
        store.away(False)
        assert await reading.frames(0) == frames(deltas(0, 2))

    run(main())


def test_a_run_is_looked_up_once_for_all() -> None:
    """Those who ask for a run at once share two reads of it; a glance is content with the last one."""

    async def main() -> None:
        gateway, store = slow_house()
        await gateway.run()
        reading = Reading(store, "r")
        asking = [asyncio.create_task(reading.run()) for _ in range(5)]
        await settle()
        store.answers.set()
        (pending,) = {await task for task in asking}
        await store.claim("w", SETTINGS.lease, "s")
        assert (await reading.glance(), store.runs_asked) == (pending, 2)
        claimed = await reading.run()
        assert pending is not None and pending.run.status is RunStatus.PENDING
        assert claimed is not None and claimed.run.status is RunStatus.RUNNING
        assert await reading.glance() == claimed

    run(main())


def test_what_stands_is_made_once_for_all() -> None:
    """Those who need all that stands at once share its making; the terminal event is not part of it."""

    async def main() -> None:
        gateway, store = slow_house()
        reading = Reading(store, "r")
        await gateway.streaming()
        store.answers.set()
        assert await reading.standing() == (-1, Standing(""))
        store.answers.clear()
        await gateway.end(log(5))
        asking = [asyncio.create_task(reading.standing()) for _ in range(5)]
        await settle()
        store.answers.set()
        assert [await task for task in asking] == [(3, Standing(reply_text(deltas(0, 4))))] * 5
        assert store.asked == [0, 0, 0]

    run(main())


def test_a_reading_is_at_hand_for_a_second() -> None:
    """Who asks for a run within a second gets the same reading, later another; another run has its own."""

    async def main() -> None:
        readings = Readings(house().store)
        reading = readings.of("r")
        await pass_time(0.9 * KEPT_S)
        assert readings.of("r") is reading
        assert readings.of("q") is not reading
        await pass_time(0.2 * KEPT_S)
        assert readings.of("r") is not reading

    run(main())
