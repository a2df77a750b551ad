"""Questions and sub-runs when things die: real processes, real services, and one fault at a time.

In each test the run ends, with the answer that its user gave and the results of sub-runs that were each done once, and
all who follow it are given all of its log.
"""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from shared.events import Event, EventKind, decode_data, reply_text
from shared.run import RunStatus
from tests.support.fleet import Fleet
from tests.support.fleet_stage import Stage, assert_one_story, on_fleet, open_stage
from tests.support.patience import until
from tests.support.watching import Waiter


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """All tests play on one fleet."""
    with open_stage() as stage:
        yield stage


async def _begun(fleet: Fleet, text: str) -> tuple[str, Waiter]:
    """Send a message, and return its run and who follows it."""
    body = {"session_id": str(uuid4()), "text": text}
    run_id = str((await fleet.client.post("/chat", json=body)).raise_for_status().json()["run_id"])
    return run_id, Waiter(fleet.client, run_id)


async def _question(waiter: Waiter, nth: int = 1) -> str:
    """Wait for the nth question that a run's follower is given, and return its id."""
    await waiter.has(lambda waiter: waiter.kinds().count("question") >= nth)
    (*_, asked) = (event for event in waiter.events if event.event == "question")
    return str(decode_data(asked.data)["question_id"])


async def _answer(fleet: Fleet, run_id: str, question_id: str, text: str) -> None:
    """Answer, as a user would: again, if the gateway has just died."""

    async def counted() -> bool | None:
        answer = await fleet.client.post(f"/runs/{run_id}/answers", json={"question_id": question_id, "text": text})
        return True if answer.status_code in (200, 409) else None

    await until("the answer is taken", counted)


def _ids(log: list[Event], kind: EventKind, name: str) -> list[str]:
    return [str(decode_data(event.data)[name]) for event in log if event.kind is kind]


@pytest.mark.parametrize("when", ["before the take-over", "after it"])
@on_fleet
async def test_a_worker_is_killed_while_its_run_asks(fleet: Fleet, when: str) -> None:
    """W1: the question is pending under its id, whoever takes the run over; an answer given meanwhile is its answer."""
    run_id, waiter = await _begun(fleet, "#ask")
    asked = await _question(waiter)
    await (await fleet.owner(run_id)).kill()
    if when == "after it":
        assert await _question(waiter, 2) == asked
    await _answer(fleet, run_id, asked, "the green one")
    log = await assert_one_story(fleet, run_id, waiter)
    assert reply_text(log).endswith("You would like the green one: it is on its way.")
    assert _ids(log, EventKind.QUESTION, "question_id") == [asked, asked]
    assert _ids(log, EventKind.ANSWER, "question_id") == [asked]


@on_fleet
async def test_a_gateway_is_killed_while_a_run_asks(fleet: Fleet) -> None:
    """The question is nothing of the gateway's: it is answered through another one, and the run goes on."""
    run_id, waiter = await _begun(fleet, "#ask")
    asked = await _question(waiter)
    for gateway in fleet.gateways[1:]:
        await gateway.kill()
    await fleet.hire("gateway")
    await fleet.gateways[0].kill()
    await _answer(fleet, run_id, asked, "the green one")
    log = await assert_one_story(fleet, run_id, waiter)
    assert reply_text(log).endswith("You would like the green one: it is on its way.")
    assert EventKind.RERUN not in {event.kind for event in log}


@on_fleet
async def test_a_worker_is_killed_while_its_run_waits_for_sub_runs(fleet: Fleet) -> None:
    """W1: its successor finds all three, one of which fails, does none of them again, and tells what they cost."""
    run_id, waiter = await _begun(fleet, "#agent-fail")
    await waiter.has(lambda waiter: waiter.kinds().count("forked") == 3)

    async def opened() -> list[str] | None:
        made = [found.stored.run.id for found in await fleet.ports.forks.forks_of(run_id)]
        return made if len(made) == 3 else None

    parts = await until("the sub-runs are opened", opened)
    await (await fleet.owner(run_id)).kill()
    await _answer(fleet, run_id, await _question(waiter), "the green one")
    log = await assert_one_story(fleet, run_id, waiter)
    assert _ids(log, EventKind.FORKED, "run_id") == parts * 2
    told = reply_text(log)
    assert "The courier: All is well. The warehouse: All is well. The insurance: not known (the model will" in told
    assert told.endswith("You would like the green one: it is on its way.")
    subtasks = decode_data(log[-1].data)["subtasks"]
    assert isinstance(subtasks, dict) and (subtasks["count"], subtasks["failed"]) == (3, 1)
    for part in parts:
        await assert_one_story(fleet, part)
        assert (await fleet.ports.store.messages_of(part))[0].text.startswith("#")


@on_fleet
async def test_a_cancel_reaches_sub_runs_whose_workers_are_dead(fleet: Fleet) -> None:
    """W3: all workers die with the family in their hands; those who come end it, parent and sub-runs."""
    run_id, waiter = await _begun(fleet, "#agent")
    await waiter.has(lambda waiter: waiter.kinds().count("forked") == 3)
    for worker in fleet.workers:
        await worker.kill()
    answer = await fleet.client.post(f"/runs/{run_id}/cancel")
    assert answer.status_code == 202
    await fleet.hire("worker")
    log = await assert_one_story(fleet, run_id, waiter)
    assert log[-1].kind is EventKind.CANCELLED

    async def ended() -> bool | None:
        made = [found.stored.run.status for found in await fleet.ports.forks.forks_of(run_id)]
        return all(status in (RunStatus.CANCELLED, RunStatus.DONE) for status in made) or None

    await until("the sub-runs have ended", ended)
    assert list(await fleet.ports.forks.orphans(10)) == []
