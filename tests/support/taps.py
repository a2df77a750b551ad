"""Things that happen to single calls of a port: held up, not carried out, or carried out with the answer lost.

tap(store, "finish", after=once(lose_the_answer))
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from shared.errors import Unavailable

Hook = Callable[[], Awaitable[None]]


class _Method(Protocol):
    def __call__(self, *arguments: object, **named: object) -> Awaitable[object]: ...


async def nothing() -> None:
    """Let the call pass."""


async def refuse() -> None:
    """Be away. Before a call, it is not carried out; after it, its answer is lost."""
    raise Unavailable("service", "the test said so")


def tap(port: object, name: str, *, before: Hook = nothing, after: Hook = nothing) -> None:
    """Have every later call of this method of a port pass `before`, and its answer pass `after`."""
    method: _Method = getattr(port, name)

    async def tapped(*arguments: object, **named: object) -> object:
        await before()
        answer = await method(*arguments, **named)
        await after()
        return answer

    setattr(port, name, tapped)


def once(hook: Hook) -> Hook:
    """Return a hook that acts on the next call and lets all others pass."""
    return times(1, hook)


def times(count: int, hook: Hook) -> Hook:
    """Return a hook that acts on the next `count` calls and lets all others pass."""
    left = count

    async def limited() -> None:
        nonlocal left
        if left:
            left -= 1
            await hook()

    return limited


class Barrier:
    """A hook at which calls stop until they are let go. Those that come later pass."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._open = asyncio.Event()

    async def __call__(self) -> None:
        """Stop here."""
        self._reached.set()
        await self._open.wait()

    async def reached(self) -> None:
        """Return when the first call stands here."""
        await self._reached.wait()

    def let_go(self) -> None:
        """Let all calls pass, those that stand here and those to come."""
        self._open.set()
