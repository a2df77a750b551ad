"""How long to wait before trying again: exponential, capped, with jitter.

The jitter spreads out those who failed together; this one is "equal jitter" in the terms of "Exponential Backoff and
Jitter", AWS Architecture Blog, 2015.
"""

import random
from collections.abc import Callable
from datetime import timedelta

FIRST = timedelta(seconds=1)
MOST_DOUBLINGS = 16  # 1 s · 2¹⁶ is most of a day: no cap lies above it, and the power stays small


def delay(
    failures: int,
    cap: timedelta,
    first: timedelta = FIRST,
    chance: Callable[[], float] = random.random,
) -> timedelta:
    """Return the pause after this many consecutive failures (1, 2, …): between half and all of `first` · 2ⁿ⁻¹.

    Never above `cap`. Half is the floor because a pause of nearly zero would make the retry part of the fault.
    """
    doublings = min(failures - 1, MOST_DOUBLINGS)
    full = min(first * (1 << doublings), cap)
    return full * (0.5 + chance() / 2)
