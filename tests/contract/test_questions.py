"""The contract of `Questions`: asked by the owner of an active run, answered once, gone with their run."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from shared.errors import Fenced, Unavailable
from shared.ports import Ending
from shared.questions import Answering, Question, QuestionState
from shared.run import RunStatus
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import AN_HOUR, NOTHING, a_message, cancelled, deltas, done, ended, opened, started

OPEN, ANSWERED, EXPIRED, WITHDRAWN = QuestionState
DEADLINE: Final = timedelta(minutes=2)
ODD: Final = "l'été — 北京 🍵 \\ % {x} '\n"


async def asked(
    ports: Ports, question_id: str, run_id: str = "r", number: int = 0, text: str = "which?", attempt: int = 1
) -> Question:
    """Ask, with a deadline that no other question has."""
    ports.clock.advance(DEADLINE)
    expires_at = ports.clock.now() + DEADLINE
    return await ports.questions.ask(question_id, run_id, attempt, number, text, "any", expires_at)


async def ending(ports: Ports, status: RunStatus = RunStatus.DONE, attempt: int = 1) -> Ending:
    """End the run."""
    return await ports.store.finish("r", attempt, RunStatus.RUNNING, status, [done("r", 0)], None, "end")


async def fenced(call: Awaitable[object]) -> tuple[str, int]:
    """Return whom a call was refused to."""
    with pytest.raises(Fenced) as refused:
        await call
    return refused.value.run_id, refused.value.attempt


@on_each_adapter
async def test_what_was_not_asked_is_not_there(ports: Ports) -> None:
    """An unknown question is None, whoever answers it, and a run that asked nothing has none."""
    await started(ports, "r")
    assert await ports.questions.question("q") is None
    assert await ports.questions.answer("q", None, "yes") is None
    assert await ports.questions.answer("q", "s", "yes") is None
    assert await ports.questions.questions_of("r") == []
    assert await ports.questions.questions_of("unknown") == []
    assert await fenced(ports.questions.expire("q", 1)) == ("q", 1)


@on_each_adapter
async def test_a_question_is_kept_as_it_was_asked(ports: Ports) -> None:
    """It is open, its session is its run's, and every text comes back as it went in, an empty default included."""
    await started(ports, "r", "s")
    expires_at = ports.clock.now() + DEADLINE
    question = Question("q", "r", "s", 3, ODD, "", expires_at, OPEN, None)
    assert await ports.questions.ask("q", "r", 1, 3, ODD, "", expires_at) == question
    assert await ports.questions.question("q") == question
    assert await ports.questions.questions_of("r") == [question]
    answered = replace(question, state=ANSWERED, answer=ODD)
    assert await ports.questions.answer("q", "s", ODD) == Answering(answered, counted=True)
    assert await ports.questions.question("q") == answered


@on_each_adapter
async def test_questions_are_listed_as_they_were_asked(ports: Ports) -> None:
    """By time and not by number, each run's alone, and a streaming run asks like a running one."""
    await started(ports, "r", "s")
    await started(ports, "other", "t")
    first = await asked(ports, "q9", number=2)
    await asked(ports, "q5", "other")
    await ports.store.move("r", 1, RunStatus.RUNNING, RunStatus.STREAMING, "first fragment")
    second = await asked(ports, "q1", number=0)
    third = await asked(ports, "q4", number=1)
    assert await ports.questions.questions_of("r") == [first, second, third]


@on_each_adapter
async def test_a_question_that_is_asked_again_stands(ports: Ports) -> None:
    """The same number and text is the same question, whatever the new id and deadline; so is the same id."""
    await started(ports, "r")
    question = await asked(ports, "q")
    assert await asked(ports, "q2") == question
    assert await asked(ports, "q", number=5, text="other") == question
    assert await ports.questions.question("q2") is None
    assert await ports.questions.questions_of("r") == [question]


@on_each_adapter
async def test_one_text_under_two_numbers_is_two_questions(ports: Ports) -> None:
    """What makes a question the same is number and text together, in one run."""
    await started(ports, "r", "s")
    await started(ports, "other", "t")
    first, second, elsewhere = [
        await asked(ports, "q0"), await asked(ports, "q1", number=1), await asked(ports, "q2", "other"),
    ]  # fmt: skip
    assert await ports.questions.questions_of("r") == [first, second]
    assert await ports.questions.questions_of("other") == [elsewhere]


@on_each_adapter
async def test_a_successor_finds_what_was_asked(ports: Ports) -> None:
    """After a take-over a question is as open as before, or answered by then; its deadline does not move."""
    await started(ports, "r", lease=NOTHING)
    pending, settled = await asked(ports, "q0"), await asked(ports, "q1", number=1)
    await ports.questions.answer("q1", "s", "blue")
    await ports.store.take_over("w2", AN_HOUR)
    assert await asked(ports, "q2", attempt=2) == pending
    assert await asked(ports, "q3", number=1, attempt=2) == replace(settled, state=ANSWERED, answer="blue")
    assert await fenced(asked(ports, "q4", number=2)) == ("r", 1)
    assert await fenced(ports.questions.expire("q0", 1)) == ("r", 1)
    assert await ports.questions.answer("q0", "s", "red") == Answering(
        replace(pending, state=ANSWERED, answer="red"), counted=True
    )


@on_each_adapter
async def test_another_text_takes_the_number(ports: Ports) -> None:
    """An open question is withdrawn by it, a settled one stays what it was; the first text is a new question then."""
    await started(ports, "r")
    first = await asked(ports, "q0", text="a")
    second = await asked(ports, "q1", text="b")
    withdrawn = replace(first, state=WITHDRAWN)
    assert (second.id, second.state) == ("q1", OPEN)
    assert await ports.questions.answer("q0", "s", "late") == Answering(withdrawn, counted=False)
    assert await ports.questions.expire("q0", 1) == withdrawn
    await ports.questions.answer("q1", "s", "yes")
    third = await asked(ports, "q2", text="a")
    assert (third.id, third.state) == ("q2", OPEN)
    settled = replace(second, state=ANSWERED, answer="yes")
    assert await ports.questions.questions_of("r") == [withdrawn, settled, third]
    assert await asked(ports, "q3", text="a") == third
    assert await asked(ports, "q0", text="a") == withdrawn


@on_each_adapter
async def test_the_first_answer_counts(ports: Ports) -> None:
    """The second is told so and given the first, the same text again too; the question can not expire any more."""
    await started(ports, "r")
    question = replace(await asked(ports, "q"), state=ANSWERED, answer="yes")
    assert await ports.questions.answer("q", "s", "yes") == Answering(question, counted=True)
    for text in ("no", "yes"):
        assert await ports.questions.answer("q", None, text) == Answering(question, counted=False)
    assert await ports.questions.expire("q", 1) == question
    assert await asked(ports, "q2") == question


@on_each_adapter
async def test_nobody_answers_for_another_session(ports: Ports) -> None:
    """To another session a question does not exist; no session in particular is any."""
    await started(ports, "r", "s")
    question = await asked(ports, "q")
    for session_id in ("t", "", "S"):
        assert await ports.questions.answer("q", session_id, "mine") is None
    assert await ports.questions.question("q") == question
    answered = replace(question, state=ANSWERED, answer="yes")
    assert await ports.questions.answer("q", None, "yes") == Answering(answered, counted=True)
    assert await ports.questions.answer("q", "t", "mine") is None


@on_each_adapter
async def test_a_question_expires_once_and_for_good(ports: Ports) -> None:
    """Its owner says when, not the clock: before, an answer counts, after the deadline too; afterwards none does."""
    await started(ports, "r")
    early, late = await asked(ports, "q0"), await asked(ports, "q1", number=1)
    ports.clock.advance(AN_HOUR)
    assert await ports.questions.question("q0") == early
    answered = replace(late, state=ANSWERED, answer="yes")
    assert await ports.questions.answer("q1", "s", "yes") == Answering(answered, counted=True)
    expired = replace(early, state=EXPIRED)
    assert await ports.questions.expire("q0", 1) == expired
    assert await ports.questions.expire("q0", 1) == expired
    assert await ports.questions.answer("q0", "s", "late") == Answering(expired, counted=False)
    assert await asked(ports, "q2") == expired
    for attempt in (0, 2):
        assert await fenced(ports.questions.expire("q0", attempt)) == ("r", attempt)


@on_each_adapter
async def test_nobody_else_asks(ports: Ports) -> None:
    """Any other attempt, and a run that is not active, is fenced, and there is no question then."""
    await ended(ports, "ended", "s0")
    await opened(ports, "pending", "s1")
    await started(ports, "r", "s2")
    for run_id, attempt in [("unknown", 1), ("ended", 1), ("pending", 0), ("r", 0), ("r", 2)]:
        assert await fenced(asked(ports, "q", run_id, attempt=attempt)) == (run_id, attempt)
    assert await ports.questions.question("q") is None


@on_each_adapter
async def test_an_end_withdraws_open_questions(ports: Ports) -> None:
    """Whichever end: the open ones are withdrawn, the settled ones stay, and nothing is asked or closed any more."""
    for status in (RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED):
        await started(ports, status, status)
        questions = [await asked(ports, f"{status} {number}", status, number) for number in range(4)]
        await ports.questions.answer(questions[1].id, status, "yes")
        await ports.questions.expire(questions[2].id, 1)
        last = [done(status, 0)]
        assert await ports.store.finish(status, 1, RunStatus.RUNNING, status, last, None, "end") is Ending.ENDED
        left = [
            replace(questions[0], state=WITHDRAWN),
            replace(questions[1], state=ANSWERED, answer="yes"),
            replace(questions[2], state=EXPIRED),
            replace(questions[3], state=WITHDRAWN),
        ]
        assert await ports.questions.questions_of(status) == left
        assert [await ports.questions.answer(question.id, status, "late") for question in left] == [
            Answering(question, counted=False) for question in left
        ]
        assert await fenced(asked(ports, "q9", status, 9)) == (status, 1)
        assert await fenced(ports.questions.expire(questions[0].id, 1)) == (status, 1)
        assert await ports.questions.questions_of(status) == left


@on_each_adapter
async def test_a_move_to_an_end_withdraws_open_questions(ports: Ports) -> None:
    """A run that ends without a last event leaves nothing open either."""
    await started(ports, "r")
    withdrawn = replace(await asked(ports, "q"), state=WITHDRAWN)
    assert await ports.store.move("r", 1, RunStatus.RUNNING, RunStatus.FAILED, "gave up")
    assert await ports.questions.answer("q", "s", "late") == Answering(withdrawn, counted=False)
    assert await ports.questions.questions_of("r") == [withdrawn]


@on_each_adapter
async def test_a_wish_to_stop_withdraws_open_questions(ports: Ports) -> None:
    """From then on no answer counts and nothing is asked, not even again; the owner is told what became of it."""
    await started(ports, "r", lease=NOTHING)
    withdrawn = replace(await asked(ports, "q"), state=WITHDRAWN)
    await ports.store.ask_cancel("r")
    assert await ports.questions.question("q") == withdrawn
    assert await ports.questions.answer("q", "s", "late") == Answering(withdrawn, counted=False)
    assert await ports.questions.expire("q", 1) == withdrawn
    assert await fenced(asked(ports, "q")) == ("r", 1)
    assert await fenced(asked(ports, "q2")) == ("r", 1)
    await ports.store.take_over("w2", AN_HOUR)
    assert await ports.questions.expire("q", 2) == withdrawn
    assert await ending(ports, RunStatus.CANCELLED, attempt=2) is Ending.ENDED
    assert await ports.questions.questions_of("r") == [withdrawn]


@on_each_adapter
async def test_what_does_not_end_a_run_leaves_its_questions(ports: Ports) -> None:
    """An end that was refused, a message that joins, and an end of another run withdraw nothing."""
    await started(ports, "r", "s")
    await started(ports, "other", "t")
    question = await asked(ports, "q")
    await ports.store.join_run("r", a_message(ports, "m2", "s"))
    refused = await ports.store.finish("r", 1, RunStatus.RUNNING, RunStatus.DONE, [done("r", 0)], 1, "end")
    assert refused is Ending.UNREAD
    assert await ending(ports, attempt=7) is Ending.LOST
    await ports.store.finish("other", 1, RunStatus.RUNNING, RunStatus.DONE, [done("other", 0)], None, "end")
    assert await ports.questions.question("q") == question


@on_each_adapter
async def test_an_archived_run_has_no_questions(ports: Ports) -> None:
    """They go with the rest of its rows; other runs keep theirs."""
    await started(ports, "r", "s")
    await started(ports, "other", "t")
    await asked(ports, "q0", text="a")
    await asked(ports, "q1", text="b")
    kept = await asked(ports, "q2", "other")
    await ending(ports)
    assert await ports.store.archive("r", "the whole reply")
    assert await ports.questions.questions_of("r") == []
    assert await ports.questions.question("q1") is None
    assert await ports.questions.answer("q1", "s", "late") is None
    assert await ports.questions.questions_of("other") == [kept]


@on_each_adapter
async def test_answers_at_once_have_one_winner(ports: Ports) -> None:
    """Of twenty answers at once one counts, and all are told its text."""
    await started(ports, "r")
    await asked(ports, "q")
    answers = await asyncio.gather(*(ports.questions.answer("q", "s", f"{place}") for place in range(20)))
    (winner,) = [place for place, answer in enumerate(answers) if answer is not None and answer.counted]
    assert [answer and (answer.question.state, answer.question.answer) for answer in answers] == (
        [(ANSWERED, str(winner))] * 20
    )


@on_each_adapter
async def test_an_answer_and_a_deadline_at_once_agree(ports: Ports) -> None:
    """Whichever is faster, both tell the same outcome, and it is the one that is kept."""
    await started(ports, "r")
    for number in range(10):
        question_id = f"q{number}"
        await asked(ports, question_id, number=number)
        calls = [ports.questions.answer(question_id, "s", "yes"), ports.questions.expire(question_id, 1)]
        answering, seen = await asyncio.gather(*calls[:: 1 if number % 2 else -1])
        told, seen = (answering, seen) if number % 2 else (seen, answering)
        assert isinstance(told, Answering)
        assert told.question == seen == await ports.questions.question(question_id)
        assert told.counted == (told.question.state is ANSWERED)


@on_each_adapter
async def test_an_answer_and_an_end_at_once_agree(ports: Ports) -> None:
    """An answer counts before the end, or the end has withdrawn its question: what was told stays true."""
    for place in range(10):
        run_id = f"r{place}"
        await started(ports, run_id, run_id)
        await asked(ports, f"q{place}", run_id)
        answering, _ = await asyncio.gather(
            ports.questions.answer(f"q{place}", None, "yes"),
            ports.store.ask_cancel(run_id)
            if place % 2
            else ports.store.finish(run_id, 1, RunStatus.RUNNING, RunStatus.DONE, deltas(run_id, 0, 1), None, "end"),
        )
        assert answering is not None
        assert answering.question.state is (ANSWERED if answering.counted else WITHDRAWN)
        assert await ports.questions.question(f"q{place}") == answering.question


@on_each_adapter
async def test_a_question_and_an_end_at_once_leave_nothing_open(ports: Ports) -> None:
    """A question that meets the end or a cancel of its run is withdrawn by it, or was never asked."""
    for place in range(10):
        run_id = f"r{place}"
        await started(ports, run_id, run_id)
        question, _ = await asyncio.gather(
            asked(ports, f"q{place}", run_id),
            ports.store.ask_cancel(run_id)
            if place % 2
            else ports.store.finish(
                run_id, 1, RunStatus.RUNNING, RunStatus.CANCELLED, [cancelled(run_id, 0)], None, "end"
            ),
            return_exceptions=True,
        )
        left = [] if isinstance(question, Fenced) else [WITHDRAWN]
        assert [kept.state for kept in await ports.questions.questions_of(run_id)] == left


@on_each_adapter
async def test_one_number_asked_at_once_is_one_question(ports: Ports) -> None:
    """The same text twenty times at once is one question; twenty texts are twenty, and one of them has the number."""
    await started(ports, "r")
    same = await asyncio.gather(*(asked(ports, f"a{place}") for place in range(20)))
    assert same == [same[0]] * 20
    assert await ports.questions.questions_of("r") == [same[0]]
    await asyncio.gather(*(asked(ports, f"b{place}", text=f"{place}?") for place in range(20)))
    states = [question.state for question in await ports.questions.questions_of("r")]
    assert states == [WITHDRAWN] * 20 + [OPEN]


@on_each_adapter
async def test_a_question_and_a_take_over_at_once_leave_one_owner(ports: Ports) -> None:
    """A question is asked before the take-over, and the successor finds it, or it is fenced."""
    for place in range(10):
        run_id = f"r{place}"
        await started(ports, run_id, run_id, lease=NOTHING)
        question, _ = await asyncio.gather(
            asked(ports, f"q{place}", run_id), ports.store.take_over("w2", AN_HOUR), return_exceptions=True
        )
        left = [] if isinstance(question, Fenced) else [question]
        assert await ports.questions.questions_of(run_id) == left


@on_each_adapter
async def test_a_closed_store_asks_and_answers_nothing(ports: Ports) -> None:
    """After closing, every call of this door raises Unavailable."""
    await started(ports, "r")
    await asked(ports, "q")
    await ports.store.close()
    calls = [
        asked(ports, "q"),
        ports.questions.answer("q", "s", "yes"),
        ports.questions.expire("q", 1),
        ports.questions.question("q"),
        ports.questions.questions_of("r"),
    ]
    for call in calls:
        with pytest.raises(Unavailable) as away:
            await call
        assert away.value.service == "store"
