"""The only writer of run status: what it accepts, moves, ends and refuses."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from shared.adapters.clock import MovedClock
from shared.adapters.memory import MemoryStore
from shared.errors import Fenced, IllegalTransition, InvalidField, RunEnded, Unavailable, UnknownRun
from shared.events import Event, EventKind, encode_data
from shared.exercises import Exercises, load
from shared.ledger import END_OF, Ledger
from shared.ports import Accepted, Claim, Ending, Held, Message, Resumed, StoredRun
from shared.run import ACTIVE, ENDED, Run, RunStatus
from tests.support.moved_loop import now, pass_time
from tests.support.notes import Notes, noting
from tests.support.scenes import on
from tests.support.taps import once, refuse, tap

ROOT = Path(__file__).parents[2]
RULES = load(ROOT / "solution", ROOT / "solution").exercises
NAIVE = load(ROOT / "starter", ROOT / "starter").exercises  # every move is allowed, nothing merges

PENDING, RUNNING, STREAMING = RunStatus.PENDING, RunStatus.RUNNING, RunStatus.STREAMING
DONE, FAILED, CANCELLED = RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED
LEASE = timedelta(seconds=15)
NOTHING = timedelta(0)


def _always(previous: Run | None, now: datetime) -> bool:
    return True


def _never(current: RunStatus, target: RunStatus) -> RunStatus:
    raise ValueError("no move is good")


@dataclass(slots=True)
class Desk:
    """A ledger with its store, its clock and its log."""

    ledger: Ledger
    store: MemoryStore
    clock: MovedClock
    notes: Notes

    async def accept(self, message_id: str, text: str = "hello", session_id: str = "s") -> Accepted:
        """Accept a message a second after the last one."""
        self.clock.advance(timedelta(seconds=1))
        return await self.ledger.accept(message_id, session_id, "u", text)

    async def claimed(self) -> Claim:
        """Accept a message and claim its run, attempt 1."""
        accepted = await self.accept("m")
        claim = await self.store.claim("w", LEASE)
        assert claim is not None and claim.run.id == accepted.run_id
        return claim

    async def brought_to(self, status: RunStatus) -> str:
        """Accept a message and bring its run to a status, past the ledger."""
        if status is PENDING:
            return (await self.accept("m")).run_id
        run_id = (await self.claimed()).run.id
        if status is STREAMING:
            assert await self.store.move(run_id, 1, RUNNING, STREAMING, "brought here")
        elif status in ENDED:
            await self.end(run_id, status)
        return run_id

    async def end(self, run_id: str, status: RunStatus = DONE) -> None:
        """End a running run past the ledger."""
        ending = await self.store.finish(run_id, 1, RUNNING, status, [_last(run_id, status)], None, "brought here")
        assert ending is Ending.ENDED

    async def end_streaming(self, run_id: str) -> None:
        """Move a running run on to streaming and end it, past the ledger."""
        assert await self.store.move(run_id, 1, RUNNING, STREAMING, "brought here")
        ending = await self.store.finish(
            run_id, 1, STREAMING, CANCELLED, [_last(run_id, CANCELLED)], None, "brought here"
        )
        assert ending is Ending.ENDED

    async def stored(self, run_id: str) -> StoredRun:
        """Return a run that is there."""
        found = await self.store.run(run_id)
        assert found is not None
        return found

    async def status(self, run_id: str) -> RunStatus:
        """Return where a run stands."""
        return (await self.stored(run_id)).run.status

    def moves(self, run_id: str) -> Sequence[tuple[RunStatus, RunStatus, int, str]]:
        """Return the audit of a run."""
        return [(row.source, row.target, row.attempt, row.why) for row in self.store.transitions(run_id)]


def _last(run_id: str, status: RunStatus, seq: int = 0) -> Event:
    return Event(run_id, seq, END_OF[status], encode_data({"at": "the end"}))


@asynccontextmanager
async def open_desk(rules: Exercises = RULES) -> AsyncIterator[Desk]:
    """Open a desk with an empty store."""
    clock = MovedClock()
    store = MemoryStore(clock, now)
    with noting() as notes:
        yield Desk(Ledger(store, clock, rules), store, clock, notes)


at_the_desk = on(open_desk)
naively = on(partial(open_desk, NAIVE))


# --- Accepting --------------------------------------------------------------------------------------------------------


@at_the_desk
async def test_a_first_message_opens_a_pending_run(desk: Desk) -> None:
    """A message of an unknown session is answered with a run of its own, opened at the time of the clock."""
    accepted = await desk.accept("m")
    at = desk.clock.now()
    message = Message("m", "s", "u", "hello", at)
    assert accepted == Accepted(message, accepted.run_id, merged=False, status=PENDING, replayed=False)
    run = Run(accepted.run_id, "s", "u", PENDING, 0, at, at)
    assert await desk.stored(accepted.run_id) == StoredRun(run, 0, 1, None, False, None)
    assert desk.notes.lines == [
        ("message_accepted", {"session_id": "s", "run_id": run.id, "merged": False, "replayed": False})
    ]


@at_the_desk
@pytest.mark.parametrize("status", sorted(ACTIVE))
async def test_a_message_joins_a_young_active_run(desk: Desk, status: RunStatus) -> None:
    """The next message is one more of the run that a worker has, and opens no other."""
    run_id = await desk.brought_to(status)
    accepted = await desk.accept("m2", "and that")
    message = Message("m2", "s", "u", "and that", desk.clock.now())
    assert accepted == Accepted(message, run_id, merged=True, status=status, replayed=False)
    assert [stored.run.id for stored in await desk.store.runs_of("s")] == [run_id]
    assert [message.id for message in await desk.store.messages_of(run_id)] == ["m", "m2"]


@at_the_desk
@pytest.mark.parametrize("status", [PENDING, *sorted(ENDED)])
async def test_a_message_beside_a_run_that_is_not_active_opens_another(desk: Desk, status: RunStatus) -> None:
    """A run that has not begun, or that has ended, takes no more messages."""
    run_id = await desk.brought_to(status)
    accepted = await desk.accept("m2")
    assert (accepted.merged, accepted.status) == (False, PENDING)
    assert [stored.run.id for stored in await desk.store.runs_of("s")] == [run_id, accepted.run_id]


@at_the_desk
@pytest.mark.parametrize(
    ("age", "merged"), [(timedelta(seconds=30, microseconds=-1), True), (timedelta(seconds=30), False)]
)
async def test_the_window_closes_at_its_edge(desk: Desk, age: timedelta, merged: bool) -> None:
    """An active run takes a message a microsecond before it is 30 s old, and not at 30 s."""
    await desk.brought_to(STREAMING)
    desk.clock.advance(age - timedelta(seconds=1))
    assert (await desk.accept("m2")).merged is merged


@at_the_desk
async def test_sessions_do_not_meet(desk: Desk) -> None:
    """An active run of one session takes no message of another, also when the message id is the same."""
    await desk.brought_to(STREAMING)
    accepted = await desk.accept("m", session_id="other")
    assert (accepted.merged, accepted.replayed) == (False, False)


@at_the_desk
async def test_a_run_that_was_asked_to_stop_takes_no_more(desk: Desk) -> None:
    """The message after the stop button opens a run."""
    run_id = await desk.brought_to(STREAMING)
    await desk.ledger.cancel(run_id)
    accepted = await desk.accept("m2")
    assert (accepted.merged, accepted.run_id != run_id) == (False, True)


@at_the_desk
async def test_a_run_that_ends_while_it_is_asked_about_is_not_joined(desk: Desk) -> None:
    """Between reading the run and joining it the run may end: the message opens another and is not lost."""
    run_id = await desk.brought_to(RUNNING)
    tap(desk.store, "join_run", before=once(partial(desk.end, run_id)))
    accepted = await desk.accept("m2")
    assert (accepted.merged, accepted.run_id != run_id) == (False, True)
    assert [message.id for message in await desk.store.messages_of(accepted.run_id)] == ["m2"]


@on(partial(open_desk, replace(RULES, should_merge=_always)))
@pytest.mark.parametrize("status", [None, PENDING, *sorted(ENDED)])
async def test_a_yes_that_cannot_be_carried_out_opens_a_run(desk: Desk, status: RunStatus | None) -> None:
    """Whatever the criteria say: a message never joins a run that is not there or not active."""
    run_id = None if status is None else await desk.brought_to(status)
    accepted = await desk.accept("m2")
    assert (accepted.merged, accepted.status) == (False, PENDING)
    assert accepted.run_id != run_id


@at_the_desk
async def test_the_criteria_are_asked_for_every_message(desk: Desk) -> None:
    """They get None for a new session, else its latest run as it stands, and the time of the message."""
    asked: list[tuple[Run | None, datetime]] = []

    def ask(previous: Run | None, at: datetime) -> bool:
        asked.append((previous, at))
        return False

    desk.ledger = Ledger(desk.store, desk.clock, replace(RULES, should_merge=ask))
    first = await desk.accept("m1")
    opened = (await desk.stored(first.run_id)).run
    claim = await desk.store.claim("w", LEASE)
    second = await desk.accept("m2")
    assert claim is not None and opened.status is PENDING
    assert asked == [(None, first.message.created_at), (claim.run, second.message.created_at)]


@at_the_desk
@pytest.mark.parametrize("status", list(RunStatus))
async def test_a_repeated_message_gets_its_first_answer(desk: Desk, status: RunStatus) -> None:
    """W7: the same id again is answered as it was, wherever its run stands by then, and adds nothing."""
    run_id = await desk.brought_to(status)
    (first,) = await desk.store.inputs_of("s")
    assert await desk.accept("m") == replace(first, replayed=True)
    assert [stored.run.id for stored in await desk.store.runs_of("s")] == [run_id]
    assert await desk.store.inputs_of("s") == [first]
    assert desk.notes.of("message_accepted")[-1] == {
        "session_id": "s", "run_id": run_id, "merged": False, "replayed": True,
    }  # fmt: skip


@at_the_desk
async def test_a_repeated_merged_message_gets_its_first_answer(desk: Desk) -> None:
    """W7: a message that joined a run is said to have joined it, also when the run has ended since."""
    run_id = await desk.brought_to(RUNNING)
    joined = await desk.accept("m2")
    await desk.end(run_id)
    assert await desk.accept("m2") == replace(joined, replayed=True)
    assert joined.merged


@at_the_desk
async def test_a_message_sent_twice_at_once_is_one(desk: Desk) -> None:
    """W7: two calls that both found no such message end with one run and one input, and one answer."""
    both_have_looked = asyncio.Barrier(2)

    async def wait() -> None:
        await both_have_looked.wait()

    tap(desk.store, "open_run", before=wait)
    both = await asyncio.gather(desk.accept("m"), desk.accept("m"))
    first, second = sorted(both, key=lambda accepted: accepted.replayed)
    assert not first.replayed
    assert second == replace(first, replayed=True)
    assert len(await desk.store.runs_of("s")) == len(await desk.store.inputs_of("s")) == 1


@at_the_desk
@pytest.mark.parametrize("status", list(RunStatus))
async def test_an_id_does_not_stand_for_two_texts(desk: Desk, status: RunStatus) -> None:
    """A used id with another text is the caller's mistake, and nothing is added."""
    await desk.brought_to(status)
    before = await desk.store.inputs_of("s")
    with pytest.raises(InvalidField) as refused:
        await desk.accept("m", "another")
    assert str(refused.value) == "message_id: was used in this session with another text; use a new id"
    assert (await desk.store.inputs_of("s"), len(await desk.store.runs_of("s"))) == (before, 1)


# --- Claiming, keeping, giving back -----------------------------------------------------------------------------------


@at_the_desk
async def test_a_claim_begins_the_oldest_run(desk: Desk) -> None:
    """The oldest pending run of any session, or of one, becomes running under attempt 1; then there is none."""
    first, second = await desk.accept("m", session_id="a"), await desk.accept("m", session_id="b")
    claims = [
        await desk.ledger.claim("w", LEASE, "b"), await desk.ledger.claim("w", LEASE, "b"),
        await desk.ledger.claim("w", LEASE), await desk.ledger.claim("w", LEASE),
    ]  # fmt: skip
    begun = [claim and (claim.run.id, claim.run.status, claim.run.attempt, claim.resumed) for claim in claims]
    assert begun == [(second.run_id, RUNNING, 1, None), None, (first.run_id, RUNNING, 1, None), None]
    assert desk.notes.of("run_moved") == [
        {
            "run_id": run_id, "source": "pending", "target": "running", "attempt": 1, "why": "claimed",
            "spent_s": waited_s, "age_s": waited_s,
        }
        for run_id, waited_s in ((second.run_id, 0.0), (first.run_id, 1.0))
    ]  # fmt: skip


@on(partial(open_desk, replace(RULES, transition=_never)))
async def test_no_run_begins_that_the_table_holds_back(desk: Desk) -> None:
    """Where the table does not let a pending run begin, a claim is refused, logged, and nothing is claimed."""
    accepted = await desk.accept("m")
    with pytest.raises(IllegalTransition):
        await desk.ledger.claim("w", LEASE, "s")
    assert (await desk.status(accepted.run_id), desk.moves(accepted.run_id)) == (PENDING, [])
    assert desk.notes.of("illegal_transition") == [
        {"run_id": None, "source": "pending", "target": "running", "attempt": 0}
    ]


@at_the_desk
async def test_a_run_is_taken_over_when_its_lease_has_run_out(desk: Desk) -> None:
    """W1: not before; then its attempt is one more and its status the same, and whoever comes next gets nothing."""
    run_id = await desk.brought_to(STREAMING)
    assert await desk.ledger.take_over("w2", LEASE) is None
    await pass_time(15)
    claim = await desk.ledger.take_over("w2", LEASE)
    assert claim == Claim((await desk.stored(run_id)).run, Resumed.TAKEOVER)
    assert (claim.run.status, claim.run.attempt) == (STREAMING, 2)
    assert await desk.ledger.take_over("w3", LEASE) is None
    assert desk.notes.of("run_taken_over") == [{"run_id": run_id, "attempt": 2, "why": "takeover"}]


@at_the_desk
async def test_a_renewed_lease_is_good_again(desk: Desk) -> None:
    """W8: a renewal answers what is still held, with the wish to cancel, and nobody takes that over."""
    run_id = await desk.brought_to(STREAMING)
    await pass_time(10)
    await desk.ledger.cancel(run_id)
    assert await desk.ledger.renew("w", LEASE) == [Held(run_id, 1, cancel_asked=True)]
    assert await desk.ledger.renew("w2", LEASE) == []
    await pass_time(10)
    assert await desk.ledger.take_over("w2", LEASE) is None


@at_the_desk
async def test_a_run_that_is_given_back_waits_out_its_pause(desk: Desk) -> None:
    """Given back, a run is nobody's; it can be taken over when the pause has passed, and its next owner learns why."""
    claim = await desk.claimed()
    assert await desk.ledger.give_back(claim.run, timedelta(seconds=2), Resumed.RETRY)
    assert await desk.ledger.renew("w", LEASE) == []
    assert await desk.ledger.take_over("w2", LEASE) is None
    await pass_time(2)
    taken = await desk.ledger.take_over("w2", LEASE)
    assert taken is not None and (taken.run.attempt, taken.resumed) == (2, Resumed.RETRY)
    assert desk.notes.of("run_given_back") == [{"run_id": claim.run.id, "attempt": 1, "after_s": 2.0, "why": "retry"}]


@at_the_desk
async def test_a_run_that_is_handed_over_has_not_failed(desk: Desk) -> None:
    """It is free at once, and its next owner has as many tries as this one had, under an attempt that is one more."""
    claim = await desk.claimed()
    assert await desk.ledger.hand_over(claim.run)
    taken = await desk.ledger.take_up("w2", LEASE, claim.run.session_id)
    assert taken is not None and (taken.run.attempt, taken.resumed) == (2, Resumed.TAKEOVER)
    assert (claim.tries, taken.tries) == (1, 1)
    assert not await desk.ledger.hand_over(claim.run)
    assert desk.notes.of("run_given_back") == [
        {"run_id": claim.run.id, "attempt": 1, "after_s": 0.0, "why": "handover"}
    ]


@at_the_desk
async def test_only_what_is_held_can_be_given_back(desk: Desk) -> None:
    """A run that another attempt owns, or that has ended, is not given back, and the log does not say so."""
    claim = await desk.claimed()
    await pass_time(15)
    assert await desk.ledger.take_over("w2", LEASE) is not None
    assert not await desk.ledger.give_back(claim.run, NOTHING, Resumed.TAKEOVER)
    assert await desk.ledger.take_over("w3", LEASE) is None
    assert desk.notes.of("run_given_back") == []


# --- Streaming --------------------------------------------------------------------------------------------------------


@at_the_desk
async def test_the_first_fragment_makes_a_run_stream(desk: Desk) -> None:
    """A running run becomes streaming; asked again, because an answer was lost, nothing more happens."""
    run_id = await desk.brought_to(RUNNING)
    desk.clock.advance(timedelta(milliseconds=2500.4))
    await desk.ledger.begin_streaming(run_id, 1)
    await desk.ledger.begin_streaming(run_id, 1)
    assert await desk.status(run_id) is STREAMING
    moves = [(PENDING, RUNNING, 1, "claimed"), (RUNNING, STREAMING, 1, "first fragment")]
    assert desk.moves(run_id) == moves
    assert desk.notes.of("run_moved") == [
        {
            "run_id": run_id, "source": "running", "target": "streaming", "attempt": 1, "why": "first fragment",
            "spent_s": 2.5, "age_s": 2.5,
        }
    ]  # fmt: skip


@at_the_desk
@pytest.mark.parametrize("status", sorted(ENDED))
async def test_an_ended_run_does_not_stream(desk: Desk, status: RunStatus) -> None:
    """A late writer whose attempt is still current is refused by the table, logged, and changes nothing."""
    run_id = await desk.brought_to(status)
    before = desk.moves(run_id)
    with pytest.raises(IllegalTransition) as refused:
        await desk.ledger.begin_streaming(run_id, 1)
    assert (refused.value.current, refused.value.target) == (status, STREAMING)
    assert (await desk.status(run_id), desk.moves(run_id)) == (status, before)
    assert desk.notes.of("illegal_transition") == [
        {"run_id": run_id, "source": str(status), "target": "streaming", "attempt": 1}
    ]


@naively
async def test_nothing_but_the_table_keeps_an_ended_run_ended(desk: Desk) -> None:
    """With a table that allows everything the late writer of the same attempt brings the run back: the lesson of 1."""
    run_id = await desk.brought_to(DONE)
    await desk.ledger.begin_streaming(run_id, 1)
    assert await desk.status(run_id) is STREAMING


@naively
@pytest.mark.parametrize("status", list(RunStatus))
async def test_another_attempt_does_not_stream(desk: Desk, status: RunStatus) -> None:
    """W2: whatever the table allows, an attempt that is not the run's is fenced; so is a run that nobody knows."""
    run_id = await desk.brought_to(status)
    before = await desk.stored(run_id)
    for attempt in (2, -1):
        with pytest.raises(Fenced):
            await desk.ledger.begin_streaming(run_id, attempt)
    with pytest.raises(Fenced):
        await desk.ledger.begin_streaming("unknown", 1)
    assert await desk.stored(run_id) == before


@naively
async def test_what_moves_while_it_is_asked_about_does_not_stream(desk: Desk) -> None:
    """The move is on condition of the status that was read: a run that ends in between stays as it ended."""
    run_id = await desk.brought_to(RUNNING)
    tap(desk.store, "move", before=once(partial(desk.end, run_id)))
    with pytest.raises(Fenced):
        await desk.ledger.begin_streaming(run_id, 1)
    assert await desk.status(run_id) is DONE


# --- Ending -----------------------------------------------------------------------------------------------------------


@at_the_desk
@pytest.mark.parametrize("target", sorted(ENDED))
@pytest.mark.parametrize("source", sorted(ACTIVE))
async def test_a_run_ends_with_its_last_events(desk: Desk, source: RunStatus, target: RunStatus) -> None:
    """Status, audit and events come together; a second end is illegal."""
    run_id = await desk.brought_to(source)
    last = [Event(run_id, 0, EventKind.DELTA, '{"text":"wa"}'), _last(run_id, target, 1)]
    desk.clock.advance(timedelta(seconds=7))
    assert await desk.ledger.finish(run_id, 1, target, last, 1, "enough") is Ending.ENDED
    assert await desk.status(run_id) is target
    assert list(await desk.store.events(run_id, 0, 10)) == last
    assert desk.moves(run_id)[-1] == (source, target, 1, "enough")
    assert desk.notes.of("run_moved")[-1] == {
        "run_id": run_id, "source": str(source), "target": str(target), "attempt": 1, "why": "enough",
        "spent_s": 7.0, "age_s": 7.0,
    }  # fmt: skip
    with pytest.raises(IllegalTransition):
        await desk.ledger.finish(run_id, 1, target, [_last(run_id, target, 2)], None, "again")
    assert list(await desk.store.events(run_id, 0, 10)) == last


@at_the_desk
async def test_a_run_with_an_unread_message_does_not_end(desk: Desk) -> None:
    """W6: nothing is written until all has been read; an end that asks for no reading is not held up."""
    run_id = await desk.brought_to(STREAMING)
    await desk.accept("m2")
    last = [_last(run_id, DONE)]
    before = await desk.stored(run_id)
    assert await desk.ledger.finish(run_id, 1, DONE, last, 1, "reply complete") is Ending.UNREAD
    assert await desk.stored(run_id) == before
    assert desk.notes.of("run_moved") == []
    assert await desk.ledger.finish(run_id, 1, DONE, last, 2, "reply complete") is Ending.ENDED


@at_the_desk
async def test_an_end_that_reads_nothing_is_not_held_up(desk: Desk) -> None:
    """A run is cancelled with messages unread."""
    run_id = await desk.brought_to(STREAMING)
    await desk.accept("m2")
    assert await desk.ledger.finish(run_id, 1, CANCELLED, [_last(run_id, CANCELLED)], None, "user") is Ending.ENDED


@naively
@pytest.mark.parametrize("status", list(RunStatus))
async def test_another_attempt_does_not_end_a_run(desk: Desk, status: RunStatus) -> None:
    """W2: whatever the table allows, an attempt that is not the run's is fenced; so is a run that nobody knows."""
    run_id = await desk.brought_to(status)
    before = await desk.stored(run_id)
    for stranger, attempt in ((run_id, 2), (run_id, -1), ("unknown", 1)):
        with pytest.raises(Fenced):
            await desk.ledger.finish(stranger, attempt, DONE, [_last(stranger, DONE)], None, "late")
    assert await desk.stored(run_id) == before


@naively
async def test_a_run_that_ends_while_it_is_asked_about_ends_once(desk: Desk) -> None:
    """The end is on condition of the status that was read: who comes second is fenced."""
    run_id = await desk.brought_to(RUNNING)
    tap(desk.store, "finish", before=once(partial(desk.end_streaming, run_id)))
    with pytest.raises(Fenced):
        await desk.ledger.finish(run_id, 1, FAILED, [_last(run_id, FAILED)], None, "late")
    assert await desk.status(run_id) is CANCELLED


@at_the_desk
async def test_a_run_that_has_not_begun_is_not_done(desk: Desk) -> None:
    """A pending run has no reply, so the table does not let it be done."""
    run_id = await desk.brought_to(PENDING)
    with pytest.raises(IllegalTransition):
        await desk.ledger.finish(run_id, 0, DONE, [_last(run_id, DONE)], None, "early")
    assert (await desk.status(run_id), desk.moves(run_id)) == (PENDING, [])


# --- Cancelling -------------------------------------------------------------------------------------------------------


@at_the_desk
async def test_a_pending_run_is_cancelled_at_once(desk: Desk) -> None:
    """It ends with one event, seq 0, and its session is free for the next message."""
    run_id = await desk.brought_to(PENDING)
    assert await desk.ledger.cancel(run_id) is CANCELLED
    last = Event(run_id, 0, EventKind.CANCELLED, '{"reason":"cancelled before it began"}')
    assert list(await desk.store.events(run_id, 0, 10)) == [last]
    assert await desk.status(run_id) is CANCELLED
    assert desk.moves(run_id) == [(PENDING, CANCELLED, 0, "cancelled before it began")]
    assert desk.notes.of("run_moved") == [
        {
            "run_id": run_id, "source": "pending", "target": "cancelled", "attempt": 0,
            "why": "cancelled before it began", "spent_s": 0.0, "age_s": 0.0,
        }
    ]  # fmt: skip
    following = await desk.accept("m2")
    claim = await desk.ledger.claim("w", LEASE)
    assert claim is not None and claim.run.id == following.run_id


@at_the_desk
@pytest.mark.parametrize("status", sorted(ACTIVE))
async def test_an_active_run_is_asked_to_stop(desk: Desk, status: RunStatus) -> None:
    """W4: the wish is noted durably for the run's worker, and asking again is answered alike."""
    run_id = await desk.brought_to(status)
    assert [await desk.ledger.cancel(run_id), await desk.ledger.cancel(run_id)] == [status, status]
    stored = await desk.stored(run_id)
    assert (stored.run.status, stored.cancel_asked, stored.last_seq) == (status, True, None)
    assert desk.notes.of("cancel_asked") == [{"run_id": run_id, "status": str(status)}] * 2


@naively
@pytest.mark.parametrize("status", sorted(ENDED))
async def test_an_ended_run_is_not_cancelled(desk: Desk, status: RunStatus) -> None:
    """Whatever the table allows: what has ended is not stopped, and the caller learns how it ended."""
    run_id = await desk.brought_to(status)
    before = await desk.stored(run_id)
    with pytest.raises(RunEnded) as refused:
        await desk.ledger.cancel(run_id)
    assert (refused.value.run_id, refused.value.status, refused.value.action) == (run_id, status, "cancel")
    assert await desk.stored(run_id) == before


@at_the_desk
async def test_an_unknown_run_is_not_cancelled(desk: Desk) -> None:
    """There is nothing to stop."""
    with pytest.raises(UnknownRun) as refused:
        await desk.ledger.cancel("unknown")
    assert refused.value.run_id == "unknown"


@at_the_desk
async def test_a_run_that_is_claimed_while_it_is_cancelled_is_asked_to_stop(desk: Desk) -> None:
    """The worker that was faster finds the wish, and the caller learns that the run is running."""
    run_id = await desk.brought_to(PENDING)

    async def claim() -> None:
        assert await desk.store.claim("w", LEASE) is not None

    tap(desk.store, "finish", before=once(claim))
    assert await desk.ledger.cancel(run_id) is RUNNING
    assert desk.notes.of("run_moved") == []
    assert await desk.ledger.renew("w", LEASE) == [Held(run_id, 1, cancel_asked=True)]


@at_the_desk
async def test_a_run_that_ends_while_it_is_cancelled_has_ended(desk: Desk) -> None:
    """The caller learns how it ended."""
    run_id = await desk.brought_to(RUNNING)
    tap(desk.store, "ask_cancel", before=once(partial(desk.end, run_id)))
    with pytest.raises(RunEnded) as refused:
        await desk.ledger.cancel(run_id)
    assert refused.value.status is DONE


@on(partial(open_desk, replace(RULES, transition=_never)))
async def test_a_pending_run_that_may_not_be_cancelled_goes_on(desk: Desk) -> None:
    """Where the table forbids it, the caller learns so and the run is as claimable as before."""
    run_id = await desk.brought_to(PENDING)
    with pytest.raises(IllegalTransition):
        await desk.ledger.cancel(run_id)
    claim = await desk.store.claim("w", LEASE)
    assert claim is not None and claim.run.id == run_id


@at_the_desk
async def test_a_cancel_that_fails_half_way_stops_no_session(desk: Desk) -> None:
    """W5: a store that goes away in the middle leaves the run as it was, and not pending with nobody to end it."""
    run_id = await desk.brought_to(PENDING)
    tap(desk.store, "finish", before=once(refuse))
    with pytest.raises(Unavailable):
        await desk.ledger.cancel(run_id)
    assert await desk.store.waiting_sessions(10) == ["s"]
    assert await desk.ledger.cancel(run_id) is CANCELLED
