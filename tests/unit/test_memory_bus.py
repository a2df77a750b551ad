"""The memory bus beyond the contract: its keys, its time, outages, and that nothing piles up."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from shared.adapters.memory import MemoryBus, MemoryInputQueue, MemoryMarks, MemoryOutputStream
from shared.adapters.memory.keys import Keys, Waiters
from shared.errors import Fenced, Unavailable
from shared.events import Event, EventKind
from shared.ports import Mark

SECOND = timedelta(seconds=1)
NOTHING = timedelta(0)


@dataclass
class Seconds:
    """A monotonic source that a test moves."""

    now: float = 100.0

    def __call__(self) -> float:
        """Return the time it stands at."""
        return self.now


@dataclass
class Bus:
    """A bus whose time is moved, with its three ports."""

    seconds: Seconds = field(default_factory=Seconds)

    def __post_init__(self) -> None:
        self.server = MemoryBus("koda", self.seconds)
        self.output, self.queue = MemoryOutputStream(self.server), MemoryInputQueue(self.server)
        self.marks = MemoryMarks(self.server)


def event(seq: int) -> Event:
    """Return a fragment of run r."""
    return Event("r", seq, EventKind.DELTA, "{}")


def test_keys_are_those_of_the_design() -> None:
    """The run's id stands in braces, so that all keys of a run share a slot; the prefix begins every key."""
    bus = MemoryBus("koda")
    assert bus.input_key == "koda:in"
    assert bus.output_key("r") == "koda:out:{r}"
    assert bus.fence_key("r") == "koda:fence:{r}"
    marks = ["koda:mark:{r}:rerun", "koda:mark:{r}:cancel", "koda:mark:{r}:answer"]
    assert [bus.mark_key("r", mark) for mark in Mark] == marks
    assert MemoryBus("other").input_key == "other:in"


def test_a_mark_lives_exactly_as_long_as_was_said() -> None:
    """It is there before its time is over and not at it; setting it again counts from then."""

    async def story(bus: Bus) -> None:
        await bus.marks.set("r", Mark.RERUN, 30 * SECOND)
        bus.seconds.now += 29
        assert await bus.marks.read("r") == {Mark.RERUN}
        await bus.marks.set("r", Mark.RERUN, 30 * SECOND)
        bus.seconds.now += 29
        assert await bus.marks.read("r") == {Mark.RERUN}
        bus.seconds.now += 1
        assert await bus.marks.read("r") == frozenset()

    asyncio.run(story(Bus()))


def test_a_mark_that_was_cleared_and_set_again_has_the_new_life() -> None:
    """What was said about an earlier mark of the same name does not end the later one."""

    async def story(bus: Bus) -> None:
        await bus.marks.set("r", Mark.RERUN, 10 * SECOND)
        await bus.marks.clear("r", Mark.RERUN)
        await bus.marks.set("r", Mark.RERUN, 30 * SECOND)
        bus.seconds.now += 10
        assert await bus.marks.read("r") == {Mark.RERUN}

    asyncio.run(story(Bus()))


def test_a_stream_and_its_fence_go_together() -> None:
    """Both are there until their time, whatever is appended, and gone at it."""

    async def story(bus: Bus) -> None:
        await bus.output.append([event(0)], 2)
        await bus.output.expire("r", 10 * SECOND)
        bus.seconds.now += 9
        await bus.output.append([event(1)], 3)
        await bus.output.raise_fence("r", 4)
        with pytest.raises(Fenced):
            await bus.output.append([event(2)], 3)
        bus.seconds.now += 1
        assert await bus.output.entries("r") == []
        await bus.output.append([event(3)], 1)
        bus.seconds.now += 1000
        assert await bus.output.entries("r") == [event(3)]

    asyncio.run(story(Bus()))


def test_a_delivery_is_reclaimed_at_its_idle_time() -> None:
    """Not a moment before; the idle time starts again with the new consumer."""

    async def story(bus: Bus) -> None:
        await bus.queue.put("s")
        taken = await bus.queue.take("a", 1, NOTHING)
        bus.seconds.now += 14
        assert await bus.queue.reclaim("b", 15 * SECOND, 10) == []
        bus.seconds.now += 1
        assert await bus.queue.reclaim("b", 15 * SECOND, 10) == taken
        bus.seconds.now += 14
        assert await bus.queue.reclaim("c", 15 * SECOND, 10) == []

    asyncio.run(story(Bus()))


def test_expired_keys_leave_memory_without_being_asked_for() -> None:
    """Any use of the keys drops all that are due: streams nobody reads again do not stay."""
    seconds = Seconds()
    keys: Keys[str] = Keys(seconds)
    for place in range(5):
        keys.put(f"k{place}", "value")
        keys.expire(f"k{place}", place * SECOND)
    assert len(keys) == 4
    seconds.now += 2
    assert keys.get("unknown") is None
    assert len(keys) == 2
    keys.clear()
    assert len(keys) == 0


def test_the_shorter_life_said_last_counts() -> None:
    """A key goes at the time that was said last, sooner or later than the one before."""
    seconds = Seconds()
    keys: Keys[str] = Keys(seconds)
    keys.put("sooner", "value")
    keys.put("later", "value")
    for key, first, last in [("sooner", 9, 3), ("later", 3, 9)]:
        keys.expire(key, first * SECOND)
        keys.expire(key, last * SECOND)
    seconds.now += 3
    assert (keys.get("sooner"), keys.get("later")) == (None, "value")
    seconds.now += 6
    assert keys.get("later") is None


def test_a_life_ends_with_its_key() -> None:
    """What was said about a key that was dropped, or is not there yet, does not touch a later one of that name."""
    seconds = Seconds()
    keys: Keys[str] = Keys(seconds)
    keys.put("dropped", "old")
    for key in ["dropped", "unknown"]:
        keys.expire(key, SECOND)
        keys.drop(key)
        keys.put(key, "new")
    keys.expire("later", SECOND)
    keys.put("later", "new")
    seconds.now += 1
    assert [keys.get(key) for key in ["dropped", "unknown", "later"]] == ["new", "new", "new"]


def test_what_is_acknowledged_leaves_memory() -> None:
    """Neither the stream nor the group keeps anything of it, also when nobody ever reclaims."""

    async def story(bus: Bus) -> None:
        await bus.queue.put("s")
        await bus.queue.acknowledge(await bus.queue.take("a", 1, NOTHING))
        stream = bus.server.inputs.get("koda:in")
        assert stream is not None
        assert (len(stream), stream.group("workers").pending) == (0, {})

    asyncio.run(story(Bus()))


CALLS: list[Callable[[Bus], Awaitable[object]]] = [
    lambda bus: bus.output.append([event(0)], 1),
    lambda bus: bus.output.raise_fence("r", 1),
    lambda bus: bus.output.entries("r"),
    lambda bus: bus.output.expire("r", SECOND),
    lambda bus: bus.queue.put("s"),
    lambda bus: bus.queue.take("a", 1, NOTHING),
    lambda bus: bus.queue.acknowledge([]),
    lambda bus: bus.queue.reclaim("a", NOTHING, 1),
    lambda bus: bus.queue.depth(),
    lambda bus: bus.marks.set("r", Mark.RERUN, SECOND),
    lambda bus: bus.marks.read("r"),
    lambda bus: bus.marks.clear("r", Mark.RERUN),
]


def test_an_outage_fails_every_call_and_loses_nothing() -> None:
    """While the bus is away calls raise Unavailable and change nothing; afterwards all is as it was."""

    async def story(bus: Bus) -> None:
        await bus.output.append([event(7)], 1)
        await bus.queue.put("before")
        await bus.marks.set("r", Mark.CANCEL, SECOND)
        bus.server.away(True)
        for call in CALLS:
            with pytest.raises(Unavailable) as away:
                await call(bus)
            assert away.value.service == "bus"
        bus.server.away(False)
        assert await bus.output.entries("r") == [event(7)]
        assert await bus.queue.depth() == 1
        assert await bus.marks.read("r") == {Mark.CANCEL}
        for call in CALLS:
            await call(bus)

    asyncio.run(story(Bus()))


def test_an_outage_wakes_who_waits_for_work() -> None:
    """A blocked take raises when the bus goes away, as a broken connection does."""

    async def story(bus: Bus) -> None:
        waiting = asyncio.create_task(bus.queue.take("a", 1, 3600 * SECOND))
        await asyncio.sleep(0)
        bus.server.away(True)
        with pytest.raises(Unavailable):
            await waiting

    asyncio.run(story(Bus()))


def test_a_follower_waits_an_outage_out() -> None:
    """Entries from before the outage that it has not read, and those from after it, arrive when the bus is back."""

    async def story(bus: Bus) -> None:
        await bus.output.append([event(0)], 1)
        bus.server.away(True)
        came: list[Event] = []

        async def follow() -> None:
            async for events in bus.output.follow("r"):
                came.extend(events)

        following = asyncio.create_task(follow())
        for _ in range(5):
            await asyncio.sleep(0)
        assert came == []
        bus.server.away(False)
        await bus.output.append([event(1)], 1)
        for _ in range(5):
            await asyncio.sleep(0)
        assert came == [event(0), event(1)]
        following.cancel()
        await asyncio.wait([following])

    asyncio.run(story(Bus()))


def test_who_stops_waiting_leaves_nothing_behind() -> None:
    """A cancelled waiter is forgotten with its key; the others are woken, in the order in which they came."""

    async def story() -> None:
        waiters, woken = Waiters(), list[str]()

        async def wait(name: str) -> None:
            await waiters.wait("key")
            woken.append(name)

        one, two, three = (asyncio.create_task(wait(name)) for name in ["one", "two", "three"])
        await asyncio.sleep(0)
        two.cancel()
        await asyncio.wait([two])
        waiters.wake("another key")
        waiters.wake("key")
        await asyncio.gather(one, three)
        assert woken == ["one", "three"]
        left = asyncio.create_task(wait("left"))
        await asyncio.sleep(0)
        assert len(waiters) == 1
        left.cancel()
        await asyncio.wait([left])
        assert len(waiters) == 0

    asyncio.run(story())


def test_a_follower_that_is_closed_waits_no_more() -> None:
    """Closing a follower between two batches ends it, and the bus keeps nothing of it."""

    async def story(bus: Bus) -> None:
        await bus.output.append([event(0)], 1)
        following = bus.output.follow("r")
        assert await anext(following) == [event(0)]
        await following.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(following)
        assert len(bus.server.waiters) == 0

    asyncio.run(story(Bus()))
