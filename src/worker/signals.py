"""What reaches a run from outside while its model is streaming."""

import asyncio
from math import inf

from shared.ports import Mark


class Signals:
    """The marks that have been seen and not yet been acted on. One per run; set from any task of the loop.

    `ours_until` is when the run may be somebody else's, by the loop's clock: a lease after its claim or last renewal.
    """

    def __init__(self, ours_until: float = inf) -> None:
        self.ours_until = ours_until
        self._seen: set[Mark] = set()
        self._changed = asyncio.Event()

    def add(self, marks: frozenset[Mark]) -> None:
        """Note marks; seeing one twice is seeing it once."""
        if marks - self._seen:
            self._seen |= marks
            self._changed.set()

    async def wait(self) -> None:
        """Return once there is a mark to act on."""
        await self._changed.wait()

    def take(self) -> frozenset[Mark]:
        """Return and forget what has been seen."""
        seen = frozenset(self._seen)
        self._seen.clear()
        self._changed.clear()
        return seen
