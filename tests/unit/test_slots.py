"""Who may execute a run, and who lends that right."""

import asyncio

from tests.support.moved_loop import run, settle
from worker.slots import Slot, Slots


def test_no_more_are_held_than_there_are() -> None:
    """The third of two waits until one is given up; how many are free is known all the time."""

    async def scene() -> list[object]:
        slots = Slots(2)
        seen: list[object] = [slots.free, slots.locked()]
        first, second = await slots.take(), await slots.take()
        seen += [first.held, second.held, slots.free, slots.locked()]
        third = asyncio.create_task(slots.take())
        await settle()
        seen.append(third.done())
        first.give_up()
        seen += [(await third).held, first.held, slots.free]
        return seen

    assert run(scene()) == [2, False, True, True, 0, True, False, True, False, 0]


def test_a_slot_is_held_and_given_up_once() -> None:
    """Taking what is held, and giving up what is not, changes nothing: neither makes a slot out of nothing."""

    async def scene() -> list[int]:
        slots = Slots(1)
        slot = await slots.take()
        await slot.take()
        free = [slots.free]
        for _ in range(2):
            slot.give_up()
            free.append(slots.free)
        await slot.take()
        return [*free, slots.free, slots.locked()]

    assert run(scene()) == [0, 1, 1, 0, True]


def test_two_tasks_of_one_holder_take_one_slot() -> None:
    """Both want back what they had lent, and neither waits for what the other has, though there is but one."""

    async def scene() -> tuple[int, bool, bool]:
        slots = Slots(1)
        slot = await slots.take()
        slot.give_up()
        other = await slots.take()
        both = [asyncio.create_task(slot.take()) for _ in range(2)]
        await settle()
        other.give_up()
        await asyncio.gather(*both)
        return slots.free, slot.held, slots.locked()

    assert run(scene()) == (0, True, True)


def test_a_slot_that_was_retired_is_not_taken_again() -> None:
    """A task that was left behind, waiting for it or not, goes on without one."""

    async def scene() -> list[object]:
        slots = Slots(1)
        slot = await slots.take()
        slot.give_up()
        other = await slots.take()
        late = asyncio.create_task(slot.take())
        await settle()
        slot.retire()
        other.give_up()
        await late
        await slot.take()
        return [slot.held, slots.free, slots.locked()]

    assert run(scene()) == [False, 1, False]


def test_who_is_cancelled_while_waiting_has_none() -> None:
    """What was not given to it is free for the next."""

    async def scene() -> tuple[bool, int, bool]:
        slots = Slots(1)
        slot, other = await slots.take(), None
        slot.give_up()
        other = await slots.take()
        late = asyncio.create_task(slot.take())
        await settle()
        late.cancel()
        await asyncio.wait((late,))
        other.give_up()
        return slot.held, slots.free, slots.locked()

    assert run(scene()) == (False, 1, False)


def test_a_slot_of_nobodys_is_always_to_be_had() -> None:
    """Whoever executes a run without a worker around it waits for none."""

    async def scene() -> list[bool]:
        slot = Slot()
        held = [slot.held]
        await slot.take()
        held.append(slot.held)
        slot.give_up()
        return [*held, slot.held]

    assert run(scene()) == [False, True, False]
