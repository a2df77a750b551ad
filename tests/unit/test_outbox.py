"""Events on their way to one place: in order, none skipped, in batches."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import Fenced, LostOwnership, Unavailable
from shared.events import Event, EventKind
from tests.support.calm import calm
from tests.support.moved_loop import now, pass_time, run, settle
from tests.support.scenes import on
from tests.support.taps import Barrier, Hook, nothing, once, refuse, times
from worker.outbox import Outbox

LINGER_S = 0.2
SIZE = 4


def _event(seq: int) -> Event:
    return Event("r", seq, EventKind.DELTA, "{}")


@dataclass(slots=True)
class Depot:
    """An outbox, the task that sends, and what has arrived: the seqs of each batch, with its time."""

    box: Outbox
    sending: asyncio.Task[None]
    arrived: list[tuple[float, list[int]]]
    hook: Hook = nothing
    put_so_far: int = field(default=0)

    def put(self, count: int = 1) -> None:
        """Put the next events."""
        for _ in range(count):
            self.box.put(_event(self.put_so_far))
            self.put_so_far += 1

    @property
    def batches(self) -> list[list[int]]:
        """The batches without their times."""
        return [batch for _, batch in self.arrived]


@asynccontextmanager
async def open_depot(linger_s: float, size: int) -> AsyncIterator[Depot]:
    """Open an outbox that begins to send at time 0."""
    arrived: list[tuple[float, list[int]]] = []

    async def send(events: Sequence[Event]) -> None:
        await depot.hook()
        arrived.append((round(now(), 3), [event.seq for event in events]))

    box = Outbox(send, timedelta(seconds=linger_s), size)
    depot = Depot(box, asyncio.create_task(box.run()), arrived)
    try:
        yield depot
    finally:
        depot.sending.cancel()
        await asyncio.wait((depot.sending,))


lingering = on(partial(open_depot, LINGER_S, SIZE))
prompt = on(partial(open_depot, 0, 1))


# --- Batches ----------------------------------------------------------------------------------------------------------


@prompt
async def test_a_prompt_box_sends_at_once(depot: Depot) -> None:
    """Without linger an event leaves in the same moment."""
    depot.put()
    await settle()
    depot.put()
    await settle()
    assert depot.arrived == [(0, [0]), (0, [1])]
    assert depot.box.waiting == 0


@prompt
async def test_what_gathers_during_a_send_leaves_together(depot: Depot) -> None:
    """While one send is under way the others wait, and the next send takes them all."""
    depot.hook = barrier = Barrier()
    depot.put()
    await barrier.reached()
    depot.put(3)
    assert depot.box.waiting == 4
    barrier.let_go()
    await settle()
    assert depot.batches == [[0], [1, 2, 3]]


@lingering
async def test_a_batch_leaves_when_its_first_event_has_lingered(depot: Depot) -> None:
    """Counted from the first event, not from the last."""
    depot.put()
    await pass_time(0.15)
    depot.put()
    await pass_time(0.1)
    assert depot.arrived == [(0.2, [0, 1])]


@lingering
async def test_a_full_batch_leaves_at_once(depot: Depot) -> None:
    """Nobody lingers for company that is there."""
    depot.put(SIZE)
    await settle()
    assert depot.arrived == [(0, [0, 1, 2, 3])]


@lingering
async def test_what_comes_during_a_full_batch_lingers(depot: Depot) -> None:
    """The rest after a full batch waits for company like any other: a slow place is not sent one event at a time."""
    depot.hook = barrier = Barrier()
    depot.put(SIZE)
    await barrier.reached()
    depot.put()
    barrier.let_go()
    await pass_time(0.1)
    depot.put()
    await pass_time(1)
    assert depot.arrived == [(0, [0, 1, 2, 3]), (0.2, [4, 5])]


@lingering
async def test_a_drain_hurries_what_lingers(depot: Depot) -> None:
    """It returns when all has arrived, without waiting out the linger."""
    depot.put(2)
    await depot.box.drain()
    assert depot.arrived == [(0, [0, 1])]
    assert depot.box.waiting == 0


@lingering
async def test_every_drain_hurries(depot: Depot) -> None:
    """The second like the first."""
    for seq in range(3):
        depot.put()
        await depot.box.drain()
        assert depot.arrived[-1] == (0, [seq])


@lingering
async def test_a_drain_waits_for_what_is_put_meanwhile(depot: Depot) -> None:
    """Two who drain at once both wait until the box is empty."""
    depot.hook = barrier = Barrier()
    depot.put()
    drains = [asyncio.create_task(depot.box.drain()) for _ in range(2)]
    await barrier.reached()
    depot.put()
    barrier.let_go()
    await asyncio.gather(*drains)
    assert depot.arrived == [(0, [0]), (0, [1])]


@lingering
async def test_a_drain_leaves_no_hurry_behind(depot: Depot) -> None:
    """After a drain, of an empty box too or one that was given up, the next batch lingers."""
    await depot.box.drain()
    depot.put()
    await pass_time(0.1)
    depot.put()
    await pass_time(0.2)
    depot.hook = barrier = Barrier()
    depot.put(2)
    drain = asyncio.create_task(depot.box.drain())
    await barrier.reached()
    drain.cancel()
    depot.put()
    barrier.let_go()
    await settle()
    assert depot.batches == [[0, 1], [2, 3]]
    await pass_time(0.2)
    assert depot.batches == [[0, 1], [2, 3], [4]]


# --- Outages ----------------------------------------------------------------------------------------------------------


@lingering
async def test_nothing_is_given_up_while_the_place_is_away(depot: Depot) -> None:
    """Everything is kept, tried again after growing pauses, and leaves in order and in one piece."""
    depot.hook = times(3, refuse)
    depot.put(SIZE)
    await settle()
    depot.put(2)
    assert depot.box.waiting == 6
    await depot.box.drain()
    ((at, batch),) = depot.arrived
    assert batch == [0, 1, 2, 3, 4, 5]
    assert 0.175 <= at <= 0.35  # the pauses up to 50, 100 and 200 ms, less up to a half


@lingering
async def test_an_outage_leaves_no_hurry_behind(depot: Depot) -> None:
    """Once the place is back, events linger as before, and the next outage begins with a short pause again."""
    depot.hook = times(3, refuse)
    depot.put(SIZE)
    await depot.box.drain()
    depot.arrived.clear()
    at = now()
    depot.put()
    await pass_time(0.1)
    depot.put()
    await pass_time(0.2)
    assert depot.batches == [[4, 5]]
    depot.hook = once(refuse)
    depot.put(SIZE)
    await depot.box.drain()
    assert now() - at < 0.3 + 0.05 + 0.001


@lingering
async def test_what_arrived_with_its_answer_lost_is_sent_again(depot: Depot) -> None:
    """Each event is sent at least once: the place must bear a second time, and no event is skipped."""
    depot.put(2)
    await settle()
    sent: list[int] = []

    async def lose_the_answer() -> None:
        sent.append(depot.box.waiting)
        raise Unavailable("store", "the answer is lost")

    depot.hook = once(lose_the_answer)
    await depot.box.drain()
    assert (sent, depot.batches) == ([2], [[0, 1]])


# --- The end of ownership ---------------------------------------------------------------------------------------------

LOST = Fenced("r", 1)


async def _lose() -> None:
    raise LOST


@lingering
async def test_a_box_closes_when_ownership_is_lost(depot: Depot) -> None:
    """Who drains learns it, the sender ends, and every later call raises the same."""
    depot.hook = _lose
    depot.put()
    for call in (depot.box.drain, depot.box.drain):
        with pytest.raises(LostOwnership) as lost:
            await call()
        assert lost.value is LOST
    await depot.sending
    with pytest.raises(LostOwnership):
        depot.put()
    with pytest.raises(LostOwnership):
        async with depot.box.held():
            pytest.fail("there is nothing to hold")
    assert depot.arrived == []


@lingering
async def test_a_fault_of_the_place_is_not_swallowed(depot: Depot) -> None:
    """What is neither an outage nor a loss comes out of the sender, for its owner to see."""

    async def crash() -> None:
        raise ZeroDivisionError

    depot.hook = crash
    depot.put(SIZE)
    with pytest.raises(ZeroDivisionError):
        await depot.sending


# --- Holding ----------------------------------------------------------------------------------------------------------


@lingering
async def test_what_is_held_is_not_sent(depot: Depot) -> None:
    """While the box is held nothing leaves, however long it takes; what the holder took does not leave at all."""
    depot.put(2)
    async with depot.box.held() as unsent:
        await pass_time(5)
        assert [event.seq for event in unsent] == [0, 1]
        depot.box.arrived(2)
    depot.put()
    await pass_time(1)
    assert depot.batches == [[2]]


@lingering
async def test_what_the_holder_did_not_take_is_sent(depot: Depot) -> None:
    """A transaction that did not come about changes nothing for the box."""
    depot.put(2)
    async with depot.box.held():
        pass
    await pass_time(1)
    assert depot.arrived == [(0.2, [0, 1])]


@lingering
async def test_holding_waits_for_the_send_under_way(depot: Depot) -> None:
    """What is just being sent is not given to the holder too."""
    depot.hook = barrier = Barrier()
    depot.put(SIZE)
    await barrier.reached()

    async def hold() -> list[int]:
        async with depot.box.held() as unsent:
            return [event.seq for event in unsent]

    holding = asyncio.create_task(hold())
    await settle()
    depot.put()
    assert not holding.done()
    barrier.let_go()
    assert await holding == [4]


@lingering
async def test_holding_does_not_wait_for_a_pause(depot: Depot) -> None:
    """A box that waits for its place to come back can be held at once, with everything that has not arrived."""
    depot.hook = refuse
    depot.put(SIZE)
    await pass_time(3)
    at = now()
    async with depot.box.held() as unsent:
        assert (len(unsent), now()) == (SIZE, at)


@lingering
async def test_a_holder_that_is_cancelled_lets_go(depot: Depot) -> None:
    """Cancelled in the middle, it has taken nothing, and the box goes on."""
    depot.put(2)

    async def hold() -> None:
        async with depot.box.held():
            await asyncio.Event().wait()

    holding = asyncio.create_task(hold())
    await pass_time(1)
    assert depot.batches == []
    holding.cancel()
    await settle()
    assert depot.batches == [[0, 1]]


# --- All together -----------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 6)),
        st.tuples(st.just("pass"), st.sampled_from([0.0, 0.05, 0.2, 3.0])),
        st.tuples(st.just("away"), st.integers(1, 3)),
        st.tuples(st.just("drain"), st.just(0)),
        st.tuples(st.just("hold"), st.integers(0, 4)),
    ),
    max_size=20,
)


@settings(calm, max_examples=60)
@given(steps=STEPS, linger_s=st.sampled_from([0.0, LINGER_S]), size=st.integers(1, 5))
def test_everything_arrives_once_in_order(steps: list[tuple[str, float]], linger_s: float, size: int) -> None:
    """Whatever happens, in whatever order: what arrives, or a holder takes, is what was put."""

    async def play() -> None:
        taken: list[int] = []
        async with open_depot(linger_s, size) as depot:
            for do, amount in steps:
                if do == "put":
                    depot.put(int(amount))
                elif do == "pass":
                    await pass_time(amount)
                elif do == "away":
                    depot.hook = times(int(amount), refuse)
                elif do == "drain":
                    await depot.box.drain()
                    assert depot.box.waiting == 0
                else:
                    async with depot.box.held() as unsent:
                        first = [event.seq for event in unsent[: int(amount)]]
                        depot.box.arrived(len(first))
                        depot.arrived.append((0, first))
            await depot.box.drain()
            taken += [seq for _, batch in depot.arrived for seq in batch]
            assert taken == list(range(depot.put_so_far))

    run(play())
