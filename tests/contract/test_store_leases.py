"""The contract of `Store`: leases, and runs that change their owner."""

import asyncio

from shared.ports import Claim, Held, Resumed
from shared.run import RunStatus
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import AN_HOUR, NOTHING, done, ended, opened, started

PENDING, RUNNING, STREAMING, DONE = RunStatus.PENDING, RunStatus.RUNNING, RunStatus.STREAMING, RunStatus.DONE


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
async def test_a_handover_is_an_attempt_that_does_not_count(ports: Ports) -> None:
    """The next owners are told how many there were; what was lost, or given back after an error, is none."""
    await started(ports, "r")
    told: list[tuple[int, int, int]] = []
    for attempt, counts in [(1, False), (2, True), (3, None), (4, False), (5, None)]:
        if counts is None:
            assert list(await ports.store.renew("w", NOTHING)) == [Held("r", attempt, cancel_asked=False)]
        else:
            assert await ports.store.release("r", attempt, NOTHING, Resumed.TAKEOVER, counts=counts)
        claim = await ports.store.take_over("w", AN_HOUR)
        assert claim is not None and claim.resumed is Resumed.TAKEOVER
        told.append((claim.run.attempt, claim.handovers, claim.tries))
    assert told == [(2, 1, 1), (3, 1, 2), (4, 1, 3), (5, 2, 3), (6, 2, 4)]


@on_each_adapter
async def test_an_attempt_is_handed_over_once(ports: Ports) -> None:
    """Who gives back again, because the answer was lost, changes when and why, and not what the first time counted."""
    told: list[tuple[int, Resumed | None]] = []
    for run_id, first in [("r0", False), ("r1", True)]:
        await started(ports, run_id, run_id)
        assert await ports.store.release(run_id, 1, AN_HOUR, Resumed.TAKEOVER, counts=first)
        assert await ports.store.release(run_id, 1, NOTHING, Resumed.RETRY, counts=False)
        claim = await ports.store.take_over("w2", AN_HOUR)
        assert claim is not None and claim.run.id == run_id
        told.append((claim.handovers, claim.resumed))
    assert told == [(1, Resumed.RETRY), (0, Resumed.RETRY)]


@on_each_adapter
async def test_a_run_that_begins_was_never_handed_over(ports: Ports) -> None:
    """A claim of a pending run is its first try, whether it was asked for any session or for one."""
    first = await started(ports, "r", "s0")
    await opened(ports, "r1", "s1")
    second = await ports.store.claim("w", AN_HOUR)
    assert second is not None
    assert [(claim.handovers, claim.tries) for claim in (first, second)] == [(0, 1), (0, 1)]


@on_each_adapter
async def test_what_was_given_back_is_taken_up(ports: Ports) -> None:
    """The run of the session that is asked for, when its time has come, though others have been free for longer; once.

    Its attempt is one more, and its next owner is told what it would have been told otherwise.
    """
    for run_id, why in [("r0", Resumed.TAKEOVER), ("r1", Resumed.RETRY)]:
        await started(ports, run_id, run_id)
        assert await ports.store.release(run_id, 1, NOTHING, why)
    assert await ports.store.release("r1", 1, AN_HOUR, Resumed.RETRY)
    assert await ports.store.take_up("w2", AN_HOUR, "r1") is None
    assert await ports.store.release("r1", 1, NOTHING, Resumed.RETRY)
    claim = await ports.store.take_up("w2", AN_HOUR, "r1")
    stored = await ports.store.run("r1")
    assert claim is not None and stored is not None
    assert claim == Claim(stored.run, Resumed.RETRY)
    assert (stored.run.status, stored.run.attempt) == (RUNNING, 2)
    assert await ports.store.take_up("w3", AN_HOUR, "r1") is None
    left = await ports.store.take_over("w3", AN_HOUR)
    assert left is not None and left.run.id == "r0"


@on_each_adapter
async def test_what_was_not_given_back_is_not_taken_up(ports: Ports) -> None:
    """Neither what is held, waits, or has ended, nor what lost its owner, be that after it was given back once."""
    await started(ports, "held", "held")
    await opened(ports, "pending", "pending")
    await ended(ports, "ended", "ended")
    await started(ports, "lost", "lost", lease=NOTHING)
    await started(ports, "again", "again")
    assert await ports.store.release("again", 1, NOTHING, Resumed.TAKEOVER, counts=False)
    assert await ports.store.take_up("w2", NOTHING, "again") is not None
    for session_id in ("held", "pending", "ended", "lost", "again", "unknown"):
        assert await ports.store.take_up("w3", AN_HOUR, session_id) is None
    claims = [await ports.store.take_over("w3", AN_HOUR) for _ in range(3)]
    assert [claim and claim.run.id for claim in claims] == ["lost", "again", None]


@on_each_adapter
async def test_a_run_that_left_its_end_is_not_taken_up(ports: Ports) -> None:
    """What only a wrong table makes active again has no owner who rang, also when it was given back in its life."""
    await started(ports, "r")
    assert await ports.store.release("r", 1, NOTHING, Resumed.RETRY)
    await ports.store.finish("r", 1, RUNNING, DONE, [done("r", 0)], None, "end")
    assert await ports.store.move("r", 1, DONE, STREAMING, "against the rules")
    assert await ports.store.take_up("w2", AN_HOUR, "s") is None
    assert await ports.store.take_over("w2", AN_HOUR) is not None


@on_each_adapter
async def test_who_takes_up_and_who_takes_over_at_once_have_one_winner(ports: Ports) -> None:
    """Of twenty who want the one run that was given back exactly one gets it."""
    await started(ports, "r")
    assert await ports.store.release("r", 1, NOTHING, Resumed.TAKEOVER, counts=False)
    store = ports.store
    taking = [store.take_up(f"w{n}", AN_HOUR, "s") if n % 2 else store.take_over(f"w{n}", AN_HOUR) for n in range(20)]
    claims = await asyncio.gather(*taking)
    assert [(claim.run.id, claim.run.attempt) for claim in claims if claim is not None] == [("r", 2)]


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
