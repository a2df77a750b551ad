"""A run that asks its user, and waits."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from functools import partial

import pytest

from shared.events import Json
from shared.forks import session_of
from shared.ports import Mark, Message
from shared.questions import Question, QuestionState
from shared.run import Run, RunStatus
from shared.settings import MERGE_WINDOW, Settings
from tests.support.inside import Acting, Deed, answer, kinds, told
from tests.support.moved_loop import now, pass_time, run, settle
from tests.support.scenes import on
from tests.support.taps import Barrier, once, refuse, tap
from tests.support.workshop import LoopClock, Workshop, cancelled, open_workshop, store_away, with_settings, working
from worker.asking import REFUSAL, UNANSWERED, ask_user
from worker.course import NotInside
from worker.models.port import Fragment, ModelFailed, Piece, Request

in_a_workshop = on(open_workshop)
one_at_a_time = on(partial(open_workshop, Settings(concurrency=1)))

DONE: tuple[str, dict[str, Json]] = ("done", {"usage": {}})
LOOK_S = Settings().look_every.total_seconds()
A_TAKE_OVER_S = 25.0


def asking(question: str = "red or blue?", timeout_s: float = 60.0, default: str = "green") -> Deed:
    """Return what asks once and says what it was told."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment(await ask_user(question, timeout_s, default))

    return deed


async def newest(shop: Workshop, run_id: str) -> Question:
    """Return a run's newest question, as the store has it."""
    return (await shop.store.questions_of(run_id))[-1]


def question(asked: Question) -> tuple[str, dict[str, Json]]:
    """Return a question on the log."""
    data: dict[str, Json] = {"message": asked.text, "question_id": asked.id, "question": asked.text}
    return "question", {**data, "default": asked.default, "expires_at": asked.expires_at.isoformat()}


def answered(asked: Question, text: str, *, by_user: bool = True) -> tuple[str, dict[str, Json]]:
    """Return an answer on the log."""
    return "answer", {"message": text, "question_id": asked.id, "text": text, "answered": by_user}


def said(text: str) -> tuple[str, dict[str, Json]]:
    """Return a fragment on the log."""
    return "delta", {"text": text}


def rerun(reason: str, attempt: int) -> tuple[str, dict[str, Json]]:
    """Return a rerun on the log."""
    return "rerun", {"reason": reason, "attempt": attempt}


# --- An answer --------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_run_goes_on_with_the_answer(shop: Workshop) -> None:
    """The question is an event, the run stays active, and the answer is an event before what comes of it."""
    async with working(shop, Acting(asking())):
        run_id = (await shop.accept()).run_id
        await settle()
        asked = await newest(shop, run_id)
        assert told(await shop.stream(run_id)) == [question(asked)]
        assert (asked.text, asked.default) == ("red or blue?", "green")
        assert abs(asked.expires_at - LoopClock().now() - timedelta(seconds=60)) < timedelta(milliseconds=1)
        assert await shop.status(run_id) is RunStatus.RUNNING
        await pass_time(20)
        await answer(shop, run_id, "blue")
        await pass_time(LOOK_S)
        log = await shop.log(run_id)
        assert told(log) == [question(asked), answered(asked, "blue"), said("blue"), DONE]
        assert await shop.stream(run_id) == log
    assert await shop.ports.marks.read(run_id) == frozenset()


@in_a_workshop
async def test_a_question_is_in_the_store_before_anybody_reads_it(shop: Workshop) -> None:
    """So an answer that comes with the event finds it."""
    door, barrier = shop.door(), Barrier()
    tap(door.store, "ask", before=barrier)
    async with working(shop, Acting(asking()), ports=door):
        run_id = (await shop.accept()).run_id
        await barrier.reached()
        await settle()
        assert await shop.stream(run_id) == []
        barrier.let_go()
        await settle()
        assert kinds(await shop.stream(run_id)) == ["question"]


@in_a_workshop
@pytest.mark.parametrize("heard", [True, False])
async def test_an_answer_is_found_soon_though_its_mark_is_lost(shop: Workshop, heard: bool) -> None:
    """The store is looked at as often as the marks are."""
    async with working(shop, Acting(asking())):
        run_id = (await shop.accept()).run_id
        await pass_time(7.3)
        await answer(shop, run_id, "blue", heard=heard)
        await pass_time(LOOK_S)
        assert kinds(await shop.log(run_id)) == ["question", "answer", "'blue'", "done"]


@in_a_workshop
async def test_a_mark_wakes_the_run_before_it_looks(shop: Workshop) -> None:
    """Whatever the run writes meanwhile brings it."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        asked = asyncio.create_task(ask_user("red or blue?"))
        await asyncio.sleep(1)
        yield Fragment("still thinking ")
        yield Fragment(await asked)

    with_settings(shop, look_every=timedelta(seconds=40))
    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await settle()
        await answer(shop, run_id, "blue")
        await pass_time(1.1)
        assert kinds(await shop.log(run_id)) == ["question", "'still thinking '", "answer", "'blue'", "done"]


@in_a_workshop
async def test_an_answer_while_bus_or_store_are_away_is_found_when_they_are_back(shop: Workshop) -> None:
    """Neither costs the run its question."""
    door = shop.door()
    async with working(shop, Acting(asking(timeout_s=600)), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(1)
        shop.bus.away(True)
        store_away(door, True)
        await answer(shop, run_id, "blue", heard=False)
        await pass_time(10)
        store_away(door, False)
        await pass_time(3)
        assert kinds(await shop.log(run_id)) == ["question", "answer", "'blue'", "done"]
        shop.bus.away(False)
        await pass_time(5)
        assert await shop.stream(run_id) == await shop.log(run_id)


@in_a_workshop
async def test_a_mark_that_stays_is_no_reason_to_hurry(shop: Workshop) -> None:
    """It was for another question, or came twice: it is cleared, and the store is looked at no more than before."""
    door, looks = shop.door(), 0

    async def count() -> None:
        nonlocal looks
        looks += 1

    tap(door.store, "question", before=count)
    async with working(shop, Acting(asking()), ports=door):
        run_id = (await shop.accept()).run_id
        await settle()
        await shop.ports.marks.set(run_id, Mark.ANSWER, MERGE_WINDOW)
        await pass_time(20)
        assert looks <= 45


# --- No answer --------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_question_that_nobody_answers_has_a_default(shop: Workshop) -> None:
    """To the second; it stands as an answer that is none, and an answer that comes later is told so."""
    async with working(shop, Acting(asking())):
        run_id = (await shop.accept()).run_id
        await pass_time(59.9)
        asked = await newest(shop, run_id)
        assert kinds(await shop.stream(run_id)) == ["question"]
        await pass_time(0.2)
        assert told(await shop.log(run_id)) == [
            *(question(asked), answered(asked, "green", by_user=False), said("green"), DONE),
        ]
        late = await shop.store.answer(asked.id, None, "blue")
        assert late is not None and not late.counted
        assert late.question.state is QuestionState.EXPIRED


@in_a_workshop
async def test_without_a_default_the_run_is_told_in_words(shop: Workshop) -> None:
    """A model can act on that."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment(await ask_user("red or blue?"))

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await pass_time(121)
        assert kinds(await shop.log(run_id))[2] == f"'{UNANSWERED}'"


@in_a_workshop
async def test_an_answer_that_is_faster_than_the_deadline_counts(shop: Workshop) -> None:
    """It came while the question was being closed."""
    door, barrier = shop.door(), Barrier()
    tap(door.store, "expire", before=barrier)
    async with working(shop, Acting(asking()), ports=door):
        run_id = (await shop.accept()).run_id
        await barrier.reached()
        await answer(shop, run_id, "blue")
        barrier.let_go()
        await pass_time(1)
        assert kinds(await shop.log(run_id)) == ["question", "answer", "'blue'", "done"]


@in_a_workshop
async def test_a_deadline_waits_for_a_store_that_is_away(shop: Workshop) -> None:
    """Only the store can close a question: an answer may be in it."""
    door = shop.door()
    async with working(shop, Acting(asking()), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(50)
        store_away(door, True)
        await pass_time(13)
        store_away(door, False)
        await pass_time(3)
        assert kinds(await shop.log(run_id)) == ["question", "answer", "'green'", "done"]
        assert await shop.status(run_id) is RunStatus.DONE


@pytest.mark.parametrize(
    ("text", "timeout_s"),
    [("", 1), (" \n", 1), ("?", 0), ("?", -1), ("?", float("nan")), ("?", float("inf")), ("?", 86_400.1)],
)
def test_what_cannot_be_asked_is_a_fault_of_who_asks(text: str, timeout_s: float) -> None:
    """It is told at once, in the run or out of it."""
    with pytest.raises(ValueError, match=r"question|timeout_s"):
        run(ask_user(text, timeout_s))


def test_outside_a_run_there_is_nobody_to_ask() -> None:
    """The error says what to do about it."""
    with pytest.raises(NotInside, match="call it from a model's stream"):
        run(ask_user("anybody?"))


@in_a_workshop
async def test_what_no_log_can_hold_is_not_asked(shop: Workshop) -> None:
    """C3: NULs and lone surrogates are replaced, and a question is as long as a message at the most."""
    with_settings(shop, max_text=20)
    async with working(shop, Acting(asking("\x00\ud800" + "x" * 100, default="\ud800"))):
        run_id = (await shop.accept()).run_id
        await pass_time(61)
        (asked,) = await shop.store.questions_of(run_id)
        assert (asked.text, asked.default) == ("\ufffd\ufffd" + "x" * 18, "\ufffd")
        assert kinds(await shop.log(run_id)) == ["question", "answer", "'\ufffd'", "done"]


# --- Several ----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_questions_of_one_run_are_numbered(shop: Workshop) -> None:
    """One after the other; the same text again is another question."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment(await ask_user("sure?"))
        yield Fragment(await ask_user("sure?"))

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await settle()
        await answer(shop, run_id, "yes")
        await pass_time(LOOK_S)
        await answer(shop, run_id, "no")
        await pass_time(LOOK_S)
        assert kinds(await shop.log(run_id)) == ["question", "answer", "'yes'", "question", "answer", "'no'", "done"]
        assert [(asked.number, asked.answer) for asked in await shop.store.questions_of(run_id)] == [
            (0, "yes"), (1, "no"),
        ]  # fmt: skip


@in_a_workshop
async def test_two_questions_at_once_are_two(shop: Workshop) -> None:
    """Numbered and announced in the order of the calls, however slow the store; answered in any order."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        for text in await asyncio.gather(ask_user("one?"), ask_user("two?")):
            yield Fragment(text)

    door = shop.door()
    tap(door.store, "ask", before=once(lambda: asyncio.sleep(3)))
    async with working(shop, Acting(deed), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(4)
        first, second = await shop.store.questions_of(run_id)
        assert [(q.number, q.text) for q in (first, second)] == [(0, "one?"), (1, "two?")]
        log = told(await shop.stream(run_id))
        assert [data["question_id"] for _, data in log] == [first.id, second.id]
        await answer(shop, run_id, "2", number=1)
        await pass_time(10)
        await answer(shop, run_id, "1", number=0)
        await pass_time(LOOK_S)
        kept = kinds(await shop.log(run_id))
        assert kept == ["question", "question", "answer", "answer", "'1'", "'2'", "done"]


# --- Nobody waits for nothing -----------------------------------------------------------------------------------------


@in_a_workshop
async def test_waiting_for_an_answer_is_not_a_models_silence(shop: Workshop) -> None:
    """Nor does it count for the attempt: a question may stay open for longer than either may last."""
    with_settings(
        shop, first_piece_wait=timedelta(seconds=5), next_piece_wait=timedelta(seconds=5),
        max_attempt_age=timedelta(seconds=100),
    )  # fmt: skip

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        text = await ask_user("red or blue?", 1000)
        await asyncio.sleep(4)
        yield Fragment(text)
        await asyncio.sleep(60)
        yield Fragment("never: that is too long")

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await pass_time(900)
        await answer(shop, run_id, "blue")
        await pass_time(4 + LOOK_S)
        assert kinds(await shop.stream(run_id)) == ["question", "answer", "'blue'"]
        await pass_time(6)
        assert [note["why"] for note in shop.notes.of("model_failed")] == ["the model was silent for 5 s"]


@one_at_a_time
async def test_a_run_that_waits_leaves_its_slot_to_others(shop: Workshop) -> None:
    """And waits for one when it has its answer: no more models speak at once than there are slots."""

    async def slow(_: Request) -> AsyncGenerator[Piece]:
        await asyncio.sleep(10)
        yield Fragment("slow")

    async with working(shop, Acting(asking(timeout_s=1000), slow)):
        waits = (await shop.accept("one", "one")).run_id
        await settle()
        others = [(await shop.accept(f"{number}", f"s{number}")).run_id for number in range(3)]
        await pass_time(5)
        await answer(shop, waits, "blue")
        await pass_time(4)
        assert kinds(await shop.stream(waits)) == ["question", "answer"]
        assert [await shop.status(other) for other in others] == ["running", "pending", "pending"]
        await pass_time(40)
        assert [await shop.status(run_id) for run_id in (waits, *others)] == ["done"] * 4
        assert await shop.ports.queue.depth() == 0


@one_at_a_time
async def test_a_slot_is_there_again_whatever_became_of_who_lent_it(shop: Workshop) -> None:
    """Answered, merged, cancelled or failed while it asked: the next ones are executed one at a time."""
    speaking = 0

    async def slow(_: Request) -> AsyncGenerator[Piece]:
        nonlocal speaking
        speaking += 1
        assert speaking == 1
        await asyncio.sleep(1)
        speaking -= 1
        yield Fragment("slow")

    async with working(shop, Acting(asking(), asking(), asking(), slow)):
        merged, cancelled_ = (await shop.accept("1", "1")).run_id, (await shop.accept("2", "2")).run_id
        answered_ = (await shop.accept("3", "3")).run_id
        await settle()
        await shop.accept("1 more", "1")
        await shop.cancel(cancelled_)
        await answer(shop, answered_, "x")
        await pass_time(1)
        for number in range(5):
            await shop.accept(f"{number}", f"s{number}")
        await pass_time(200)
        assert [await shop.status(run_id) for run_id in (merged, cancelled_, answered_)] == [
            "done",
            "cancelled",
            "done",
        ]
        assert [(await shop.store.runs_of(f"s{number}"))[0].run.status for number in range(5)] == ["done"] * 5
    assert shop.notes.of("model_crashed") == shop.notes.of("work_crashed") == []


# --- Cancels and merges -----------------------------------------------------------------------------------------------


@in_a_workshop
@pytest.mark.parametrize("heard", [True, False])
async def test_a_question_does_not_hold_up_a_cancel(shop: Workshop, heard: bool) -> None:
    """The run ends, and the question with it; whoever waits for the answer is stopped."""
    stopped: list[str] = []

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        try:
            yield Fragment(await ask_user("red or blue?"))
        except asyncio.CancelledError:
            stopped.append("here")
            raise

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await pass_time(3)
        asked = await newest(shop, run_id)
        await shop.cancel(run_id, told=heard)
        await pass_time(LOOK_S)
        assert kinds(await shop.log(run_id)) == ["question", "cancelled"]
        late = await shop.store.answer(asked.id, None, "blue")
        assert late is not None and not late.counted
    assert stopped == ["here"]


@in_a_workshop
async def test_a_question_to_a_run_that_shall_stop_is_not_asked(shop: Workshop) -> None:
    """The store refuses it, and that is how the worker learns of the cancel; nobody is told of a loss."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        await asyncio.sleep(0.1)
        yield Fragment(await ask_user("red or blue?"))

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await settle()
        await shop.cancel(run_id, told=False)
        await pass_time(0.2)
        assert await shop.log(run_id) == [cancelled(run_id, 0)]
    assert shop.notes.of("run_lost") == shop.notes.of("model_crashed") == []
    assert await shop.store.questions_of(run_id) == []


@in_a_workshop
async def test_a_message_while_a_question_is_open_merges_as_always(shop: Workshop) -> None:
    """The run begins again; what asks the same has the same question, with its deadline, and its answer."""
    async with working(shop, Acting(asking())):
        run_id = (await shop.accept()).run_id
        await pass_time(10)
        asked = await newest(shop, run_id)
        assert (await shop.accept("and another thing")).merged
        await pass_time(LOOK_S)
        await answer(shop, run_id, "blue")
        await pass_time(LOOK_S)
        assert told(await shop.log(run_id)) == [
            *(question(asked), rerun("merge", 1), question(asked), answered(asked, "blue"), said("blue"), DONE),
        ]


@in_a_workshop
async def test_what_asks_something_else_after_a_merge_has_a_new_question(shop: Workshop) -> None:
    """The old one is withdrawn: nobody waits for it."""
    async with working(shop, Acting(asking(), asking("round or square?"))):
        run_id = (await shop.accept()).run_id
        await pass_time(10)
        asked = await newest(shop, run_id)
        await shop.accept("and another thing")
        await pass_time(LOOK_S)
        late = await shop.store.answer(asked.id, None, "blue")
        assert late is not None and late.question.state is QuestionState.WITHDRAWN
        await answer(shop, run_id, "square")
        await pass_time(LOOK_S)
        expected = ["question", "rerun", "question", "answer", "'square'", "done"]
        assert kinds(await shop.log(run_id)) == expected


@in_a_workshop
async def test_a_question_of_a_reply_that_failed_is_the_next_attempts(shop: Workshop) -> None:
    """What was answered before the failure is not asked again."""

    async def failing(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment(await ask_user("red or blue?", 60, "green"))
        raise ModelFailed("overloaded")

    async with working(shop, Acting(failing, asking())):
        run_id = (await shop.accept()).run_id
        await settle()
        asked = await newest(shop, run_id)
        await answer(shop, run_id, "blue")
        await pass_time(20)
        assert told(await shop.log(run_id)) == [
            *(question(asked), answered(asked, "blue"), said("blue"), rerun("retry", 2)),
            *(question(asked), answered(asked, "blue"), said("blue"), DONE),
        ]


@in_a_workshop
async def test_a_task_that_a_rerun_left_behind_asks_nobody(shop: Workshop) -> None:
    """It is told that its course is over, and the run's numbers are not its own any more."""
    left: list[asyncio.Task[str]] = []

    async def late() -> str:
        await asyncio.sleep(5)
        return await ask_user("still there?")

    async def leaving(_: Request) -> AsyncGenerator[Piece]:
        left.append(asyncio.create_task(late()))
        yield Fragment(await ask_user("red or blue?"))

    async def quiet(_: Request) -> AsyncGenerator[Piece]:
        await asyncio.sleep(10)
        yield Fragment("a")

    async with working(shop, Acting(leaving, quiet)):
        run_id = (await shop.accept()).run_id
        await settle()
        await shop.accept("and another thing")
        await pass_time(20)
        assert kinds(await shop.log(run_id)) == ["question", "rerun", "'a'", "done"]
    assert isinstance(left[0].exception(), NotInside)


# --- Sub-runs ---------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_sub_run_is_refused(shop: Workshop) -> None:
    """At once and in words: it has no user. Nothing of it stands on its log."""
    at = LoopClock().now()
    session_id = session_of("parent", "part")
    opened = Run("part", session_id, "u", RunStatus.PENDING, 0, at, at)
    await shop.store.open_run(opened, Message("task", session_id, "u", "do it", at))
    async with working(shop, Acting(asking())):
        await shop.ports.queue.put(session_id)
        await settle()
        assert told(await shop.log("part")) == [said(REFUSAL), DONE]
    assert await shop.store.questions_of("part") == []


# --- Crashes ----------------------------------------------------------------------------------------------------------


@in_a_workshop
@pytest.mark.parametrize("when", ["before", "between", "after"])
async def test_a_question_survives_its_worker(shop: Workshop, when: str) -> None:
    """W1: after the take-over it is pending under the same id; whenever it was answered, the run goes on with that."""
    model = Acting(asking(timeout_s=300))
    async with working(shop, model, "w1") as worker:
        run_id = (await shop.accept()).run_id
        await pass_time(1)
        asked = await newest(shop, run_id)
        if when == "before":
            tap(worker.ports.store, "question", before=refuse)
            await answer(shop, run_id, "blue")
            await pass_time(1)
        await worker.die()
    if when == "between":
        await answer(shop, run_id, "blue")
    async with working(shop, model, "w2"):
        await pass_time(A_TAKE_OVER_S)
        assert [asked.id] == [found.id for found in await shop.store.questions_of(run_id)]
        if when == "after":
            again = question(asked)
            assert told(await shop.stream(run_id)) == [again, rerun("takeover", 2), again]
            await answer(shop, run_id, "blue")
            await pass_time(LOOK_S)
    again = question(asked)
    assert told(await shop.log(run_id)) == [
        *(again, rerun("takeover", 2), again, answered(asked, "blue"), said("blue"), DONE),
    ]


@in_a_workshop
async def test_a_successor_waits_no_longer_than_the_first_would_have(shop: Workshop) -> None:
    """The deadline is the question's; one that is over when the run is taken over gives the default at once."""
    model = Acting(asking())
    async with working(shop, model, "w1") as worker:
        early, late = (await shop.accept("1", "1")).run_id, ""
        await pass_time(30)
        late = (await shop.accept("2", "2")).run_id
        await settle()
        await worker.die()
    await pass_time(28)
    async with working(shop, model, "w2"):
        await pass_time(6)
        assert kinds(await shop.log(early))[-3:] == ["answer", "'green'", "done"]
        assert kinds(await shop.stream(late)) == ["question", "rerun", "question"]
        await pass_time(27)
        assert kinds(await shop.log(late))[-3:] == ["answer", "'green'", "done"]


@in_a_workshop
@pytest.mark.parametrize("call", ["ask", "expire"])
async def test_a_call_whose_answer_was_lost_is_made_again(shop: Workshop, call: str) -> None:
    """There is one question, told once."""
    door = shop.door()
    tap(door.store, call, after=once(refuse))
    async with working(shop, Acting(asking()), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(62)
        assert kinds(await shop.log(run_id)) == ["question", "answer", "'green'", "done"]
        assert len(await shop.store.questions_of(run_id)) == 1


@in_a_workshop
@pytest.mark.parametrize(("call", "logged"), [("ask", []), ("question", ["question"]), ("expire", ["question"])])
async def test_a_worker_that_dies_at_any_step_leaves_one_question(shop: Workshop, call: str, logged: list[str]) -> None:
    """Right behind each call of the store: the successor has the same question, and the run ends as it would have."""
    door, barrier, model = shop.door(), Barrier(), Acting(asking(timeout_s=10))
    tap(door.store, call, after=barrier)
    async with working(shop, model, "w1", door) as worker:
        run_id = (await shop.accept()).run_id
        await barrier.reached()
        await worker.die()
    assert kinds(await shop.stream(run_id)) == logged
    async with working(shop, model, "w2"):
        await pass_time(A_TAKE_OVER_S + 10)
    assert kinds(await shop.log(run_id)) == [*logged, "rerun", "question", "answer", "'green'", "done"]
    assert [asked.state for asked in await shop.store.questions_of(run_id)] == [QuestionState.EXPIRED]


@in_a_workshop
async def test_a_worker_that_lost_the_run_stops_asking(shop: Workshop) -> None:
    """W2: it slept over its deadline and its lease, and its successor has closed the question."""
    door, barrier = shop.door(), Barrier()
    model = Acting(asking(timeout_s=10))
    async with working(shop, model, "w1", door):
        run_id = (await shop.accept()).run_id
        await pass_time(1)
        for call in ("question", "expire", "renew", "run"):
            tap(door.store, call, before=barrier)
        async with working(shop, model, "w2"):
            await pass_time(A_TAKE_OVER_S)
            barrier.let_go()
            await pass_time(5)
            assert kinds(await shop.log(run_id)) == ["question", "rerun", "question", "answer", "'green'", "done"]
    assert len(shop.notes.of("run_lost") + shop.notes.of("lease_lost")) == 1
    assert shop.notes.of("model_crashed") == []


@in_a_workshop
async def test_a_worker_that_is_told_to_end_gives_the_question_on(shop: Workshop) -> None:
    """It waits for a while, as for any run, and then leaves the run, question and all, to another."""
    with_settings(shop, drain=timedelta(seconds=5))
    model = Acting(asking())
    async with working(shop, model, "w1") as worker:
        run_id = (await shop.accept()).run_id
        await settle()
        await worker.drain()
        assert now() == pytest.approx(5, abs=0.1)
    asked = await newest(shop, run_id)
    async with working(shop, model, "w2"):
        await pass_time(6)
        await answer(shop, run_id, "blue")
        await pass_time(1)
    assert [found.id for found in await shop.store.questions_of(run_id)] == [asked.id]
    assert kinds(await shop.log(run_id)) == ["question", "rerun", "question", "answer", "'blue'", "done"]


@in_a_workshop
async def test_a_question_outlives_many_deployments(shop: Workshop) -> None:
    """Nothing went wrong with its run, however often that changed its worker while the user thought it over."""
    with_settings(shop, drain=timedelta(seconds=1))
    model = Acting(asking())
    run_id = (await shop.accept()).run_id
    for number in range(5):
        async with working(shop, model, f"w{number}") as worker:
            await settle()
            await worker.drain()
    async with working(shop, model, "last"):
        await settle()
        await answer(shop, run_id, "blue")
        await pass_time(1)
    assert kinds(await shop.log(run_id)) == [*["question", "rerun"] * 5, "question", "answer", "'blue'", "done"]
    assert len(await shop.store.questions_of(run_id)) == 1


@in_a_workshop
async def test_a_question_may_be_given_up_by_who_asked(shop: Workshop) -> None:
    """The run's own time-out ends the waiting; the next question has a number of its own."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        try:
            async with asyncio.timeout(3):
                await ask_user("red or blue?")
        except TimeoutError:
            yield Fragment(await ask_user("then: round or square?", 5, "green"))

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await pass_time(10)
        assert kinds(await shop.log(run_id)) == ["question", "question", "answer", "'green'", "done"]
        assert [asked.number for asked in await shop.store.questions_of(run_id)] == [0, 1]
