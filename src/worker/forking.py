"""Forking: a run splits off sub-runs, which work in parallel, and goes on with what came of them.

    found = await fork([Task("the order", "Look up order 4711"), Task("the stock", "Is the lamp in stock?")])

A sub-run is a run like any other, claimed by whichever worker is free. Its parent's log names it before that can
happen. A successor of the parent's worker finds what was forked before it by number and text, and does not do it twice.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from contextvars import Context
from typing import Final
from uuid import uuid4

import msgspec

from shared.errors import Fenced, Unavailable
from shared.events import TERMINAL, Event, EventKind, Json, decode_data, reply_text
from shared.forks import Fork, is_sub_run, session_of
from shared.logs import logger, note
from shared.ports import Message
from shared.run import ENDED, Run, RunStatus
from shared.text import clean
from worker.course import Course, here
from worker.monitor import line
from worker.patience import patiently
from worker.stopping import stop

log = logger("worker")

REFUSAL: Final = "A sub-task cannot have sub-tasks. Do it yourself."
PAGE: Final = 1000  # rows read at once

# Structs and not dataclasses: see `worker/models/script.py`.


class Task(msgspec.Struct, frozen=True):
    """What a sub-run is to do: a title for people, and the text that is its one message."""

    title: str
    text: str


class Result(msgspec.Struct, frozen=True):
    """What came of a task. `text` is the reply, or, where not `ok`, why there is none; `usage` is empty if unknown."""

    title: str
    ok: bool
    text: str
    usage: dict[str, int]
    run_id: str


async def fork(tasks: Iterable[Task]) -> list[Result]:
    """Have tasks done by sub-runs of the run around the caller, in parallel; return their results in order.

    The failure of one is a result. While it waits the run has no slot, and neither the bound on the model's silence nor
    that on the attempt counts. Calls may overlap. When the run ends or is to stop, so are its sub-runs that have not
    ended. A sub-run has no sub-runs: there every result is a refusal.

    Raises:
        ValueError: a task has no text, or the run would have more than `max_forks` sub-runs.
        NotInside: there is no run around the caller.
        LostOwnership: the run is somebody else's. Let it pass.
    """
    wanted = [Task(line(task.title), clean(task.text)) for task in tasks]
    course = here()
    if is_sub_run(course.claim.run):
        note(log, "fork_refused", run_id=course.claim.run.id)
        return [Result(task.title, False, REFUSAL, {}, "") for task in wanted]
    first, most = course.forked, course.settings.max_forks
    if first + len(wanted) > most or not all(task.text.strip() for task in wanted):
        raise ValueError(f"tasks: {len(wanted)} after {first}; at most {most} in all, each with a text")
    course.forked += len(wanted)
    if not wanted:
        return []
    async with course.aside():
        forks = await _ended(course, await _opened(course, first, wanted))
        return [await _result(course, fork) for fork in forks]


# opening


class _Plan(msgspec.Struct, frozen=True):
    """A task with the number and the id that its sub-run will have, or has if it was `found`."""

    number: int
    task: Task
    run_id: str
    found: bool


async def _opened(course: Course, first: int, tasks: Sequence[Task]) -> list[Fork]:
    """Announce the sub-runs, then open them."""
    async with course.announcing:
        course.check()
        known = {fork.number: fork for fork in await _forks_of(course)}
        plans = [await _plan(course, number, task, known.get(number)) for number, task in enumerate(tasks, first)]
        for plan in plans:
            data: dict[str, Json] = {"message": plan.task.title, "run_id": plan.run_id}
            data |= {"number": plan.number, "title": plan.task.title}
            await course.lane.event(EventKind.FORKED, data)
        # In the store, before a worker can have it: on the stream alone its name could still be lost.
        await course.lane.stored()
        return [await _open(course, plan) for plan in plans]


async def _plan(course: Course, number: int, task: Task, known: Fork | None) -> _Plan:
    """Find the sub-run that has this number and text already, or think of an id for a new one."""
    if known is not None:
        run_id = known.stored.run.id
        messages = await patiently(lambda: course.ports.store.messages_of(run_id), "read a sub-run's task")
        if [message.text for message in messages] == [task.text]:
            return _Plan(number, task, run_id, found=True)
    return _Plan(number, task, str(uuid4()), found=False)


async def _open(course: Course, plan: _Plan) -> Fork:
    parent, now = course.claim.run, course.clock.now()
    session_id = session_of(parent.id, plan.run_id)
    run = Run(plan.run_id, session_id, parent.user_id, RunStatus.PENDING, 0, now, now)
    message = Message("task", session_id, parent.user_id, plan.task.text, now, course.messages[-1].trace)
    forks = course.ports.forks
    fork = await course.owned(
        lambda: forks.fork(parent.id, parent.attempt, plan.number, plan.task.title, run, message), "open a sub-run"
    )
    status = fork.stored.run.status
    event = "fork_found" if plan.found else "run_forked"
    note(log, event, run_id=parent.id, sub_run=plan.run_id, number=plan.number, status=str(status))
    if status is RunStatus.PENDING:
        with suppress(Unavailable):  # then a sweep finds it
            await course.ports.queue.put(session_id)
    return fork


# waiting


async def _ended(course: Course, forks: Sequence[Fork]) -> list[Fork]:
    """Return the forks as they stand when all have ended: the stream says when, and the store whether."""
    numbers = [fork.number for fork in forks]
    news, look_s = asyncio.Event(), course.settings.sweep_every.total_seconds()
    async with _following(course, forks, news):
        while True:
            news.clear()
            standing = {fork.number: fork for fork in await _forks_of(course)}
            course.check()
            if not standing.keys() >= {*numbers}:
                await course.stopped()
                raise Fenced(course.claim.run.id, course.claim.run.attempt)
            if all(standing[number].stored.run.status in ENDED for number in numbers):
                return [standing[number] for number in numbers]
            with suppress(TimeoutError):
                async with asyncio.timeout(look_s):
                    await news.wait()


@asynccontextmanager
async def _following(course: Course, forks: Sequence[Fork], news: asyncio.Event) -> AsyncIterator[None]:
    """Set `news` whenever a sub-run's stream has come to its end."""
    unended = [fork.stored.run.id for fork in forks if fork.stored.run.status not in ENDED]
    # Outside of the course: what the bus begins for all its followers must not belong to the run that came first.
    followers = [asyncio.create_task(_follow(course, run_id, news), context=Context()) for run_id in unended]
    try:
        yield
    finally:
        for follower in followers:
            await stop(follower)


async def _follow(course: Course, run_id: str, news: asyncio.Event) -> None:
    async with aclosing(course.ports.output.follow(run_id)) as batches:
        async for batch in batches:
            if any(event.kind in TERMINAL for event in batch):
                news.set()
                return


async def _forks_of(course: Course) -> Sequence[Fork]:
    return await patiently(lambda: course.ports.forks.forks_of(course.claim.run.id), "read the sub-runs")


# results


async def _result(course: Course, fork: Fork) -> Result:
    """Read what came of a sub-run off its log."""
    run_id, ok = fork.stored.run.id, fork.stored.run.status is RunStatus.DONE
    events = await _log_of(course, run_id)
    last = decode_data(events[-1].data) if events else {}
    reply = fork.stored.archived_text
    text = (reply_text(events) if reply is None else reply) if ok else f"{last.get('error', last.get('reason', ''))}"
    result = Result(fork.title, ok, text, _tokens(last.get("usage")), run_id)
    course.count(ok, result.usage)
    note(log, "subtask_ended", run_id=course.claim.run.id, sub_run=run_id, ok=ok)
    return result


async def _log_of(course: Course, run_id: str) -> list[Event]:
    """Return the events of a run that has ended."""
    events: list[Event] = []
    while not events or events[-1].kind not in TERMINAL:
        page = await _page(course, run_id, events[-1].seq + 1 if events else 0)
        if not page:
            break
        events += page
    return events


async def _page(course: Course, run_id: str, start: int) -> Sequence[Event]:
    return await patiently(lambda: course.ports.store.events(run_id, start, PAGE), "read a sub-run")


def _tokens(usage: Json) -> dict[str, int]:
    """Return the counts of a usage."""
    told = usage.items() if isinstance(usage, dict) else ()
    return {name: count for name, count in told if isinstance(count, int) and not isinstance(count, bool)}
