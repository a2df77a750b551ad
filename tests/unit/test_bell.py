"""The bell: who is told that a session has work again, and when."""

from datetime import timedelta

from shared.adapters.memory import MemoryBus, MemoryInputQueue
from tests.support.moved_loop import now, pass_time, run
from tests.support.notes import noting
from worker.bell import LATER, Bell

A_SECOND = timedelta(seconds=1)


async def rung(bus: MemoryBus) -> list[str]:
    """Return the sessions that have been rung for since the last look."""
    return [delivery.session_id for delivery in await MemoryInputQueue(bus).take("w", 100, timedelta(0))]


def test_it_rings_at_once() -> None:
    """Each session has a doorbell of its own, in their order."""

    async def scene() -> None:
        bus = MemoryBus(seconds=now)
        await Bell(MemoryInputQueue(bus)).ring(["s0", "s1"])
        assert await rung(bus) == ["s0", "s1"]

    run(scene())


def test_it_rings_when_a_pause_is_over() -> None:
    """Not before, and at most a moment after; pauses do not wait for each other."""

    async def scene() -> None:
        bus = MemoryBus(seconds=now)
        bell = Bell(MemoryInputQueue(bus))
        bell.ring_after("late", 2 * A_SECOND)
        bell.ring_after("early", A_SECOND)
        await pass_time(1)
        assert await rung(bus) == []
        await pass_time(LATER.total_seconds())
        assert await rung(bus) == ["early"]
        await pass_time(1)
        assert await rung(bus) == ["late"]

    run(scene())


def test_a_bus_that_is_away_is_not_waited_for() -> None:
    """It is tried once and the log says so; a pause that ends meanwhile harms nobody."""

    async def scene() -> None:
        bus = MemoryBus(seconds=now)
        bell = Bell(MemoryInputQueue(bus))
        bus.away(True)
        with noting() as notes:
            await bell.ring(["s0", "s1"])
            bell.ring_after("s2", A_SECOND)
            await pass_time(2)
        why = "the bus is away: the memory bus was told to be away"
        assert notes.of("not_rung") == [{"session_id": "s0", "why": why}, {"session_id": "s2", "why": why}]
        bus.away(False)
        assert await rung(bus) == []

    run(scene())


def test_a_closed_bell_does_not_ring() -> None:
    """Whose worker has ended leaves its pauses to the sweeps of others; closing again is fine."""

    async def scene() -> None:
        bus = MemoryBus(seconds=now)
        bell = Bell(MemoryInputQueue(bus))
        bell.ring_after("s", A_SECOND)
        await bell.close()
        await bell.close()
        await pass_time(2)
        assert await rung(bus) == []

    run(scene())
