"""Runs that report, ask and split off, with whole workers: on the memory adapters, and on Redis and PostgreSQL."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta

from shared.events import Event, EventKind, Json
from shared.ports import Mark
from shared.questions import Question, QuestionState
from shared.run import RunStatus
from shared.settings import MERGE_WINDOW
from tests.contract import adapters
from tests.contract.adapters import on_each_adapter
from tests.support.floor import AT_ONCE, SETTINGS, Floor, die, floor_on, working
from tests.support.inside import Acting, kinds, told
from tests.support.patience import until
from worker.asking import ask_user
from worker.forking import Task, fork
from worker.models.port import Fragment, Piece, Request, Usage
from worker.monitor import report

THREE = [Task("first", "a"), Task("second", "b"), Task("third", "c")]


async def asking(_: Request) -> AsyncGenerator[Piece]:
    """Ask once."""
    yield Fragment("Hm. ")
    yield Fragment(await ask_user("red or blue?", 60, "green"))


async def forking(_: Request) -> AsyncGenerator[Piece]:
    """Split off three, and say what came of them."""
    yield Fragment(" ".join(result.text for result in await fork(THREE)))


async def part(request: Request) -> AsyncGenerator[Piece]:
    """Be a sub-run."""
    yield Fragment(request.messages[0].text.upper())
    yield Usage(10, 2)


PARTS = dict.fromkeys("abc", part)


async def answer(floor: Floor, asked: Question, text: str, *, heard: bool = True) -> None:
    """Answer a question as the gateway does. Not `heard`: the mark is lost."""
    answering = await floor.ports.questions.answer(asked.id, None, text)
    assert answering is not None and answering.counted
    if heard:
        await floor.ports.marks.set(asked.run_id, Mark.ANSWER, MERGE_WINDOW)


async def question(floor: Floor, run_id: str, seq: int) -> Question:
    """Wait until the run's log is told up to its question, and return that."""
    events = await floor.told(run_id, until=seq)
    assert events[-1].kind is EventKind.QUESTION
    return (await floor.ports.questions.questions_of(run_id))[-1]


async def opened(floor: Floor, run_id: str) -> list[str]:
    """Wait until a run has its three sub-runs, and return them in order."""

    async def three() -> list[str] | None:
        made = [made.stored.run.id for made in await floor.ports.forks.forks_of(run_id)]
        return made if len(made) == len(THREE) else None

    return await until("the sub-runs are opened", three)


def asked_as(asked: Question) -> tuple[str, dict[str, Json]]:
    """Return a question on the log."""
    data: dict[str, Json] = {"message": asked.text, "question_id": asked.id, "question": asked.text}
    return "question", {**data, "default": asked.default, "expires_at": asked.expires_at.isoformat()}


def answered(asked: Question, text: str, *, by_user: bool = True) -> tuple[str, dict[str, Json]]:
    """Return an answer on the log."""
    return "answer", {"message": text, "question_id": asked.id, "text": text, "answered": by_user}


async def stored_as_told(floor: Floor, run_id: str) -> list[Event]:
    """Wait for the run's end, and return its log, which is what its waiters were told."""
    events = await floor.told(run_id)
    assert await floor.log(run_id) == events
    return events


@on_each_adapter
async def test_a_run_asks_and_goes_on_with_the_answer(ports: adapters.Ports) -> None:
    """By the mark, or by the store alone where the mark was lost; the answer is told before what comes of it."""
    floor = floor_on(ports)
    async with working(floor, Acting(asking), "w1"):
        for message_id, heard in (("one", True), ("two", False)):
            run_id = (await floor.accept(message_id)).run_id
            asked = await question(floor, run_id, 1)
            await answer(floor, asked, "blue", heard=heard)
            assert told(await stored_as_told(floor, run_id)) == [
                ("delta", {"text": "Hm. "}), asked_as(asked), answered(asked, "blue"), ("delta", {"text": "blue"}),
                ("done", {"usage": {}}),
            ]  # fmt: skip


@on_each_adapter
async def test_a_question_outlives_its_worker(ports: adapters.Ports) -> None:
    """W1: its successor has it pending under the same id and deadline, and an answer given meanwhile is its answer."""
    floor, model = floor_on(ports), Acting(asking)
    for text, meanwhile in (("one", False), ("two", True)):
        run_id = (await floor.accept(text)).run_id
        async with working(floor, model, "w1") as worker:
            asked = await question(floor, run_id, 1)
            await die(worker)
        await ports.store.renew("w1", AT_ONCE)
        if meanwhile:
            await answer(floor, asked, text)
        async with working(floor, model, "w2"):
            if not meanwhile:
                assert await question(floor, run_id, 4) == asked
                await answer(floor, asked, text)
            assert told(await stored_as_told(floor, run_id)) == [
                ("delta", {"text": "Hm. "}), asked_as(asked), ("rerun", {"reason": "takeover", "attempt": 2}),
                ("delta", {"text": "Hm. "}), asked_as(asked), answered(asked, text), ("delta", {"text": text}),
                ("done", {"usage": {}}),
            ]  # fmt: skip


@on_each_adapter
async def test_a_question_expires_by_the_clock(ports: adapters.Ports) -> None:
    """Whose deadline it is, not whose worker: when the time is over, the run has its default."""
    floor = floor_on(ports)
    async with working(floor, Acting(asking), "w1"):
        run_id = (await floor.accept("one")).run_id
        asked = await question(floor, run_id, 1)
        ports.clock.advance(timedelta(seconds=60))
        assert told(await stored_as_told(floor, run_id))[2] == answered(asked, "green", by_user=False)
        found = await ports.questions.question(asked.id)
        assert found is not None and found.state is QuestionState.EXPIRED


@on_each_adapter
async def test_a_question_holds_up_no_cancel(ports: adapters.Ports) -> None:
    """Asked for in the store alone; the question ends with its run."""
    floor = floor_on(ports)
    async with working(floor, Acting(asking), "w1"):
        run_id = (await floor.accept("one")).run_id
        asked = await question(floor, run_id, 1)
        await floor.ledger.cancel(run_id)
        assert kinds(await stored_as_told(floor, run_id)) == ["'Hm. '", "question", "cancelled"]
        late = await ports.questions.answer(asked.id, None, "blue")
        assert late is not None and not late.counted


@on_each_adapter
async def test_a_run_splits_off_and_goes_on_with_the_results(ports: adapters.Ports) -> None:
    """Sub-runs are worked on by two workers; what they cost stands in their parent's end."""
    floor, model = floor_on(ports), Acting(forking, parts=PARTS)
    async with working(floor, model, "w1"), working(floor, model, "w2"):
        run_id = (await floor.accept("one")).run_id
        log = await stored_as_told(floor, run_id)
    forks = await ports.forks.forks_of(run_id)
    usage: dict[str, Json] = {"input_tokens": 30, "output_tokens": 6}
    assert told(log) == [
        *(
            ("forked", {"message": task.title, "run_id": made.stored.run.id, "number": number, "title": task.title})
            for number, (task, made) in enumerate(zip(THREE, forks, strict=True))
        ),
        ("delta", {"text": "A B C"}),
        ("done", {"usage": {}, "subtasks": {"count": 3, "failed": 0, "usage": usage}}),
    ]
    for made in forks:
        assert kinds(await floor.log(made.stored.run.id))[1:] == ["done"]


@on_each_adapter
async def test_one_slot_is_enough_for_a_family(ports: adapters.Ports) -> None:
    """A parent that waits has lent its own."""
    floor = floor_on(ports)
    settings = replace(SETTINGS, concurrency=1)
    async with working(floor, Acting(forking, parts=PARTS), "w1", settings):
        run_id = (await floor.accept("one")).run_id
        assert kinds(await stored_as_told(floor, run_id)) == [*["forked"] * 3, "'A B C'", "done"]


@on_each_adapter
async def test_sub_runs_outlive_their_parents_worker(ports: adapters.Ports) -> None:
    """W1: its successor finds them, those that have ended and those that have not, and does nothing twice."""
    floor, go_on = floor_on(ports), asyncio.Event()

    async def slow(request: Request) -> AsyncGenerator[Piece]:
        await go_on.wait()
        async for piece in part(request):
            yield piece

    model = Acting(forking, parts={**PARTS, "b": slow})
    async with working(floor, model, "w1", replace(SETTINGS, concurrency=1)) as worker:
        run_id = (await floor.accept("one")).run_id
        before = await opened(floor, run_id)
        await floor.told(before[0])
        await die(worker)
    await ports.store.renew("w1", AT_ONCE)
    async with working(floor, model, "w2"):
        await floor.told(run_id, until=6)
        go_on.set()
        log = await stored_as_told(floor, run_id)
    assert kinds(log) == [*["forked"] * 3, "rerun", *["forked"] * 3, "'A B C'", "done"]
    assert [made.stored.run.id for made in await ports.forks.forks_of(run_id)] == before
    assert [data["run_id"] for kind, data in told(log) if kind == "forked"] == before * 2
    assert sorted(text for texts in model.texts for text in texts).count("a") == 1


@on_each_adapter
async def test_a_cancel_reaches_the_sub_runs(ports: adapters.Ports) -> None:
    """Those that work and those that wait, though only the store has heard of it."""
    floor = floor_on(ports)

    async def hanging(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment("a")
        await asyncio.Event().wait()

    model = Acting(forking, parts=dict.fromkeys("abc", hanging))
    async with working(floor, model, "w1", replace(SETTINGS, concurrency=2)):
        run_id = (await floor.accept("one")).run_id
        forks = await opened(floor, run_id)
        await floor.told(forks[0], until=0)
        await floor.told(forks[1], until=0)
        await floor.ledger.cancel(run_id)
        assert kinds(await stored_as_told(floor, run_id))[3:] == ["cancelled"]
        for part_id in forks:

            async def cancelled(part_id: str = part_id) -> bool | None:
                return await floor.status(part_id) is RunStatus.CANCELLED or None

            await until("the sub-run is cancelled", cancelled)
        assert list(await ports.forks.orphans(10)) == []


@on_each_adapter
async def test_reports_keep_their_place_and_their_words(ports: adapters.Ports) -> None:
    """Between fragments, from several tasks, and with what no store can hold replaced; live and stored alike."""
    floor = floor_on(ports)

    async def thinking(_: Request) -> AsyncGenerator[Piece]:
        async def think(text: str) -> None:
            report(EventKind.THINKING, text, {"text": text, "more": ["\x00\ud800", {"x": 1.5}]})

        for number in range(20):
            await asyncio.gather(think(f"{number}a"), asyncio.create_task(think(f"{number}b")))
            yield Fragment(f"{number}")

    async with working(floor, Acting(thinking), "w1"):
        run_id = (await floor.accept("one")).run_id
        log = told(await stored_as_told(floor, run_id))
    more: list[Json] = ["\ufffd\ufffd", {"x": 1.5}]
    thoughts = {f"{number}{letter}" for number in range(20) for letter in "ab"}
    for number in range(20):
        first, second, fragment = log[3 * number : 3 * number + 3]
        assert [kind for kind, _ in (first, second, fragment)] == ["thinking", "thinking", "delta"]
        assert (first[1]["more"], fragment[1]) == (more, {"text": f"{number}"})
        thoughts -= {str(first[1]["text"]), str(second[1]["text"])}
    assert thoughts == set()


@on_each_adapter
async def test_a_thread_of_the_run_is_heard_at_once(ports: adapters.Ports) -> None:
    """It carries the run with it, and wakes the loop, which has nothing else to do."""
    floor, go_on = floor_on(ports), asyncio.Event()

    async def thinking(_: Request) -> AsyncGenerator[Piece]:
        await asyncio.to_thread(report, EventKind.THINKING, "in a thread", {"text": "…"})
        await go_on.wait()
        yield Fragment("a")

    async with working(floor, Acting(thinking), "w1"):
        run_id = (await floor.accept("one")).run_id
        assert kinds(await floor.told(run_id, until=0)) == ["thinking"]
        go_on.set()
        assert kinds(await stored_as_told(floor, run_id)) == ["thinking", "'a'", "done"]
