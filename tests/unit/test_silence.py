"""How long a model may be silent, and what does not count as its silence."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from shared.settings import Settings
from tests.support.moved_loop import now, run
from worker.models.port import ModelFailed
from worker.silence import Silence

SETTINGS = replace(
    Settings(), first_piece_wait=timedelta(seconds=10), next_piece_wait=timedelta(seconds=4),
    max_attempt_age=timedelta(seconds=100),
)  # fmt: skip


def watching() -> Silence:
    """Watch a model whose attempt may last 100 s."""
    return Silence(SETTINGS, now() + 100)


def test_a_pause_does_not_count_as_silence() -> None:
    """What the model had been silent for before it goes on counting behind it."""

    async def scene() -> list[float]:
        silence = watching()
        silence.listen()
        await asyncio.sleep(3)
        left = [silence.left_s]
        with silence.paused():
            await asyncio.sleep(50)
            silence.check()
            left.append(silence.left_s)
        left.append(silence.left_s)
        await asyncio.sleep(6.9)
        silence.check()
        await asyncio.sleep(0.1)
        with pytest.raises(ModelFailed, match="silent for 10 s"):
            silence.check()
        return left

    assert run(scene()) == [7, inf, 7]


def test_a_pause_does_not_count_for_the_attempt() -> None:
    """The attempt ends later by as much, also for the call after this one."""

    async def scene() -> list[float]:
        silence = watching()
        ends = [silence.ends_at]
        await asyncio.sleep(60)
        with silence.paused():
            await asyncio.sleep(1000)
        ends.append(silence.ends_at)
        await asyncio.sleep(39.9)
        silence.check()
        await asyncio.sleep(0.1)
        with pytest.raises(ModelFailed, match="not complete after 100 s"):
            silence.check()
        return ends

    assert run(scene()) == [100, 1100]


def test_pauses_that_overlap_are_one() -> None:
    """From the beginning of the first to the end of the last."""

    async def scene() -> tuple[float, float]:
        silence = watching()
        silence.listen()
        with silence.paused():
            await asyncio.sleep(20)
            inner = silence.paused()
            inner.__enter__()
            await asyncio.sleep(20)
        await asyncio.sleep(20)
        silence.check()
        inner.__exit__(None, None, None)
        return silence.ends_at, silence.left_s

    assert run(scene()) == (160, 10)


def test_a_silence_that_begins_in_a_pause_begins_with_its_end() -> None:
    """A piece came while another task was waiting, so the model has all its time to give the next."""

    async def scene() -> float:
        silence = watching()
        silence.listen()
        with silence.paused():
            await asyncio.sleep(20)
            silence.heard()
            silence.listen()
            await asyncio.sleep(20)
        return silence.left_s

    assert run(scene()) == 4


def test_a_pause_in_which_nobody_listens_moves_the_end_alone() -> None:
    """What its reader does with a piece is no silence, paused or not."""

    async def scene() -> list[float]:
        silence = watching()
        with silence.paused():
            await asyncio.sleep(20)
        left = [silence.left_s]
        silence.listen()
        return [*left, silence.left_s]

    assert run(scene()) == [100, 10]
