"""What all parts of the memory store stand on: the tables, the two times, and whether it is there."""

import time
from collections.abc import Callable
from datetime import timedelta

from shared.adapters.memory.schema import RunRow, Tables
from shared.errors import Fenced, Unavailable
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

    def _owned(self, run_id: str, attempt: int) -> RunRow:
        row = self._ready().run_by_id.find(run_id)
        if row is None or not row.active or row.attempt != attempt:
            raise Fenced(run_id, attempt)
        return row

    def _unhindered(self, run_id: str, attempt: int) -> RunRow:
        row = self._owned(run_id, attempt)
        if row.cancel_asked:
            raise Fenced(run_id, attempt)
        return row

    def _after(self, span: timedelta) -> float:
        return self._seconds() + span.total_seconds()
