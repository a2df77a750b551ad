"""Tests that are coroutines on a stage of their own, in moved time.

    @on(open_desk)
    async def test_something(desk: Desk) -> None: ...

What pytest gives a test (parameters, fixtures) comes after the stage.
"""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Concatenate, ParamSpec, TypeVar

from tests.support.moved_loop import run

S = TypeVar("S")
P = ParamSpec("P")

HOURS_S = 2 * 3600.0  # of moved time: a scene that goes on for longer waits for what will never come

Scene = Callable[Concatenate[S, P], Coroutine[None, None, None]]


def on(open_stage: Callable[[], AbstractAsyncContextManager[S]]) -> Callable[[Scene[S, P]], Callable[P, None]]:
    """Have a test play on a stage that is opened for it. It fails when it leaves a task behind."""

    def staged(scene: Scene[S, P]) -> Callable[P, None]:
        def test(*arguments: P.args, **named: P.kwargs) -> None:
            run(_play(open_stage, lambda stage: scene(stage, *arguments, **named)))

        test.__name__, test.__qualname__ = scene.__name__, scene.__qualname__
        test.__module__, test.__doc__ = scene.__module__, scene.__doc__
        test.__dict__.update(scene.__dict__)  # pytest's marks
        signature = inspect.signature(scene)
        # What is left for pytest to give.
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
        test.__signature__ = signature  # type: ignore[attr-defined]
        return test

    return staged


async def _play(
    open_stage: Callable[[], AbstractAsyncContextManager[S]], scene: Callable[[S], Coroutine[None, None, None]]
) -> None:
    async with open_stage() as stage, asyncio.timeout(HOURS_S):
        await scene(stage)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"left behind: {left}"
