"""The archivist: rows of runs that ended long ago become one text.

A run's log is read in full while people may still come back to it, and hardly ever after that. What is kept for good
is what a reader ends up with, and the terminal event, so that whoever asks later gets a `snapshot` and the end.
"""

from shared.errors import Unavailable
from shared.events import TERMINAL, Event, reply_text
from shared.logs import logger, note
from shared.ports import Clock, Store
from shared.settings import Settings

log = logger("worker")

AT_ONCE = 16  # runs archived in one sweep; the next one continues
PAGE = 1000  # rows read at once


class Archivist:
    """Archives ended runs. Any number of processes may do so at once: each run is archived by one of them."""

    def __init__(self, store: Store, clock: Clock, settings: Settings) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings

    async def sweep(self) -> int:
        """Archive some of the runs that are older than the retention, and return how many."""
        try:
            ended_before = self._clock.now() - self._settings.retention
        except OverflowError:
            return 0  # before there were years: who keeps everything says so
        archived = 0
        for run_id in await self._store.archivable(ended_before, AT_ONCE):
            try:
                archived += await self._store.archive(run_id, await self._text(run_id))
            except Unavailable:
                raise
            except Exception:  # such as a kind of event that a later version wrote: no reason to stop working
                log.exception("run_not_archived", extra={"fields": {"run_id": run_id}})
        if archived:
            note(log, "runs_archived", runs=archived)
        return archived

    async def _text(self, run_id: str) -> str:
        events: list[Event] = []
        while page := await self._store.events(run_id, len(events), PAGE):
            events += page
            if page[-1].kind in TERMINAL:
                break
        return reply_text(events)
