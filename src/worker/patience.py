"""Waiting for a service that is away: what a worker does inside a run, where giving up would cost the run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from shared.backoff import delay
from shared.errors import Unavailable
from shared.logs import logger, note

log = logger("worker")

FIRST_RETRY = timedelta(milliseconds=50)  # a restart of a service takes about this long
LAST_RETRY = timedelta(seconds=2)

T = TypeVar("T")


async def patiently(call: Callable[[], Awaitable[T]], purpose: str) -> T:
    """Make a call again, with back-off, until the service answers.

    `call` must bear being carried out twice: `Unavailable` does not say whether it was. Whoever owns the task bounds
    the wait by cancelling it; a run whose lease is gone is.
    """
    failures = 0
    while True:
        try:
            return await call()
        except Unavailable as away:
            failures += 1
            await pause(failures, away, purpose)


async def pause(failures: int, away: Unavailable, purpose: str) -> None:
    """Say that we wait, and do, longer after each failure."""
    note(log, "service_awaited", logging.WARNING, purpose=purpose, why=str(away), failures=failures)
    await asyncio.sleep(delay(failures, LAST_RETRY, FIRST_RETRY).total_seconds())
