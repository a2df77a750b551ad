"""The hub: one read per run, however many waiters it has.

Each run that somebody watches has a channel, fed by one follower of the run's output stream. A channel keeps what has
arrived since the stream's start, encoded once; each waiter has a position of its own in it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Protocol, cast

from gateway.sse import Frame, frame
from shared.events import Event
from shared.logs import logger
from shared.ports import OutputStream

log = logger("gateway")


class _Batches(Protocol):
    """What `OutputStream.follow` returns is an async generator: it can be closed."""

    def __aiter__(self) -> AsyncIterator[Sequence[Event]]: ...
    async def aclose(self) -> None: ...


class Channel:
    """What has arrived of one run, in the order of arrival, duplicates included. Only ever appended to."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self._wakes: set[Callable[[], None]] = set()

    def add(self, frames: Sequence[Frame]) -> None:
        """Append frames and wake every waiter."""
        self.frames.extend(frames)
        self.wake()

    def wake(self) -> None:
        """Wake every waiter, whether or not something has arrived."""
        for wake in self._wakes:
            wake()

    def wake_on_arrival(self, wake: Callable[[], None]) -> None:
        """Call `wake` (which must not raise) after each arrival."""
        self._wakes.add(wake)

    def forget(self, wake: Callable[[], None]) -> None:
        """Undo `wake_on_arrival`."""
        self._wakes.discard(wake)

    def holds(self, seq: int) -> bool:
        """Whether an event with this seq, or a later one, has arrived."""
        return any(arrived.seq >= seq for arrived in reversed(self.frames))


class Hub:
    """The channels of one gateway."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output
        self._open: dict[str, _Shared] = {}

    @asynccontextmanager
    async def join(self, run_id: str) -> AsyncIterator[Channel]:
        """Open a run's channel for one waiter. The last one to leave ends the read."""
        shared = self._open.get(run_id)
        if shared is None:
            channel = Channel()
            follower = asyncio.create_task(self._feed(run_id, channel))
            shared = self._open[run_id] = _Shared(channel, follower)
        shared.waiters += 1
        try:
            yield shared.channel
        finally:
            shared.waiters -= 1
            if not shared.waiters:
                del self._open[run_id]
                shared.follower.cancel()

    def wake_everyone(self) -> None:
        """Wake the waiters of every channel, so that they look at what else has changed."""
        for shared in self._open.values():
            shared.channel.wake()

    async def _feed(self, run_id: str, channel: Channel) -> None:
        async with aclosing(cast("_Batches", self._output.follow(run_id))) as batches:
            async for events in batches:
                channel.add([frame(event) for event in events])


class _Shared:
    """A channel, the task that feeds it, and how many wait."""

    def __init__(self, channel: Channel, follower: "asyncio.Task[None]") -> None:
        self.channel = channel
        self.follower = follower
        self.waiters = 0
