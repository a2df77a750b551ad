"""A worker as a whole: what it takes, keeps, takes over and gives back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import pairwise

import pytest

from shared.bootstrap import Ports
from shared.events import reply_text
from shared.run import RunStatus
from shared.settings import Settings
from tests.support.moved_loop import MovedLoop, now, pass_time, settle
from tests.support.scenes import on
from tests.support.taps import Barrier, Hook, once, refuse, tap, times
from tests.support.workshop import (
    LEASE,
    RULES,
    Puppet,
    Speaker,
    Worker,
    Workshop,
    cancelled,
    delta,
    deltas,
    done,
    failed,
    open_workshop,
    rerun,
    store_away,
    with_settings,
    working,
)
from worker.models.port import Fragment, Request, Usage

in_a_workshop = on(open_workshop)
for_two_at_once = on(partial(open_workshop, Settings(concurrency=2)))
one_at_a_time = on(partial(open_workshop, Settings(concurrency=1)))

DONE, FAILED, STREAMING = RunStatus.DONE, RunStatus.FAILED, RunStatus.STREAMING
RUNNING, PENDING = RunStatus.RUNNING, RunStatus.PENDING
LONGER_THAN_A_LEASE = 16.0
A_SWEEP = 5.1
NEVER = timedelta(days=1)


async def statuses(shop: Workshop, *run_ids: str) -> list[RunStatus]:
    """Return where runs stand."""
    return [await shop.status(run_id) for run_id in run_ids]


# --- Taking -----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_doorbell_is_answered_at_once(shop: Workshop) -> None:
    """The session's run is claimed and executed in the same moment, and the doorbell is gone."""
    async with working(shop, Speaker("a", "b")):
        accepted = await shop.accept()
        await settle()
        run_id = accepted.run_id
        assert await shop.log(run_id) == [*deltas(run_id, 0, "a", "b"), done(run_id, 2)]
        assert await shop.ports.queue.depth() == 0


@in_a_workshop
async def test_a_doorbell_that_rings_twice_or_for_nothing_does_no_harm(shop: Workshop) -> None:
    """A session without work, or whose work is being done, costs a look."""
    model = Puppet()
    async with working(shop, model):
        for session_id in ("unknown", "s", "s"):
            await shop.ports.queue.put(session_id)
        await shop.accept()
        for _ in range(20):
            await shop.ports.queue.put("s")
        await settle()
        assert (len(model.calls), await shop.ports.queue.depth()) == (1, 0)
    assert shop.notes.of("work_crashed") == []


@in_a_workshop
async def test_the_runs_of_a_session_are_executed_one_after_the_other(shop: Workshop) -> None:
    """In the order of their messages, each begun in the moment the one before it ends; other sessions do not wait."""
    model = Puppet()
    async with working(shop, model):
        first, second = await shop.accept("one"), await shop.accept("two")
        other = await shop.accept("three", "other")
        await settle()
        assert [call.texts for call in model.calls] == [["one"], ["three"]]
        assert await statuses(shop, first.run_id, second.run_id, other.run_id) == [RUNNING, PENDING, RUNNING]
        await model.calls[0].end()
        assert [call.texts for call in model.calls] == [["one"], ["three"], ["two"]]
        await model.calls[2].end()
        assert await statuses(shop, first.run_id, second.run_id, other.run_id) == [DONE, DONE, RUNNING]


@for_two_at_once
async def test_a_worker_takes_no_more_than_it_can_execute(shop: Workshop) -> None:
    """The third run waits for a slot, and its doorbell is there for another worker."""
    model, other = Puppet(), Puppet()
    async with working(shop, model, "w1"):
        await pass_time(30)
        for session_id in ("a", "b", "c", "d"):
            await shop.accept(session_id, session_id)
        await pass_time(14)
        assert [call.texts for call in model.calls] == [["a"], ["b"]]
        async with working(shop, other, "w2"):
            await pass_time(14)
            assert [call.texts for call in other.calls] == [["c"], ["d"]]
            for call in (*model.calls, *other.calls):
                await call.end()
            assert await shop.ports.queue.depth() == 0


@for_two_at_once
async def test_a_slot_is_free_again_when_its_run_has_ended(shop: Workshop) -> None:
    """One slot after the other serves many sessions."""
    model = Puppet()
    async with working(shop, model):
        for number in range(6):
            await shop.accept(f"{number}", f"s{number}")
        for number in range(6):
            call = await model.call(number)
            assert len([call for call in model.calls if not call.closed]) <= 2
            await call.end()
        await settle()
        assert [call.texts for call in model.calls] == [[f"{number}"] for number in range(6)]


# --- Doorbells that are lost ------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_run_that_nobody_rang_for_is_found(shop: Workshop) -> None:
    """Within a sweep: its gateway died between the store and the queue."""
    async with working(shop, Speaker("a")):
        accepted = await shop.accept(told=False)
        await pass_time(A_SWEEP)
        assert await shop.status(accepted.run_id) is DONE


@in_a_workshop
async def test_a_run_is_executed_while_the_bus_is_away(shop: Workshop) -> None:
    """Nobody can ring, the sweep finds the run, and the store gets all of it."""
    async with working(shop, Speaker("a")):
        shop.bus.away(True)
        accepted = await shop.accept(told=False)
        await pass_time(2 * A_SWEEP)
    assert await shop.log(accepted.run_id) == [delta(accepted.run_id, 0, "a"), done(accepted.run_id, 1)]


@in_a_workshop
async def test_doorbells_of_a_dead_worker_are_taken_over(shop: Workshop) -> None:
    """A worker that died with doorbells in its hands held them up for a lease, and not for ever."""
    accepted = await shop.accept()
    assert len(await shop.ports.queue.take("dead", 10, timedelta(0))) == 1
    async with working(shop, Speaker("a")):
        await pass_time(LONGER_THAN_A_LEASE + A_SWEEP)
        assert (await shop.status(accepted.run_id), await shop.ports.queue.depth()) == (DONE, 0)


@in_a_workshop
async def test_a_worker_goes_on_when_the_bus_is_back(shop: Workshop) -> None:
    """W10: it waits, without turning in a hot loop, and answers what rings then; a bus that lost everything too."""
    door = shop.door()
    tries: list[float] = []

    async def count() -> None:
        tries.append(now())

    tap(door.queue, "take", before=count)
    async with working(shop, Speaker("a"), ports=door):
        shop.bus.away(True)
        await pass_time(60)
        assert len(tries) < 70
        shop.bus.flush()
        shop.bus.away(False)
        await pass_time(3)
        accepted = await shop.accept()
        await settle()
        assert await shop.status(accepted.run_id) is DONE
        tries.clear()
        shop.bus.away(True)
        await pass_time(1)
        assert len(tries) >= 3  # its patience begins anew


@in_a_workshop
async def test_a_doorbell_whose_claim_failed_is_made_up_for(shop: Workshop) -> None:
    """The store was away when it rang: the sweep finds the run when the store is back."""
    door = shop.door()
    async with working(shop, Speaker("a"), ports=door):
        store_away(door, True)
        accepted = await shop.accept()
        await pass_time(1)
        store_away(door, False)
        await pass_time(A_SWEEP)
        assert await shop.status(accepted.run_id) is DONE
    assert [note["session_id"] for note in shop.notes.of("claim_failed")] == ["s"]


# --- Leases -----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_long_run_stays_with_its_worker(shop: Workshop) -> None:
    """W8: five minutes of work, and nobody else claims it."""
    model, other = Puppet(), Puppet()
    async with working(shop, model, "w1"), working(shop, other, "w2"):
        accepted = await shop.accept()
        call = await model.call(0) if not other.calls else other.calls[0]
        for _ in range(30):
            await call.say("a")
            await pass_time(10)
        await call.end()
        stored = await shop.stored(accepted.run_id)
        assert (stored.run.status, stored.run.attempt, len(model.calls) + len(other.calls)) == (DONE, 1, 1)


@in_a_workshop
async def test_the_run_of_a_dead_worker_is_taken_over(shop: Workshop) -> None:
    """W1: a lease after the last renewal another worker goes on: rerun, next seq, end; the session goes on too."""
    model = Puppet()
    async with working(shop, model, "w1") as worker:
        accepted, following = await shop.accept(), await shop.accept()
        await (await model.call(0)).say("a", "b")
        await worker.die()
    assert await shop.log(accepted.run_id) == []
    async with working(shop, Speaker("c"), "w2"):
        await pass_time(LONGER_THAN_A_LEASE + A_SWEEP)
    run_id = accepted.run_id
    assert await shop.log(run_id) == [
        *deltas(run_id, 0, "a", "b"), rerun(run_id, 2, "takeover", 2), delta(run_id, 3, "c"), done(run_id, 4),
    ]  # fmt: skip
    assert await shop.stream(run_id) == await shop.log(run_id)
    assert await shop.status(following.run_id) is DONE


@for_two_at_once
async def test_a_worker_takes_over_no_more_than_it_can_execute(shop: Workshop) -> None:
    """The others are left to those who have a slot, and are not forgotten."""
    for number in range(5):
        await shop.claimed(f"s{number}")
    model = Puppet()
    async with working(shop, model):
        await pass_time(LONGER_THAN_A_LEASE + A_SWEEP)
        assert len(model.calls) == 2
        for number in range(5):
            await (await model.call(number)).end()
            assert len([call for call in model.calls if not call.closed]) <= 2


@in_a_workshop
async def test_after_a_run_that_was_taken_over_comes_the_sessions_next(shop: Workshop) -> None:
    """In the moment it ends, without another doorbell or sweep."""
    async with working(shop, Puppet(), "w1") as worker:
        await shop.accept("one")
        await shop.accept("two")
        await settle()
        await worker.die()
    model = Puppet()
    async with working(shop, model, "w2"):
        await (await model.call(0)).end()
        assert [call.texts for call in model.calls] == [["one"], ["two"]]


@in_a_workshop
async def test_all_runs_of_a_dead_worker_are_taken_over_at_once(shop: Workshop) -> None:
    """One sweep finds them all, as far as there are slots."""
    async with working(shop, Puppet(), "w1") as worker:
        runs = [(await shop.accept(session_id=f"s{number}")).run_id for number in range(10)]
        await settle()
        await worker.die()
    async with working(shop, Speaker("a"), "w2"):
        await pass_time(LONGER_THAN_A_LEASE + A_SWEEP)
        assert await statuses(shop, *runs) == [DONE] * 10


CALLS = {
    "store": ["run", "claim", "take_over", "renew", "release", "messages_of", "move", "append", "finish"],
    "output": ["append", "raise_fence", "entries", "expire"],
    "marks": ["read", "clear"],
    "queue": ["take", "acknowledge", "reclaim"],
}


def pausing(door: Ports, barrier: Hook) -> None:
    """Have every call through these ports stop before it is carried out."""
    for port, names in CALLS.items():
        for name in names:
            tap(getattr(door, port), name, before=barrier)


@in_a_workshop
async def test_a_worker_that_was_paused_writes_nothing_more(shop: Workshop) -> None:
    """W2, O5: longer than its lease, in the middle of writes; when it wakes, nothing of it is seen any more."""
    model, door = Puppet(), shop.door()
    async with working(shop, model, "w1", door):
        accepted = await shop.accept()
        call = await model.call(0)
        await call.say("a")
        await pass_time(1)
        barrier = Barrier()
        pausing(door, barrier)
        await call.say("b", "c")
        async with working(shop, Speaker("x", pace_s=1), "w2"):
            await pass_time(LONGER_THAN_A_LEASE + A_SWEEP)
            barrier.let_go()
            await call.say("d")
            await pass_time(30)
            assert call.closed
    run_id = accepted.run_id
    assert await shop.log(run_id) == [
        delta(run_id, 0, "a"), rerun(run_id, 1, "takeover", 2), delta(run_id, 2, "x"), done(run_id, 3),
    ]  # fmt: skip
    assert await shop.stream(run_id) == await shop.log(run_id)
    assert [note["attempt"] for note in shop.notes.of("run_lost") + shop.notes.of("lease_lost")] == [1]


@in_a_workshop
async def test_a_worker_that_cannot_renew_says_nothing_after_its_lease(shop: Workshop) -> None:
    """W2, O5: not even where the bus has lost the fence. Its clock tells it, before anybody else can own the run."""
    model, other, door = Puppet(), Puppet(), shop.door()
    async with working(shop, model, "w1", door), working(shop, other, "w2"):
        accepted = await shop.accept()
        call = await model.call(0)
        await call.say("a")
        await pass_time(1)
        store_away(door, True)
        await other.call(0)
        shop.bus.flush()
        await call.say("b")
        await other.calls[0].say("x")
        assert await shop.stream(accepted.run_id) == [delta(accepted.run_id, 2, "x")]


@in_a_workshop
async def test_a_worker_goes_on_when_its_lease_is_renewed_late(shop: Workshop) -> None:
    """Nobody has taken the run over: what it has not said meanwhile it says now."""
    model, door = Puppet(), shop.door()
    async with working(shop, model, "w1", door):
        accepted = await shop.accept()
        call = await model.call(0)
        await call.say("a")
        await pass_time(1)
        tap(door.store, "take_over", before=refuse)
        store_away(door, True)
        await pass_time(LONGER_THAN_A_LEASE)
        await call.say("b")
        assert await shop.stream(accepted.run_id) == [delta(accepted.run_id, 0, "a")]
        store_away(door, False)
        await pass_time(5)
        assert await shop.stream(accepted.run_id) == deltas(accepted.run_id, 0, "a", "b")
        await call.end()
    assert await shop.stream(accepted.run_id) == await shop.log(accepted.run_id)


@in_a_workshop
async def test_a_run_whose_lease_was_lost_is_stopped(shop: Workshop) -> None:
    """W9: with its model silent nothing would be refused; the first renewal that succeeds again tells."""
    model, door = Puppet(), shop.door()
    async with working(shop, model, "w1", door):
        accepted = await shop.accept()
        call = await model.call(0)
        await call.say("a")
        barrier = Barrier()
        tap(door.store, "renew", before=barrier)
        tap(door.store, "take_over", before=barrier)
        other = Puppet()
        async with working(shop, other, "w2"):
            await other.call(0)
            closed_before = call.closed
            barrier.let_go()
            await settle()
            assert (closed_before, call.closed) == (False, True)
            assert shop.notes.of("lease_lost") == [{"run_id": accepted.run_id, "attempt": 1}]
            await other.calls[0].end()
    assert await shop.status(accepted.run_id) is DONE


class Blocking:
    """A model whose code stops the whole process for a minute, once: nobody's timers run meanwhile."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncGenerator[Fragment | Usage]:
        """Say a thing before and one after."""
        self.requests.append(request)
        yield Fragment("before ")
        await asyncio.sleep(0)
        if len(self.requests) == 1:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, MovedLoop)
            loop._jumping.now += 60
        yield Fragment("after")


@in_a_workshop
@pytest.mark.parametrize("others", [0, 1])
async def test_a_model_that_blocks_the_loop_costs_no_more_than_its_run(shop: Workshop, others: int) -> None:
    """W9: the lease ran out unrenewed; whoever has the run then, one owner ends it and one text is told."""
    model, other = Blocking(), Speaker("other")
    async with working(shop, model, "w1"), AsyncExitStack() as stack:
        accepted = await shop.accept()
        for _ in range(others):
            await stack.enter_async_context(working(shop, other, "w2"))
        await pass_time(60)
        await pass_time(1)  # what it held back until it knew whose the run is
        log = await shop.log(accepted.run_id)
        assert await shop.status(accepted.run_id) is DONE
        assert [event.seq for event in log] == list(range(len(log)))
        assert set(await shop.stream(accepted.run_id)) == set(log)
        assert reply_text(log) in ("before after", "other")
        assert len(model.requests) + len(other.requests) == (await shop.stored(accepted.run_id)).run.attempt


@in_a_workshop
async def test_a_worker_that_takes_over_from_itself_stops_what_it_did(shop: Workshop) -> None:
    """Its lease ran out and nobody else was there: one execution of the run goes on, the new one."""
    model, door = Puppet(), shop.door()
    async with working(shop, model, ports=door):
        accepted = await shop.accept()
        first = await model.call(0)
        await first.say("a")
        tap(door.store, "renew", before=times(100, refuse))
        second = await model.call(1)
        await settle()
        assert (first.closed, second.request.attempt) == (True, 2)
        await second.say("b")
        await second.end()
    run_id = accepted.run_id
    assert await shop.log(run_id) == [
        delta(run_id, 0, "a"), rerun(run_id, 1, "takeover", 2), delta(run_id, 2, "b"), done(run_id, 3),
    ]  # fmt: skip


@in_a_workshop
async def test_a_renewal_that_failed_is_tried_again_soon(shop: Workshop) -> None:
    """A lease has time for more than two tries: after a failure the worker waits for the pause, not for a period."""
    model, door = Puppet(), shop.door()
    tries: list[float] = []

    async def count() -> None:
        tries.append(round(now(), 1))

    tap(door.store, "renew", before=times(3, refuse))
    tap(door.store, "renew", before=count)
    async with working(shop, model, ports=door):
        await shop.accept()
        await pass_time(11)
    assert tries[0] == 5.0
    assert len([at for at in tries if at < 6]) == 4


@in_a_workshop
async def test_a_run_that_has_just_ended_is_not_lost(shop: Workshop) -> None:
    """Its worker still says goodbye to a bus that is away when the leases are renewed: it is left to do so."""
    model = Puppet()
    async with working(shop, model):
        accepted = await shop.accept()
        call = await model.call(0)
        await pass_time(4)
        shop.bus.away(True)
        await call.end()
        await pass_time(2)
        shop.bus.away(False)
        await pass_time(2)
        assert await shop.stream(accepted.run_id) == [done(accepted.run_id, 0)]
    assert shop.notes.of("lease_lost") == []


@in_a_workshop
async def test_a_run_that_has_just_been_given_back_is_not_lost(shop: Workshop) -> None:
    """Its worker waits for the answer when the leases are renewed: it knows that the run is its own no more."""
    model, door = Puppet(), shop.door()
    barrier = Barrier()
    tap(door.store, "release", after=barrier)
    async with working(shop, model, ports=door):
        await shop.accept()
        call = await model.call(0)
        await pass_time(4.9)
        await call.fail(RuntimeError())
        await barrier.reached()
        await pass_time(0.2)
        barrier.let_go()
    assert shop.notes.of("lease_lost") == []


# --- Keeping house ----------------------------------------------------------------------------------------------------


@on(partial(open_workshop, Settings(retention=timedelta(minutes=1))))
async def test_old_runs_are_archived(shop: Workshop) -> None:
    """After the retention and a sweep the rows of a run are one text; a store that was away meanwhile delays that."""
    door = shop.door()
    async with working(shop, Speaker("a", "b"), ports=door):
        accepted = await shop.accept()
        await pass_time(59)
        assert (await shop.stored(accepted.run_id)).archived_text is None
        store_away(door, True)
        await pass_time(10)
        store_away(door, False)
        await pass_time(A_SWEEP)
        assert (await shop.stored(accepted.run_id)).archived_text == "ab"
        assert await shop.log(accepted.run_id) == [done(accepted.run_id, 2)]


# --- Runs that nobody executes ----------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_claim_whose_answer_was_lost_is_given_back(shop: Workshop) -> None:
    """The store says that the run is ours, and we execute it not: it is not renewed for ever but taken over."""
    door = shop.door()
    tap(door.store, "claim", after=once(refuse))
    async with working(shop, Speaker("a"), ports=door):
        accepted = await shop.accept()
        await pass_time(4 * A_SWEEP)
    run_id = accepted.run_id
    assert await shop.log(run_id) == [rerun(run_id, 0, "takeover", 2), delta(run_id, 1, "a"), done(run_id, 2)]


@in_a_workshop
async def test_a_take_over_whose_answer_was_lost_is_given_back(shop: Workshop) -> None:
    """The same for a run that was another's before."""
    claim = await shop.claimed()
    await pass_time(LONGER_THAN_A_LEASE)
    door = shop.door()
    tap(door.store, "take_over", after=once(refuse))
    async with working(shop, Speaker("a"), "w2", door):
        await pass_time(5 * A_SWEEP)
    assert await shop.status(claim.run.id) is DONE


@in_a_workshop
async def test_a_claim_that_takes_its_time_is_not_given_back(shop: Workshop) -> None:
    """A renewal that comes between a claim and its answer finds nobody who executes the run, and leaves it."""
    door = shop.door()
    barrier = Barrier()
    tap(door.store, "claim", after=barrier)
    async with working(shop, Speaker("a"), ports=door):
        await pass_time(4)
        accepted = await shop.accept()
        await pass_time(2)
        barrier.let_go()
        await settle()
        assert (await shop.stored(accepted.run_id)).run.attempt == 1
        assert await shop.status(accepted.run_id) is DONE
    assert shop.notes.of("run_given_back") == []


@in_a_workshop
async def test_a_crash_of_one_execution_leaves_the_others_alone(shop: Workshop) -> None:
    """A fault that nobody foresaw ends one execution, with a line in the log; its run is given back and tried again."""

    async def crash() -> None:
        raise ZeroDivisionError

    model, door = Puppet(), shop.door()
    async with working(shop, model, ports=door):
        first = await shop.accept(session_id="a")
        second = await shop.accept(session_id="b")
        await settle()
        tap(door.store, "append", before=once(crash))
        await model.calls[0].say("a")
        await pass_time(0.3)
        await model.calls[1].say("b")
        await model.calls[1].end()
        assert await shop.status(second.run_id) is DONE
        assert [note["run_id"] for note in shop.notes.of("run_crashed")] == [first.run_id]
        again = await model.call(2)
        await again.end()
        assert await shop.status(first.run_id) is DONE


@in_a_workshop
async def test_a_run_that_always_crashes_comes_to_an_end(shop: Workshop) -> None:
    """Three attempts, and the fourth owner ends it: nothing is tried for ever."""

    async def crash() -> None:
        raise ZeroDivisionError

    door = shop.door()
    tap(door.store, "messages_of", before=crash)
    async with working(shop, Puppet(), ports=door):
        accepted = await shop.accept()
        await pass_time(120)
    log = await shop.log(accepted.run_id)
    assert log[-1] == failed(accepted.run_id, len(log) - 1, "gave up after 3 attempts")
    assert [note["attempt"] for note in shop.notes.of("run_crashed")] == [1, 2, 3]


@in_a_workshop
async def test_a_table_that_holds_every_run_back_stops_no_worker(shop: Workshop) -> None:
    """A claim that the table refuses is logged, and the worker goes on."""

    def never(current: RunStatus, target: RunStatus) -> RunStatus:
        raise ValueError

    async with working(shop, Speaker("a"), rules=replace(RULES, transition=never)) as worker:
        accepted = await shop.accept()
        await pass_time(2 * A_SWEEP)
        assert (worker.running.done(), await shop.status(accepted.run_id)) == (False, PENDING)


@in_a_workshop
async def test_a_table_that_crashes_stops_no_worker(shop: Workshop) -> None:
    """Whatever a rule raises ends the look at one session, with a line in the log."""

    def crash(current: RunStatus, target: RunStatus) -> RunStatus:
        raise ZeroDivisionError

    async with working(shop, Speaker("a"), rules=replace(RULES, transition=crash)) as worker:
        accepted = await shop.accept()
        await pass_time(2 * A_SWEEP)
        assert (worker.running.done(), await shop.status(accepted.run_id)) == (False, PENDING)
    assert len(shop.notes.of("work_crashed")) >= 2


# --- Cancel and retry -------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_cancel_without_the_bus_comes_with_the_next_renewal(shop: Workshop) -> None:
    """W4: it was noted in the store, and within five seconds the model is stopped."""
    model = Puppet()
    async with working(shop, model):
        accepted = await shop.accept()
        call = await model.call(0)
        await call.say("a")
        shop.bus.away(True)
        await shop.cancel(accepted.run_id, told=False)
        await pass_time(A_SWEEP)
        assert (call.closed, await shop.status(accepted.run_id)) == (True, RunStatus.CANCELLED)


@in_a_workshop
async def test_a_cancel_while_the_owner_is_dead_is_carried_out(shop: Workshop) -> None:
    """W3, W5: whoever takes the run over ends it cancelled, and goes on with the session's next message."""
    async with working(shop, Puppet(), "w1") as worker:
        accepted = await shop.accept()
        await settle()
        await worker.die()
    await shop.cancel(accepted.run_id)
    following = await shop.accept("and now")
    async with working(shop, Speaker("a"), "w2"):
        await pass_time(LONGER_THAN_A_LEASE + A_SWEEP)
    assert await shop.log(accepted.run_id) == [cancelled(accepted.run_id, 0)]
    assert await shop.status(following.run_id) is DONE


@in_a_workshop
async def test_a_failed_attempt_is_tried_again_by_who_comes_first(shop: Workshop) -> None:
    """As soon as its pause is over, of up to a second and then up to two; three failures, and the run has failed."""
    with_settings(shop, sweep_every=NEVER)
    model, began = Puppet(), [0.0]
    async with working(shop, model):
        accepted = await shop.accept()
        for number in range(3):
            call = await model.call(number)
            began.append(now())
            await call.say(f"{number}")
            await call.fail(RuntimeError())
        await settle()
    run_id = accepted.run_id
    assert await shop.log(run_id) == [
        delta(run_id, 0, "0"), rerun(run_id, 1, "retry", 2), delta(run_id, 2, "1"),
        rerun(run_id, 3, "retry", 3), delta(run_id, 4, "2"),
        failed(run_id, 5, "the model's adapter crashed: RuntimeError"),
    ]  # fmt: skip
    pauses = [after - before for before, after in pairwise(began)]
    assert [0.0 <= pauses[0] < 0.1, 0.5 <= pauses[1] < 1.1, 1 <= pauses[2] < 2.1] == [True] * 3
    assert await shop.ports.queue.depth() == 0


@in_a_workshop
async def test_a_pause_that_outlives_its_worker_is_found_by_a_sweep(shop: Workshop) -> None:
    """Who gave the run back would have rung, and was killed in between, or ended."""
    model = Puppet()
    for number, end in enumerate((Worker.die, Worker.drain)):
        async with working(shop, model, f"w{number}") as worker:
            accepted = await shop.accept(session_id=f"s{number}")
            await (await model.call(2 * number)).fail(RuntimeError())
            await end(worker)
        await pass_time(2)
        assert (await shop.ports.queue.depth(), (await shop.stored(accepted.run_id)).run.attempt) == (0, 1)
        async with working(shop, model, "other"):
            await pass_time(A_SWEEP)
            await (await model.call(2 * number + 1)).end()
        assert await shop.status(accepted.run_id) is DONE


# --- Ending -----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_an_idle_worker_ends_at_once(shop: Workshop) -> None:
    """There is nothing to wait for."""
    async with working(shop, Puppet()) as worker:
        await worker.drain()
        assert now() < 0.1


@in_a_workshop
async def test_a_worker_may_be_told_to_end_before_it_begins(shop: Workshop) -> None:
    """It ends, and what rang before is there for another."""
    accepted = await shop.accept()
    async with working(shop, Puppet()) as worker:
        await worker.drain()
    async with working(shop, Speaker("a"), "w2"):
        await pass_time(LONGER_THAN_A_LEASE + A_SWEEP)
    assert await shop.status(accepted.run_id) is DONE


@in_a_workshop
async def test_a_draining_worker_finishes_what_it_can(shop: Workshop) -> None:
    """A run that ends within ten seconds is done; what rings meanwhile is left to others, and so is the next run."""
    model = Puppet()
    async with working(shop, model, "w1") as worker:
        accepted, following = await shop.accept(), await shop.accept()
        call = await model.call(0)
        drained = asyncio.create_task(worker.drain())
        await settle()
        other = await shop.accept(session_id="other")
        await pass_time(8)
        await call.say("a")
        await call.end()
        await drained
        assert now() < 8.1
    assert await statuses(shop, accepted.run_id, following.run_id, other.run_id) == [DONE, PENDING, PENDING]
    rung = await shop.ports.queue.take("w2", 10, timedelta(0))
    assert [delivery.session_id for delivery in rung] == ["other", "s"]  # the latter for the session's next run
    assert (await shop.stored(accepted.run_id)).run.attempt == 1


@in_a_workshop
async def test_a_draining_worker_gives_back_what_it_cannot_finish(shop: Workshop) -> None:
    """After ten seconds its runs are free for others, who need not wait for a lease to run out."""
    model = Puppet()
    async with working(shop, model, "w1") as worker:
        accepted = await shop.accept()
        call = await model.call(0)
        await call.say("a")
        await worker.drain()
        assert call.closed
        assert now() == pytest.approx(10, abs=0.1)
    assert shop.notes.of("draining") == [{"runs": 1}]
    assert [note["why"] for note in shop.notes.of("run_given_back")] == ["handover"]
    async with working(shop, Speaker("b"), "w2"):
        await settle()
    run_id = accepted.run_id
    assert await shop.log(run_id) == [
        delta(run_id, 0, "a"), rerun(run_id, 1, "takeover", 2), delta(run_id, 2, "b"), done(run_id, 3),
    ]  # fmt: skip


@in_a_workshop
async def test_what_a_draining_worker_gives_back_is_taken_up_at_once(shop: Workshop) -> None:
    """It rings, and another worker has the run and the session's next one in that moment, without a sweep."""
    with_settings(shop, sweep_every=NEVER, first_piece_wait=NEVER)
    model, other = Puppet(), Puppet()
    async with working(shop, model, "w1") as worker:
        accepted = await shop.accept()
        await model.call(0)
        async with working(shop, other, "w2"):
            await pass_time(31)
            following = await shop.accept("two")
            await worker.drain()
            at = now()
            await (await other.call(0)).end()
            await (await other.call(1)).end()
            assert now() == pytest.approx(at, abs=0.01)
    assert await statuses(shop, accepted.run_id, following.run_id) == [DONE, DONE]
    assert [(call.request.run_id, call.request.attempt) for call in other.calls] == [
        (accepted.run_id, 2), (following.run_id, 1),
    ]  # fmt: skip


@in_a_workshop
async def test_what_a_draining_worker_does_not_begin_is_taken_up_at_once(shop: Workshop) -> None:
    """The run that it had is done within its time; the session's next one is another worker's in that moment."""
    with_settings(shop, sweep_every=NEVER)
    model, other = Puppet(), Puppet()
    async with working(shop, model, "w1") as worker:
        await shop.accept()
        await shop.accept()
        call = await model.call(0)
        async with working(shop, other, "w2"):
            await settle()
            worker.consumer.drain()
            await pass_time(1)
            assert other.calls == []
            await call.end()
            assert len(other.calls) == 1


@in_a_workshop
async def test_a_handover_without_the_bus_is_found_by_a_sweep(shop: Workshop) -> None:
    """Nobody can be told; the worker ends as soon as it would have, and the run is free all the same."""
    model = Puppet()
    async with working(shop, model, "w1") as worker:
        accepted = await shop.accept()
        await model.call(0)
        shop.bus.away(True)
        await worker.drain()
        assert now() == pytest.approx(10, abs=0.1)
        shop.bus.away(False)
    assert [note["session_id"] for note in shop.notes.of("not_rung")] == ["s"]
    async with working(shop, Speaker("a"), "w2"):
        await pass_time(A_SWEEP)
    assert await shop.status(accepted.run_id) is DONE


@in_a_workshop
@pytest.mark.parametrize(
    ("owners", "status", "attempt"),
    [
        ("hhhhh", DONE, 6),
        ("kkk", FAILED, 4),
        ("eee", FAILED, 3),
        ("hehehh", DONE, 7),
        ("hehehe", FAILED, 6),
        ("khkhh", DONE, 6),
        ("khkhk", FAILED, 6),
        ("ekhhh", DONE, 6),
        ("kehhe", FAILED, 5),
    ],
)
async def test_a_handover_is_no_failure(shop: Workshop, owners: str, status: RunStatus, attempt: int) -> None:
    """However many there are (h): a run fails at the third error of its model (e) or loss of its owner (k)."""
    model = Puppet()
    accepted = await shop.accept()
    for number, fate in enumerate(owners):
        async with working(shop, model, f"w{number}") as worker:
            call = await model.call(number)
            if fate == "e":
                await call.fail(RuntimeError())
            if fate == "k":
                await worker.die()
            else:
                await worker.drain()
    async with working(shop, Speaker("a"), "last"):
        await pass_time(LONGER_THAN_A_LEASE + A_SWEEP)
    run = (await shop.stored(accepted.run_id)).run
    assert (run.status, run.attempt) == (status, attempt)
    log = await shop.log(accepted.run_id)
    reasons = {"h": "takeover", "k": "takeover", "e": "retry"}
    reruns = [rerun(run.id, seq, reasons[fate], seq + 2) for seq, fate in enumerate(owners[: len(log) - 1])]
    if status is DONE:
        assert log == [*reruns, delta(run.id, len(owners), "a"), done(run.id, len(owners) + 1)]
    else:
        why = "gave up after 3 attempts" if owners[-1] == "k" else "the model's adapter crashed: RuntimeError"
        assert log == [*reruns[: len(owners) - 1], failed(run.id, len(owners) - 1, why)]


@in_a_workshop
async def test_a_crash_is_not_handed_over(shop: Workshop) -> None:
    """A worker that ends gives back also what nobody executes, and that attempt counts: something was wrong with it."""

    async def crash() -> None:
        raise ZeroDivisionError

    model, door = Puppet(), shop.door()
    async with working(shop, model, "w1", door) as worker:
        await shop.accept(session_id="busy")
        crashing = await shop.accept(session_id="crashing")
        call = await model.call(1)
        await pass_time(4)
        worker.consumer.drain()
        await pass_time(2)
        tap(door.store, "append", before=once(crash))
        await call.say("a")
        await worker.running
    assert [note["run_id"] for note in shop.notes.of("run_crashed")] == [crashing.run_id]
    claims = [await shop.ledger.take_up("w2", LEASE, session_id) for session_id in ("busy", "crashing")]
    assert [claim and (claim.run.attempt, claim.tries) for claim in claims] == [(2, 1), (2, 2)]


@in_a_workshop
async def test_a_draining_worker_keeps_its_leases(shop: Workshop) -> None:
    """While it waits for its runs they are still its own."""
    shop.settings = replace(shop.settings, drain=timedelta(minutes=2), first_piece_wait=timedelta(minutes=2))
    model = Puppet()
    async with working(shop, model, "w1") as worker, working(shop, Puppet(), "w2"):
        claimed = await shop.accept()
        call = await model.call(0)
        drained = asyncio.create_task(worker.drain())
        await pass_time(60)
        await call.end()
        await drained
        assert (await shop.stored(claimed.run_id)).run.attempt == 1


@in_a_workshop
@pytest.mark.parametrize("call", ["claim", "take_over"])
async def test_a_claim_under_way_when_the_worker_ends_is_given_back(shop: Workshop, call: str) -> None:
    """It was carried out and its answer comes to nobody: the run is free at once, not when its lease has run out."""
    if call == "take_over":
        await shop.claimed()
        await pass_time(LONGER_THAN_A_LEASE)
    else:
        await shop.accept()
    door = shop.door()
    barrier = Barrier()
    tap(door.store, call, after=barrier)
    async with working(shop, Puppet(), "w1", door) as worker:
        await barrier.reached()
        await worker.drain()
        at = now()
        barrier.let_go()
    async with working(shop, Speaker("a"), "w2"):
        await pass_time(A_SWEEP)
    ((stored),) = await shop.store.runs_of("s")
    assert stored.run.status is DONE
    assert now() - at < LEASE.total_seconds()


@in_a_workshop
async def test_a_doorbell_under_way_when_the_worker_ends_is_not_lost(shop: Workshop) -> None:
    """Taken, and its answer comes to nobody: it rings again for another worker."""
    door = shop.door()
    barrier = Barrier()
    tap(door.queue, "take", after=barrier)
    async with working(shop, Puppet(), "w1", door) as worker:
        await shop.accept()
        await barrier.reached()
        await worker.drain()
    assert await shop.ports.queue.depth() == 1


@in_a_workshop
async def test_a_doorbell_reclaimed_when_the_worker_ends_is_not_lost(shop: Workshop) -> None:
    """A worker that takes nothing new does not acknowledge either, although it is still busy with a run."""
    await shop.ports.queue.put("another")
    assert len(await shop.ports.queue.take("dead", 10, timedelta(0))) == 1
    await pass_time(LONGER_THAN_A_LEASE)
    model, door = Puppet(), shop.door()
    barrier = Barrier()
    tap(door.queue, "reclaim", after=barrier)
    async with working(shop, model, "w1", door) as worker:
        await shop.accept()
        call = await model.call(0)
        await barrier.reached()
        worker.consumer.drain()
        await settle()
        barrier.let_go()
        await pass_time(1)
        await call.end()
        await worker.running
    queue = shop.ports.queue
    await queue.acknowledge(await queue.take("w2", 10, timedelta(0)))  # what it rang for itself when it ended
    assert await queue.depth() == 1


@in_a_workshop
async def test_what_another_has_taken_meanwhile_is_not_given_back(shop: Workshop) -> None:
    """Paused while it gives back, a worker does not give away what is no more its own."""
    other, door = Puppet(), shop.door()
    async with working(shop, Puppet(), "w1", door) as worker, AsyncExitStack() as stack:
        accepted = await shop.accept()
        await settle()
        await stack.enter_async_context(working(shop, other, "w2"))
        barrier = Barrier()
        tap(door.store, "run", before=barrier)
        drained = asyncio.create_task(worker.drain())
        await barrier.reached()
        await (await other.call(0)).say("a")
        barrier.let_go()
        await drained
        await pass_time(LONGER_THAN_A_LEASE)
        assert (await shop.stored(accepted.run_id)).run.attempt == 2
    assert shop.notes.of("run_given_back") == []


class Dawdling:
    """A model that takes a minute to stop, a second when it is told to hurry."""

    async def stream(self, request: Request) -> AsyncGenerator[Fragment | Usage]:
        """Say one thing, and wait."""
        try:
            yield Fragment("a")
            await asyncio.Event().wait()
        finally:
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(1)


@in_a_workshop
async def test_a_model_that_is_slow_to_close_does_not_keep_its_run(shop: Workshop) -> None:
    """Two seconds after it was told to stop its run is given back; then it is hurried, and waited for."""
    async with working(shop, Dawdling(), "w1") as worker:
        accepted = await shop.accept()
        await settle()
        worker.consumer.drain()
        await pass_time(12.1)
        assert [note["run_id"] for note in shop.notes.of("run_given_back")] == [accepted.run_id]
        await worker.running
        assert now() == pytest.approx(13, abs=0.1)


@in_a_workshop
async def test_a_worker_ends_without_the_store(shop: Workshop) -> None:
    """Nothing can be given back; the leases will run out, and the log says so."""
    model, door = Puppet(), shop.door()
    async with working(shop, model, "w1", door) as worker:
        accepted = await shop.accept()
        call = await model.call(0)
        await call.say("a")
        store_away(door, True)
        await worker.drain()
        assert call.closed
        assert now() < 10.5
    assert len(shop.notes.of("not_given_back")) == 1
    assert await shop.status(accepted.run_id) is STREAMING


@in_a_workshop
async def test_a_worker_ends_although_a_library_drops_its_cancellation(shop: Workshop) -> None:
    """A loop that has not heard of it is told again."""
    door = shop.door()

    async def drop() -> None:
        with suppress(asyncio.CancelledError):  # as asyncio.wait_for did before Python 3.12
            await asyncio.Event().wait()

    async with working(shop, Puppet(), ports=door) as worker:
        tap(door.store, "take_over", before=once(drop))
        await pass_time(5)
        await worker.die()
        assert worker.running.cancelled()


@in_a_workshop
async def test_a_worker_that_is_stopped_leaves_nobody_behind(shop: Workshop) -> None:
    """Cancelled at work: its models are closed, its runs stay as they stand, and no task is left."""
    model = Puppet()
    async with working(shop, model) as worker:
        accepted = await shop.accept()
        call = await model.call(0)
        await call.say("a")
        await worker.die()
        assert (worker.running.cancelled(), call.closed) == (True, True)
        assert asyncio.all_tasks() == {asyncio.current_task()}
    assert await shop.status(accepted.run_id) is STREAMING


@one_at_a_time
async def test_work_that_is_stopped_before_it_began_leaves_no_trace(shop: Workshop) -> None:
    """A doorbell that is served in the very moment the worker is stopped: its task never ran, and its slot is free."""
    door = shop.door()
    workers: list[Worker] = []

    async def stop() -> None:
        workers[0].running.cancel()

    await shop.accept()
    tap(door.queue, "take", after=once(stop))
    tap(door.queue, "take", before=settle)
    async with working(shop, Puppet(), ports=door) as worker:
        workers.append(worker)
        await asyncio.wait((worker.running,))
        assert (worker.running.cancelled(), worker.consumer._slots.locked()) == (True, False)
    assert [stored.run.status for stored in await shop.store.runs_of("s")] == [PENDING]


@in_a_workshop
@pytest.mark.parametrize(("port", "call"), [("queue", "take"), ("store", "renew"), ("queue", "reclaim")])
async def test_a_fault_in_the_worker_itself_comes_out(shop: Workshop, port: str, call: str) -> None:
    """What is no outage ends the worker, for its process to see, and leaves no task behind."""

    async def crash() -> None:
        raise ZeroDivisionError

    model, door = Puppet(), shop.door()
    async with working(shop, model, ports=door) as worker:
        await shop.accept()
        await model.call(0)
        tap(getattr(door, port), call, before=crash)
        await asyncio.wait((worker.running,))
        assert isinstance(worker.running.exception(), ZeroDivisionError)
        assert model.calls[0].closed


@one_at_a_time
@pytest.mark.parametrize(
    ("port", "call"),
    [
        ("queue", "take"),
        ("queue", "acknowledge"),
        ("queue", "reclaim"),
        ("store", "waiting_sessions"),
        ("store", "take_over"),
        ("store", "claim"),
    ],
)
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_call_that_fails_costs_no_slot(shop: Workshop, port: str, call: str, when: str) -> None:
    """A worker with one slot has it still after every kind of outage."""
    door = shop.door()
    trouble = {when: times(2, refuse)}
    tap(getattr(door, port), call, **trouble)
    dead = await shop.accept(session_id="dead")
    await shop.ports.queue.take("dead", 1, timedelta(0))
    async with working(shop, Speaker("a"), ports=door):
        for number in range(4):
            await shop.accept(session_id=f"s{number}")
            await pass_time(20)
        runs = [dead.run_id, *[(await shop.store.runs_of(f"s{number}"))[0].run.id for number in range(4)]]
        assert await statuses(shop, *runs) == [DONE] * 5
        await shop.accept(session_id="last")
        await pass_time(0.1)
        assert [stored.run.status for stored in await shop.store.runs_of("last")] == [DONE]
