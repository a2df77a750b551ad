"""The feed: what one waiter of a run gets, in order and complete, from any cursor and at any moment.

One path for all of them. Join the run's channel, replay from the store, follow the stream from its start, and hand
everything to an orderer of this connection's own, which drops what the two have in common. Around the orderer:

- a cursor that is ahead of the run's history gets a `gap`, and one that is behind what is kept, or by more than the
  replay cap, a `snapshot` instead of the single events (`placing.py`);
- a hole that stays open is filled from the store, and if the store has not got it either the connection ends with an
  `error`: never silence, never a jump;
- whoever hears nothing looks the run up with each heartbeat, so that a lost last event hangs nobody.
"""

import logging
import random
from collections.abc import Sequence
from math import inf
from typing import Final

from gateway import sse
from gateway.guard import Guard
from gateway.hub import Channel
from gateway.placing import Place
from gateway.reading import Readings
from gateway.sse import Frame
from gateway.waiter import EARLY_S, Waiter
from shared.errors import Unavailable
from shared.exercises import Orderer, OrdererFactory
from shared.logs import logger, note
from shared.run import ENDED
from shared.settings import Settings

log = logger("gateway")

CHUNK: Final = 128 * 1024
"""Bytes that are sent at once, give or take a frame: so much may wait in the server for a client that does not read."""


class Common:
    """What all feeds of a gateway have in common."""

    def __init__(self, settings: Settings, readings: Readings, orderer: OrdererFactory) -> None:
        self.settings = settings
        self.readings = readings
        self.orderer = orderer
        self.heartbeat_s = settings.heartbeat.total_seconds()
        self.stopping = False  # every feed tells its client to reconnect (elsewhere), and ends


class Feed:
    """The bytes for one connection, taken by its one task. Made by `Feeds.begin`."""

    __slots__ = (
        "_channel", "_common", "_ended", "_guard", "_last_seq", "_mend_again_at", "_orderer", "_read", "_ready",
        "_retire_at", "_run_id", "_spoke_at", "_waiter",
    )  # fmt: skip

    def __init__(self, run_id: str, place: Place, channel: Channel, waiter: Waiter, common: Common) -> None:
        self._run_id = run_id
        self._channel = channel
        self._waiter = waiter
        self._common = common
        self._ready = [sse.retry(common.settings.retry), place.before]
        self._ended = False
        self._read = 0  # the position in the channel
        self._last_seq: int | None = None  # of the terminal event, once it has arrived
        self._guard = Guard(place.position)
        self._orderer: Orderer[Frame] = common.orderer(place.position, self._emit)
        self._mend_again_at = 0.0
        self._spoke_at = waiter.now()  # when bytes were last sent
        age_s = common.settings.max_connection_age.total_seconds() * random.uniform(0.8, 1)  # noqa: S311
        self._retire_at = self._spoke_at + age_s

    async def replay(self) -> None:
        """Make ready what the store has from the first event on that has not arrived."""
        self._offer(await self._common.readings.of(self._run_id).frames(self._guard.next_seq))

    async def chunk(self) -> bytes:
        """Wait for bytes and return them, frames that are ready together in one piece; b"" at the stream's end.

        What was returned before has been sent by the time this is called.
        """
        waiter = self._waiter
        self._spoke_at = waiter.sent()
        try:
            while self._silent():
                waiter.look()
                self._take_arrivals()
                if self._troubled():
                    await self._mend()
                if self._silent() and not self._retired():
                    await waiter.rest(min(self._beat_at(), self._retire_at, self._mend_at()))
                    if waiter.now() >= self._beat_at() - EARLY_S:
                        await self._beat()
        except Exception:
            log.exception("stream_crashed", extra={"fields": {"run_id": self._run_id}})
            self._ready.clear()
            self._end(sse.error("internal", "a fault of ours; it has been logged; reconnect"))
        return self._join()

    def _join(self) -> bytes:
        ready, size, count = self._ready, 0, 0
        while count < len(ready) and size < CHUNK:
            size += len(ready[count])
            count += 1
        chunk = b"".join(ready[:count])
        del ready[:count]
        return chunk

    def _silent(self) -> bool:
        """Whether there is nothing to send, and something still to come."""
        return not self._ready and not self._ended

    def _retired(self) -> bool:
        """End when it is time to."""
        if not self._common.stopping and self._waiter.now() < self._retire_at - EARLY_S:
            return False
        self._end(sse.error("going_away", "this connection has reached its end; reconnect"))
        return True

    def _end(self, last: bytes) -> None:
        self._ready.append(last)
        self._ended = True

    # what comes in

    def _take_arrivals(self) -> None:
        arrived, self._read = self._channel.since(self._read)
        self._offer(arrived)

    def _offer(self, frames: Sequence[Frame]) -> None:
        now, saw, offer = self._waiter.now(), self._guard.saw, self._orderer.offer
        for frame in frames:
            saw(frame.seq, now)
            offer(frame.seq, frame)
            if frame.terminal:
                self._last_seq = frame.seq

    def _emit(self, seq: int, frame: Frame) -> None:
        if not self._ended:
            self._ready.append(frame.data)
            self._ended = frame.terminal

    # what does not come

    def _troubled(self) -> bool:
        return self._guard.hole_since is not None or self._last_seq is not None or self._channel.broken

    async def _mend(self) -> None:
        """Fill a hole that has been open for too long from the store; end the connection when that does not help."""
        if self._ended:
            return
        if self._last_seq is not None and self._guard.next_seq > self._last_seq:
            self._give_up("order", "every event has arrived, and not every one was put in order")
            return
        if self._channel.broken:
            self._give_up("internal", "a fault of ours; it has been logged; reconnect")
            return
        now = self._waiter.now()
        if now < self._mend_at() - EARLY_S:
            return
        missing = self._guard.next_seq
        await self._backfill()
        if self._guard.next_seq > missing:
            return
        if now >= self._patience_ends() - EARLY_S:
            self._give_up("missing", f"event {missing} is neither on the stream nor in the store; reconnect")
        # Too many are held, but the writer may not have flushed yet: wait for that before asking again.
        self._mend_again_at = now + self._common.settings.flush_every.total_seconds()

    def _patience_ends(self) -> float:
        since = self._guard.hole_since
        return inf if since is None else since + self._common.settings.reorder_wait.total_seconds()

    def _mend_at(self) -> float:
        """Return when the store is to be asked for what is missing: never, while nothing is."""
        if self._guard.hole_since is None:
            return inf
        too_many = self._guard.held > self._common.settings.reorder_limit
        return self._mend_again_at if too_many else max(self._patience_ends(), self._mend_again_at)

    async def _backfill(self) -> None:
        note(log, "backfilled", run_id=self._run_id, seq=self._guard.next_seq, held=self._guard.held)
        try:
            await self.replay()
        except Unavailable as away:
            note(log, "backfill_failed", logging.WARNING, run_id=self._run_id, why=str(away))

    def _beat_at(self) -> float:
        return self._spoke_at + self._common.heartbeat_s

    async def _beat(self) -> None:
        """Break the silence, and look the run up: what the store has and the stream did not bring is sent."""
        self._ready.append(sse.PING)
        try:
            stored = await self._common.readings.of(self._run_id).glance()
            last_seq = -1 if stored is None or stored.last_seq is None else stored.last_seq
            if last_seq >= self._guard.next_seq:
                await self._backfill()
            elif stored is None or stored.run.status in ENDED:
                self._give_up("missing", "the run has ended at an event before the last that came here; reconnect")
        except Unavailable as away:
            note(log, "look_up_failed", logging.WARNING, run_id=self._run_id, why=str(away))

    def _give_up(self, code: str, message: str) -> None:
        note(log, "stream_given_up", logging.ERROR, run_id=self._run_id, code=code, why=message)
        self._end(sse.error(code, message))
