"""Waiting for a service that is away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shared.errors import Fenced, Unavailable
from tests.support.moved_loop import now
from tests.support.notes import Notes, noting
from tests.support.scenes import on
from worker.patience import patiently


@asynccontextmanager
async def open_log() -> AsyncIterator[Notes]:
    """Keep what is logged."""
    with noting() as notes:
        yield notes


class Service:
    """Answers after so many failures."""

    def __init__(self, failures: int) -> None:
        self.tries: list[float] = []
        self._failures = failures

    async def call(self) -> str:
        """Answer, or be away."""
        self.tries.append(now())
        if len(self.tries) <= self._failures:
            raise Unavailable("store", "restarting")
        return "answer"


@on(open_log)
async def test_a_service_that_answers_is_asked_once(notes: Notes) -> None:
    """Nothing is waited for, and nothing is said."""
    service = Service(0)
    assert await patiently(service.call, "look") == "answer"
    assert (service.tries, notes.lines) == ([0.0], [])


@on(open_log)
async def test_a_service_that_is_away_is_asked_again(notes: Notes) -> None:
    """Pauses double from 50 ms to 2 s, less what chance takes off, up to a half; each is logged with its purpose."""
    service = Service(10)
    assert await patiently(service.call, "look") == "answer"
    pauses = [later - earlier for earlier, later in zip(service.tries, service.tries[1:], strict=False)]
    for pause, longest in zip(pauses, [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, 2, 2], strict=True):
        assert longest / 2 - 1e-6 <= pause <= longest + 1e-6
    assert notes.lines == [
        ("service_awaited", {"purpose": "look", "why": "the store is away: restarting", "failures": number})
        for number in range(1, 11)
    ]


@on(open_log)
async def test_what_is_no_outage_is_not_waited_out(notes: Notes) -> None:
    """Any other error comes out at once."""

    async def call() -> None:
        raise Fenced("r", 1)

    with pytest.raises(Fenced):
        await patiently(call, "look")
    assert (now(), notes.lines) == (0.0, [])


@on(open_log)
async def test_who_waits_can_be_cancelled(notes: Notes) -> None:
    """In the middle of a pause, too."""
    waiting = asyncio.create_task(patiently(Service(1000).call, "look"))
    await asyncio.sleep(30)
    waiting.cancel()
    await asyncio.wait((waiting,))
    assert (waiting.cancelled(), now()) == (True, 30.0)
