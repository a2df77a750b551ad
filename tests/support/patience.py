"""Waiting for other processes and their services: bounded, and by asking where nobody tells."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

from shared.errors import Unavailable

T = TypeVar("T")

PATIENCE_S: Final = 60.0
"""How long anything may take before a test fails; nothing takes a fraction of it."""

ASK_EVERY_S: Final = 0.02


async def until(what: str, ask: Callable[[], Awaitable[T | None]], patience_s: float = PATIENCE_S) -> T:
    """Ask for a state of other processes until there is one: an answer that is not None.

    Raises:
        AssertionError: there was none within `patience_s`.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_s
    while True:
        with suppress(Unavailable):  # a service that was restarted: our own connections were lost, too
            answer = await ask()
            if answer is not None:
                return answer
        assert loop.time() < deadline, f"waited for {patience_s:g} s, in vain: {what}"
        await lapse(ASK_EVERY_S)


async def patiently(connect: Callable[[], Awaitable[T]]) -> T:
    """Connect, with more patience than a process has at its start: the machine may be busy with other tests."""
    for _ in range(4):
        try:
            return await connect()
        except Unavailable:
            continue
    return await connect()


async def lapse(seconds: float) -> None:
    """Let other processes have this much time: for what is a matter of time, or a state that nobody tells us."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()  # and no future: one that is cancelled in the moment in which it is due cannot be set
    timer = loop.call_later(seconds, over.set)
    try:
        await over.wait()
    finally:
        timer.cancel()
