"""The hub: one read per run, however many waiters it has.

Each run that somebody watches has a channel, fed by one follower of the run's output stream. A channel keeps the newest
of what has arrived, encoded once; each waiter has a position of its own in it. What it has let go the store has, and a
waiter that was too slow for it sees a hole like any other.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Final

from gateway.frames import Frame, frame
from shared.logs import logger
from shared.ports import OutputStream

log = logger("gateway")

KEPT: Final = 1024
"""Frames that a channel keeps at least (twice as many at most). A writer is some hundred events ahead of the store at
the most, so what is older can be had there, and a channel stays small however long its run is."""

REST_S: Final = 0.0001
REST_MOST_S: Final = 0.01
"""The least time from one waking of all waiters to the next, for each of them. To wake one and to send costs the same
for a frame as for many, so what is faster than so many can be served comes to them in pieces: a hundredth of a second
later at the most, and no later where they are few."""
REST_LEAST_S: Final = 0.001  # a loop's timers are no finer


class Channel:
    """What has arrived of one run, in the order of arrival, duplicates included.

    `broken` says that nothing will arrive any more: wait here no longer, and join anew.
    """

    __slots__ = ("_frames", "_let_go", "_timer", "_wakes", "_woken_at", "broken")

    def __init__(self) -> None:
        self.broken = False
        self._frames: list[Frame] = []
        self._let_go = 0  # frames that came before these
        self._wakes: dict[Callable[[], None], None] = {}  # a set would have another order each time
        self._woken_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, frames: Sequence[Frame]) -> None:
        """Append frames and wake every waiter, a little later when there are many and they were woken just now."""
        self._frames.extend(frames)
        if len(self._frames) >= 2 * KEPT:
            surplus = len(self._frames) - KEPT
            del self._frames[:surplus]
            self._let_go += surplus
        rest_s = min(len(self._wakes) * REST_S, REST_MOST_S)
        if rest_s < REST_LEAST_S:
            self.wake()
        elif self._timer is None:
            self._wake_rested(rest_s)

    def _wake_rested(self, rest_s: float) -> None:
        loop = asyncio.get_running_loop()
        due = self._woken_at + rest_s
        if loop.time() < due:
            self._timer = loop.call_at(due, self._ring)
        else:
            self._ring()

    def _ring(self) -> None:
        self._timer = None
        self._woken_at = asyncio.get_running_loop().time()
        self.wake()

    def since(self, position: int) -> tuple[Sequence[Frame], int]:
        """Return what has arrived after a position and is still here, and the position after that. 0 is the start."""
        return self._frames[max(position - self._let_go, 0) :], self._let_go + len(self._frames)

    def break_off(self) -> None:
        """Say that nothing will arrive any more, and wake every waiter."""
        self.broken = True
        self.wake()

    def wake(self) -> None:
        """Wake every waiter, whether or not something has arrived."""
        for wake in self._wakes:
            wake()

    def waking(self, wake: Callable[[], None]) -> "Waking":
        """Call `wake` (which must not raise) after each arrival while the block lasts."""
        return Waking(self._wakes, wake)

    def holds(self, seq: int) -> bool:
        """Whether an event with this seq, or a later one, has arrived."""
        return any(arrived.seq >= seq for arrived in reversed(self._frames))


class Hub:
    """The channels of one gateway."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output
        self._open: dict[str, Shared] = {}
        self._followers: set[asyncio.Task[None]] = set()

    def join(self, run_id: str) -> "Seat":
        """Open a run's channel for one waiter. The last one to leave ends the read."""
        return Seat(self, run_id)

    def enter(self, run_id: str) -> "Shared":
        """Count one more waiter of a run."""
        shared = self._open.get(run_id)
        if shared is None:
            shared = self._open[run_id] = self._begin(run_id)
        shared.waiters += 1
        return shared

    def leave(self, run_id: str, shared: "Shared") -> None:
        """Count one less."""
        shared.waiters -= 1
        if not shared.waiters:
            shared.follower.cancel()
            self._forget(run_id, shared.channel)

    def wake_everyone(self) -> None:
        """Wake the waiters of every channel, so that they look at what else has changed."""
        for shared in self._open.values():
            shared.channel.wake()

    def _begin(self, run_id: str) -> "Shared":
        channel = Channel()
        follower = asyncio.create_task(self._feed(run_id, channel))
        # A loop holds its tasks weakly, and one that was cancelled has still to close what it reads from.
        self._followers.add(follower)
        follower.add_done_callback(self._followers.discard)
        return Shared(channel, follower)

    async def _feed(self, run_id: str, channel: Channel) -> None:
        try:
            async with aclosing(self._output.follow(run_id)) as batches:
                async for events in batches:
                    channel.add([frame(event) for event in events])
        except Exception:
            log.exception("follower_crashed", extra={"fields": {"run_id": run_id}})
        # Following has no end of its own, so whoever waits here would wait in vain. Who comes next begins anew.
        self._forget(run_id, channel)
        channel.break_off()

    def _forget(self, run_id: str, channel: Channel) -> None:
        shared = self._open.get(run_id)
        if shared is not None and shared.channel is channel:
            del self._open[run_id]


class Shared:
    """A channel, the task that feeds it, and how many wait."""

    __slots__ = ("channel", "follower", "waiters")

    def __init__(self, channel: Channel, follower: "asyncio.Task[None]") -> None:
        self.channel = channel
        self.follower = follower
        self.waiters = 0


# Not generators: each of these is kept for as long as a stream is open, and there are thousands.


class Seat:
    """One waiter's part of a channel, for as long as the block lasts."""

    __slots__ = ("_hub", "_run_id", "_shared")

    def __init__(self, hub: Hub, run_id: str) -> None:
        self._hub = hub
        self._run_id = run_id

    async def __aenter__(self) -> Channel:
        self._shared = self._hub.enter(self._run_id)
        return self._shared.channel

    async def __aexit__(self, *_: object) -> None:
        self._hub.leave(self._run_id, self._shared)


class Waking:
    """One waiter's wake-up, for as long as the block lasts."""

    __slots__ = ("_wake", "_wakes")

    def __init__(self, wakes: dict[Callable[[], None], None], wake: Callable[[], None]) -> None:
        self._wakes = wakes
        self._wake = wake

    def __enter__(self) -> None:
        self._wakes[self._wake] = None

    def __exit__(self, *_: object) -> None:
        self._wakes.pop(self._wake, None)
