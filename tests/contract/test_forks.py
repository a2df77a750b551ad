"""The contract of `Forks`: sub-runs that an active run splits off, each once, and what is left of them without it."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace

import pytest

from shared.errors import Fenced, Unavailable
from shared.forks import Fork, is_sub_run, session_of
from shared.ports import Ending, Message, StoredRun
from shared.run import ENDED, Run, RunStatus
from tests.contract.adapters import Ports, on_each_adapter
from tests.contract.values import AN_HOUR, BEGINNING, NOTHING, a_message, a_run, deltas, done, ended, opened, started


def drafted(ports: Ports, run_id: str, parent_id: str = "p", text: str = "look it up") -> tuple[Run, Message]:
    """Return a sub-run to be opened now, and its message."""
    session_id = session_of(parent_id, run_id)
    return a_run(ports, run_id, session_id), replace(a_message(ports, "m", session_id, text), trace=f"t-{run_id}")


async def forked(
    ports: Ports, run_id: str, number: int = 0, parent_id: str = "p", text: str = "look it up", attempt: int = 1
) -> Fork:
    """Split off a sub-run with a title that no other has."""
    run, message = drafted(ports, run_id, parent_id, text)
    return await ports.forks.fork(parent_id, attempt, number, f"title of {run_id}", run, message)


async def finished(ports: Ports, run_id: str, status: RunStatus = RunStatus.DONE) -> None:
    """End an active run."""
    last = [*deltas(run_id, 0, 2), done(run_id, 2)]
    assert await ports.store.finish(run_id, 1, RunStatus.RUNNING, status, last, None, "end") is Ending.ENDED


async def claimed_sub_run(ports: Ports, fork: Fork) -> None:
    """Claim a sub-run."""
    claim = await ports.store.claim("w2", AN_HOUR, fork.stored.run.session_id)
    assert claim is not None and claim.run.id == fork.stored.run.id


async def fenced(call: Awaitable[object]) -> tuple[str, int]:
    """Return whom a call was refused to."""
    with pytest.raises(Fenced) as refused:
        await call
    return refused.value.run_id, refused.value.attempt


async def ids_of(ports: Ports, parent_id: str = "p") -> list[tuple[int, str]]:
    """Return the numbers and ids of a run's forks."""
    return [(fork.number, fork.stored.run.id) for fork in await ports.forks.forks_of(parent_id)]


@on_each_adapter
async def test_a_run_that_split_nothing_off_has_no_forks(ports: Ports) -> None:
    """Nor has an unknown one, and nobody's sub-run is an orphan."""
    await started(ports, "p")
    assert list(await ports.forks.forks_of("p")) == []
    assert list(await ports.forks.forks_of("unknown")) == []
    assert list(await ports.forks.orphans(10)) == []


@on_each_adapter
async def test_a_sub_run_is_a_run_like_any_other(ports: Ports) -> None:
    """It is pending in a session of its own, with its one message, and found by whoever looks for work."""
    await started(ports, "p", "s")
    run, message = drafted(ports, "c", text="l'été — 北京 🍵")
    fork = await ports.forks.fork("p", 1, 4, "été 🍵", run, message)
    assert fork == Fork("p", 4, "été 🍵", StoredRun(run, 0, 1, None, cancel_asked=False, archived_text=None))
    assert list(await ports.forks.forks_of("p")) == [fork]
    assert await ports.store.run("c") == await ports.store.latest_run(run.session_id) == fork.stored
    assert list(await ports.store.messages_of("c")) == [message]
    assert list(await ports.store.waiting_sessions(10)) == [run.session_id]
    claim = await ports.store.claim("w2", AN_HOUR)
    assert claim is not None and (claim.run.id, claim.run.status) == ("c", RunStatus.RUNNING)
    assert list(await ports.forks.orphans(10)) == []


@on_each_adapter
async def test_a_sub_run_is_in_nobody_elses_session(ports: Ports) -> None:
    """The parent's session shows nothing of it, and any number of sub-runs are active beside their parent."""
    parent = await started(ports, "p", "s")
    forks = [await forked(ports, f"c{number}", number) for number in range(3)]
    for fork in forks:
        await claimed_sub_run(ports, fork)
    await finished(ports, "c1")
    assert [stored.run.id for stored in await ports.store.runs_of("s")] == ["p"]
    assert [accepted.run_id for accepted in await ports.store.inputs_of("s")] == ["p"]
    assert list((await ports.store.session_events("s", BEGINNING, 10)).events) == []
    assert [is_sub_run(run) for run in (parent.run, *(fork.stored.run for fork in forks))] == [False, *[True] * 3]


@on_each_adapter
async def test_forks_are_told_by_number_as_they_stand(ports: Ports) -> None:
    """Whatever the order in which they were split off, each with its status and its newest event."""
    await started(ports, "p", "s")
    await started(ports, "p2", "t")
    late, early = await forked(ports, "c0", 2), await forked(ports, "c1", 0)
    await forked(ports, "c2", 1, "p2")
    await claimed_sub_run(ports, late)
    await finished(ports, "c0", RunStatus.FAILED)
    ended_fork = (await ports.forks.forks_of("p"))[1]
    assert await ids_of(ports) == [(0, early.stored.run.id), (2, "c0")]
    assert ended_fork == replace(late, stored=ended_fork.stored)
    assert (ended_fork.stored.run.status, ended_fork.stored.last_seq) == (RunStatus.FAILED, 2)
    assert await ids_of(ports, "p2") == [(1, "c2")]


@on_each_adapter
async def test_a_fork_that_is_split_off_again_stands(ports: Ports) -> None:
    """The same number and text is the same fork, whatever became of it; so is the same run. No second run is opened."""
    await started(ports, "p")
    fork = await forked(ports, "c")
    assert await forked(ports, "c2") == fork
    assert await forked(ports, "c", number=7, text="other") == fork
    await claimed_sub_run(ports, fork)
    await finished(ports, "c", RunStatus.FAILED)
    after = (await ports.forks.forks_of("p"))[0]
    assert after.stored.run.status is RunStatus.FAILED
    assert await forked(ports, "c3") == after
    assert [await ports.store.run(run_id) for run_id in ("c2", "c3")] == [None, None]
    assert list(await ports.store.waiting_sessions(10)) == []


@on_each_adapter
async def test_a_successor_finds_what_was_split_off(ports: Ports) -> None:
    """After a take-over the same forks stand, and the former owner splits nothing off any more."""
    await started(ports, "p", lease=NOTHING)
    fork = await forked(ports, "c")
    await ports.store.take_over("w2", AN_HOUR)
    assert await forked(ports, "c2", attempt=2) == fork
    assert await fenced(forked(ports, "c3", 1)) == ("p", 1)
    assert await ports.store.run("c3") is None
    assert list(await ports.forks.orphans(10)) == []


@on_each_adapter
async def test_another_text_takes_the_number(ports: Ports) -> None:
    """The sub-run that had it is an orphan until it has ended or was asked to stop; one that has ended never is."""
    await started(ports, "p")
    first = await forked(ports, "c0", text="a")
    second = await forked(ports, "c1", text="b")
    assert (second.number, second.stored.run.id) == (0, "c1")
    assert await ids_of(ports) == [(0, "c1")]
    assert list(await ports.forks.orphans(10)) == ["c0"]
    await claimed_sub_run(ports, first)
    assert list(await ports.forks.orphans(10)) == ["c0"]
    await ports.store.ask_cancel("c0")
    assert list(await ports.forks.orphans(10)) == []
    await claimed_sub_run(ports, second)
    await finished(ports, "c1")
    third = await forked(ports, "c2", text="a")
    assert (third.stored.run.id, third.stored.run.status) == ("c2", RunStatus.PENDING)
    assert list(await ports.forks.orphans(10)) == []
    assert await forked(ports, "c3", text="a") == third


@on_each_adapter
async def test_nobody_else_splits_off(ports: Ports) -> None:
    """Any other attempt, and a run that is not active or shall stop, is fenced; no run, no message, no fork is left."""
    await ended(ports, "ended", "s0")
    await opened(ports, "pending", "s1")
    await started(ports, "stopping", "s2")
    await ports.store.ask_cancel("stopping")
    await started(ports, "p", "s3")
    for parent_id, attempt in [("unknown", 1), ("ended", 1), ("pending", 0), ("stopping", 1), ("p", 0), ("p", 2)]:
        assert await fenced(forked(ports, "c", 0, parent_id, attempt=attempt)) == (parent_id, attempt)
        assert list(await ports.store.inputs_of(session_of(parent_id, "c"))) == []
        assert list(await ports.forks.forks_of(parent_id)) == []
    assert await ports.store.run("c") is None


@on_each_adapter
async def test_a_parent_that_is_gone_leaves_orphans(ports: Ports) -> None:
    """With its end, whichever, and with the wish that it stop: pending ones and active ones, not those that ended."""
    for status in sorted(ENDED):
        await started(ports, status, status)
        forks = [await forked(ports, f"{status} {number}", number, status) for number in range(3)]
        for fork in forks[1:]:
            await claimed_sub_run(ports, fork)
        await finished(ports, f"{status} 2")
        assert list(await ports.forks.orphans(10)) == []
        await finished(ports, status, status)
        orphans = [f"{status} 0", f"{status} 1"]
        assert list(await ports.forks.orphans(10)) == orphans
        for run_id in orphans:
            await ports.store.ask_cancel(run_id)
        assert list(await ports.forks.orphans(10)) == []
    await started(ports, "stopping", "s")
    await forked(ports, "c", 0, "stopping")
    await ports.store.ask_cancel("stopping")
    assert list(await ports.forks.orphans(10)) == ["c"]


@on_each_adapter
async def test_orphans_are_told_oldest_first(ports: Ports) -> None:
    """By when they were split off, whatever their parents and their ids, up to the limit."""
    for parent_id in ("p0", "p1", "p2"):
        await started(ports, parent_id, parent_id)
    for place, run_id in enumerate(["c9", "c2", "c7", "c4", "c0", "c5"]):
        await forked(ports, run_id, place, f"p{place % 3}")
    for parent_id in ("p2", "p0"):
        await finished(ports, parent_id)
    assert list(await ports.forks.orphans(10)) == ["c9", "c7", "c4", "c5"]
    assert list(await ports.forks.orphans(2)) == ["c9", "c7"]


@on_each_adapter
async def test_an_archived_sub_run_is_known_while_its_parent_needs_it(ports: Ports) -> None:
    """What says whose a sub-run was goes when both have ended, with whichever of them is archived last."""
    await started(ports, "p")
    fork = await forked(ports, "c")
    await claimed_sub_run(ports, fork)
    await finished(ports, "c")
    assert await ports.store.archive("c", "found")
    (kept,) = await ports.forks.forks_of("p")
    assert kept.stored.archived_text == "found"
    await finished(ports, "p")
    assert list(await ports.forks.forks_of("p")) == [kept]
    assert await ports.store.archive("p", "the whole reply")
    assert list(await ports.forks.forks_of("p")) == []


@on_each_adapter
async def test_an_archived_parent_still_leaves_orphans(ports: Ports) -> None:
    """A sub-run that has not ended by then is found all the same, and forgotten when it is archived itself."""
    await started(ports, "p")
    fork, other = await forked(ports, "c0"), await forked(ports, "c1", 1)
    await claimed_sub_run(ports, other)
    await finished(ports, "c1")
    await finished(ports, "p")
    assert await ports.store.archive("p", "the whole reply")
    assert list(await ports.forks.orphans(10)) == ["c0"]
    assert await ids_of(ports) == [(0, "c0")]
    await claimed_sub_run(ports, fork)
    await finished(ports, "c0")
    assert await ports.store.archive("c0", "found")
    assert list(await ports.forks.forks_of("p")) == []


@on_each_adapter
async def test_one_number_split_off_at_once_is_one_fork(ports: Ports) -> None:
    """The same text ten times at once opens one run; ten texts open ten, and nine of them are orphans."""
    await started(ports, "p")
    same = await asyncio.gather(*(forked(ports, f"a{place}") for place in range(10)))
    assert same == [same[0]] * 10
    assert len(await ports.store.waiting_sessions(100)) == 1
    await asyncio.gather(*(forked(ports, f"b{place}", text=f"{place}") for place in range(10)))
    ((number, standing),) = await ids_of(ports)
    made = {same[0].stored.run.id, *(f"b{place}" for place in range(10))}
    assert (number, set(await ports.forks.orphans(100))) == (0, made - {standing})


@on_each_adapter
async def test_a_fork_and_a_cancel_at_once_leave_nobody_running(ports: Ports) -> None:
    """A sub-run that meets the cancel or the end of its parent was never opened, or is an orphan."""
    for place in range(10):
        parent_id = f"p{place}"
        await started(ports, parent_id, parent_id)
        fork, _ = await asyncio.gather(
            forked(ports, f"c{place}", 0, parent_id),
            ports.store.ask_cancel(parent_id) if place % 2 else finished(ports, parent_id),
            return_exceptions=True,
        )
        orphans = list(await ports.forks.orphans(10))
        assert orphans == ([] if isinstance(fork, Fenced) else [f"c{place}"])
        assert (await ports.store.run(f"c{place}") is None) == isinstance(fork, Fenced)
        if orphans:
            await ports.store.ask_cancel(f"c{place}")


@on_each_adapter
async def test_a_closed_store_splits_nothing_off(ports: Ports) -> None:
    """After closing, every call of this door raises Unavailable."""
    await started(ports, "p")
    await ports.store.close()
    for call in [forked(ports, "c"), ports.forks.forks_of("p"), ports.forks.orphans(1)]:
        with pytest.raises(Unavailable) as away:
            await call
        assert away.value.service == "store"
