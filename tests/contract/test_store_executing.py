"""The contract of `Store`: claiming, leases, taking over, and writes that only the owner may make."""

import asyncio
from dataclasses import replace

import pytest

from shared.errors import Fenced
from shared.ports import Claim, Held, Resumed
from shared.run import RunStatus
from tests.contract.adapters import Audit, Ports, on_each_adapter
from tests.contract.values import AN_HOUR, NOTHING, cancelled, deltas, done, ended, opened, started

PENDING, RUNNING, STREAMING, DONE = RunStatus.PENDING, RunStatus.RUNNING, RunStatus.STREAMING, RunStatus.DONE


async def claimed(ports: Ports, session_id: str | None = None) -> str | None:
    """Claim and return the run's id."""
    claim = await ports.store.claim("w", AN_HOUR, session_id)
    return None if claim is None else claim.run.id


@on_each_adapter
async def test_claiming_moves_a_run_to_running(ports: Ports) -> None:
    """The claim holds the run as it is stored then: running, attempt 1. It resumes nothing."""
    run = await opened(ports, "r")
    claim = await ports.store.claim("w", AN_HOUR)
    stored = await ports.store.run("r")
    assert claim is not None and stored is not None
    assert claim == Claim(stored.run, None)
    assert stored.run == replace(run, status=RUNNING, attempt=1, updated_at=stored.run.updated_at)
    assert [(row.source, row.target, row.attempt) for row in await ports.audit("r")] == [(PENDING, RUNNING, 1)]


@on_each_adapter
async def test_there_may_be_nothing_to_claim(ports: Ports) -> None:
    """None with no runs at all, in an unknown session, and when all runs have an owner or an end."""
    assert await claimed(ports) is None
    await ended(ports, "ended", "s1")
    await started(ports, "active", "s2")
    assert [await claimed(ports), await claimed(ports, "s1"), await claimed(ports, "s2")] == [None, None, None]
    assert await claimed(ports, "unknown") is None


@on_each_adapter
async def test_the_oldest_run_is_claimed_first(ports: Ports) -> None:
    """Over sessions, runs are claimed in the order in which they were opened."""
    for place in [2, 0, 1]:
        await opened(ports, f"r{place}", f"s{place}")
    assert [await claimed(ports) for _ in range(4)] == ["r2", "r0", "r1", None]


@on_each_adapter
async def test_a_session_can_be_claimed_out_of_turn(ports: Ports) -> None:
    """With a session id only that session's run is claimed, though others wait longer."""
    await opened(ports, "r0", "s0")
    await opened(ports, "r1", "s1")
    assert [await claimed(ports, "s1"), await claimed(ports, "s1"), await claimed(ports, "s0")] == ["r1", None, "r0"]


@on_each_adapter
async def test_a_session_has_one_active_run(ports: Ports) -> None:
    """While one of its runs is active no other of the session is claimable; when it ends the next one is."""
    await opened(ports, "r0")
    await opened(ports, "r1")
    await opened(ports, "r2")
    assert [await claimed(ports, "s"), await claimed(ports, "s"), await claimed(ports)] == ["r0", None, None]
    assert await ports.store.move("r0", 1, RUNNING, STREAMING, "first fragment")
    assert await claimed(ports) is None
    await ports.store.finish("r0", 1, STREAMING, DONE, [done("r0", 0)], 1, "end")
    assert [await claimed(ports), await claimed(ports)] == ["r1", None]


@on_each_adapter
async def test_claims_at_once_have_one_winner(ports: Ports) -> None:
    """Of twenty who claim the one run at once exactly one gets it; the others get nothing, not an error."""
    await opened(ports, "r")
    claims = await asyncio.gather(*(ports.store.claim(f"w{place}", AN_HOUR, "s") for place in range(20)))
    won = [claim for claim in claims if claim is not None]
    assert [(claim.run.id, claim.run.attempt) for claim in won] == [("r", 1)]


@on_each_adapter
async def test_claims_at_once_share_out_the_runs(ports: Ports) -> None:
    """Of twenty who claim any run at once, each of the five runs has one owner, and no two are of one session."""
    for place in range(5):
        await opened(ports, f"r{place}", f"s{place}")
        await opened(ports, f"next{place}", f"s{place}")
    claims = await asyncio.gather(*(ports.store.claim(f"w{place}", AN_HOUR) for place in range(20)))
    won = sorted(claim.run.id for claim in claims if claim is not None)
    # Whoever loses a race may go home with nothing; what is left is then there for the next claim.
    while (claim := await ports.store.claim("w", AN_HOUR)) is not None:
        won.append(claim.run.id)
    assert sorted(won) == ["r0", "r1", "r2", "r3", "r4"]


@on_each_adapter
async def test_a_run_that_shall_stop_is_not_claimable(ports: Ports) -> None:
    """A pending run whose cancel was asked is nobody's, and the session's next waits until it has ended (W5)."""
    await opened(ports, "r0")
    await opened(ports, "r1")
    await ports.store.ask_cancel("r0")
    assert [await claimed(ports), await claimed(ports, "s")] == [None, None]
    await ports.store.finish("r0", 0, PENDING, RunStatus.CANCELLED, [cancelled("r0", 0)], None, "stop")
    assert await claimed(ports, "s") == "r1"


@on_each_adapter
async def test_a_younger_run_that_shall_stop_holds_up_nobody(ports: Ports) -> None:
    """The session's older run is claimed as if nothing had been asked."""
    await opened(ports, "r0")
    await opened(ports, "r1")
    await ports.store.ask_cancel("r1")
    assert await claimed(ports, "s") == "r0"


@on_each_adapter
async def test_a_good_lease_is_not_taken_over(ports: Ports) -> None:
    """A run stays with its owner while the lease holds, and so does one that nobody has claimed."""
    assert await ports.store.take_over("w2", AN_HOUR) is None
    await opened(ports, "pending", "s1")
    await started(ports, "r", "s2")
    assert await ports.store.take_over("w2", AN_HOUR) is None


@on_each_adapter
async def test_a_lost_run_is_taken_over(ports: Ports) -> None:
    """When the lease is over another worker has the run: attempt + 1, status as it was, once (W1)."""
    await started(ports, "r", lease=NOTHING)
    await ports.store.move("r", 1, RUNNING, STREAMING, "first fragment")
    claim = await ports.store.take_over("w2", AN_HOUR)
    stored = await ports.store.run("r")
    assert claim is not None and stored is not None
    assert claim == Claim(stored.run, Resumed.TAKEOVER)
    assert (stored.run.status, stored.run.attempt) == (STREAMING, 2)
    assert await ports.store.take_over("w3", AN_HOUR) is None


@on_each_adapter
async def test_the_longest_lost_run_is_taken_over_first(ports: Ports) -> None:
    """Of several runs without a good lease, the one whose lease ran out first goes first."""
    for run_id in ["r2", "r0", "r1"]:
        await started(ports, run_id, run_id, lease=NOTHING)
    claims = [await ports.store.take_over("w2", AN_HOUR) for _ in range(4)]
    assert [claim and claim.run.id for claim in claims] == ["r2", "r0", "r1", None]


@on_each_adapter
async def test_takeovers_at_once_have_one_winner(ports: Ports) -> None:
    """Of twenty who take over the one lost run at once exactly one gets it."""
    await started(ports, "r", lease=NOTHING)
    claims = await asyncio.gather(*(ports.store.take_over(f"w{place}", AN_HOUR) for place in range(20)))
    assert [(claim.run.id, claim.run.attempt) for claim in claims if claim is not None] == [("r", 2)]


@on_each_adapter
async def test_a_run_that_shall_stop_is_taken_over(ports: Ports) -> None:
    """When the owner of a run whose cancel was asked is lost, somebody must end it (W3)."""
    await started(ports, "r", lease=NOTHING)
    await ports.store.ask_cancel("r")
    claim = await ports.store.take_over("w2", AN_HOUR)
    assert claim is not None and (claim.run.id, claim.run.attempt) == ("r", 2)


@on_each_adapter
async def test_an_ended_run_is_not_taken_over(ports: Ports) -> None:
    """A run that ended with its lease over has no lease any more."""
    await started(ports, "r", lease=NOTHING)
    await ports.store.finish("r", 1, RUNNING, DONE, [done("r", 0)], None, "end")
    assert await ports.store.take_over("w2", AN_HOUR) is None


@on_each_adapter
async def test_renewing_prolongs_all_of_an_owners_leases(ports: Ports) -> None:
    """One call prolongs and returns every active run of the owner, and nobody else's (W8)."""
    await started(ports, "r0", "s0", "w", NOTHING)
    await started(ports, "r1", "s1", "w", NOTHING)
    await started(ports, "other", "s2", "w2", AN_HOUR)
    await ports.store.ask_cancel("r1")
    held = await ports.store.renew("w", AN_HOUR)
    assert sorted(held, key=lambda lease: lease.run_id) == [
        Held("r0", 1, cancel_asked=False),
        Held("r1", 1, cancel_asked=True),
    ]
    assert await ports.store.take_over("w3", AN_HOUR) is None


@on_each_adapter
async def test_renewing_may_shorten_a_lease(ports: Ports) -> None:
    """The last call decides when the lease ends."""
    await started(ports, "r")
    await ports.store.renew("w", NOTHING)
    claim = await ports.store.take_over("w2", AN_HOUR)
    assert claim is not None and claim.run.id == "r"


@on_each_adapter
async def test_what_is_lost_is_not_renewed(ports: Ports) -> None:
    """A run that was taken over, ended or given back is not in the answer, and stays as it is."""
    assert list(await ports.store.renew("w", AN_HOUR)) == []
    await started(ports, "taken", "s0", "w", NOTHING)
    await ports.store.take_over("w2", NOTHING)
    await started(ports, "ended", "s1")
    await ports.store.finish("ended", 1, RUNNING, DONE, [done("ended", 0)], None, "end")
    await started(ports, "given", "s2")
    await ports.store.release("given", 1, AN_HOUR, Resumed.RETRY)
    await opened(ports, "pending", "s3")
    assert list(await ports.store.renew("w", AN_HOUR)) == []
    claim = await ports.store.take_over("w3", AN_HOUR)
    assert claim is not None and claim.run.id == "taken"


@on_each_adapter
async def test_a_released_run_is_taken_over_when_its_time_has_come(ports: Ports) -> None:
    """Giving back says when and why: not before, and the next owner is told; its attempt is one more."""
    await started(ports, "r")
    assert await ports.store.release("r", 1, AN_HOUR, Resumed.RETRY)
    assert await ports.store.take_over("w2", AN_HOUR) is None
    assert await ports.store.release("r", 1, NOTHING, Resumed.RETRY)
    claim = await ports.store.take_over("w2", NOTHING)
    assert claim is not None
    assert (claim.run.attempt, claim.run.status, claim.resumed) == (2, RUNNING, Resumed.RETRY)


@on_each_adapter
async def test_the_reason_of_a_release_is_told_once(ports: Ports) -> None:
    """Who takes over from a lost owner is told so, whatever an earlier owner gave as its reason."""
    await started(ports, "r")
    reasons: list[Resumed | None] = []
    for attempt, why in [(1, Resumed.RETRY), (2, None), (3, Resumed.TAKEOVER), (4, Resumed.RETRY)]:
        if why is not None:
            assert await ports.store.release("r", attempt, NOTHING, why)
        claim = await ports.store.take_over("w", NOTHING)
        assert claim is not None and claim.run.attempt == attempt + 1
        reasons.append(claim.resumed)
    assert reasons == [Resumed.RETRY, Resumed.TAKEOVER, Resumed.TAKEOVER, Resumed.RETRY]


@on_each_adapter
async def test_only_the_owner_gives_a_run_back(ports: Ports) -> None:
    """Releasing an unknown, pending, ended or somebody else's run is answered False and changes nothing."""
    await ended(ports, "ended", "s0")
    await opened(ports, "pending", "s1")
    await started(ports, "r", "s2")
    for run_id, attempt in [("unknown", 1), ("ended", 1), ("pending", 0), ("r", 0), ("r", 2)]:
        assert not await ports.store.release(run_id, attempt, NOTHING, Resumed.RETRY)
    assert await ports.store.take_over("w2", AN_HOUR) is None
    assert list(await ports.store.renew("w", AN_HOUR)) == [Held("r", 1, cancel_asked=False)]


@on_each_adapter
async def test_moving_is_conditional_and_audited(ports: Ports) -> None:
    """A move from the expected status and attempt is made and noted; any other misses and leaves no trace."""
    await started(ports, "r")
    misses = [
        ("r", 1, STREAMING, DONE),
        ("r", 0, RUNNING, DONE),
        ("r", 2, RUNNING, DONE),
        ("unknown", 1, RUNNING, DONE),
    ]
    for run_id, attempt, source, target in misses:
        assert not await ports.store.move(run_id, attempt, source, target, "miss")
    assert await ports.store.move("r", 1, RUNNING, STREAMING, "first fragment")
    assert not await ports.store.move("r", 1, RUNNING, STREAMING, "again")
    stored = await ports.store.run("r")
    assert stored is not None and stored.run.status is STREAMING
    assert list(await ports.audit("r"))[1:] == [Audit(RUNNING, STREAMING, 1, "first fragment")]
    assert list(await ports.audit("unknown")) == []


@on_each_adapter
async def test_moves_at_once_have_one_winner(ports: Ports) -> None:
    """Of twenty equal moves at once one is made."""
    await started(ports, "r")
    moves = (ports.store.move("r", 1, RUNNING, STREAMING, "first fragment") for _ in range(20))
    assert sorted(await asyncio.gather(*moves)) == [False] * 19 + [True]
    assert len(await ports.audit("r")) == 2


@on_each_adapter
async def test_no_move_makes_a_second_active_run(ports: Ports) -> None:
    """A run does not become active beside another one of its session: the move misses, nothing is noted."""
    await started(ports, "r0")
    await opened(ports, "r1")
    assert not await ports.store.move("r1", 0, PENDING, RUNNING, "second")
    stored = await ports.store.run("r1")
    assert stored is not None and stored.run.status is PENDING
    assert list(await ports.audit("r1")) == []


@on_each_adapter
async def test_a_move_to_an_end_frees_the_session(ports: Ports) -> None:
    """After a run was moved to an ended status the next one is claimable, and its lease is gone."""
    await started(ports, "r0", lease=NOTHING)
    await opened(ports, "r1")
    assert await ports.store.move("r0", 1, RUNNING, RunStatus.FAILED, "gave up")
    assert await ports.store.take_over("w2", AN_HOUR) is None
    assert await claimed(ports, "s") == "r1"


@on_each_adapter
async def test_the_owner_appends_to_the_log(ports: Ports) -> None:
    """Events of the active run, running or streaming, are kept whole, in the order of their seqs."""
    await started(ports, "r")
    events = deltas("r", 0, 5)
    await ports.store.append("r", 1, events[:2])
    await ports.store.move("r", 1, RUNNING, STREAMING, "first fragment")
    await ports.store.append("r", 1, events[2:])
    assert list(await ports.store.events("r", 0, 100)) == events
    stored = await ports.store.run("r")
    assert stored is not None and stored.last_seq == 4


@on_each_adapter
async def test_a_row_that_is_there_stays_as_it_is(ports: Ports) -> None:
    """Appending a seq again keeps the first row and adds the others, without a number lost in between (O4)."""
    await started(ports, "r")
    events = deltas("r", 0, 4)
    await ports.store.append("r", 1, events[:2])
    await ports.store.append("r", 1, [replace(event, data='{"text":"other"}') for event in events[:2]] + events[2:])
    await ports.store.append("r", 1, events)
    assert list(await ports.store.events("r", 0, 100)) == events


@on_each_adapter
async def test_nobody_else_appends_to_the_log(ports: Ports) -> None:
    """Any other attempt, and any run that is not active, is fenced, and not one row is written (W2, O5)."""
    await ended(ports, "ended", "s0")
    await opened(ports, "pending", "s1")
    await started(ports, "r", "s2", lease=NOTHING)
    await ports.store.take_over("w2", AN_HOUR)
    for run_id, attempt in [("unknown", 1), ("ended", 1), ("pending", 0), ("r", 1), ("r", 3)]:
        with pytest.raises(Fenced) as refused:
            await ports.store.append(run_id, attempt, deltas(run_id, 3, 5))
        assert (refused.value.run_id, refused.value.attempt) == (run_id, attempt)
    await ports.store.append("r", 2, deltas("r", 0, 1))
    counts = [len(await ports.store.events(run_id, 0, 100)) for run_id in ["unknown", "ended", "pending", "r"]]
    assert counts == [0, 3, 0, 1]


@on_each_adapter
async def test_waiting_sessions_are_those_with_a_claimable_run(ports: Ports) -> None:
    """Each once, the longest waiting first, up to the limit; no session whose run is active or shall stop."""
    assert list(await ports.store.waiting_sessions(10)) == []
    for session_id in ["s2", "busy", "s0", "stopped", "s1", "over"]:
        await opened(ports, f"{session_id}-0", session_id)
    for session_id in ["s2", "busy", "stopped"]:
        await opened(ports, f"{session_id}-1", session_id)
    await claimed(ports, "busy")
    await ports.store.ask_cancel("stopped-0")
    await claimed(ports, "over")
    await ports.store.finish("over-0", 1, RUNNING, DONE, [done("over-0", 0)], None, "end")
    assert list(await ports.store.waiting_sessions(10)) == ["s2", "s0", "s1"]
    assert list(await ports.store.waiting_sessions(2)) == ["s2", "s0"]
    await ports.store.finish("busy-0", 1, RUNNING, DONE, [done("busy-0", 0)], None, "end")
    assert list(await ports.store.waiting_sessions(10)) == ["s2", "s0", "s1", "busy"]
