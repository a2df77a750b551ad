"""The contract of `OutputStream.follow`: everybody gets everything, from wherever they come."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from shared.errors import Fenced
from shared.ports import OutputStream
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import NOTHING, a_moment_later, delta, deltas, reading


@on_each_adapter
async def test_a_reader_before_the_first_entry_misses_nothing(ports: Ports) -> None:
    """Who follows before the stream exists gets it from its first entry (R5)."""
    events = deltas("r", 0, 3)
    async with reading(ports, "r") as reader:
        await ports.output.append(events, 1)
        assert await reader.holding(3) == events


@on_each_adapter
async def test_a_late_reader_gets_all_from_the_start(ports: Ports) -> None:
    """Who comes when all is written gets all of it, then what is written next."""
    events = deltas("r", 0, 4)
    await ports.output.append(events[:3], 1)
    async with reading(ports, "r") as reader:
        assert await reader.holding(3) == events[:3]
        await ports.output.append(events[3:], 1)
        assert await reader.holding(4) == events


@on_each_adapter
async def test_all_readers_get_everything(ports: Ports) -> None:
    """Any number of readers, early and late, hold every entry in order: broadcast, not shared out."""
    events = deltas("r", 0, 30)
    async with AsyncExitStack() as stack:
        early = [await stack.enter_async_context(reading(ports, "r")) for _ in range(5)]
        for event in events[:15]:
            await ports.output.append([event], 1)
        late = [await stack.enter_async_context(reading(ports, "r")) for _ in range(5)]
        for event in events[15:]:
            await ports.output.append([event], 1)
        assert [await reader.holding(30) for reader in early + late] == [events] * 10


@on_each_adapter
async def test_a_reader_that_waited_for_nothing_holds_its_position(ports: Ports) -> None:
    """Entries that come one at a time, each after the reader began to wait again, are all read (R6)."""
    events = deltas("r", 0, 20)
    async with reading(ports, "r") as reader:
        for count, event in enumerate(events, 1):
            await ports.output.append([event], 1)
            assert await reader.holding(count) == events[:count]
            await asyncio.sleep(0)


@on_each_adapter
async def test_entries_of_one_millisecond_are_all_read(ports: Ports) -> None:
    """More entries than there are milliseconds, in one call and in many, reach a reader once and in order (R7)."""
    events = deltas("r", 0, 400)
    async with reading(ports, "r") as reader:
        await ports.output.append(events[:200], 1)
        for event in events[200:]:
            await ports.output.append([event], 1)
        assert await reader.holding(400) == events
    assert list(await ports.output.entries("r")) == events


@on_each_adapter
async def test_a_reader_sees_duplicates_as_they_came(ports: Ports) -> None:
    """The stream delivers what it holds: a fragment that was appended twice comes twice."""
    events = [delta("r", 0), delta("r", 0), delta("r", 1)]
    async with reading(ports, "r") as reader:
        await ports.output.append(events, 1)
        assert await reader.holding(3) == events


@on_each_adapter
async def test_readers_of_two_runs_do_not_meet(ports: Ports) -> None:
    """Who follows one run gets nothing of another."""
    async with reading(ports, "r") as one, reading(ports, "r1") as other:
        await ports.output.append([delta("r1", 0)], 1)
        await ports.output.append([delta("r", 0)], 1)
        await ports.output.append([delta("r1", 1)], 1)
        assert await other.holding(2) == [delta("r1", 0), delta("r1", 1)]
        assert await one.holding(1) == [delta("r", 0)]


@on_each_adapter
async def test_a_reader_never_sees_what_was_fenced(ports: Ports) -> None:
    """For one seq there is one text, whatever a zombie tries in between (O5)."""
    async with reading(ports, "r") as reader:
        await ports.output.append([delta("r", 0)], 2)
        with pytest.raises(Fenced):
            await ports.output.append([delta("r", 1, "zombie")], 1)
        await ports.output.append([delta("r", 1)], 2)
        assert await reader.holding(2) == [delta("r", 0), delta("r", 1)]


@on_each_adapter
async def test_a_reader_that_leaves_disturbs_nobody(ports: Ports) -> None:
    """The others read on, and the one who left can come back and begin at the start."""
    events = deltas("r", 0, 2)
    async with reading(ports, "r") as staying:
        async with reading(ports, "r") as leaving:
            await ports.output.append(events[:1], 1)
            assert await leaving.holding(1) == events[:1]
        await ports.output.append(events[1:], 1)
        assert await staying.holding(2) == events
    async with reading(ports, "r") as back:
        assert await back.holding(2) == events


@on_each_adapter
async def test_a_reader_goes_on_after_a_flush(ports: Ports) -> None:
    """When the service restarts empty, who follows gets what is written from then on (W10)."""
    async with reading(ports, "r") as reader, reading(ports, "r") as other:
        await ports.output.append(deltas("r", 0, 3), 1)
        await reader.holding(3)
        await other.holding(3)
        await ports.flush()
        await ports.output.append(deltas("r", 3, 5), 1)
        assert await reader.holding(5) == deltas("r", 0, 5)
        assert await other.holding(5) == deltas("r", 0, 5)


@on_each_adapter
async def test_a_reader_goes_on_after_the_stream_expired(ports: Ports) -> None:
    """A stream that vanished and begins again is followed again."""
    async with reading(ports, "r") as reader:
        await ports.output.append([delta("r", 0)], 1)
        await reader.holding(1)
        await ports.output.expire("r", NOTHING)
        await a_moment_later()
        await ports.output.append([delta("r", 1)], 1)
        assert await reader.holding(2) == [delta("r", 0), delta("r", 1)]


@on_each_adapter
async def test_a_reader_that_begins_after_a_flush_gets_the_new_stream(ports: Ports) -> None:
    """Nothing of the old stream is left, nothing of the new one is missed."""
    await ports.output.append(deltas("r", 0, 3), 1)
    await ports.flush()
    async with reading(ports, "r") as reader:
        await ports.output.append([delta("r", 3)], 1)
        assert await reader.holding(1) == [delta("r", 3)]


@on_each_adapter
async def test_a_cancelled_wait_ends_the_reader(ports: Ports) -> None:
    """Cancelling the task that waits ends it, before the first entry and after."""

    async def follow(output: OutputStream) -> None:
        async for _ in output.follow("r"):
            pass

    task = asyncio.create_task(follow(ports.output))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    await ports.output.append([delta("r", 0)], 1)
    assert list(await ports.output.entries("r")) == [delta("r", 0)]
