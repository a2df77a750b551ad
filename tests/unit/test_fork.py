"""A run that splits off sub-runs, and goes on with what came of them."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import timedelta
from functools import partial
from typing import Final

import pytest

from shared.events import Event, Json, encode_data
from shared.forks import Fork, session_of
from shared.run import ENDED, RunStatus
from shared.settings import Settings
from tests.support.inside import Acting, Deed, kinds, told
from tests.support.moved_loop import now, pass_time, run, settle
from tests.support.scenes import on
from tests.support.taps import Barrier, once, refuse, tap, times
from tests.support.workshop import Workshop, cancelled, open_workshop, store_away, with_settings, working
from worker.asking import ask_user
from worker.course import Course, NotInside, current
from worker.forking import REFUSAL, Result, Task, fork
from worker.models.port import Fragment, ModelFailed, Piece, Request, Usage

in_a_workshop = on(open_workshop)
one_at_a_time = on(partial(open_workshop, Settings(concurrency=1)))

THREE: Final = [Task("first", "a"), Task("second", "b"), Task("third", "c")]
NOTHING: Final[Sequence[Piece]] = ()
A_TAKE_OVER_S = 25.0
A_SWEEP_S = 5.1


def forking(tasks: Sequence[Task] = THREE) -> Deed:
    """Return what splits off tasks and says what came of them, a fragment each."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        for result in await fork(tasks):
            yield Fragment(f"{result.title}: {result.text}")
        yield Usage(5, 1)

    return deed


def part(text: str, seconds: float = 1.0) -> Deed:
    """Return what a sub-run does: it takes its time, and says something."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        await asyncio.sleep(seconds)
        yield Fragment(text)
        yield Usage(10, 2)

    return deed


def failing(problem: str, *, permanent: bool = True) -> Deed:
    """Return what a sub-run does that fails."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        for piece in NOTHING:
            yield piece
        raise ModelFailed(problem, permanent=permanent)

    return deed


async def hanging(_: Request) -> AsyncGenerator[Piece]:
    """Never end."""
    await asyncio.Event().wait()
    for piece in NOTHING:
        yield piece


PARTS: Final[dict[str, Deed]] = {"a": part("A", 3), "b": part("B", 1), "c": part("C", 2)}
HUNG: Final[dict[str, Deed]] = dict.fromkeys("abc", hanging)
SAID: Final = ["'first: A'", "'second: B'", "'third: C'"]


def forked(found: Fork) -> tuple[str, dict[str, Json]]:
    """Return a fork on its parent's log."""
    return "forked", {
        "message": found.title, "run_id": found.stored.run.id, "number": found.number, "title": found.title,
    }  # fmt: skip


async def forks(shop: Workshop, parent_id: str) -> list[Fork]:
    """Return a run's forks as they stand."""
    return list(await shop.store.forks_of(parent_id))


async def statuses(shop: Workshop, parent_id: str) -> list[RunStatus]:
    """Return where a run's sub-runs stand."""
    return [found.stored.run.status for found in await forks(shop, parent_id)]


# --- Results ----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_run_goes_on_with_what_came_of_its_sub_runs(shop: Workshop) -> None:
    """They are told on its log, work in parallel under sessions of their own, and their results come in order."""
    results: list[Result] = []

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        results.extend(await fork(THREE))
        yield Fragment("done")
        yield Usage(5, 1)

    async with working(shop, Acting(deed, parts=PARTS)):
        run_id = (await shop.accept()).run_id
        await settle()
        first, second, third = await forks(shop, run_id)
        assert told(await shop.stream(run_id)) == [forked(first), forked(second), forked(third)]
        assert await statuses(shop, run_id) == ["running"] * 3
        await pass_time(3.1)
        usage: dict[str, Json] = {"input_tokens": 30, "output_tokens": 6}
        end: dict[str, Json] = {"usage": {"input_tokens": 5, "output_tokens": 1}}
        end["subtasks"] = {"count": 3, "failed": 0, "usage": usage}
        assert told(await shop.log(run_id))[3:] == [("delta", {"text": "done"}), ("done", end)]
        for found in (first, second, third):
            run = found.stored.run
            assert (run.session_id, run.user_id) == (session_of(run_id, run.id), "u")
        assert told(await shop.log(first.stored.run.id)) == [
            ("delta", {"text": "A"}), ("done", {"usage": {"input_tokens": 10, "output_tokens": 2}}),
        ]  # fmt: skip
    assert results == [
        Result(title, True, text, {"input_tokens": 10, "output_tokens": 2}, found.stored.run.id)
        for title, text, found in zip(["first", "second", "third"], "ABC", [first, second, third], strict=True)
    ]


@in_a_workshop
async def test_a_sub_run_is_announced_before_it_can_be_claimed(shop: Workshop) -> None:
    """In the store, not on the stream alone: while its parent's log has no word of it, there is none."""
    door, barrier = shop.door(), Barrier()
    tap(door.store, "append", before=barrier)
    async with working(shop, Acting(forking(), parts=PARTS), ports=door):
        run_id = (await shop.accept()).run_id
        await barrier.reached()
        await pass_time(10)
        assert (await shop.log(run_id), await forks(shop, run_id)) == ([], [])
        barrier.let_go()
        await settle()
        assert kinds(await shop.log(run_id)) == ["forked"] * 3
        assert await statuses(shop, run_id) == ["running"] * 3


@in_a_workshop
async def test_the_failure_of_a_sub_run_is_a_result(shop: Workshop) -> None:
    """As is its cancellation; the others go on, and the parent's end counts them."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        results.extend(await fork(THREE))
        yield Fragment("done")

    results: list[Result] = []
    parts = {"a": failing("no such order"), "b": hanging, "c": part("C")}
    async with working(shop, Acting(deed, parts=parts)):
        run_id = (await shop.accept()).run_id
        await settle()
        first, second, third = (found.stored.run.id for found in await forks(shop, run_id))
        await shop.cancel(second)
        await pass_time(2)
        subtasks: dict[str, Json] = {"count": 3, "failed": 2, "usage": {"input_tokens": 10, "output_tokens": 2}}
        assert told(await shop.log(run_id))[-1] == ("done", {"usage": {}, "subtasks": subtasks})
    assert results == [
        Result("first", False, "no such order", {}, first),
        Result("second", False, "cancelled by the user", {}, second),
        Result("third", True, "C", {"input_tokens": 10, "output_tokens": 2}, third),
    ]


@in_a_workshop
async def test_a_sub_run_is_tried_again_as_any_run(shop: Workshop) -> None:
    """Its failures are its own until it is out of attempts."""

    async def moody(request: Request) -> AsyncGenerator[Piece]:
        if request.attempt < 3:
            raise ModelFailed("overloaded")
        yield Fragment("A")

    async with working(shop, Acting(forking([Task("first", "a")]), parts={"a": moody})):
        run_id = (await shop.accept()).run_id
        await pass_time(40)
        assert kinds(await shop.log(run_id)) == ["forked", "'first: A'", "done"]
        (found,) = await forks(shop, run_id)
        assert kinds(await shop.log(found.stored.run.id)) == ["rerun", "rerun", "'A'", "done"]


@in_a_workshop
async def test_a_reply_is_read_to_its_end_and_without_what_was_voided(shop: Workshop) -> None:
    """However long the log is."""

    async def long(request: Request) -> AsyncGenerator[Piece]:
        for number in range(700):
            yield Fragment(f"{number} ")
        if request.attempt == 1:
            raise ModelFailed("overloaded")

    async with working(shop, Acting(forking([Task("first", "a")]), parts={"a": long})):
        run_id = (await shop.accept()).run_id
        await pass_time(20)
        text = "".join(f"{number} " for number in range(700))
        assert kinds(await shop.log(run_id)) == ["forked", f"'first: {text}'", "done"]


@in_a_workshop
async def test_forks_of_one_run_are_numbered(shop: Workshop) -> None:
    """One after the other, or at once: in the order of the calls; the end counts all."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        one, two = await asyncio.gather(fork(THREE[:1]), fork(THREE[1:]))
        again = await fork(THREE[:1])
        yield Fragment(" ".join(result.text for result in (*one, *two, *again)))

    async with working(shop, Acting(deed, parts=PARTS)):
        run_id = (await shop.accept()).run_id
        await pass_time(7)
        assert kinds(await shop.log(run_id)) == ["forked"] * 3 + ["forked", "'A B C A'", "done"]
        found = await forks(shop, run_id)
        assert [(fork.number, fork.title) for fork in found] == [
            (0, "first"),
            (1, "second"),
            (2, "third"),
            (3, "first"),
        ]
        assert [data["number"] for kind, data in told(await shop.log(run_id)) if kind == "forked"] == [0, 1, 2, 3]
        assert '"count":4' in (await shop.log(run_id))[-1].data


@in_a_workshop
async def test_a_title_is_a_line_and_a_task_what_the_store_can_hold(shop: Workshop) -> None:
    """C3: as for all texts that come from a model."""

    async def echo(request: Request) -> AsyncGenerator[Piece]:
        yield Fragment(request.messages[0].text)

    async with working(shop, Acting(forking([Task("a\n" + "b" * 300, "\x00\ud800")]), parts={"\ufffd\ufffd": echo})):
        run_id = (await shop.accept()).run_id
        await settle()
        (found,) = await forks(shop, run_id)
        assert found.title == "a " + "b" * 197 + "…"
        assert kinds(await shop.log(run_id)) == ["forked", f"'{found.title}: \ufffd\ufffd'", "done"]


@in_a_workshop
async def test_nothing_to_do_is_done(shop: Workshop) -> None:
    """No sub-run, no event, and an end as of a run that has none."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment(f"{await fork([])}")

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await settle()
        assert told(await shop.log(run_id)) == [("delta", {"text": "[]"}), ("done", {"usage": {}})]


@in_a_workshop
async def test_what_a_sub_run_does_is_told_under_its_parents_trace(shop: Workshop) -> None:
    """The lines of one request belong together."""
    async with working(shop, Acting(forking(), parts=PARTS)):
        accepted = await shop.ledger.accept("m", "s", "u", "hello", trace="t1")
        await shop.ports.queue.put("s")
        await settle()
        (found, *_) = await forks(shop, accepted.run_id)
        (message,) = await shop.store.messages_of(found.stored.run.id)
        assert (message.text, message.trace, message.user_id) == ("a", "t1", "u")


# --- What is refused --------------------------------------------------------------------------------------------------


def test_outside_a_run_there_is_nothing_to_split_off_from() -> None:
    """The error says what to do about it."""
    with pytest.raises(NotInside, match="call it from a model's stream"):
        run(fork(THREE))


@in_a_workshop
@pytest.mark.parametrize(
    "tasks", [[Task("empty", " ")], [Task(f"{number}", "a") for number in range(4)]], ids=["blank", "many"]
)
async def test_what_cannot_be_split_off_is_a_fault_of_who_asks(shop: Workshop, tasks: list[Task]) -> None:
    """A task without a text, or more of them than the settings allow; none is opened."""
    with_settings(shop, max_forks=3)
    errors: list[str] = []

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        try:
            await fork(tasks)
        except ValueError as error:
            errors.append(str(error))
        yield Fragment("a")

    async with working(shop, Acting(deed, parts=PARTS)):
        run_id = (await shop.accept()).run_id
        await settle()
        assert kinds(await shop.log(run_id)) == ["'a'", "done"]
    assert len(errors) == 1 and errors[0].startswith("tasks: ")


@in_a_workshop
async def test_a_sub_run_has_no_sub_runs_and_no_user(shop: Workshop) -> None:
    """It is told so at once, in words."""

    async def deep(_: Request) -> AsyncGenerator[Piece]:
        (result,) = await fork(THREE[:1])
        yield Fragment(f"{result.ok} {result.text} {result.run_id!r} ")
        yield Fragment(await ask_user("may I?"))

    async with working(shop, Acting(forking([Task("deep", "deep")]), parts={"deep": deep})):
        run_id = (await shop.accept()).run_id
        await settle()
        _, said, _ = told(await shop.log(run_id))
        assert str(said[1]["text"]).startswith(f"deep: False {REFUSAL} '' A sub-task cannot ask")


# --- Nobody waits for nothing -----------------------------------------------------------------------------------------


@one_at_a_time
async def test_one_slot_is_enough_for_a_family(shop: Workshop) -> None:
    """A parent that waits has none: its sub-runs are executed one by one, and it goes on when they have ended."""
    speaking = 0

    async def alone(request: Request) -> AsyncGenerator[Piece]:
        nonlocal speaking
        speaking += 1
        assert speaking == 1
        await asyncio.sleep(1)
        yield Fragment(request.messages[0].text)
        speaking -= 1

    parts: dict[str, Deed] = dict.fromkeys("abc", alone)
    async with working(shop, Acting(forking(), parts=parts)):
        runs = [(await shop.accept("hello", f"s{number}")).run_id for number in range(5)]
        await pass_time(60)
        for run_id in runs:
            assert kinds(await shop.log(run_id))[3:] == ["'first: a'", "'second: b'", "'third: c'", "done"]
        assert await shop.ports.queue.depth() == 0
    assert shop.notes.of("model_crashed") == []


@in_a_workshop
async def test_as_many_parents_as_slots_do_not_starve_their_sub_runs(shop: Workshop) -> None:
    """64 that wait, 192 that work."""
    async with working(shop, Acting(forking(), parts=PARTS)):
        runs = [(await shop.accept("hello", f"s{number}")).run_id for number in range(64)]
        await pass_time(60)
        assert {await shop.status(run_id) for run_id in runs} == {RunStatus.DONE}


@in_a_workshop
async def test_sub_runs_are_executed_by_whoever_is_free(shop: Workshop) -> None:
    """Two workers share them; the parent stays where it is."""
    with_settings(shop, concurrency=2)
    one, two = Acting(forking(), parts=PARTS), Acting(forking(), parts=PARTS)
    async with working(shop, one, "w1"), working(shop, two, "w2"):
        run_id = (await shop.accept()).run_id
        await pass_time(20)
        assert kinds(await shop.log(run_id)) == ["forked"] * 3 + [*SAID, "done"]
    texts = [*one.texts, *two.texts]
    assert sorted(text for (text,) in texts) == ["a", "b", "c", "hello"]
    assert one.texts and two.texts


@in_a_workshop
async def test_waiting_for_sub_runs_is_not_a_models_silence(shop: Workshop) -> None:
    """Nor does it count for the attempt of the parent; each sub-run has bounds of its own."""
    with_settings(
        shop, first_piece_wait=timedelta(seconds=50), max_attempt_age=timedelta(seconds=90), concurrency=1,
    )  # fmt: skip
    parts: dict[str, Deed] = dict.fromkeys("abc", part("x", 45))
    async with working(shop, Acting(forking(), parts=parts)):
        run_id = (await shop.accept()).run_id
        await pass_time(200)
        assert (await shop.status(run_id), now() > 3 * 45) == (RunStatus.DONE, True)
    assert shop.notes.of("model_failed") == []


@in_a_workshop
async def test_an_end_is_noticed_at_once(shop: Workshop) -> None:
    """The sub-run's stream says so, and the store is not asked in between."""
    door, reads = shop.door(), 0

    async def count() -> None:
        nonlocal reads
        reads += 1

    tap(door.store, "forks_of", before=count)
    async with working(shop, Acting(forking([Task("first", "a")]), parts={"a": part("A", 23)}), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(22.9)
        assert reads <= 7
        await pass_time(0.2)
        assert kinds(await shop.log(run_id)) == ["forked", "'first: A'", "done"]


@in_a_workshop
async def test_an_end_that_the_bus_did_not_tell_is_found(shop: Workshop) -> None:
    """Doorbells and ends are lost while it is away; sweeps find both."""
    async with working(shop, Acting(forking(), parts=PARTS)):
        shop.bus.away(True)
        run_id = (await shop.accept(told=False)).run_id
        await pass_time(30)
        assert kinds(await shop.log(run_id)) == ["forked"] * 3 + [*SAID, "done"]


@in_a_workshop
async def test_a_store_that_is_away_is_waited_for(shop: Workshop) -> None:
    """In the middle of splitting off and of waiting."""
    door = shop.door()
    for call in ("forks_of", "fork", "events"):
        tap(door.store, call, before=times(2, refuse))
        tap(door.store, call, after=times(2, refuse))
    async with working(shop, Acting(forking(), parts=PARTS), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(2)
        store_away(door, True)
        await pass_time(4)
        store_away(door, False)
        await pass_time(20)
        assert kinds(await shop.log(run_id)) == ["forked"] * 3 + [*SAID, "done"]
        assert len(await forks(shop, run_id)) == 3


@in_a_workshop
async def test_whoever_follows_the_sub_runs_is_not_inside(shop: Workshop) -> None:
    """What the bus begins then, and keeps for others, does not hold on to the run that came first."""
    door, seen = shop.door(), list[Course | None]()
    follow = door.output.follow

    async def seeing(run_id: str) -> AsyncGenerator[Sequence[Event]]:
        seen.append(current())
        async with aclosing(follow(run_id)) as batches:
            async for batch in batches:
                yield batch

    setattr(door.output, "follow", seeing)  # noqa: B010 - mypy knows methods are not assigned to
    async with working(shop, Acting(forking(), parts=PARTS), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(10)
        assert await shop.status(run_id) is RunStatus.DONE
    assert seen == [None] * 3


# --- Cancels and merges -----------------------------------------------------------------------------------------------


@in_a_workshop
@pytest.mark.parametrize("heard", [True, False])
async def test_cancelling_a_run_cancels_its_sub_runs(shop: Workshop, heard: bool) -> None:
    """Soon, those that work and those that wait for a slot."""
    with_settings(shop, concurrency=2)
    model = Acting(forking(), parts=HUNG)
    async with working(shop, model):
        run_id = (await shop.accept()).run_id
        await settle()
        assert sorted(await statuses(shop, run_id)) == ["pending", "running", "running"]
        await shop.cancel(run_id, told=heard)
        await pass_time(2 if heard else A_SWEEP_S + 1)
        assert await shop.log(run_id) == [*(await shop.log(run_id))[:3], cancelled(run_id, 3)]
        assert await statuses(shop, run_id) == ["cancelled"] * 3
        await pass_time(A_SWEEP_S)
        assert await shop.store.orphans(10) == []
    assert shop.notes.of("run_lost") == shop.notes.of("model_crashed") == []


@in_a_workshop
async def test_sub_runs_of_a_run_that_ended_without_them_are_stopped(shop: Workshop) -> None:
    """It had waited for long enough: what it does not want any more is not worked on."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        try:
            async with asyncio.timeout(3):
                await fork(THREE)
        except TimeoutError:
            yield Fragment("never mind")

    async with working(shop, Acting(deed, parts=HUNG)):
        run_id = (await shop.accept()).run_id
        await pass_time(5)
        subtasks: dict[str, Json] = {"count": 3, "failed": 3, "usage": {}}
        assert told(await shop.log(run_id))[3:] == [
            ("delta", {"text": "never mind"}), ("done", {"usage": {}, "subtasks": subtasks}),
        ]  # fmt: skip
        assert await statuses(shop, run_id) == ["cancelled"] * 3


@in_a_workshop
async def test_a_run_that_shall_stop_splits_nothing_off(shop: Workshop) -> None:
    """The store refuses it, and that is how the worker learns of the cancel."""

    async def deed(request: Request) -> AsyncGenerator[Piece]:
        await asyncio.sleep(0.1)
        async for piece in forking()(request):
            yield piece

    async with working(shop, Acting(deed, parts=PARTS)):
        run_id = (await shop.accept()).run_id
        await settle()
        await shop.cancel(run_id, told=False)
        await pass_time(0.3)
        assert kinds(await shop.log(run_id)) == ["forked"] * 3 + ["cancelled"]
        assert await forks(shop, run_id) == []
    assert shop.notes.of("run_lost") == shop.notes.of("model_crashed") == []


@in_a_workshop
async def test_what_a_merge_asks_for_again_is_not_done_twice(shop: Workshop) -> None:
    """The same number and text: the same sub-run, ended or not, told again because the rerun has voided it."""
    model = Acting(forking(), parts=PARTS)
    async with working(shop, model):
        run_id = (await shop.accept()).run_id
        await pass_time(1.5)
        before = await forks(shop, run_id)
        await shop.accept("and another thing")
        await pass_time(3)
        assert kinds(await shop.log(run_id)) == [*["forked"] * 3, "rerun", *["forked"] * 3, *SAID, "done"]
        after = await forks(shop, run_id)
        assert [found.stored.run.id for found in after] == [found.stored.run.id for found in before]
    assert sorted(text for (*_, text) in model.texts) == ["a", "and another thing", "b", "c", "hello"]


@in_a_workshop
async def test_what_a_merge_does_not_ask_for_again_is_stopped(shop: Workshop) -> None:
    """Another text takes the number, and whoever had it is an orphan; what was left out is one when the run ends."""
    model = Acting(
        forking(), forking([THREE[0], Task("other", "d")]), parts={**HUNG, "a": part("A"), "d": part("D", 9)}
    )
    async with working(shop, model):
        run_id = (await shop.accept()).run_id
        await settle()
        _, second, third = (found.stored.run.id for found in await forks(shop, run_id))
        await shop.accept("and another thing")
        await pass_time(1 + A_SWEEP_S)
        assert [await shop.status(second), await shop.status(third)] == ["cancelled", "running"]
        await pass_time(10)
        expected = [*["forked"] * 3, "rerun", "forked", "forked", "'first: A'", "'other: D'", "done"]
        assert kinds(await shop.log(run_id)) == expected
        assert await shop.status(third) is RunStatus.CANCELLED


# --- Crashes ----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_successor_finds_the_sub_runs(shop: Workshop) -> None:
    """W1: what had ended has ended, what is at work is waited for, and nothing is done twice."""
    parts = {"a": part("A", 0.5), "b": part("B", 28), "c": part("C", 1)}
    parents, others = Acting(forking(), parts=parts), Acting(forking(), parts=parts)
    with_settings(shop, concurrency=1)
    async with working(shop, parents, "w1") as worker:
        run_id = (await shop.accept()).run_id
        await settle()
        with_settings(shop, concurrency=64)
        async with working(shop, others, "w2"):
            await pass_time(3)
            before = await forks(shop, run_id)
            await worker.die()
            await pass_time(60)
    assert (parents.texts, sorted(others.texts)) == ([["hello"], ["a"]], [["b"], ["c"], ["hello"]])
    after = await forks(shop, run_id)
    assert [found.stored.run.id for found in after] == [found.stored.run.id for found in before]
    assert kinds(await shop.log(run_id)) == [*["forked"] * 3, "rerun", *["forked"] * 3, *SAID, "done"]
    done = (await shop.log(run_id))[-1].data
    assert encode_data({"count": 3, "failed": 0, "usage": {"input_tokens": 30, "output_tokens": 6}}) in done


@in_a_workshop
@pytest.mark.parametrize("call", ["append", "fork", "forks_of", "events"])
async def test_a_worker_that_dies_at_any_step_of_splitting_off(shop: Workshop, call: str) -> None:
    """Right behind any call of the store: each task is done once for the end, and nothing is left over."""
    door, barrier = shop.door(), Barrier()
    tap(door.store, call, after=barrier)
    async with working(shop, Acting(forking(), parts=PARTS), "w1", door) as worker:
        run_id = (await shop.accept()).run_id
        await barrier.reached()
        await worker.die()
    model = Acting(forking(), parts=PARTS)
    async with working(shop, model, "w2"):
        await pass_time(2 * A_TAKE_OVER_S)
    assert kinds(await shop.log(run_id))[-8:] == ["rerun", *["forked"] * 3, *SAID, "done"]
    found = await forks(shop, run_id)
    assert [stored.stored.run.status for stored in found] == ["done"] * 3
    told_of = [data["run_id"] for kind, data in told(await shop.log(run_id)) if kind == "forked"]
    assert told_of[-3:] == [stored.stored.run.id for stored in found]
    assert await shop.store.orphans(10) == []


@in_a_workshop
async def test_a_cancel_whose_worker_died_reaches_the_sub_runs(shop: Workshop) -> None:
    """The wish is in the store, and whoever sweeps finds whom it concerns: before the parent itself is taken over."""
    model = Acting(forking(), parts=HUNG)
    async with working(shop, model, "others"):
        with_settings(shop, concurrency=1)
        async with working(shop, model, "w1") as worker:
            run_id = (await shop.accept()).run_id
            await settle()
            await worker.die()
        await shop.cancel(run_id, told=False)
        await pass_time(A_SWEEP_S + 1)
        running = [found for found in await forks(shop, run_id) if found.stored.run.status not in ENDED]
        assert len(running) <= 1  # the one, if any, that had died with its worker
        await pass_time(A_TAKE_OVER_S)
        assert await statuses(shop, run_id) == ["cancelled"] * 3
        assert await shop.status(run_id) is RunStatus.CANCELLED


@in_a_workshop
async def test_an_end_whose_worker_died_reaches_the_sub_runs(shop: Workshop) -> None:
    """It died between the parent's end and the news of it. Whoever waited inside is told that its course is over."""
    left: list[asyncio.Task[list[Result]]] = []

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        left.append(asyncio.create_task(fork(THREE)))
        await asyncio.sleep(1)
        yield Fragment("never mind")

    model = Acting(deed, parts=HUNG)
    door, barrier = shop.door(), Barrier()
    tap(door.store, "orphans", before=barrier)
    async with working(shop, model, "w1", door) as worker:
        run_id = (await shop.accept()).run_id
        await barrier.reached()
        assert await shop.status(run_id) is RunStatus.DONE
        await worker.die()
    async with working(shop, Acting(hanging), "w2"):
        await pass_time(A_TAKE_OVER_S)
        assert await statuses(shop, run_id) == ["cancelled"] * 3
    assert isinstance(left[0].exception(), NotInside)


@in_a_workshop
async def test_an_orphan_is_told_once(shop: Workshop) -> None:
    """A cancel whose answer was lost is asked for again; one that has ended meanwhile is left alone."""
    door = shop.door()
    tap(door.store, "ask_cancel", after=once(refuse))
    async with working(shop, Acting(forking(), parts=HUNG), ports=door):
        run_id = (await shop.accept()).run_id
        await settle()
        await shop.cancel(run_id)
        await pass_time(20)
        assert await statuses(shop, run_id) == ["cancelled"] * 3
    assert [await shop.log(found.stored.run.id) for found in await forks(shop, run_id)] == [
        [cancelled(found.stored.run.id, 0)] for found in await forks(shop, run_id)
    ]
