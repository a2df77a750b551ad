"""Opening feeds: find the run, join its channel, find the place to start from, replay. This order misses nothing."""

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from gateway.doorbell import bell_of
from gateway.feed import Common, Feed
from gateway.frames import Form
from gateway.hub import Channel, Hub
from gateway.placing import find_place
from gateway.reading import Readings
from gateway.succession import Succession, Successions
from shared.errors import Unavailable, UnknownRun
from shared.exercises import Exercises
from shared.logs import logger, note
from shared.ports import OutputStream, Store, StoredRun
from shared.run import ENDED
from shared.settings import Settings

log = logger("gateway")


@dataclass(frozen=True, slots=True)
class Found:
    """A run, and the first event that is to be sent of it."""

    stored: StoredRun
    start: int

    @property
    def over(self) -> bool:
        """Whether there is nothing to send and never will be."""
        last_seq = self.stored.last_seq
        return self.stored.run.status in ENDED and last_seq is not None and self.start > last_seq


class Feeds:
    """Opens the feeds of one gateway."""

    def __init__(self, store: Store, output: OutputStream, hub: Hub, exercises: Exercises, settings: Settings) -> None:
        self._store = store
        self._output = output
        self._hub = hub
        self._resume_from = exercises.resume_from
        self._readings = Readings(store)
        self._successions = Successions(store)
        self.common = Common(settings, self._readings, exercises.SeqOrderer)

    def stop(self) -> None:
        """End every open feed: it tells its client to reconnect (elsewhere) and closes."""
        self.common.stopping = True
        self._hub.wake_everyone()

    async def announce_end(self, run_id: str) -> None:
        """Send the one event of a run that ended before any worker had it to those who wait for it.

        Failing costs them a heartbeat's time: the store has the event.
        """
        try:
            await self._output.append(await self._store.events(run_id, 0, 1), attempt=0)
            await self._output.expire(run_id, self.common.settings.out_stream_ttl)
        except Unavailable as away:
            note(log, "end_not_announced", logging.WARNING, run_id=run_id, why=str(away))

    async def find(self, run_id: str, last_event_id: str | None) -> Found:
        """Find a run and what is to be sent of it after this cursor.

        Raises:
            UnknownRun: there is no such run.
            Unavailable: the store is away.
        """
        stored = await self._readings.of(run_id).run()
        if stored is None:
            raise UnknownRun(run_id)
        return Found(stored, self._resume_from(last_event_id))

    def join(self, found: Found) -> AbstractAsyncContextManager[Channel]:
        """Follow the run while the block lasts."""
        # An ended run has nothing to follow: the store has all of it, whether or not the stream is still there.
        ended = found.stored.run.status in ENDED
        return nullcontext(Channel()) if ended else self._hub.join(found.stored.run.id)

    def bell(self, session_id: str) -> AbstractAsyncContextManager[Channel]:
        """Follow a session's bell while the block lasts."""
        return self._hub.join(bell_of(session_id))

    def succession(self, session_id: str) -> Succession:
        """Return the succession of a session's runs; do not keep it."""
        return self._successions.of(session_id)

    async def begin(self, found: Found, channel: Channel, form: Form, now: Callable[[], float]) -> Feed:
        """Return the feed of a connection that has joined, with all ready that there is so far.

        Raises:
            Unavailable: the store is away; nothing is lost, and the feed may be begun again.
        """
        run_id, cap = found.stored.run.id, self.common.settings.replay_cap
        reading = self._readings.of(run_id)
        place = await find_place(found.stored, found.start, cap, reading, channel, self._output, form)
        feed = Feed(run_id, place, channel, self.common, form, now)
        await feed.replay()
        return feed
