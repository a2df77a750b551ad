"""The thread that follows a run for whoever shows it: arrivals into an inbox, and in the end why there are no more."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from queue import SimpleQueue
from typing import TypeAlias

import httpx

from client.arrivals import Arrival, Disconnected, Reconnected
from client.follow import follow
from client.following import Following
from client.reading import from_stream

Inbox: TypeAlias = "SimpleQueue[Arrival | Exception | None]"
"""What a follower says. The last thing is what ended it: an exception, or None for the end of the run's stream."""


def watch(client: httpx.Client, run_id: str, cursor: int | None, check: Callable[[], None]) -> Inbox:
    """Follow a run after `cursor` in a thread of its own. Before each reconnection, `check` may raise."""
    inbox: Inbox = SimpleQueue()
    follower = _Follower(client, Following(run_id, cursor), check, inbox)
    threading.Thread(target=follower.run, daemon=True).start()
    return inbox


class _Follower:
    def __init__(self, client: httpx.Client, following: Following, check: Callable[[], None], inbox: Inbox) -> None:
        self._client = client
        self._following = following
        self._check = check
        self._inbox = inbox
        self._lost = False

    def run(self) -> None:
        try:
            for event in follow(self._client, self._following, pause=self._pause):
                if self._lost:
                    self._lost = False
                    self._inbox.put(Reconnected(self._following.run_id))
                arrival = from_stream(self._following.run_id, event)
                if arrival is not None:
                    self._inbox.put(arrival)
            self._inbox.put(None)
        except Exception as fault:  # whoever waits at the other end has to learn of it
            self._inbox.put(fault)

    def _pause(self, duration: timedelta) -> None:
        self._check()
        if not self._lost:
            self._lost = True
            self._inbox.put(Disconnected(self._following.run_id))
        time.sleep(duration.total_seconds())
