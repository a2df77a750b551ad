"""The guard: knows what has been handed to the orderer, and says when a hole has been open for too long.

It stands outside the orderer on purpose. An orderer holds whatever it is given for as long as it takes; how much and
how long that may be is the gateway's decision, and what the orderer did with it is not asked.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Guard:
    """Seqs that have arrived from `next_seq` on. `next_seq` is the lowest that has not."""

    next_seq: int
    _ahead: set[int] = field(default_factory=set)
    _since: float | None = None

    def saw(self, seq: int, at: float) -> None:
        """Note an arrival at the time `at` (seconds of any monotonic clock). Duplicates change nothing."""
        if seq == self.next_seq:
            self.next_seq += 1
            while self.next_seq in self._ahead:
                self._ahead.discard(self.next_seq)
                self.next_seq += 1
            self._since = at if self._ahead else None
        elif seq > self.next_seq:
            self._ahead.add(seq)
            if self._since is None:
                self._since = at

    @property
    def held(self) -> int:
        """How many events wait behind a hole."""
        return len(self._ahead)

    @property
    def hole_since(self) -> float | None:
        """When the hole at `next_seq` was first seen; None while there is none."""
        return self._since
