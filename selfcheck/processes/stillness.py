"""Whether a process that stands in a tree's code hangs there, or is only kept waiting for a processor.

Looks come at fixed times, and on a busy machine a third of a second of computing takes longer than two of them.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOKS = 2  # the loop is shown each 0.8 s that it stands; twice in the same tree is no bad luck
MOST_LOOKS = 5  # whatever the processor does: soon after that, whoever waits for an answer gives up
ENOUGH_CPU_S = 0.5  # between the first look and the last; the longest that is put up with in a tree takes 0.3


@dataclass(frozen=True, slots=True)
class Spent:
    """What processes have computed so far, and whether one of them would compute now."""

    cpu_s: float
    wants_more: bool


def spent(pids: Sequence[int]) -> Spent | None:
    """Return what these processes have spent; None where that is not told, or one has ended."""
    cpu_s, wants_more = 0.0, False
    try:
        for pid in pids:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            cpu_s += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            wants_more = wants_more or fields[0] == b"R"
    except (OSError, IndexError):
        return None
    return Spent(cpu_s, wants_more)


class Stillness:
    """Counts the looks at the processes of one service in which it stood in the tree, one after the other."""

    def __init__(self, pids: Sequence[int], measure: Callable[[Sequence[int]], Spent | None] = spent) -> None:
        self._pids = pids
        self._measure = measure
        self._looks = 0
        self._first: Spent | None = None

    def moved(self) -> None:
        """Begin anew: it has come out."""
        self._looks = 0

    def hangs(self) -> bool:
        """Take one more look at it, and say whether it hangs: it sleeps there, or has computed long enough."""
        self._looks += 1
        now = self._measure(self._pids)
        if self._looks == 1:
            self._first = now
        if self._looks < LOOKS or self._looks >= MOST_LOOKS or now is None or self._first is None:
            return self._looks >= LOOKS
        return not now.wants_more or now.cpu_s - self._first.cpu_s >= ENOUGH_CPU_S
