"""`POST /runs/{run_id}/answers`: the first answer counts, the store has it before anybody is told of it."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from shared.events import Json
from shared.ports import Mark
from shared.questions import QuestionState
from tests.support.asking import Answer, ask
from tests.support.houses import SETTINGS, House, done, house
from tests.support.moved_loop import run


async def reply(gateway: House, run_id: str = "r", **fields: Json) -> Answer:
    """Answer question "q"."""
    body = msgspec.json.encode({"question_id": "q", "text": "yes"} | fields)
    return await ask(gateway.app, "POST", f"/runs/{run_id}/answers", body=body)


async def standing(gateway: House) -> tuple[QuestionState, str | None]:
    """Return the state of question "q", and its answer."""
    question = await gateway.store.question("q")
    assert question is not None
    return question.state, question.answer


async def asking() -> House:
    """Return a house whose run "r" of session "s" asks question "q"."""
    gateway = house()
    await gateway.streaming()
    await gateway.ask()
    return gateway


def test_an_answer_is_stored_and_its_worker_told() -> None:
    """200 with what counted; the question is answered, and the run has the mark."""

    async def main() -> None:
        gateway = await asking()
        answer = await reply(gateway)
        assert (answer.status, answer.json()) == (
            200,
            {"question_id": "q", "run_id": "r", "counted": True, "text": "yes"},
        )
        assert await standing(gateway) == (QuestionState.ANSWERED, "yes")
        assert await gateway.marks.read("r") == {Mark.ANSWER}

    run(main())


def test_the_second_answer_is_told_of_the_first() -> None:
    """409 with the text of the first answer, which stands, and no further mark."""

    async def main() -> None:
        gateway = await asking()
        await reply(gateway)
        await gateway.marks.clear("r", Mark.ANSWER)
        answer = await reply(gateway, text="no")
        document = answer.problem()
        assert (answer.status, document["answer"], document["field"]) == (409, "yes", "question_id")
        assert await standing(gateway) == (QuestionState.ANSWERED, "yes")
        assert await gateway.marks.read("r") == frozenset()

    run(main())


@pytest.mark.parametrize("why", ["expired", "withdrawn"])
def test_a_question_that_waits_no_more_takes_no_answer(why: str) -> None:
    """409 without an answer: nobody has answered in time, or its run has ended."""

    async def main() -> None:
        gateway = await asking()
        await (gateway.store.expire("q", 1) if why == "expired" else gateway.end([done(0)]))
        answer = await reply(gateway)
        assert answer.status == 409
        assert "answer" not in answer.problem()
        assert answer.problem()["detail"] == f"question 'q' takes no more answers: it is {why}"
        assert await gateway.marks.read("r") == frozenset()

    run(main())


@pytest.mark.parametrize(("run_id", "question_id", "field"), [("x", "q", "run_id"), ("r", "x", "question_id")])
def test_what_is_not_there_cannot_be_answered(run_id: str, question_id: str, field: str) -> None:
    """404 names what is unknown, the run or the question."""

    async def main() -> None:
        gateway = await asking()
        answer = await reply(gateway, run_id, question_id=question_id)
        assert (answer.status, answer.problem()["field"]) == (404, field)
        assert await standing(gateway) == (QuestionState.OPEN, None)

    run(main())


def test_another_runs_question_is_unknown() -> None:
    """A question is answered through the run that asked it, and through no other."""

    async def main() -> None:
        gateway = await asking()
        await gateway.streaming("other", "t")
        answer = await reply(gateway, "other")
        assert (answer.status, answer.problem()["field"]) == (404, "question_id")
        assert await standing(gateway) == (QuestionState.OPEN, None)

    run(main())


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"text": " "}, "text"),
        ({"text": 7}, "text"),
        ({"text": "x" * 8001}, "text"),
        ({"question_id": ""}, "question_id"),
        ({"question_id": None}, "question_id"),
        ({"question_id": "a\nb"}, "question_id"),
        ({"more": 1}, "more"),
    ],
)
def test_a_bad_field_is_named(fields: dict[str, Json], field: str) -> None:
    """422: an answer's text keeps to the rules of a message's."""

    async def main() -> None:
        gateway = await asking()
        answer = await reply(gateway, "r", **fields)
        assert (answer.status, answer.problem()["field"]) == (422, field)

    run(main())


@pytest.mark.parametrize(("body", "status"), [([b"[]"], 400), ([b"{"], 400), ([b"x" * 65537], 413)])
def test_a_bad_body_is_refused(body: Sequence[bytes], status: int) -> None:
    """A body that is no object: 400; one that is too large: 413."""

    async def main() -> None:
        gateway = await asking()
        answer = await ask(gateway.app, "POST", "/runs/r/answers", body=body)
        assert (answer.status, answer.problem()["field"]) == (status, "body")

    run(main())


def test_what_no_store_can_hold_is_replaced() -> None:
    """NUL and lone surrogates become U+FFFD, as in a message (C3)."""

    async def main() -> None:
        gateway = await asking()
        body = b'{"question_id": "q", "text": "a\\u0000\\ud800"}'
        answer = await ask(gateway.app, "POST", "/runs/r/answers", body=body)
        assert answer.json()["text"] == "a\ufffd\ufffd"
        assert await standing(gateway) == (QuestionState.ANSWERED, "a\ufffd\ufffd")

    run(main())


def test_an_answer_counts_without_a_bus() -> None:
    """The store is what counts: with the bus away the answer is taken, and the worker finds it there."""

    async def main() -> None:
        gateway = await asking()
        gateway.bus.away(True)
        assert (await reply(gateway)).status == 200
        assert await standing(gateway) == (QuestionState.ANSWERED, "yes")

    run(main())


def test_without_a_store_an_answer_is_to_be_sent_again() -> None:
    """503 with Retry-After, and no mark: nothing was taken."""

    async def main() -> None:
        gateway = await asking()
        gateway.store.away(True)
        answer = await reply(gateway)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert await gateway.marks.read("r") == frozenset()

    run(main())


def test_the_rules_are_the_settings() -> None:
    """How long an answer may be is `max_text`."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, max_text=3))
        await gateway.streaming()
        await gateway.ask()
        assert (await reply(gateway, text="long")).status == 422
        assert (await reply(gateway, text="yes")).status == 200

    run(main())
