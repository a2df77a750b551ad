"""Double texting: what becomes of a message whose session is busy, as the sender wants it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import httpx
import msgspec
import pytest

from shared.errors import Unavailable
from shared.events import Json
from shared.ports import StoredRun
from shared.run import RunStatus
from tests.support.houses import LEASE, House, done, house
from tests.support.scenes import on


@asynccontextmanager
async def open_house() -> AsyncIterator[House]:
    """Open a gateway for one scene."""
    yield house()


async def say(house: House, message_id: str, if_active: str | None = None) -> tuple[int, Mapping[str, Json]]:
    """Send a message in session `s` and return status and body of the answer."""
    body = {"session_id": "s", "text": "hello", "message_id": message_id}
    if if_active is not None:
        body["if_active"] = if_active
    async with httpx.AsyncClient(transport=httpx.ASGITransport(house.app), base_url="http://gateway") as client:
        response = await client.post("/chat", content=msgspec.json.encode(body))
    answer: Json = msgspec.json.decode(response.content)
    assert isinstance(answer, dict)
    return response.status_code, answer


async def runs(house: House) -> list[tuple[str, RunStatus, bool, int]]:
    """Return each run of session `s`: id, status, whether its cancel was asked, how many messages it has."""
    stored = await house.store.runs_of("s")
    return [(each.run.id, each.run.status, each.cancel_asked, each.inputs) for each in stored]


@on(open_house)
async def test_the_default_is_to_merge(house: House) -> None:
    """A young active run takes the message, with and without the word."""
    await house.streaming("r")
    for message_id, if_active in (("m1", None), ("m2", "merge")):
        status, answer = await say(house, message_id, if_active)
        assert (status, answer["merged"], answer["run_id"]) == (202, True, "r")
    assert await runs(house) == [("r", RunStatus.STREAMING, False, 3)]


@on(open_house)
async def test_enqueue_waits_for_the_end(house: House) -> None:
    """The message opens a run of its own however young the active one is, and is claimed after its end."""
    await house.streaming("r")
    status, answer = await say(house, "m1", "enqueue")
    assert (status, answer["merged"], answer["status"]) == (202, False, "pending")
    assert await runs(house) == [
        ("r", RunStatus.STREAMING, False, 1),
        (answer["run_id"], RunStatus.PENDING, False, 1),
    ]


@pytest.mark.parametrize("active", [True, False])
@on(open_house)
async def test_reject_refuses_while_the_session_is_busy(house: House, active: bool) -> None:
    """A run that has not ended, pending or active, gives 409 and names the field; nothing is stored."""
    await (house.streaming("r") if active else house.run("r"))
    status, answer = await say(house, "m1", "reject")
    assert (status, answer["field"], answer["title"]) == (409, "if_active", "Conflict")
    assert len(await house.store.inputs_of("s")) == 1


@on(open_house)
async def test_reject_takes_a_message_when_nothing_is_in_the_way(house: House) -> None:
    """A session without runs accepts it, and the same message again gets its first answer, busy or not."""
    status, first = await say(house, "m1", "reject")
    assert (status, first["merged"]) == (202, False)
    assert await say(house, "m1", "reject") == (202, first)


@on(open_house)
async def test_interrupt_cancels_the_active_run_and_is_next(house: House) -> None:
    """The new run is stored, then the active one is asked to stop, durably and by its mark; queued ones stay."""
    await house.streaming("r")
    await say(house, "m1", "enqueue")
    status, answer = await say(house, "m2", "interrupt")
    assert (status, answer["merged"]) == (202, False)
    assert [(each[1], each[2]) for each in await runs(house)] == [
        (RunStatus.STREAMING, True),
        (RunStatus.PENDING, False),
        (RunStatus.PENDING, False),
    ]
    assert [str(mark) for mark in await house.marks.read("r")] == ["cancel"]


@on(open_house)
async def test_an_interrupt_that_failed_is_made_good_by_the_same_message(house: House) -> None:
    """The store is away after the message is in: 503. The same message again is replayed, and interrupts."""
    await house.streaming("r")
    ask_cancel = house.store.ask_cancel

    async def away(run_id: str) -> StoredRun | None:
        raise Unavailable("store", "it is restarting")

    house.store.ask_cancel = away  # type: ignore[method-assign]
    assert (await say(house, "m1", "interrupt"))[0] == 503
    house.store.ask_cancel = ask_cancel  # type: ignore[method-assign]
    assert (await say(house, "m1", "interrupt"))[0] == 202
    assert [(each[1], each[2]) for each in await runs(house)] == [
        (RunStatus.STREAMING, True),
        (RunStatus.PENDING, False),
    ]


@on(open_house)
async def test_interrupt_of_nothing_cancels_nothing(house: House) -> None:
    """Without an active run the message opens one, which is not its own victim; nor is a replayed one anybody's."""
    _, answer = await say(house, "m1", "interrupt")
    claim = await house.store.claim("w", house.clock.now() - house.clock.now(), "s")
    assert claim is not None
    assert (await say(house, "m1", "interrupt"))[1] == answer
    assert await runs(house) == [(answer["run_id"], RunStatus.RUNNING, False, 1)]


@on(open_house)
async def test_an_interrupt_does_not_cancel_its_own_run(house: House) -> None:
    """The active run ends, and the new one is claimed, while the gateway looks for whom to cancel: it is left alone."""
    await house.streaming("r")
    runs_of = house.store.runs_of

    async def late(session_id: str) -> Sequence[StoredRun]:
        await house.end([done(0)])
        assert await house.store.claim("w", LEASE, session_id) is not None
        return await runs_of(session_id)

    house.store.runs_of = late  # type: ignore[method-assign]
    _, answer = await say(house, "m1", "interrupt")
    house.store.runs_of = runs_of  # type: ignore[method-assign]
    assert await runs(house) == [("r", RunStatus.DONE, False, 1), (answer["run_id"], RunStatus.RUNNING, False, 1)]


@pytest.mark.parametrize("word", ["", "MERGE", "later"])
@on(open_house)
async def test_another_word_is_refused(house: House, word: str) -> None:
    """422 names the field and the words that there are."""
    status, answer = await say(house, "m1", word)
    assert (status, answer["field"]) == (422, "if_active")
    assert answer["detail"] == "is not one of merge, enqueue, reject, interrupt"
