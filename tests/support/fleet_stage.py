"""Tests that are coroutines on one fleet: it takes seconds to start, so all tests of a file share it.

    @pytest.fixture(scope="module")
    def stage() -> Iterator[Stage]:
        with open_stage() as stage:
            yield stage

    @on_fleet
    async def test_something(fleet: Fleet) -> None: ...

A test may leave members dead, paused or asked to end; the next one begins with two gateways and two workers again.
"""

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Concatenate, ParamSpec

from shared.events import Event
from tests.support.fleet import Fleet, open_fleet
from tests.support.real import services_to_break
from tests.support.watching import WAITER, Verdict, Waiter, all_events, judged

P = ParamSpec("P")

Scene = Callable[Concatenate[Fleet, P], Coroutine[None, None, None]]


class Stage:
    """A fleet, and the event loop that it lives on."""

    def __init__(self, fleet: Fleet, runner: asyncio.Runner) -> None:
        self._fleet = fleet
        self._runner = runner

    def play(self, scene: Callable[[Fleet], Coroutine[None, None, None]]) -> None:
        """Play one test."""
        self._runner.run(self._play(scene))

    async def _play(self, scene: Callable[[Fleet], Coroutine[None, None, None]]) -> None:
        await self._fleet.restore()
        try:
            await scene(self._fleet)
        finally:
            # Not all that began meanwhile: the fleet's own connections and the readers of its members are to stay.
            left = [task for task in asyncio.all_tasks() if task.get_name() == WAITER]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)


@contextmanager
def open_stage(**given: str) -> Iterator[Stage]:
    """Open a stage on services that may be broken, with a fleet's settings. Skips like `services_to_break`."""
    services = services_to_break()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            yield Stage(runner.run(stack.enter_async_context(open_fleet(services, **given))), runner)
        finally:
            runner.run(stack.aclose())


def on_fleet(scene: Scene[P]) -> Callable[Concatenate[Stage, P], None]:
    """Have a test played on the stage of its file; its parameters come after the fleet."""

    def test(stage: Stage, *arguments: P.args, **named: P.kwargs) -> None:
        stage.play(lambda fleet: scene(fleet, *arguments, **named))

    test.__name__, test.__qualname__ = scene.__name__, scene.__qualname__
    test.__module__, test.__doc__ = scene.__module__, scene.__doc__
    test.__dict__.update(scene.__dict__)  # pytest's marks
    theirs = list(inspect.signature(scene).parameters.values())[1:]  # what is left for pytest to give
    ours = inspect.signature(test).parameters["stage"]
    test.__signature__ = inspect.Signature([ours, *theirs])  # type: ignore[attr-defined]
    return test  # type: ignore[return-value]  # pytest gives the stage by its name


async def assert_one_story(fleet: Fleet, run_id: str, *waiters: Waiter) -> list[Event]:
    """Wait for all to end, have one more replay the whole, compare, and return the log."""
    for waiter in waiters:
        await waiter.ended()
    replayed = Waiter(fleet.client, run_id)
    await replayed.ended()
    assert await judged(fleet.ports, run_id, [*waiters, replayed]) == Verdict()
    return await all_events(fleet.ports.store, run_id)
