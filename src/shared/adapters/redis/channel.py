"""Who follows a stream, and what has arrived for them."""

import asyncio
from typing import Final

from shared.adapters.redis.entries import START, UNREADABLE, event_of, order, position_of
from shared.adapters.redis.protocol import Reply, pack_argument
from shared.events import Event

READ: Final = 500
"""Entries of one stream that are read at once, so that a long history does not hold up the others."""
HELD: Final = 2 * READ
"""Events held for a follower that does not take them. One that falls further behind leaves the lane, and reads the
stream itself when it comes back: what it has missed is kept by the server, not here."""


class Follower:
    """One reader of one run, and what has arrived for it.

    `taken` is the position of the last entry that its reader has, `at` that of the last one held for it.
    """

    __slots__ = ("_changed", "at", "events", "joined", "key", "run_id", "taken")

    def __init__(self, run_id: str, key: str) -> None:
        self.run_id = run_id
        self.key = key
        self.taken = self.at = START
        self.events: list[Event] = []
        self.joined = False
        self._changed: asyncio.Future[None] | None = None

    async def take(self) -> list[Event]:
        """Wait for events and return them; empty when the follower is not in a lane (any more)."""
        while self.joined and not self.events:
            self._changed = asyncio.get_running_loop().create_future()
            await self._changed
        events, self.events = self.events, []
        if events:
            self.taken = self.at
        return events

    def wake(self) -> None:
        """Let `take` look again."""
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)


class Channel:
    """One stream that a lane reads, from `at` on, and its followers in this process."""

    def __init__(self, run_id: str, key: str, at: bytes) -> None:
        self.run_id = run_id
        self.key = key
        self.packed_key = pack_argument(key)
        self.followers: list[Follower] = []
        self.go_to(at)

    def go_to(self, position: bytes) -> None:
        """Read on from a position; what is on its way for another one is dropped."""
        self.at = position
        self.packed_at = pack_argument(position)

    def deliver(self, entries: list[Reply]) -> None:
        """Give entries to every follower that has not had them."""
        try:
            events = [event_of(self.run_id, entry) for entry in entries]
        except UNREADABLE:
            # Whoever follows this run meets it again by itself, and raises; the lane goes on.
            for follower in self.followers.copy():
                self.dismiss(follower)
            return
        first, last = order(position_of(entries[0])), position_of(entries[-1])
        self.go_to(last)
        for follower in self.followers.copy():
            at = order(follower.at)
            if at < first:
                new = events
            else:
                new = [event for event, entry in zip(events, entries, strict=True) if order(position_of(entry)) > at]
            if len(follower.events) + len(new) > HELD:
                self.dismiss(follower)
            elif new:
                follower.events.extend(new)
                follower.at = last
                follower.wake()

    def dismiss(self, follower: Follower) -> None:
        """Let a follower go, which then reads on by itself, behind what it has taken."""
        self.followers.remove(follower)
        follower.joined = False
        follower.at = follower.taken
        follower.events = []
        follower.wake()

    def begin_again(self, follower: Follower) -> None:
        """Send a follower back to the start: its stream has begun again."""
        follower.at = START
        self.go_to(START)
