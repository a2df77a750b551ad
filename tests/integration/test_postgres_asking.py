"""Questions and sub-runs on a real database: the upgrade, the races that locks decide, and what looking costs."""

import asyncio
from dataclasses import replace

import pytest

from shared.adapters.clock import SystemClock
from shared.adapters.postgres import PostgresStore
from shared.adapters.postgres.statements import statements
from shared.errors import Fenced, Unavailable
from shared.forks import Fork, session_of
from shared.ports import Ending
from shared.questions import Answering, Question, QuestionState
from shared.run import RunStatus
from tests.support.databases import AN_HOUR, Opened, opened, rows_read, run, started
from tests.support.real import real_urls
from tests.support.runs import a_delta, a_done, a_message, a_run

SOME_DAY = SystemClock().now() + AN_HOUR
OPEN, ANSWERED, EXPIRED, WITHDRAWN = QuestionState


async def asked(store: PostgresStore, question_id: str = "q", run_id: str = "r", text: str = "which?") -> Question:
    """Ask the first question of a run at its first attempt."""
    return await store.ask(question_id, run_id, 1, 0, text, "any", SOME_DAY)


async def forked(store: PostgresStore, run_id: str = "c", number: int = 0, text: str = "look it up") -> Fork:
    """Split a sub-run off the run `r` at its first attempt."""
    session_id = session_of("r", run_id)
    message = replace(a_message("m", session_id), text=text)
    return await store.fork("r", 1, number, "title", a_run(run_id, session_id), message)


def finish(store: PostgresStore, run_id: str = "r") -> "asyncio.Task[Ending]":
    """Begin to end a run."""
    last = [a_done(run_id, 0)]
    return asyncio.create_task(store.finish(run_id, 1, RunStatus.RUNNING, RunStatus.DONE, last, None, "end"))


# The upgrade


def test_a_schema_with_data_learns_to_ask_and_to_split_off() -> None:
    """Five processes upgrade version 2 at once; its rows are all there, and its active run asks and forks.

    A process of the version before goes on working beside them.
    """

    async def test() -> None:
        async with opened(real_urls().database, versions=2) as old:
            await started(old.store, "ended", "s0")
            await finish(old.store, "ended")
            await started(old.store)
            await old.store.append("r", 1, [a_delta("r", 0)])
            await old.store.open_run(a_run("pending", "s2"), a_message("m-pending", "s2"))
            before = [await old.store.runs_of(session_id) for session_id in ("s0", "s", "s2")]
            opening = (
                PostgresStore.open(real_urls().database, schema=old.schema, clock=SystemClock()) for _ in range(5)
            )
            stores = await asyncio.gather(*opening)
            assert await old.ask("SELECT version FROM {schema}.schema_version") == [(4,)]
            assert [await stores[0].runs_of(session_id) for session_id in ("s0", "s", "s2")] == before
            assert (await stores[0].questions_of("r"), await stores[1].orphans(10)) == ([], [])
            question, fork = await asked(stores[1]), await forked(stores[2])
            assert await stores[3].answer("q", "s", "yes") == Answering(
                replace(question, state=ANSWERED, answer="yes"), counted=True
            )
            assert await stores[4].forks_of("r") == [fork]
            assert await finish(old.store) is Ending.ENDED
            assert await stores[0].orphans(10) == ["c"]
            for store in stores:
                await store.close()

    run(test())


# Races


@pytest.mark.parametrize("change", ["status = 'done'", "cancel_asked = true", "attempt = attempt + 1"])
@pytest.mark.parametrize("door", ["ask", "fork"])
def test_nothing_is_begun_behind_an_end(change: str, door: str) -> None:
    """A question or a fork that waits for an end, a cancel or a take-over to be committed is fenced."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            async with here.other.transaction():
                await here.ask(f"UPDATE {{schema}}.runs SET {change}")
                late = asyncio.create_task(begun(here, door))
                await here.somebody_waits()
            with pytest.raises(Fenced):
                await late
            left = "SELECT (SELECT count(*) FROM {schema}.questions), (SELECT count(*) FROM {schema}.runs)"
            assert await here.ask(left) == [(0, 1)]

    run(test())


async def begun(here: Opened, door: str) -> None:
    """Ask, or split off."""
    await (asked(here.store) if door == "ask" else forked(here.store))


@pytest.mark.parametrize(("change", "state"), [("status = 'done'", WITHDRAWN), ("cancel_asked = true", WITHDRAWN)])
def test_an_answer_that_waits_for_an_end_does_not_count(change: str, state: QuestionState) -> None:
    """It is told that the question was withdrawn, and that is what stays."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            question = replace(await asked(here.store), state=state)
            async with here.other.transaction():
                await here.ask(f"UPDATE {{schema}}.runs SET {change}")
                late = asyncio.create_task(here.store.answer("q", "s", "yes"))
                await here.somebody_waits()
            assert await late == Answering(question, counted=False)
            assert await here.store.question("q") == question

    run(test())


def test_an_end_that_waits_for_a_question_withdraws_it() -> None:
    """An end that began before the question was committed has not seen it, and it is not open all the same."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            async with here.other.transaction():
                values = {"question_id": "q", "run_id": "r", "attempt": 1, "number": 0, "text": "which?"}
                ask = statements(here.schema)["ask"]
                await here.other.execute(ask, {**values, "default": "any", "expires_at": SOME_DAY})
                ending = finish(here.store)
                await here.somebody_waits()
            assert await ending is Ending.ENDED
            assert [question.state for question in await here.store.questions_of("r")] == [WITHDRAWN]

    run(test())


@pytest.mark.parametrize("late", ["answer", "expire"])
def test_who_waits_for_the_first_answer_is_told_it(late: str) -> None:
    """A second answer, or the deadline, that began before the first answer was committed does not replace it."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            question = replace(await asked(here.store), state=ANSWERED, answer="first")
            async with here.other.transaction():
                answer = statements(here.schema)["answer"]
                await here.other.execute(answer, {"question_id": "q", "session_id": None, "text": "first"})
                waiting = asyncio.create_task(settled(here.store, late))
                await here.somebody_waits()
            assert await waiting == question
            assert await here.store.question("q") == question

    run(test())


async def settled(store: PostgresStore, how: str) -> Question:
    """Answer or expire the question."""
    if how == "expire":
        return await store.expire("q", 1)
    answering = await store.answer("q", "s", "second")
    assert answering is not None and not answering.counted
    return answering.question


def test_an_answer_that_waits_for_the_deadline_does_not_count() -> None:
    """The run goes on with the default, and whoever answers is told."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            question = replace(await asked(here.store), state=EXPIRED)
            async with here.other.transaction():
                await here.other.execute(statements(here.schema)["expire"], {"question_id": "q", "attempt": 1})
                late = asyncio.create_task(here.store.answer("q", "s", "late"))
                await here.somebody_waits()
            assert await late == Answering(question, counted=False)

    run(test())


@pytest.mark.parametrize("text", ["which?", "whose?"])
def test_of_two_questions_with_one_number_the_second_sees_the_first(text: str) -> None:
    """One that was asked at the same moment is found if it has the same text, and withdrawn if not."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            async with here.other.transaction():
                values = {"question_id": "first", "run_id": "r", "attempt": 1, "number": 0, "text": "which?"}
                ask = statements(here.schema)["ask"]
                await here.other.execute(ask, {**values, "default": "any", "expires_at": SOME_DAY})
                second = asyncio.create_task(asked(here.store, "second", text=text))
                await here.somebody_waits()
            found = (await second).id
            states = [(question.id, question.state) for question in await here.store.questions_of("r")]
            if text == "which?":
                assert (found, states) == ("first", [("first", OPEN)])
            else:
                assert (found, states) == ("second", [("first", WITHDRAWN), ("second", OPEN)])

    run(test())


def test_a_run_that_is_no_sub_run_is_not_made_one() -> None:
    """An id that belongs to an ordinary run is refused, at once, and the run stays what it is."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            await here.store.open_run(a_run("c", "s9"), a_message("m", "s9"))
            with pytest.raises(Unavailable, match="runs_pkey"):
                await forked(here.store)
            assert await here.store.forks_of("r") == []

    run(test())


# Cost


def test_looking_for_orphans_reads_no_ended_run() -> None:
    """Beside 100,000 sub-runs that have ended, the few that have not are all that is looked at; so is one question."""
    ended = """
        INSERT INTO {schema}.runs
               (id, session_id, user_id, status, attempt, created_at, updated_at, ordinal, inputs, archived_text)
        SELECT 'c' || n, 'r' || chr(31) || n, 'u', 'done', 1, now(), now(), 0, 1, ''
          FROM generate_series(1, %(count)s) AS n"""
    rows = """
        INSERT INTO {schema}.forks (run_id, parent_id, number, title)
        SELECT 'c' || n, 'old' || n / 10, n %% 10, 't' FROM generate_series(1, %(count)s) AS n"""
    questions = """
        INSERT INTO {schema}.questions (id, run_id, number, text, default_text, expires_at, state)
        SELECT 'q' || n, 'c' || n, 0, 't', '', now(), 'answered' FROM generate_series(1, %(count)s) AS n"""
    values = {"limit": 10, "parent_id": "r", "run_id": "r", "question_id": "q7", "session_id": None, "attempt": 1}
    values |= {"number": 0, "text": "t", "default": "", "expires_at": SOME_DAY}

    async def test() -> None:
        async with opened(real_urls().database) as here:
            for insert in (ended, rows, questions):
                await here.ask(insert, count=100_000)
            await started(here.store)
            for number in range(20):
                await forked(here.store, f"new{number}", number)
            await here.store.ask_cancel("r")
            await here.ask("ANALYZE")
            for name in ("orphans", "forks_of", "questions_of", "question", "ask", "answer", "expire"):
                assert await rows_read(here, name, values) < 200, name
            assert await here.store.orphans(3) == ["new0", "new1", "new2"]

    run(test())
