"""A session's line: one socket's way through all runs of its session, in their order, and on to those yet to come.

Each run is carried by the same feed as a stream (`feed.py`), one after the other. In between, and beside it, the line
says what is its own: that it is ready, that a run is next, pings, and replies to what the client sends. Whether there
is another run is looked up when the session's bell rings, and with each ping, so a ring that is lost costs seconds.
"""

import asyncio
import logging
from dataclasses import dataclass
from math import inf
from typing import Final, NoReturn

from gateway import envelopes
from gateway.envelopes import LineForm
from gateway.feed import INTERNAL, Feed
from gateway.feeds import Feeds
from gateway.framing import completed, text_of
from gateway.waiter import EARLY_S, Waiter
from shared.envelope import CloseCode
from shared.errors import Unavailable
from shared.logs import logger, note
from shared.metrics import Counter
from shared.ports import Clock, StoredRun

log = logger("gateway")

BATCH: Final = "gateway.batch"
"""The extension (in a scope's `extensions`) of a server that takes several frames at once, as the bytes of the wire,
under this name in a `websocket.send`. One send for all that is ready is what makes a socket cost little more than a
stream."""

WAITING_REPLIES: Final = 16
"""Replies that wait for a client which sends faster than it reads; nothing more is read from it until some are sent."""

STAMP_S: Final = 0.001  # what is sent within it bears one time

AGAIN_S: Final = 1.0  # until the store is asked again, after it was away


class Closed(Exception):
    """The line ends, and this is why."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a line begins: behind event `seq` of run `ordinal`, which `cursor` says as its client does."""

    cursor: str
    ordinal: int
    seq: int

    @property
    def told(self) -> bool:
        """Whether the client knows of that run already."""
        return self.cursor != ""


class Common:
    """What all lines of a gateway have in common."""

    def __init__(self, feeds: Feeds, clock: Clock, sent: Counter) -> None:
        self.feeds = feeds
        self.sent = sent
        self._clock = clock
        self._stamped_at = -inf
        self._stamp = b""

    def stamp(self, at: float) -> bytes:
        """Return what completes a frame that is sent now, at the loop's time `at`. It tells milliseconds."""
        if not 0 <= at - self._stamped_at < STAMP_S:
            self._stamped_at, self._stamp = at, envelopes.stamp(self._clock.now())
        return self._stamp


class Line:
    """One socket's line. Its task is in `serve`; everything else is called from elsewhere and returns at once."""

    __slots__ = (
        "_batches", "_closed", "_common", "_count", "_look_at", "_ping_at", "_ping_every_s", "_pong_by", "_pong_wait_s",
        "_retire_at", "_room", "_said", "_session_id", "_start", "_waiter",
    )  # fmt: skip

    def __init__(self, session_id: str, start: Start, waiter: Waiter, batches: bool, common: Common) -> None:
        self._session_id = session_id
        self._start = start
        self._waiter = waiter
        self._batches = batches
        self._common = common
        settings = common.feeds.common.settings
        self._ping_every_s = settings.ping_every.total_seconds()
        self._pong_wait_s = settings.pong_wait.total_seconds()
        now = waiter.now()
        self._retire_at = now + common.feeds.common.age_s()
        self._ping_at = now + self._ping_every_s
        self._pong_by = inf
        self._look_at = now  # when to look for another run
        self._count = 0  # frames sent that are not counted yet
        self._said: list[bytes] = []  # what is to be sent before the feed's
        self._room: asyncio.Future[None] | None = None  # what waits for these to become fewer
        self._closed: Closed | None = None

    # told from elsewhere

    def look_again(self) -> None:
        """Look for another run, or at whatever else has changed."""
        self._look_at = 0.0
        self._waiter.wake()

    def heard(self) -> None:
        """Note that the client has sent something, whatever it is: it is there."""
        self._pong_by = inf

    def say(self, written: bytes) -> None:
        """Send a frame beside the runs' events."""
        self._said.append(written)
        self._waiter.wake()

    def close(self, code: CloseCode, reason: str) -> None:
        """End the line with this code. The first to do so decides."""
        self._closed = self._closed or Closed(code, reason)
        self._waiter.wake()

    async def room(self) -> None:
        """Return when there is room for another reply."""
        while len(self._said) >= WAITING_REPLIES:
            self._room = asyncio.get_running_loop().create_future()
            await self._room

    # the line's own task

    async def serve(self) -> Closed:
        """Carry the session's runs until the line is to be closed; return why.

        Raises:
            OSError: the server has lost the client.
        """
        try:
            async with self._common.feeds.bell(self._session_id) as bell:
                with bell.waking(self.look_again):
                    await self._carry_all()
        except Closed as closed:
            return closed
        except OSError:
            raise
        except Exception:
            log.exception("line_crashed", extra={"fields": {"session_id": self._session_id}})
            return Closed(CloseCode.FAULT, f"{INTERNAL.code}: {INTERNAL.message}")
        finally:
            self._count_sent()

    async def _carry_all(self) -> NoReturn:
        start = self._start
        beginning: envelopes.Data = {
            "session_id": self._session_id,
            "ping_every_s": self._ping_every_s,
            "pong_wait_s": self._pong_wait_s,
        }
        await self._send([envelopes.ready(start.cursor, beginning)])
        ordinal, seq, told = start.ordinal, start.seq, start.told
        while True:
            stored = await self._next(ordinal)
            form = LineForm(stored.run.id, ordinal)
            if not told:
                self.say(form.started(stored))
            await self._carry(stored.run.id, None if seq < 0 else str(seq), form)
            ordinal, seq, told = ordinal + 1, -1, False
            self._look_at = 0.0

    async def _next(self, ordinal: int) -> StoredRun:
        """Return the run with this ordinal, as soon as there is one."""
        while True:
            # Not when the gateway stops: every line was woken for that, and the store has better to do.
            if self._waiter.now() >= self._look_at - EARLY_S and not self._common.feeds.common.stopping:
                self._look_at = inf
                try:
                    stored = await self._common.feeds.succession(self._session_id).run(ordinal)
                except Unavailable as away:
                    self._look_later(away)
                else:
                    if stored is not None:
                        return stored
            await self._turn(None)

    async def _carry(self, run_id: str, cursor: str | None, form: LineForm) -> None:
        """Send all of a run from after a cursor on, up to its end."""
        feeds = self._common.feeds
        while True:
            try:
                found = await feeds.find(run_id, cursor)
                if found.over:
                    return
                async with feeds.join(found) as channel:
                    with channel.waking(self._waiter.wake):
                        feed = await feeds.begin(found, channel, form, self._waiter.now)
                        await self._follow(feed)
                        return
            except Unavailable as away:  # nothing of the run has been sent
                self._look_later(away)
                while self._waiter.now() < self._look_at - EARLY_S:
                    await self._turn(None)

    async def _follow(self, feed: Feed) -> None:
        while feed.ready or not feed.over:
            await self._turn(feed)
        if feed.fault is not None:
            raise Closed(CloseCode.FAULT, f"{feed.fault.code}: {feed.fault.message}")

    def _look_later(self, away: Unavailable) -> None:
        note(log, "look_up_failed", logging.WARNING, session_id=self._session_id, why=str(away))
        self._look_at = self._waiter.now() + AGAIN_S

    async def _turn(self, feed: Feed | None) -> None:
        """Send what there is to be sent; if there is nothing, wait until there may be."""
        waiter = self._waiter
        waiter.look()
        if feed is not None and not feed.ready and not feed.over:
            await feed.advance()
        batch, self._said = self._said, []
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        if feed is not None:
            batch += feed.take()
        if batch:
            await self._send(batch)
        self._check_end(silent=not batch)
        if not batch and not (feed is not None and feed.over):
            due = self._look_at if feed is None else feed.due()
            await waiter.rest(min(self._ping_at, self._pong_by, self._retire_at, due))
        if waiter.now() >= self._ping_at - EARLY_S:
            await self._ping(feed)

    async def _send(self, batch: list[bytes]) -> None:
        common, send = self._common, self._waiter.send
        end = common.stamp(self._waiter.now())
        if self._batches:
            await send({"type": "websocket.send", BATCH: completed(batch, end)})
        else:
            for frame in batch:
                await send({"type": "websocket.send", "text": (text_of(frame) + end).decode()})
        self._waiter.sent()
        self._count += len(batch)

    async def _ping(self, feed: Feed | None) -> None:
        self._count_sent()
        if feed is not None:
            await feed.look_up()
        now = self._waiter.now()  # the store may have taken its time; the client's begins with the ping
        self._ping_at = now + self._ping_every_s
        self._pong_by = min(self._pong_by, now + self._pong_wait_s)
        self._said.append(envelopes.ping())
        self._look_at = min(self._look_at, now)

    def _count_sent(self) -> None:
        """Count what was sent: now and then, for it costs as much as an event."""
        self._common.sent.add(self._count)
        self._count = 0

    def _check_end(self, silent: bool) -> None:
        """Raise `Closed` when it is time to; what is ready is sent before a goodbye."""
        now = self._waiter.now()
        if self._closed is not None:
            raise self._closed
        if now >= self._pong_by - EARLY_S:
            raise Closed(CloseCode.TOO_SLOW, f"nothing came from you for {self._pong_wait_s:g} s after a ping")
        if silent and (self._common.feeds.common.stopping or now >= self._retire_at - EARLY_S):
            raise Closed(CloseCode.GOING_AWAY, "this connection has reached its end; reconnect")
