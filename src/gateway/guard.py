"""The guard: knows what has been handed to the orderer, and says when a hole has been open for too long.

It stands outside the orderer on purpose. An orderer holds whatever it is given for as long as it takes; how much and
how long that may be is the gateway's decision, and what the orderer did with it is not asked.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class Guard:
    """Seqs that have arrived from `next_seq` on. `next_seq` is the lowest that has not."""

    next_seq: int
    _ahead: set[int] | None = None  # none while nothing is ahead: a set is large, and holes are rare
    _since: float | None = None

    def saw(self, seq: int, at: float) -> None:
        """Note an arrival at the time `at` (seconds of any monotonic clock). Duplicates change nothing."""
        if seq == self.next_seq:
            self.next_seq += 1
            if self._ahead is not None:
                self._close_up(self._ahead, at)
        elif seq > self.next_seq:
            if self._ahead is None:
                self._ahead, self._since = set(), at
            self._ahead.add(seq)

    def _close_up(self, ahead: set[int], at: float) -> None:
        while self.next_seq in ahead:
            ahead.discard(self.next_seq)
            self.next_seq += 1
        # What is still ahead is behind another hole, whose time begins now.
        self._ahead, self._since = (ahead, at) if ahead else (None, None)

    @property
    def held(self) -> int:
        """How many events wait behind a hole."""
        return len(self._ahead or ())

    @property
    def hole_since(self) -> float | None:
        """When the hole at `next_seq` was first seen; None while there is none."""
        return self._since
