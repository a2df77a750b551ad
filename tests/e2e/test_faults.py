"""Nothing is lost when things die: real processes, real services, and one fault at a time.

In each test, whatever dies: the run ends, its log has every seq once, and all who wait for it are given all of it, in
order, nothing twice, the same as who asks afterwards.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
import redis

from selfcheck.local.services import LocalServices
from shared.events import Event, EventKind, decode_data, reply_text
from tests.support.conversations import CORRECTION, Crowd, Tally
from tests.support.fleet import Fleet, open_fleet
from tests.support.fleet_stage import Stage, assert_one_story, on_fleet, open_stage
from tests.support.mayhem import SETTINGS, Mayhem
from tests.support.member import Member
from tests.support.patience import until
from tests.support.processes import ROOT
from tests.support.real import services_to_break
from tests.support.watching import Verdict, Waiter

MIDDLE: Final = 25
"""Of a run that has no more events than so many, 12 are still to come."""

TRIES: Final = 20


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """All tests play on one fleet."""
    with open_stage() as stage:
        yield stage


async def _say(fleet: Fleet, text: str = "hello", session_id: str | None = None) -> str:
    """Send a message and return its run."""
    body = {"session_id": session_id or str(uuid4()), "text": text}
    answer = (await fleet.client.post("/chat", json=body)).raise_for_status().json()
    return str(answer["run_id"])


async def _assert_works(fleet: Fleet, session_id: str | None = None) -> None:
    """A message is answered: no session and no worker has come to a stop."""
    run_id = await _say(fleet, session_id=session_id)
    log = await assert_one_story(fleet, run_id, Waiter(fleet.client, run_id))
    assert log[-1].kind is EventKind.DONE


async def _begun(fleet: Fleet, waiters: int = 2, session_id: str | None = None) -> tuple[str, Member, list[Waiter]]:
    """Begin a run; return it, its owner, and its waiters, when fragments have come to them."""
    run_id = await _say(fleet, session_id=session_id)
    watching = [Waiter(fleet.client, run_id) for _ in range(waiters)]
    for waiter in watching:
        await waiter.reached(4)
    return run_id, await fleet.owner(run_id), watching


async def _halted(fleet: Fleet, *session_ids: str, waiters: int = 2) -> tuple[Member, list[tuple[str, list[Waiter]]]]:
    """Begin a run in each session, and pause their owner, whose they all are, in the middle of all of them.

    Where it has come too far by then, all this took too long: it ends them, and others are begun.
    """
    for _ in range(TRIES):
        begun = [await _begun(fleet, waiters, session_id) for session_id in session_ids]
        (owner,) = {owner for _, owner, _ in begun}
        owner.pause()
        if max([len(await fleet.ports.output.entries(run_id)) for run_id, _, _ in begun]) < MIDDLE:
            return owner, [(run_id, watching) for run_id, _, watching in begun]
        owner.resume()
        for waiter in (waiter for _, _, watching in begun for waiter in watching):
            await waiter.ended()
    raise AssertionError(f"a run was over before it was looked at, {TRIES} times")


# --- Workers ----------------------------------------------------------------------------------------------------------


@on_fleet
async def test_a_worker_is_killed_while_it_writes(fleet: Fleet) -> None:
    """W1: another one takes the run over after the lease; seqs go on, and every waiter gets to the end.

    What its user has sent while it had no owner is read, too.
    """
    session_id = str(uuid4())
    with _alone(fleet, fleet.workers[0]) as owner:
        _, ((run_id, waiters),) = await _halted(fleet, session_id)
        await owner.kill()
        assert await _say(fleet, CORRECTION, session_id) == run_id
    log = await assert_one_story(fleet, run_id, *waiters)
    assert _ends(log) == ["rerun takeover", "done"]
    assert "exchange" in reply_text(log)


@pytest.mark.parametrize("when", ["while its successor writes", "after the end"])
@on_fleet
async def test_a_worker_sleeps_through_its_lease(fleet: Fleet, when: str) -> None:
    """W2: what it writes when it wakes is refused, and nothing of it is to be seen anywhere."""
    zombie, ((run_id, waiters),) = await _halted(fleet, str(uuid4()))
    if when == "after the end":
        await waiters[0].ended()
    else:
        await waiters[0].has(lambda waiter: "rerun" in waiter.kinds())
    zombie.resume()
    await zombie.said_any("run_lost", "lease_lost", run_id=run_id)
    log = await assert_one_story(fleet, run_id, *waiters)
    assert _ends(log) == ["rerun takeover", "done"]
    assert zombie.find("run_moved", run_id=run_id, target="done") == []


@on_fleet
async def test_a_run_without_an_owner_is_cancelled(fleet: Fleet) -> None:
    """W3, W5: asked after its owner died or before, whoever takes it over ends it and does not begin anew."""
    sessions = [str(uuid4()), str(uuid4())]
    with _alone(fleet, fleet.workers[0]) as owner:
        _, ((before, early), (after, late)) = await _halted(fleet, *sessions, waiters=1)
        await _assert_cancel_is_noted(fleet, before)  # its owner does not hear of it
        await owner.kill()
        await _assert_cancel_is_noted(fleet, after)
    for run_id, waiters in ((before, early), (after, late)):
        assert _ends(await assert_one_story(fleet, run_id, *waiters)) == ["cancelled"]
    await _assert_works(fleet, sessions[0])


async def _assert_cancel_is_noted(fleet: Fleet, run_id: str) -> None:
    answer = await fleet.client.post(f"/runs/{run_id}/cancel")
    assert (answer.status_code, answer.json()) == (202, {"run_id": run_id, "status": "streaming"})


@pytest.mark.parametrize(("drain", "ends"), [("10s", ["done"]), ("100ms", ["rerun takeover", "done"])])
@on_fleet
async def test_a_worker_is_told_to_end(fleet: Fleet, drain: str, ends: list[str]) -> None:
    """SIGTERM: it writes its run to the end; what is not over within DRAIN is another's long before the lease is.

    Either way it exits with 0.
    """
    with _alone(fleet, await fleet.hire("worker", KODA_LEASE="60s", KODA_DRAIN=drain)) as owner:
        _, ((run_id, waiters),) = await _halted(fleet, str(uuid4()))
    owner.terminate()
    owner.resume()
    assert await owner.ended() == 0
    assert _ends(await assert_one_story(fleet, run_id, *waiters)) == ends


@on_fleet
async def test_a_run_outlives_five_deployments(fleet: Fleet) -> None:
    """Each takes its worker away, and the next one, which never sweeps, has it at once; none counts as a failure."""
    given = {"KODA_MAX_ATTEMPTS": "3", "KODA_SWEEP_EVERY": "1h", "KODA_LEASE": "60s", "KODA_DRAIN": "100ms"}
    for worker in fleet.workers:
        await fleet.dismiss(worker)
    owner = await fleet.hire("worker", **given, KODA_FRAGMENT_PACE="100ms")
    _, ((run_id, waiters),) = await _halted(fleet, str(uuid4()))
    for number in range(5):
        owner.pause()  # the run must not be over before its next worker is there
        following = await fleet.hire("worker", **given, KODA_FRAGMENT_PACE="20ms" if number == 4 else "100ms")
        owner.resume()
        owner.terminate()
        assert await owner.ended() == 0
        await following.said("run_taken_over", run_id=run_id, attempt=number + 2)
        owner = following
    log = await assert_one_story(fleet, run_id, *waiters)
    assert _ends(log) == ["rerun takeover"] * 5 + ["done"]
    await owner.kill()  # it sweeps too seldom for the other tests


@contextmanager
def _alone(fleet: Fleet, worker: Member) -> Iterator[Member]:
    """Have this worker take all there is while the block lasts."""
    others = [other for other in fleet.workers if other is not worker]
    for other in others:
        other.pause()
    try:
        yield worker
    finally:
        for other in others:
            other.resume()


# --- Gateways ---------------------------------------------------------------------------------------------------------


@on_fleet
async def test_a_gateway_is_killed_under_its_waiters(fleet: Fleet) -> None:
    """Its waiters connect to another one and go on behind the last event that they have."""
    # Slow, and then paused: the run must not be over before its waiters are cut off.
    with _alone(fleet, await fleet.hire("worker", KODA_FRAGMENT_PACE="150ms")) as owner:
        _, ((run_id, waiters),) = await _halted(fleet, str(uuid4()), waiters=50)
    await fleet.gateways[0].kill()
    owner.resume()
    await assert_one_story(fleet, run_id, *waiters)
    assert sum(waiter.following.tries > 1 for waiter in waiters) >= 25
    await owner.kill()  # too slow for the other tests


@on_fleet
async def test_a_gateway_is_told_to_end_under_its_waiters(fleet: Fleet) -> None:
    """C5: SIGTERM. It tells them to go elsewhere and exits with 0, long before the run is over."""
    owner, ((run_id, waiters),) = await _halted(fleet, str(uuid4()), waiters=20)
    ending = fleet.gateways[0]
    ending.terminate()
    assert await ending.ended() == 0
    owner.resume()
    await assert_one_story(fleet, run_id, *waiters)
    assert sum(waiter.following.tries > 1 for waiter in waiters) >= 10


# --- Services ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", [False, True], ids=["with its data", "empty"])
@on_fleet
async def test_redis_is_restarted(fleet: Fleet, empty: bool) -> None:
    """What was not sent is sent when it is back; what only the store has, waiters get from there."""
    run_id, _, waiters = await _begun(fleet)
    await asyncio.to_thread(fleet.services.redis.restart, empty=empty)
    log = await assert_one_story(fleet, run_id, *waiters)
    assert log[-1].kind is EventKind.DONE
    await _assert_works(fleet)


@pytest.mark.parametrize("how", ["stopped", "killed"])
@on_fleet
async def test_postgres_is_restarted(fleet: Fleet, how: str) -> None:
    """Waiters get what is written meanwhile, and the store gets it when it is back."""
    run_id, _, waiters = await _begun(fleet)
    postgres = fleet.services.postgres
    await asyncio.to_thread(postgres.stop if how == "stopped" else postgres.kill)
    await asyncio.to_thread(postgres.start)
    log = await assert_one_story(fleet, run_id, *waiters)
    assert log[-1].kind is EventKind.DONE


@on_fleet
async def test_the_consumer_group_is_gone(fleet: Fleet) -> None:
    """W10: the next call makes it anew, from the beginning, and nobody turns in circles over it."""
    said = _beside_runs(fleet)
    with redis.Redis.from_url(fleet.services.redis_url) as client:
        assert client.xgroup_destroy(f"{fleet.prefix}:in", "workers") == 1
    await _assert_works(fleet)
    with redis.Redis.from_url(fleet.services.redis_url) as client:
        assert client.delete(f"{fleet.prefix}:in") == 1
    await _assert_works(fleet)
    assert _beside_runs(fleet) - said < 4


def _beside_runs(fleet: Fleet) -> int:
    """Return how many lines its workers have written that are not about a run."""
    return sum("run_id" not in line for worker in fleet.workers for line in worker.lines)


# --- Messages ---------------------------------------------------------------------------------------------------------


@on_fleet
async def test_a_message_joins_while_redis_is_away(fleet: Fleet) -> None:
    """Its mark is lost; the end of the run finds it all the same."""
    session_id = str(uuid4())
    owner, ((run_id, waiters),) = await _halted(fleet, session_id)
    await asyncio.to_thread(fleet.services.redis.stop)
    assert await _say(fleet, CORRECTION, session_id) == run_id
    await asyncio.to_thread(fleet.services.redis.start)
    owner.resume()
    log = await assert_one_story(fleet, run_id, *waiters)
    assert "exchange" in reply_text(log)


@on_fleet
async def test_a_message_is_refused_while_postgres_is_away(fleet: Fleet) -> None:
    """503: it was not taken. Sent again under its id it is taken once, however often it is sent."""
    body = {"session_id": str(uuid4()), "message_id": "m", "text": "hello"}
    await asyncio.to_thread(fleet.services.postgres.stop)
    refused = await fleet.client.post("/chat", json=body)
    assert (refused.status_code, refused.headers["content-type"]) == (503, "application/problem+json")
    assert int(refused.headers["retry-after"]) > 0
    await asyncio.to_thread(fleet.services.postgres.start)

    async def taken() -> str | None:
        answer = await fleet.client.post("/chat", json=body)
        return str(answer.json()["run_id"]) if answer.status_code == 202 else None

    run_id = await until("the message is taken", taken)
    assert await taken() == run_id
    await assert_one_story(fleet, run_id, Waiter(fleet.client, run_id))
    assert len(await fleet.ports.store.runs_of(body["session_id"])) == 1


def _ends(log: Sequence[Event]) -> list[str]:
    """Return what happened in a run besides fragments."""
    told = [(str(event.kind), decode_data(event.data).get("reason", "")) for event in log]
    return [f"{kind} {reason}".strip() if kind == "rerun" else kind for kind, reason in told if kind != "delta"]


# --- All at once ------------------------------------------------------------------------------------------------------


def test_everything_is_broken_at_random() -> None:
    """Conversations go on while all that may die dies: nothing is lost, nothing comes twice, nothing is stuck."""
    tally = asyncio.run(_broken(services_to_break(), conversations=10, seed=1))
    assert tally.wrong == Verdict()
    assert tally.runs >= 10


async def _broken(services: LocalServices, conversations: int, seed: int) -> Tally:
    async with open_fleet(services, **SETTINGS) as fleet:
        crowd = Crowd(fleet, seed)
        try:
            await Mayhem(fleet, seed, crowd, longest_s=1).over(crowd.converse(conversations, conversations))
            return await crowd.add_up()
        finally:
            await crowd.leave()


# --- The page ---------------------------------------------------------------------------------------------------------


def test_the_page_has_a_test_for_every_fault() -> None:
    """`docs/faults.md` names tests that are there, and every one of this file."""
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    here = Path(__file__).relative_to(ROOT).as_posix()
    named = {(file or here, name) for file, name in re.findall(r"`(?:(tests/[\w/]+\.py)::)?(test_\w+)`", page)}
    assert [(file, name) for file, name in named if f"def {name}(" not in (ROOT / file).read_text()] == []
    ours = set(re.findall(r"^(?:async )?def (test_\w+)", Path(__file__).read_text(), re.MULTILINE))
    assert ours - {name for _, name in named} == {"test_the_page_has_a_test_for_every_fault"}
