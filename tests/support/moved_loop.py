"""An event loop whose time is moved instead of waited for.

When nothing is ready, time jumps to the next timer. So a test may wait ten minutes in no time, no busy machine changes
what it sees, and a task that waits for nothing that will ever come is found at once instead of after a time-out.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


class Stuck(BaseException):
    """Every task waits, and no timer is there to wake one. Not an `Exception`, so that nobody catches it."""


class _JumpingSelector(selectors.SelectSelector):
    """Waits for nothing: tells how long it would have had to."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:  # type: ignore[explicit-any]  # the key's own `data`
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise Stuck
            self.now += max(timeout, 0)
        return ready


class MovedLoop(asyncio.SelectorEventLoop):
    """A loop on a clock that stands still while something is ready. For one process without sockets or threads."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        self.faults: list[str] = []
        super().__init__(self._jumping)
        self.set_exception_handler(lambda _, context: self.faults.append(f"{context}"))

    def time(self) -> float:
        """Return the time it is, in seconds since the loop began."""
        return self._jumping.now


def run(test: Coroutine[None, None, T]) -> T:
    """Run a coroutine on a moved loop of its own.

    Raises:
        Stuck: it waits for something that can never happen.
        AssertionError: a task or callback failed and nobody looked.
    """
    loop = MovedLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        result = runner.run(test)
    assert not loop.faults, loop.faults
    return result


def now() -> float:
    """Return the running loop's time, in seconds."""
    return asyncio.get_running_loop().time()


async def settle() -> None:
    """Return when everything has run that can run without time moving on."""
    await asyncio.sleep(1e-6)  # time jumps only when nothing is ready


async def pass_time(seconds: float) -> None:
    """Let this much time pass, and all that is due in it happen."""
    await asyncio.sleep(seconds)
    await settle()
