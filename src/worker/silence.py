"""How long a model may keep a run waiting: a bound on its silence, and one on the whole attempt.

A model that has stopped without saying so looks like one that thinks. These bounds are where we stop telling them
apart: what they end is a failure like any other, and the run is tried again.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import inf

from shared.settings import Settings
from worker.models.port import ModelFailed


class Silence:
    """Watches one call of a model. `listen` before waiting for a piece, `heard` when it is there.

    What its reader does with a piece is not the model's silence: a store that is away must not look like one. Nor is
    the time in which it waits for somebody else (`paused`): that counts for neither bound.
    """

    def __init__(self, settings: Settings, ends_at: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._settings = settings
        self._allowed = settings.first_piece_wait
        self._since: float | None = None
        self._ends_at = ends_at
        self._pauses = 0
        self._paused_at = 0.0

    @property
    def ends_at(self) -> float:
        """When the attempt has to be over, by the loop's clock; later with each pause."""
        return self._ends_at

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let time stand still while the block lasts. Blocks may overlap, in any order."""
        if not self._pauses:
            self._paused_at = self._loop.time()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._resume(self._loop.time())

    def _resume(self, now: float) -> None:
        self._ends_at += now - self._paused_at
        if self._since is not None:
            # It may have begun during the pause, and not have lasted at all.
            self._since = now - max(0.0, self._paused_at - self._since)

    def listen(self) -> None:
        """The model's turn begins."""
        self._since = self._loop.time()

    def heard(self) -> None:
        """It has said something, of whatever kind."""
        self._since = None
        self._allowed = self._settings.next_piece_wait

    @property
    def left_s(self) -> float:
        """How long until `check` may raise, at the earliest; never less than zero, and for ever during a pause."""
        if self._pauses:
            return inf
        due = self._ends_at if self._since is None else min(self._ends_at, self._since + self._allowed.total_seconds())
        return max(0.0, due - self._loop.time())

    def check(self) -> None:
        """Return while the model is within its bounds.

        Raises:
            ModelFailed: it is not.
        """
        if self._pauses:
            return
        now = self._loop.time()
        if self._since is not None and now >= self._since + self._allowed.total_seconds():
            raise ModelFailed(f"the model was silent for {_shown(self._allowed)}")
        if now >= self._ends_at:
            raise ModelFailed(f"the reply was not complete after {_shown(self._settings.max_attempt_age)}")


def _shown(duration: timedelta) -> str:
    return f"{duration.total_seconds():g} s"
