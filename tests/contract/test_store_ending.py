"""The contract of `Store`: how runs end, all or nothing, and how they are asked to."""

import asyncio

import pytest

from shared.errors import Fenced
from shared.ports import Ending
from shared.run import RunStatus
from tests.contract.adapters import Audit, Ports, on_each_adapter
from tests.contract.values import (
    AN_HOUR,
    NOTHING,
    a_message,
    cancelled,
    delta,
    deltas,
    done,
    ended,
    opened,
    started,
)

PENDING, RUNNING, STREAMING, DONE = RunStatus.PENDING, RunStatus.RUNNING, RunStatus.STREAMING, RunStatus.DONE


async def picture(ports: Ports, run_id: str) -> tuple[object, ...]:
    """Return everything the store tells about a run."""
    stored, events = await ports.store.run(run_id), await ports.store.events(run_id, 0, 1000)
    return stored, list(events), list(await ports.audit(run_id)), list(await ports.store.messages_of(run_id))


@on_each_adapter
async def test_a_run_ends_with_its_last_events(ports: Ports) -> None:
    """Status, audit row and the events that were not flushed yet are there after one call."""
    await started(ports, "r")
    await ports.store.move("r", 1, RUNNING, STREAMING, "first fragment")
    await ports.store.append("r", 1, deltas("r", 0, 2))
    last = [delta("r", 2), done("r", 3)]
    assert await ports.store.finish("r", 1, STREAMING, DONE, last, 1, "the end") is Ending.ENDED
    stored = await ports.store.run("r")
    assert stored is not None and (stored.run.status, stored.run.attempt, stored.last_seq) == (DONE, 1, 3)
    assert list(await ports.store.events("r", 0, 100)) == [*deltas("r", 0, 2), *last]
    assert list(await ports.audit("r"))[-1] == Audit(STREAMING, DONE, 1, "the end")


@on_each_adapter
async def test_an_end_does_not_replace_rows(ports: Ports) -> None:
    """Last events that were flushed before, by a try whose answer was lost, stay as they are (O4)."""
    await started(ports, "r")
    await ports.store.append("r", 1, deltas("r", 0, 2))
    last = [delta("r", 1, "other"), done("r", 2)]
    assert await ports.store.finish("r", 1, RUNNING, DONE, last, None, "end") is Ending.ENDED
    assert list(await ports.store.events("r", 0, 100)) == [*deltas("r", 0, 2), done("r", 2)]


@on_each_adapter
async def test_an_unread_message_puts_off_the_end(ports: Ports) -> None:
    """With more messages than were read nothing is written; with all of them read the run ends (W6)."""
    await started(ports, "r")
    await ports.store.join_run("r", a_message(ports, "m2"))
    before = await picture(ports, "r")
    last = [delta("r", 0), done("r", 1)]
    assert await ports.store.finish("r", 1, RUNNING, DONE, last, 1, "end") is Ending.UNREAD
    assert await picture(ports, "r") == before
    assert await ports.store.finish("r", 1, RUNNING, DONE, last, 2, "end") is Ending.ENDED


@on_each_adapter
async def test_an_end_may_leave_messages_unread(ports: Ports) -> None:
    """Without a number of messages read the end does not look at them: a cancelled run ends at once."""
    await started(ports, "r")
    await ports.store.join_run("r", a_message(ports, "m2"))
    last = [cancelled("r", 0)]
    assert await ports.store.finish("r", 1, RUNNING, RunStatus.CANCELLED, last, None, "stop") is Ending.ENDED


@on_each_adapter
async def test_who_lost_the_run_does_not_end_it(ports: Ports) -> None:
    """Another status, another attempt or an unknown run: LOST, and nothing is written (W2). LOST goes before UNREAD."""
    await started(ports, "r", lease=NOTHING)
    await ports.store.take_over("w2", AN_HOUR)
    await ports.store.join_run("r", a_message(ports, "m2"))
    before = await picture(ports, "r")
    last = [delta("r", 0), done("r", 1)]
    for run_id, attempt, source in [("r", 1, RUNNING), ("r", 3, RUNNING), ("r", 2, STREAMING), ("unknown", 1, RUNNING)]:
        for inputs_read in [None, 0, 5]:
            assert await ports.store.finish(run_id, attempt, source, DONE, last, inputs_read, "end") is Ending.LOST
    assert await picture(ports, "r") == before
    assert await picture(ports, "unknown") == (None, [], [], [])


@on_each_adapter
async def test_a_run_ends_once(ports: Ports) -> None:
    """A second end is LOST, whatever it wants, and the log stays as the first one left it."""
    await ended(ports, "r")
    before = await picture(ports, "r")
    for source in RunStatus:
        if source is not DONE:
            assert (
                await ports.store.finish("r", 1, source, RunStatus.FAILED, [done("r", 9)], None, "end") is Ending.LOST
            )
    assert await picture(ports, "r") == before


@on_each_adapter
async def test_ends_at_once_have_one_winner(ports: Ports) -> None:
    """Of twenty ends at once one is written, with its events; the other nineteen leave nothing."""
    await started(ports, "r")
    lasts = [[done("r", 100 + place)] for place in range(20)]
    endings = await asyncio.gather(
        *(ports.store.finish("r", 1, RUNNING, DONE, last, 1, "end") for last in lasts),
    )
    assert (endings.count(Ending.ENDED), endings.count(Ending.LOST)) == (1, 19)
    assert list(await ports.store.events("r", 0, 100)) == lasts[endings.index(Ending.ENDED)]
    assert len(await ports.audit("r")) == 2


@on_each_adapter
async def test_nothing_is_written_after_the_end(ports: Ports) -> None:
    """The attempt that ended a run may not append to it, move it or give it back."""
    await ended(ports, "r")
    before = await picture(ports, "r")
    with pytest.raises(Fenced):
        await ports.store.append("r", 1, [delta("r", 3)])
    assert not await ports.store.move("r", 1, RUNNING, STREAMING, "late")
    assert await picture(ports, "r") == before


@on_each_adapter
async def test_an_append_and_an_end_at_once_never_write_behind_the_end(ports: Ports) -> None:
    """An append that meets the end is in before it or fenced: its rows and its answer say the same."""
    for place in range(10):
        run_id = f"r{place}"
        await started(ports, run_id, run_id)
        appended, ending = await asyncio.gather(
            ports.store.append(run_id, 1, deltas(run_id, 0, 3)),
            ports.store.finish(run_id, 1, RUNNING, DONE, [done(run_id, 3)], 1, "end"),
            return_exceptions=True,
        )
        assert ending is Ending.ENDED
        written = [] if isinstance(appended, Fenced) else deltas(run_id, 0, 3)
        assert list(await ports.store.events(run_id, 0, 100)) == [*written, done(run_id, 3)]


@on_each_adapter
async def test_a_pending_run_ends_without_a_worker(ports: Ports) -> None:
    """A run that nobody claimed ends at attempt 0, with one event, seq 0, and is not claimable any more."""
    await opened(ports, "r")
    last = [cancelled("r", 0)]
    assert await ports.store.finish("r", 0, PENDING, RunStatus.CANCELLED, last, None, "stop") is Ending.ENDED
    assert list(await ports.store.events("r", 0, 100)) == last
    assert list(await ports.audit("r")) == [Audit(PENDING, RunStatus.CANCELLED, 0, "stop")]
    stored = await ports.store.run("r")
    assert stored is not None
    assert (stored.run.status, stored.run.attempt, stored.last_seq) == (RunStatus.CANCELLED, 0, 0)
    assert await ports.store.claim("w", AN_HOUR) is None


@on_each_adapter
async def test_a_claim_and_a_cancel_at_once_have_one_winner(ports: Ports) -> None:
    """A pending run is either claimed or ended, never both."""
    for place in range(10):
        run_id = f"r{place}"
        await opened(ports, run_id, run_id)
        claim, ending = await asyncio.gather(
            ports.store.claim("w", AN_HOUR, run_id),
            ports.store.finish(run_id, 0, PENDING, RunStatus.CANCELLED, [cancelled(run_id, 0)], None, "stop"),
        )
        assert (claim is None, ending) in [(True, Ending.ENDED), (False, Ending.LOST)]


@on_each_adapter
async def test_asking_to_cancel_is_remembered(ports: Ports) -> None:
    """Asking is noted in a pending and in an active run, changes nothing else, and may be repeated (W4)."""
    await started(ports, "active", "s0")
    await opened(ports, "pending", "s1")
    for run_id in ["active", "pending"]:
        before = await ports.store.run(run_id)
        asked = await ports.store.ask_cancel(run_id)
        assert before is not None and asked is not None
        assert (before.cancel_asked, asked.cancel_asked) == (False, True)
        assert (asked.run.status, asked.run.attempt) == (before.run.status, before.run.attempt)
        assert await ports.store.run(run_id) == asked
        assert await ports.store.ask_cancel(run_id) == asked


@on_each_adapter
async def test_an_ended_run_cannot_be_asked_to_stop(ports: Ports) -> None:
    """An ended run is returned as it stands, an unknown one is None."""
    await ended(ports, "r")
    before = await ports.store.run("r")
    assert await ports.store.ask_cancel("r") == before
    assert await ports.store.run("r") == before
    assert await ports.store.ask_cancel("unknown") is None


@on_each_adapter
async def test_a_cancel_outlives_its_run(ports: Ports) -> None:
    """That the cancel was asked stays on record when the run has ended."""
    await started(ports, "r")
    await ports.store.ask_cancel("r")
    await ports.store.finish("r", 1, RUNNING, RunStatus.CANCELLED, [cancelled("r", 0)], None, "stop")
    stored = await ports.store.run("r")
    assert stored is not None and (stored.run.status, stored.cancel_asked) == (RunStatus.CANCELLED, True)
