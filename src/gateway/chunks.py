"""Chunks: what one stream sends, beside the frames of its feed: a beginning, a heartbeat in its silence, a goodbye."""

from gateway import sse
from gateway.feed import INTERNAL, Common, Fault, Feed
from gateway.waiter import EARLY_S, Waiter
from shared.logs import logger

log = logger("gateway")


class Chunks:
    """The bytes for one stream, taken by its one task."""

    __slots__ = ("_common", "_ended", "_feed", "_retire_at", "_run_id", "_spoke_at", "_waiter")

    def __init__(self, run_id: str, feed: Feed, waiter: Waiter, common: Common) -> None:
        self._run_id = run_id
        self._feed = feed
        self._waiter = waiter
        self._common = common
        self._ended = False
        self._spoke_at = waiter.now()  # when bytes were last sent
        self._retire_at = self._spoke_at + common.age_s()
        feed.ready.insert(0, sse.retry(common.settings.retry))

    async def next(self) -> bytes:
        """Wait for bytes and return them, frames that are ready together in one piece; b"" at the stream's end.

        What was returned before has been sent by the time this is called.
        """
        waiter, feed = self._waiter, self._feed
        self._spoke_at = waiter.sent()
        try:
            while not feed.ready and not self._ended:
                waiter.look()
                await feed.advance()
                if not feed.ready and not feed.over and not self._retired():
                    await waiter.rest(min(self._beat_at(), self._retire_at, feed.due()))
                    if waiter.now() >= self._beat_at() - EARLY_S:
                        feed.ready.append(sse.PING)
                        await feed.look_up()
                if feed.over:
                    self._end(feed.fault)
        except Exception:
            log.exception("stream_crashed", extra={"fields": {"run_id": self._run_id}})
            feed.ready.clear()
            self._end(INTERNAL)
        return b"".join(feed.take())

    def _beat_at(self) -> float:
        return self._spoke_at + self._common.heartbeat_s

    def _retired(self) -> bool:
        """End when it is time to."""
        if not self._common.stopping and self._waiter.now() < self._retire_at - EARLY_S:
            return False
        self._end(Fault("going_away", "this connection has reached its end; reconnect"))
        return True

    def _end(self, fault: Fault | None) -> None:
        self._ended = True
        if fault is not None:
            self._feed.ready.append(sse.error(fault.code, fault.message))
