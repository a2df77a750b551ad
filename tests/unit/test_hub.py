"""The hub: one read per run for all who wait."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack

import pytest

from gateway.frames import Frame, frame
from gateway.hub import KEPT, Channel, Hub
from shared.adapters.memory import MemoryBus, MemoryOutputStream
from shared.events import Event
from tests.support.houses import CrashingOnce, delta, deltas
from tests.support.moved_loop import now, pass_time, run, settle


class CountedOutput(MemoryOutputStream):
    """Counts who follows: how many began, and how many are at it."""

    began = 0
    following = 0

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Follow, and be counted."""
        self.began += 1
        self.following += 1
        try:
            async for events in super().follow(run_id):
                yield events
        finally:
            self.following -= 1


def frames(events: Sequence[Event]) -> list[Frame]:
    """Return events as a channel holds them."""
    return [frame(event) for event in events]


def arrivals(channel: Channel) -> list[Frame]:
    """Return all that a channel has."""
    return list(channel.since(0)[0])


def test_many_waiters_are_one_read() -> None:
    """However many join a run, its stream is followed once, and all of them have the same frames."""

    async def main() -> None:
        output = CountedOutput(MemoryBus())
        hub = Hub(output)
        async with AsyncExitStack() as stack:
            channels = [await stack.enter_async_context(hub.join("r")) for _ in range(5)]
            await output.append(deltas(0, 3), 1)
            await settle()
            assert (output.began, output.following) == (1, 1)
            assert [arrivals(channel) for channel in channels] == [frames(deltas(0, 3))] * 5

    run(main())


def test_a_late_waiter_finds_all_that_arrived() -> None:
    """Who joins a channel that is open has what came before, duplicates and order of arrival included."""

    async def main() -> None:
        output = CountedOutput(MemoryBus())
        hub = Hub(output)
        arrived = [delta(1), delta(0), delta(1)]
        async with hub.join("r"):
            await output.append(arrived, 1)
            await settle()
            async with hub.join("r") as late:
                assert arrivals(late) == frames(arrived)

    run(main())


def test_the_last_to_leave_ends_the_read() -> None:
    """The read goes on while one waiter is left, ends with the last, and the next one begins another."""

    async def main() -> None:
        output = CountedOutput(MemoryBus())
        hub = Hub(output)
        async with hub.join("r"):
            async with hub.join("r"):
                await settle()
            await settle()
            assert output.following == 1
        await settle()
        assert (output.began, output.following) == (1, 0)
        await output.append([delta(0)], 1)
        async with hub.join("r") as channel:
            await settle()
            assert (output.began, arrivals(channel)) == (2, frames([delta(0)]))

    run(main())


def test_who_came_first_is_woken_first() -> None:
    """A set would wake them in another order each time, and what they share would come out differently."""
    channel, woken = Channel(), list[int]()

    def note(number: int) -> Callable[[], None]:
        return lambda: woken.append(number)

    with ExitStack() as waiters:
        for number in range(64):
            waiters.enter_context(channel.waking(note(number)))
        channel.wake()
    assert woken == [*range(64)]


def test_who_joins_while_the_last_one_leaves_gets_a_read_of_its_own() -> None:
    """A channel that was given up serves nobody: a waiter that comes in the same moment has one that is fed."""

    async def main() -> None:
        output = CountedOutput(MemoryBus())
        hub = Hub(output)
        async with AsyncExitStack() as first:
            await first.enter_async_context(hub.join("r"))
            await settle()
            await first.aclose()
            async with hub.join("r") as channel:
                await output.append([delta(0)], 1)
                await settle()
                assert (output.following, arrivals(channel)) == (1, frames([delta(0)]))

    run(main())


def test_runs_do_not_meet() -> None:
    """Channels of two runs have reads and frames of their own."""

    async def main() -> None:
        output = CountedOutput(MemoryBus())
        hub = Hub(output)
        async with hub.join("r") as one, hub.join("q") as other:
            await output.append([delta(0, run_id="q")], 1)
            await settle()
            assert (output.following, arrivals(one), len(arrivals(other))) == (2, [], 1)

    run(main())


def test_everyone_is_woken() -> None:
    """Each arrival wakes each waiter, and `wake_everyone` those of every run; who has left is woken no more."""

    async def main() -> None:
        output = MemoryOutputStream(MemoryBus())
        hub = Hub(output)
        woken: list[str] = []
        async with hub.join("r") as one, hub.join("q") as other:
            with one.waking(lambda: woken.append("a")), other.waking(lambda: woken.append("c")):
                with one.waking(lambda: woken.append("b")):
                    await output.append([delta(0)], 1)
                    await settle()
                    assert sorted(woken) == ["a", "b"]
                hub.wake_everyone()
                assert sorted(woken) == ["a", "a", "b", "c"]

    run(main())


@pytest.mark.parametrize(("waiters", "apart_s"), [(10, 0.001), (50, 0.005), (100, 0.01), (1000, 0.01)])
def test_a_crowd_is_woken_in_pieces(waiters: int, apart_s: float) -> None:
    """An arrival in silence wakes all at once; those behind it wake them together, 0.1 ms for each waiter later."""

    async def main() -> None:
        channel, woken = Channel(), list[float]()
        with ExitStack() as crowd:
            crowd.enter_context(channel.waking(lambda: woken.append(now())))
            for _ in range(waiters - 1):
                crowd.enter_context(channel.waking(asyncio.Event().set))
            for start in (1.0, 1.5):
                await pass_time(start - now())
                for event in frames(deltas(0, 20)):
                    channel.add([event])
                    await pass_time(apart_s / 10)
            await pass_time(1)
        assert woken == pytest.approx(
            [start + turn * apart_s for start in (1.0, 1.5) for turn in (0, 1, 2)], abs=apart_s / 20
        )

    run(main())


def test_a_few_are_woken_by_every_arrival() -> None:
    """Where waiters are few, nothing waits for what comes next."""

    async def main() -> None:
        channel, woken = Channel(), list[float]()
        with ExitStack() as few:
            few.enter_context(channel.waking(lambda: woken.append(now())))
            for _ in range(8):
                few.enter_context(channel.waking(asyncio.Event().set))
            for event in frames(deltas(0, 20)):
                channel.add([event])
        assert woken == [now()] * 20

    run(main())


def test_a_waiter_that_is_cancelled_leaves() -> None:
    """A task that is cancelled inside leaves the channel like any other."""

    async def main() -> None:
        output = CountedOutput(MemoryBus())
        hub = Hub(output)

        async def wait() -> None:
            async with hub.join("r"):
                await asyncio.Event().wait()

        task = asyncio.create_task(wait())
        await settle()
        assert output.following == 1
        task.cancel()
        await settle()
        assert (task.cancelled(), output.following) == (True, 0)

    run(main())


def test_a_follower_that_crashes_leaves_nobody_waiting() -> None:
    """When the read crashes, its waiters are woken and told; whoever joins then gets a new one."""

    async def main() -> None:
        output = CrashingOnce(MemoryBus())
        hub = Hub(output)
        await output.append([delta(0)], 1)
        async with hub.join("r") as channel:
            woken = asyncio.Event()
            with channel.waking(woken.set):
                await settle()
            assert (channel.broken, woken.is_set()) == (True, True)
            async with hub.join("r") as fresh:
                assert fresh is not channel
                await settle()
                assert (fresh.broken, arrivals(fresh)) == (False, frames([delta(0)]))
            async with hub.join("r") as again:
                await settle()
                assert arrivals(again) == frames([delta(0)])
        async with hub.join("r") as last:
            await settle()
            assert arrivals(last) == frames([delta(0)])

    run(main())


def test_leaving_a_broken_channel_leaves_the_new_one_alone() -> None:
    """The waiters of a channel that broke do not take the one that others have opened since with them."""

    async def main() -> None:
        output = CrashingOnce(MemoryBus())
        hub = Hub(output)
        await output.append([delta(0)], 1)
        async with AsyncExitStack() as early:
            await early.enter_async_context(hub.join("r"))
            await settle()
            async with hub.join("r") as fresh:
                await early.aclose()
                await output.append([delta(1)], 1)
                await settle()
                assert arrivals(fresh) == frames([delta(0), delta(1)])
                async with hub.join("r") as same:
                    assert same is fresh

    run(main())


def test_each_waiter_reads_on_from_its_own_position() -> None:
    """A position gives what came after it, once, and the next position; at the end there is nothing."""
    channel = Channel()
    events = frames(deltas(0, 5))
    assert channel.since(0) == ([], 0)
    channel.add(events[:3])
    first, position = channel.since(0)
    channel.add(events[3:])
    rest, end = channel.since(position)
    assert ([*first], [*rest], end, channel.since(end)) == (events[:3], events[3:], 5, ([], 5))


def test_a_channel_of_a_long_run_stays_small() -> None:
    """A channel lets go of its oldest frames; who is further behind gets what is left, who is not misses nothing."""
    channel = Channel()
    events = frames(deltas(0, 10 * KEPT))
    position = 0
    read: list[Frame] = []
    for start in range(0, len(events), 100):
        channel.add(events[start : start + 100])
        arrived, position = channel.since(position)
        read += arrived
        assert len(channel.since(0)[0]) < 2 * KEPT + 100
    assert (read, position) == (events, len(events))
    kept = arrivals(channel)
    assert len(kept) >= KEPT and kept == events[-len(kept) :]
