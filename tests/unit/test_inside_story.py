"""Runs that think, ask and split off, under two workers through any trouble: all ends well, and nothing is left."""

import asyncio
import random
from collections.abc import AsyncGenerator
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.events import Event, EventKind, decode_data
from shared.forks import SEPARATOR
from shared.questions import QuestionState
from shared.run import RunStatus
from shared.settings import Settings
from tests.support.calm import calm
from tests.support.moved_loop import run
from tests.support.story import INSIDE_STEPS, Steps, tell, tells_one_story
from tests.support.workshop import Workshop
from worker.asking import ask_user
from worker.forking import Task, fork
from worker.models.port import Fragment, ModelFailed, Piece, Request, Usage
from worker.monitor import report


class Busy:
    """A model that does anything that a run can do, at a pace of its own, and fails now and then."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Do some of it."""
        chance = self._chance
        sub_run = SEPARATOR in request.messages[0].session_id
        for number in range(chance.randrange(4)):
            await asyncio.sleep(chance.choice([0, 0, 0.04, 0.5, 3]))
            if chance.random() < 0.05:
                raise ModelFailed("moody", permanent=chance.random() < 0.3)
            await self._do(chance.choice(["think", "think", "ask", "ask both", "fork", "fork and ask"]), number)
            yield Fragment(f"{number} ")
        if not sub_run:
            yield Usage(1, 1)

    async def _do(self, deed: str, number: int) -> None:
        """Do one thing. Texts are few, so that a course asks what the one before it did, or something else."""
        text, timeout_s = f"{number}{self._chance.choice('ab')}", self._chance.choice([1.0, 8.0, 40.0])
        tasks = [Task(f"{part}", f"{text}{part}") for part in range(self._chance.randrange(4))]
        match deed:
            case "think":
                report(EventKind.THINKING, text, {"text": text})
            case "ask":
                await ask_user(text, timeout_s)
            case "ask both":
                await asyncio.gather(ask_user(text, timeout_s), ask_user(text, 5))
            case "fork":
                await fork(tasks)
            case "fork and ask":
                await asyncio.gather(fork(tasks), ask_user(text, timeout_s))


def last_course(log: list[Event]) -> list[Event]:
    """Return the events behind the last rerun."""
    return log[1 + max((event.seq for event in log if event.kind is EventKind.RERUN), default=-1) :]


async def nothing_is_left(shop: Workshop, run_id: str) -> None:
    """Check that every question is closed, every sub-run has ended, and the log tells of each what became of it."""
    assert all(asked.state is not QuestionState.OPEN for asked in await shop.store.questions_of(run_id))
    for row in shop.store._tables.forks_by_parent.rows(run_id):
        await tells_one_story(shop, row.run_id)
    stored, log = await shop.stored(run_id), await shop.log(run_id)
    told = [(event.kind, decode_data(event.data)) for event in last_course(log)]
    asked, answered, forked = (
        [data for kind, data in told if kind is wanted]
        for wanted in (EventKind.QUESTION, EventKind.ANSWER, EventKind.FORKED)
    )
    assert len({str(data["question_id"]) for data in asked}) == len(asked)
    if stored.run.status is RunStatus.DONE:
        assert sorted(str(data["question_id"]) for data in asked) == sorted(
            str(data["question_id"]) for data in answered
        )
        assert [data["number"] for data in forked] == list(range(len(forked)))
        subtasks = told[-1][1].get("subtasks", {"count": 0})
        assert isinstance(subtasks, dict) and subtasks["count"] == len(forked)
        standing = await shop.store.forks_of(run_id)
        assert [data["run_id"] for data in forked] == [found.stored.run.id for found in standing][: len(forked)]


@settings(calm, max_examples=12)
@given(INSIDE_STEPS, st.integers(0, 2**32), st.sampled_from([1, 2, 64]))
def test_every_run_ends_and_leaves_nothing(steps: Steps, seed: int, concurrency: int) -> None:
    """W1 to W6: whatever dies, goes away or is lost, with one slot or many; no slot, question or sub-run is lost."""
    run(tell(steps, Busy(seed), nothing_is_left, replace(Settings(), concurrency=concurrency)))
