"""The contract of `Store`: moves and appends that only the owner may make."""

import asyncio
from dataclasses import replace

import pytest

from shared.errors import Fenced
from shared.ports import Claim
from shared.run import RunStatus
from tests.contract.adapters import Audit, Ports, on_each_adapter
from tests.contract.values import AN_HOUR, NOTHING, claimed, deltas, ended, opened, started

PENDING, RUNNING, STREAMING, DONE = RunStatus.PENDING, RunStatus.RUNNING, RunStatus.STREAMING, RunStatus.DONE


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
