"""The contract of `Store`: which run is claimed, by whom, and who waits."""

import asyncio

from shared.run import RunStatus
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import AN_HOUR, cancelled, claimed, done, ended, opened, started

PENDING, RUNNING, STREAMING, DONE = RunStatus.PENDING, RunStatus.RUNNING, RunStatus.STREAMING, RunStatus.DONE


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
