"""What reaches a run from outside."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.ports import Mark
from tests.support.moved_loop import settle
from tests.support.scenes import on
from worker.signals import Signals

NONE: frozenset[Mark] = frozenset()
RERUN, CANCEL = frozenset({Mark.RERUN}), frozenset({Mark.CANCEL})


@asynccontextmanager
async def open_signals() -> AsyncIterator[Signals]:
    """Have nothing seen yet."""
    yield Signals()


@on(open_signals)
async def test_marks_are_taken_once(signals: Signals) -> None:
    """What was added, however often, is taken together and then forgotten; afterwards it can be added again."""
    signals.add(RERUN)
    signals.add(RERUN | CANCEL)
    signals.add(NONE)
    assert [signals.take(), signals.take()] == [RERUN | CANCEL, NONE]
    signals.add(CANCEL)
    assert signals.take() == CANCEL


@on(open_signals)
async def test_a_mark_wakes_who_waits(signals: Signals) -> None:
    """Nothing does not; a mark that was there before the waiting began does at once."""
    waiting = asyncio.create_task(signals.wait())
    signals.add(NONE)
    await settle()
    assert not waiting.done()
    signals.add(RERUN)
    await waiting
    await signals.wait()
    signals.take()
    again = asyncio.create_task(signals.wait())
    await settle()
    assert not again.done()
    signals.add(RERUN)
    await again
