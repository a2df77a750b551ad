"""Taking turns: first come, first served, for as long as anybody is served."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from shared.adapters.postgres.database import heeding_cancellation
from shared.adapters.postgres.turns import NoTurn, Turns
from tests.support.moved_loop import now, pass_time, settle
from tests.support.scenes import on


class Line:
    """Two places, a patience of two seconds, and what has come of those who wanted one."""

    def __init__(self) -> None:
        self.turns = Turns(2, timedelta(seconds=2))
        self.told: list[str] = []

    def ask(self, name: str, seconds: float, error: type[Exception] | None = None) -> "asyncio.Task[None]":
        """Want a place for this long, to be left with an error or without."""

        async def use() -> None:
            try:
                async with self.turns.turn():
                    self.told.append(f"{name} at {now():.0f}")
                    await asyncio.sleep(seconds)
                    if error is not None:
                        raise error
            except NoTurn:
                self.told.append(f"{name} refused at {now():.0f}")

        return asyncio.create_task(use())


@asynccontextmanager
async def open_line() -> AsyncIterator[Line]:
    """Open a line with nobody in it."""
    yield Line()


in_line = on(open_line)


@in_line
async def test_who_comes_first_is_served_first(line: Line) -> None:
    """However long the line is, as long as it moves."""
    await asyncio.gather(*(line.ask(f"{number}", 1) for number in range(9)))
    assert line.told == [f"{number} at {number // 2}" for number in range(9)]


@in_line
async def test_nobody_waits_in_a_line_that_stands_still(line: Line) -> None:
    """For two seconds nobody was served: whoever has waited so long is refused, and nobody else."""
    held = [line.ask("a", 5), line.ask("b", 5)]
    await pass_time(1)
    await asyncio.gather(line.ask("c", 0), *held, line.ask("d", 0))
    assert sorted(line.told) == ["a at 0", "b at 0", "c refused at 3", "d refused at 3"]
    await line.ask("e", 0)
    assert line.told[4:] == ["e at 5"]


@in_line
async def test_who_fails_was_not_served(line: Line) -> None:
    """Calls that take their turn and fail do not make a line of hope."""
    crowd = [line.ask(f"{number}", 1.5, OSError) for number in range(8)]
    await asyncio.wait(crowd)
    assert [isinstance(one.exception(), OSError) for one in crowd] == [True] * 4 + [False] * 4
    assert sorted(line.told[4:]) == [f"{number} refused at 2" for number in range(4, 8)]


@in_line
@pytest.mark.parametrize("late", [False, True])
async def test_who_leaves_the_line_takes_no_place(line: Line, late: bool) -> None:
    """Cancelled while it waits, or in the very moment it would have had its turn: the next one has it."""
    first = line.ask("a", 1), line.ask("b", 9)
    await settle()
    leaving, staying = line.ask("c", 1), line.ask("d", 1)
    if late:
        first[0].add_done_callback(lambda _: leaving.cancel())
        await asyncio.wait(first[:1])
    else:
        await settle()
        leaving.cancel()
    await asyncio.wait((*first, leaving, staying))
    assert (leaving.cancelled(), line.told) == (True, ["a at 0", "b at 0", "d at 1"])
    await asyncio.gather(line.ask("e", 1), line.ask("f", 1))
    assert line.told[3:] == ["e at 9", "f at 9"]


# --- Cancellation -----------------------------------------------------------------------------------------------------


@in_line
@pytest.mark.parametrize("instead", [None, OSError])
async def test_a_cancellation_that_a_library_drops_is_heeded(_: Line, instead: type[Exception] | None) -> None:
    """The task ends with the block in which it was cancelled, also when something else is raised in its place."""
    reached: list[str] = []

    async def call() -> None:
        with heeding_cancellation():
            with contextlib.suppress(asyncio.CancelledError):  # as wait_for may
                await asyncio.sleep(1)
            reached.append("the end of the block")
            if instead is not None:
                raise instead
        reached.append("what comes after it")

    task = asyncio.create_task(call())
    await settle()
    task.cancel()
    await asyncio.wait((task,))
    assert (task.cancelled(), reached) == (True, ["the end of the block"])


@in_line
async def test_cancellations_that_were_meant_for_others_are_not_heeded(_: Line) -> None:
    """A limit inside the block that has done its work, and a cancellation from before it, after which one cleans up."""
    with heeding_cancellation(), contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            await asyncio.sleep(2)

    async def clean_up() -> str:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            with heeding_cancellation():
                await asyncio.sleep(1)
        return "cleaned up"

    task = asyncio.create_task(clean_up())
    await settle()
    task.cancel()
    assert await task == "cleaned up"
