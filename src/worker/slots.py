"""Slots: how many runs a worker executes at once, and who has one.

A run that waits for its user or for its sub-runs needs none meanwhile: it lends its slot, or 64 runs that wait for
their sub-runs would leave nobody to execute these.
"""

import asyncio


class Slots:
    """The slots of one worker, `count` of them."""

    def __init__(self, count: int) -> None:
        self._slots = asyncio.Semaphore(count)
        self._count = count
        self._taken: set[Slot] = set()

    @property
    def free(self) -> int:
        """How many nobody has."""
        return self._count - len(self._taken)

    def locked(self) -> bool:
        """Whether the next to come would have to wait."""
        return self._slots.locked()

    async def take(self) -> "Slot":
        """Return a slot, in the order of the asking, as soon as there is one. It is held until it is given up."""
        slot = Slot(self._slots, self._taken)
        await slot.take()
        return slot


class Slot:
    """One holder's right to a slot. `Slots.take` makes it; without arguments it is one of as many as there need be."""

    def __init__(self, slots: asyncio.Semaphore | None = None, taken: "set[Slot] | None" = None) -> None:
        self._slots = slots
        self._taken = set() if taken is None else taken
        self._retired = False
        self._taking = asyncio.Lock()

    @property
    def held(self) -> bool:
        """Whether this holder has a slot now."""
        return self in self._taken

    async def take(self) -> None:
        """Return when the slot is held (again). After `retire` it never is, and this returns all the same."""
        async with self._taking:  # two tasks of one holder must not each wait for what the other has
            if self.held:
                return
            if self._slots is not None:
                await self._slots.acquire()
            self._taken.add(self)
            if self._retired:
                self.give_up()

    def give_up(self) -> None:
        """Leave the slot to somebody else; giving up what is not held is fine."""
        if self.held:
            self._taken.remove(self)
            if self._slots is not None:
                self._slots.release()

    def retire(self) -> None:
        """Give the slot up for good: whatever of its holder's is left over gets it no more."""
        self._retired = True
        self.give_up()
