"""The feed: what one waiter of a run gets, in order and complete, from any cursor and at any moment.

One path for all of them. Join the run's channel, replay from the store, follow the stream from its start, and hand
everything to an orderer of this connection's own, which drops what the two have in common. Around the orderer:

- a cursor that is ahead of the run's history gets a `gap`, and one that is behind what is kept, or by more than the
  replay cap, a `snapshot` instead of the single events;
- a hole that stays open is filled from the store, and if the store has not got it either the connection ends with an
  `error`: never silence, never a jump;
- whoever hears nothing re-reads the run with each heartbeat, so that a lost last event hangs nobody.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from math import inf

from gateway import sse
from gateway.guard import Guard
from gateway.hub import Channel, Hub
from gateway.sse import Frame
from shared.errors import Unavailable, UnknownRun
from shared.events import Event, reply_text
from shared.exercises import Exercises, Orderer
from shared.logs import logger, note
from shared.ports import OutputStream, Store, StoredRun
from shared.run import ENDED
from shared.settings import Settings

log = logger("gateway")

PAGE = 1000  # rows read from the store at once


class Feeds:
    """Opens feeds. One per gateway."""

    def __init__(self, store: Store, output: OutputStream, hub: Hub, exercises: Exercises, settings: Settings) -> None:
        self._store = store
        self._output = output
        self._hub = hub
        self._exercises = exercises
        self._settings = settings
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End every open feed: it tells its client to reconnect (elsewhere) and closes."""
        self._stopping.set()
        self._hub.wake_everyone()

    async def announce_end(self, run_id: str) -> None:
        """Send the one event of a run that ended before any worker had it to those who wait for it.

        Failing costs them a heartbeat's time: the store has the event.
        """
        try:
            await self._output.append(await self._store.events(run_id, 0, 1), attempt=0)
            await self._output.expire(run_id, self._settings.out_stream_ttl)
        except Unavailable as away:
            note(log, "end_not_announced", logging.WARNING, run_id=run_id, why=str(away))

    @asynccontextmanager
    async def open(self, run_id: str, last_event_id: str | None) -> AsyncIterator["Feed | None"]:
        """Open the feed of a run after this cursor. None: the run has ended and the cursor is at or past its end.

        Raises:
            UnknownRun: there is no such run.
            Unavailable: the store is away; nothing has been sent.
        """
        stored = await self._store.run(run_id)
        if stored is None:
            raise UnknownRun(run_id)
        start = self._exercises.resume_from(last_event_id)
        if stored.run.status in ENDED and stored.last_seq is not None and start > stored.last_seq:
            yield None
            return
        # An ended run has nothing to follow: the store has all of it, whether or not the stream is still there.
        joined = nullcontext(Channel()) if stored.run.status in ENDED else self._hub.join(run_id)
        async with joined as channel:
            feed = Feed(run_id, channel, self._store, self._output, self._exercises, self._settings, self._stopping)
            await feed.begin(stored, start)
            yield feed


class Feed:
    """The frames of one connection. Read by one task; made by `Feeds.open`."""

    def __init__(
        self, run_id: str, channel: Channel, store: Store, output: OutputStream, exercises: Exercises,
        settings: Settings, stopping: asyncio.Event,
    ) -> None:  # fmt: skip
        self._run_id = run_id
        self._channel = channel
        self._store = store
        self._output = output
        self._exercises = exercises
        self._settings = settings
        self._stopping = stopping
        self._loop = asyncio.get_running_loop()
        self._ready: list[bytes] = [sse.retry(settings.retry)]
        self._ended = False
        self._read = 0  # the position in the channel
        self._last_seq: int | None = None  # of the terminal event, once it has arrived
        self._mend_again_at = 0.0
        self._spoke_at = self._loop.time()  # when bytes were last sent
        self._orderer: Orderer[Frame]
        self._guard: Guard

    async def begin(self, stored: StoredRun, start: int) -> None:
        """Decide where this connection starts, and make ready what the store has from there on."""
        position = await self._place(stored, start)
        self._guard = Guard(position)
        self._orderer = self._exercises.SeqOrderer(position, self._emit)
        await self._replay()

    async def chunks(self) -> AsyncGenerator[bytes]:
        """Yield the bytes to send; frames that are ready together come as one chunk. Ends with the run."""
        settings, loop = self._settings, self._loop
        wake = asyncio.Event()
        age_s = settings.max_connection_age.total_seconds() * random.uniform(0.8, 1)  # noqa: S311
        retire_at = loop.time() + age_s
        with self._channel.waking(wake.set):
            while True:
                wake.clear()
                self._take_arrivals()
                await self._mend()
                if self._ready:
                    chunk = b"".join(self._ready)
                    self._ready.clear()
                    yield chunk
                    self._spoke_at = loop.time()
                if self._ended:
                    return
                if self._stopping.is_set() or loop.time() >= retire_at:
                    yield sse.error("going_away", "this connection has reached its end; reconnect")
                    return
                await self._pause(wake, retire_at)

    # where to start

    async def _place(self, stored: StoredRun, start: int) -> int:
        """Return the first seq to send one by one; make ready the gap or snapshot that goes before it."""
        tail = -1 if stored.last_seq is None else stored.last_seq
        if start > tail + 1 and not self._channel.holds(start - 1):
            newest = max(tail, *(event.seq for event in await self._output.entries(self._run_id)), -1)
            if start > newest + 1:
                self._ready.append(sse.gap(start - 1, 0 if newest >= 0 else None, newest if newest >= 0 else None))
                return await self._snapshot()
        if stored.archived_text is not None and start < tail:
            self._ready.append(sse.snapshot(tail - 1, stored.archived_text))
            return tail
        if tail + 1 - start > self._settings.replay_cap:
            return await self._snapshot()
        return start

    async def _snapshot(self) -> int:
        """Make ready the whole text so far, and return the seq that comes after it.

        The terminal event is not part of it: it is always sent as itself.
        """
        events = [event async for page in self._pages(0) for event in page]
        if events and sse.frame(events[-1]).terminal:
            events.pop()
        if not events:
            return 0
        self._ready.append(sse.snapshot(events[-1].seq, reply_text(events)))
        return events[-1].seq + 1

    async def _pages(self, start: int) -> AsyncIterator[Sequence[Event]]:
        while page := await self._store.events(self._run_id, start, PAGE):
            yield page
            if len(page) < PAGE:
                return
            start = page[-1].seq + 1

    # what comes in

    async def _replay(self) -> None:
        async for page in self._pages(self._guard.next_seq):
            self._offer([sse.frame(event) for event in page])

    def _take_arrivals(self) -> None:
        arrived, self._read = self._channel.since(self._read)
        self._offer(arrived)

    def _offer(self, frames: Sequence[Frame]) -> None:
        now, saw, offer = self._loop.time(), self._guard.saw, self._orderer.offer
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
        now = self._loop.time()
        if now < self._mend_at():
            return
        missing = self._guard.next_seq
        await self._backfill()
        if self._guard.next_seq > missing:
            return
        if now >= self._patience_ends():
            self._give_up("missing", f"event {missing} is neither on the stream nor in the store; reconnect")
        # Too many are held, but the writer may not have flushed yet: wait for that before asking again.
        self._mend_again_at = now + self._settings.flush_every.total_seconds()

    def _patience_ends(self) -> float:
        since = self._guard.hole_since
        return inf if since is None else since + self._settings.reorder_wait.total_seconds()

    def _mend_at(self) -> float:
        """Return when the store is to be asked for what is missing: never, while nothing is."""
        too_many = self._guard.held > self._settings.reorder_limit
        return self._mend_again_at if too_many else max(self._patience_ends(), self._mend_again_at)

    async def _backfill(self) -> None:
        note(log, "backfilled", run_id=self._run_id, seq=self._guard.next_seq, held=self._guard.held)
        try:
            await self._replay()
        except Unavailable as away:
            note(log, "backfill_failed", logging.WARNING, run_id=self._run_id, why=str(away))

    def _give_up(self, code: str, message: str) -> None:
        note(log, "stream_given_up", logging.ERROR, run_id=self._run_id, code=code, why=message)
        self._ready.append(sse.error(code, message))
        self._ended = True

    async def _pause(self, wake: asyncio.Event, retire_at: float) -> None:
        """Wait for an arrival, the end of a hole's patience, or the heartbeat, whichever is first."""
        heartbeat_at = self._spoke_at + self._settings.heartbeat.total_seconds()
        due = min(heartbeat_at, retire_at, self._mend_at())
        try:
            async with asyncio.timeout_at(due):
                await wake.wait()
        except TimeoutError:
            if due == heartbeat_at:
                self._ready.append(sse.PING)
                await self._look_up()

    async def _look_up(self) -> None:
        """Re-read the run: what the store has and the stream did not bring is sent from there."""
        try:
            stored = await self._store.run(self._run_id)
            last_seq = -1 if stored is None or stored.last_seq is None else stored.last_seq
            if last_seq >= self._guard.next_seq:
                await self._backfill()
            elif stored is None or stored.run.status in ENDED:
                self._give_up("missing", "the run has ended at an event before the last that came here; reconnect")
        except Unavailable as away:
            note(log, "look_up_failed", logging.WARNING, run_id=self._run_id, why=str(away))
