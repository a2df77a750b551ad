"""What all parts of the memory store stand on: the tables, the two times, and whether it is there."""

import time
from collections.abc import Callable
from datetime import timedelta

from shared.adapters.memory.schema import Tables
from shared.errors import Unavailable
from shared.ports import Clock


class StoreBase:
    """The tables behind the store and what every call of it begins with."""

    def __init__(self, clock: Clock, seconds: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds = seconds
        self._tables = Tables()
        self._away = False
        self._closed = False

    def _ready(self) -> Tables:
        if self._closed:
            raise Unavailable("store", "it was closed")
        if self._away:
            raise Unavailable("store", "the memory store was told to be away")
        return self._tables

    def _after(self, span: timedelta) -> float:
        return self._seconds() + span.total_seconds()
