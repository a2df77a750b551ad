"""The feed: what one connection gets of a run, in order and complete, from any cursor and at any moment.

One path for all of them. Join the run's channel, replay from the store, follow the stream from its start, and hand
everything to an orderer of this connection's own, which drops what the two have in common. Around the orderer:

- a cursor that is ahead of the run's history gets a `gap`, and one that is behind what is kept, or by more than the
  replay cap, a `snapshot` instead of the single events (`placing.py`);
- a hole that stays open is filled from the store, and if the store has not got it either the feed ends with a fault:
  never silence, never a jump;
- whoever hears nothing looks the run up now and then, so that a lost last event hangs nobody.

What bytes these are, how they are sent, and what else a connection says, is its own affair: `chunks.py` for a stream,
`line.py` for a session's line.
"""

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from gateway.frames import Form, Frame
from gateway.guard import Guard
from gateway.hub import Channel
from gateway.placing import Place
from gateway.reading import Readings
from gateway.waiter import EARLY_S
from shared.errors import Unavailable
from shared.exercises import Orderer, OrdererFactory
from shared.logs import logger, note
from shared.run import ENDED
from shared.settings import Settings

log = logger("gateway")

CHUNK: Final = 128 * 1024
"""Bytes that are sent at once, give or take a frame: so much may wait in the server for a client that does not read."""


PAUSE_S: Final = 0.01
"""The least time until the store is asked again for what it has not got, also where writers flush at once."""


class Common:
    """What all feeds of a gateway have in common."""

    def __init__(self, settings: Settings, readings: Readings, orderer: OrdererFactory) -> None:
        self.settings = settings
        self.readings = readings
        self.orderer = orderer
        self.heartbeat_s = settings.heartbeat.total_seconds()
        self.stopping = False  # every connection tells its client to reconnect (elsewhere), and ends

    def age_s(self) -> float:
        """Return how old a new connection may become: no two the same, so that clients do not come back together."""
        return self.settings.max_connection_age.total_seconds() * random.uniform(0.8, 1)  # noqa: S311


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a feed cannot go on. The client comes back with its cursor, and is given another."""

    code: str
    message: str


INTERNAL: Final = Fault("internal", "a fault of ours; it has been logged; reconnect")


class Feed:
    """What one connection gets of a run, taken by its one task. Made by `Feeds.begin`.

    `ready` is what can be sent; `over` says that nothing will be added to it any more: the run's last event is among
    it, or, with a `fault`, will not be.
    """

    __slots__ = (
        "_channel", "_common", "_form", "_guard", "_last_seq", "_mend_again_at", "_now", "_orderer", "_read", "_run_id",
        "fault", "over", "ready",
    )  # fmt: skip

    def __init__(
        self, run_id: str, place: Place, channel: Channel, common: Common, form: Form, now: Callable[[], float]
    ) -> None:
        self.ready = [*place.before]
        self.over = False
        self.fault: Fault | None = None
        self._run_id = run_id
        self._channel = channel
        self._common = common
        self._form = form
        self._now = now
        self._read = 0  # the position in the channel
        self._last_seq: int | None = None  # of the terminal event, once it has arrived
        self._guard = Guard(place.position)
        self._orderer: Orderer[Frame] = common.orderer(place.position, self._emit)
        self._mend_again_at = 0.0

    async def replay(self) -> None:
        """Make ready what the store has from the first event on that has not arrived."""
        self._offer(await self._common.readings.of(self._run_id).frames(self._guard.next_seq))

    async def advance(self) -> None:
        """Make ready what has arrived since, and mend what is to be mended by now."""
        arrived, self._read = self._channel.since(self._read)
        self._offer(arrived)
        if self._guard.hole_since is not None or self._last_seq is not None or self._channel.broken:
            await self._mend()

    def due(self) -> float:
        """Return when `advance` has something to do though nothing arrives: never, while nothing is missing."""
        if self._guard.hole_since is None:
            return inf
        too_many = self._guard.held > self._common.settings.reorder_limit
        return self._mend_again_at if too_many else max(self._patience_ends(), self._mend_again_at)

    async def look_up(self) -> None:
        """Look the run up: what the store has and the stream did not bring is made ready."""
        try:
            stored = await self._common.readings.of(self._run_id).glance()
            last_seq = -1 if stored is None or stored.last_seq is None else stored.last_seq
            if last_seq >= self._guard.next_seq:
                await self._backfill()
            elif stored is None or stored.run.status in ENDED:
                self._give_up("missing", "the run has ended at an event before the last that came here; reconnect")
        except Unavailable as away:
            note(log, "look_up_failed", logging.WARNING, run_id=self._run_id, why=str(away))

    def take(self) -> list[bytes]:
        """Return what is ready, or as much of it as makes a chunk; it is ready no longer."""
        ready, size, count = self.ready, 0, 0
        while count < len(ready) and size < CHUNK:
            size += len(ready[count])
            count += 1
        taken = ready[:count]
        del ready[:count]
        return taken

    # what comes in

    def _offer(self, frames: Sequence[Frame]) -> None:
        now, saw, offer = self._now(), self._guard.saw, self._orderer.offer
        for frame in frames:
            saw(frame.seq, now)
            offer(frame.seq, frame)
            if frame.terminal:
                self._last_seq = frame.seq

    def _emit(self, seq: int, frame: Frame) -> None:
        if not self.over:
            self.ready.append(self._form.event(frame))
            self.over = frame.terminal

    # what does not come

    async def _mend(self) -> None:
        """Fill a hole that has been open for too long from the store; end the feed when that does not help."""
        if self.over:
            return
        if self._last_seq is not None and self._guard.next_seq > self._last_seq:
            self._give_up("order", "every event has arrived, and not every one was put in order")
            return
        if self._channel.broken:
            self._give_up(INTERNAL.code, INTERNAL.message)
            return
        now = self._now()
        if now < self.due() - EARLY_S:
            return
        missing = self._guard.next_seq
        await self._backfill()
        if self._guard.next_seq > missing:
            return
        if now >= self._patience_ends() - EARLY_S:
            self._give_up("missing", f"event {missing} is neither on the stream nor in the store; reconnect")
        # Too many are held, but the writer may not have flushed yet: wait for that before asking again.
        self._mend_again_at = now + max(self._common.settings.flush_every.total_seconds(), PAUSE_S)

    def _patience_ends(self) -> float:
        since = self._guard.hole_since
        return inf if since is None else since + self._common.settings.reorder_wait.total_seconds()

    async def _backfill(self) -> None:
        note(log, "backfilled", run_id=self._run_id, seq=self._guard.next_seq, held=self._guard.held)
        try:
            await self.replay()
        except Unavailable as away:
            note(log, "backfill_failed", logging.WARNING, run_id=self._run_id, why=str(away))

    def _give_up(self, code: str, message: str) -> None:
        note(log, "stream_given_up", logging.ERROR, run_id=self._run_id, code=code, why=message)
        self.fault, self.over = Fault(code, message), True
