"""The only one who gives out a run's seqs: to the stream at once, to the store in batches, nothing lost or twice."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.bootstrap import Ports
from shared.errors import Fenced, IllegalTransition
from shared.events import TERMINAL, Event, Json, reply_text
from shared.ledger import Ledger
from shared.ports import Claim, Ending, Mark
from shared.run import RunStatus
from tests.support.calm import calm
from tests.support.moved_loop import now, pass_time, run, settle
from tests.support.scenes import on
from tests.support.taps import Barrier, once, refuse, tap, times
from tests.support.workshop import (
    RULES,
    LoopClock,
    Workshop,
    delta,
    deltas,
    done,
    open_workshop,
    rerun,
    store_away,
    taken_over,
)
from worker.signals import Signals
from worker.writer import MOST_UNSENT, RunWriter

in_a_workshop = on(open_workshop)

AN_HOUR = timedelta(hours=1)


@dataclass(slots=True)
class Desk:
    """A writer at work, with ports of its own."""

    writer: RunWriter
    run_id: str
    ports: Ports
    signals: Signals

    async def say(self, *texts: str) -> None:
        """Write fragments."""
        for text in texts:
            await self.writer.fragment(text)

    async def end(self, inputs_read: int | None = 1, usage: dict[str, Json] | None = None) -> Ending:
        """End the run well."""
        return await self.writer.end(RunStatus.DONE, {"usage": usage or {}}, inputs_read, "reply complete")


@asynccontextmanager
async def writing(shop: Workshop, claim: Claim | None = None, ports: Ports | None = None) -> AsyncIterator[Desk]:
    """Open the writer of a claimed run; of a new one, unless told."""
    claim = await shop.claimed() if claim is None else claim
    door = shop.door() if ports is None else ports
    signals = Signals()
    ledger = Ledger(door.store, LoopClock(), RULES)
    async with RunWriter.open(claim, ledger, door.store, door.output, signals, shop.settings) as writer:
        yield Desk(writer, claim.run.id, door, signals)


def batches(ports: Ports) -> list[tuple[float, int]]:
    """Keep when, and with how many events, the store is appended to through these ports."""
    kept: list[tuple[float, int]] = []
    append = ports.store.append

    async def counting(run_id: str, attempt: int, events: Sequence[Event]) -> None:
        kept.append((round(now(), 3), len(events)))
        await append(run_id, attempt, events)

    ports.store.append = counting  # type: ignore[method-assign]
    return kept


# --- Fragments --------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_fragment_is_on_the_stream_at_once_and_soon_in_the_store(shop: Workshop) -> None:
    """Waiters get it in the same moment; the store 200 ms later, with what else has come by then."""
    async with writing(shop) as desk:
        await desk.say("wa", "")
        await settle()
        said = deltas(desk.run_id, 0, "wa", "")
        assert (await shop.stream(desk.run_id), await shop.log(desk.run_id)) == (said, [])
        await pass_time(0.2)
        assert await shop.log(desk.run_id) == said
        assert desk.writer.next_seq == 2


@in_a_workshop
async def test_the_store_is_written_in_batches(shop: Workshop) -> None:
    """32 rows leave at once, fewer when the first of them is 200 ms old."""
    async with writing(shop) as desk:
        sizes = batches(desk.ports)
        for number in range(70):
            await desk.say(f"{number} ")
            await settle()
        await pass_time(0.1)
        assert sizes == [(0.0, 32), (0.0, 32)]
        await pass_time(0.1)
        assert sizes == [(0.0, 32), (0.0, 32), (0.2, 6)]


@in_a_workshop
async def test_the_first_fragment_moves_the_run_to_streaming(shop: Workshop) -> None:
    """Not before it, only once, and before a waiter can see it."""
    async with writing(shop) as desk:
        seen: list[RunStatus] = []

        async def look() -> None:
            seen.append(await shop.status(desk.run_id))

        tap(desk.ports.output, "append", before=look)
        await desk.writer.rerun("takeover")
        await settle()
        await desk.say("a", "b")
        await settle()
        assert seen[0] is RunStatus.RUNNING
        assert set(seen[1:]) == {RunStatus.STREAMING}
    moves = [(row.source, row.target, row.why) for row in shop.store.transitions(desk.run_id)]
    assert moves == [
        (RunStatus.PENDING, RunStatus.RUNNING, "claimed"),
        (RunStatus.RUNNING, RunStatus.STREAMING, "first fragment"),
    ]


HIGH, LOW, BAD = "\ud83d", "\ude42", "\ufffd"


@in_a_workshop
async def test_halves_of_an_emoji_are_joined(shop: Workshop) -> None:
    """C3: the fragment with the first half alone is held; NUL and a half that stays alone are replaced at the end."""
    async with writing(shop) as desk:
        await desk.say(HIGH, f"{LOW}\x00", "", f"x{HIGH}")
        assert await desk.end() is Ending.ENDED
    said = deltas(desk.run_id, 0, f"🙂{BAD}", "", "x", BAD)
    assert await shop.log(desk.run_id) == [*said, done(desk.run_id, 4)] == await shop.stream(desk.run_id)


@in_a_workshop
async def test_a_reply_of_half_an_emoji_is_a_reply(shop: Workshop) -> None:
    """C3: what was held until the end is the first fragment then, and moves the run to streaming."""
    async with writing(shop) as desk:
        await desk.say(HIGH)
        assert await shop.status(desk.run_id) is RunStatus.RUNNING
        assert await desk.end() is Ending.ENDED
    assert await shop.log(desk.run_id) == [delta(desk.run_id, 0, BAD), done(desk.run_id, 1)]
    assert [row.target for row in shop.store.transitions(desk.run_id)] == ["running", "streaming", "done"]


@in_a_workshop
async def test_a_rerun_voids_the_half_that_is_held(shop: Workshop) -> None:
    """C3: half an emoji of the void text is not joined with what comes after it; the seq goes on."""
    async with writing(shop) as desk:
        await desk.say("a", HIGH)
        assert await desk.writer.rerun("merge") == 1
        await desk.say(LOW)
        await desk.end()
    run_id = desk.run_id
    assert await shop.log(run_id) == [
        delta(run_id, 0, "a"), rerun(run_id, 1, "merge", 1), delta(run_id, 2, BAD), done(run_id, 3),
    ]  # fmt: skip


@in_a_workshop
async def test_every_append_brings_the_marks(shop: Workshop) -> None:
    """A writer looks for nothing: what it is told comes with the answer to what it writes."""
    async with writing(shop) as desk:
        await shop.ports.marks.set(desk.run_id, Mark.RERUN, AN_HOUR)
        await desk.say("a")
        await settle()
        assert desk.signals.take() == {Mark.RERUN}


@in_a_workshop
async def test_a_drain_waits_for_the_store(shop: Workshop) -> None:
    """When it returns, the store has everything."""
    async with writing(shop) as desk:
        await desk.say("a", "b")
        await desk.writer.drain()
        assert await shop.log(desk.run_id) == deltas(desk.run_id, 0, "a", "b")


@in_a_workshop
async def test_what_has_not_left_is_dropped_with_the_writer(shop: Workshop) -> None:
    """Leaving waits for nothing: what nobody has seen is the next owner's to say."""
    shop.bus.away(True)
    async with writing(shop) as desk:
        await desk.say("a")
        await settle()
    shop.bus.away(False)
    await pass_time(10)
    assert (await shop.stream(desk.run_id), await shop.log(desk.run_id)) == ([], [])


# --- Outages ----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_the_run_goes_on_without_the_bus(shop: Workshop) -> None:
    """While it is away the store gets everything; when it is back the stream gets what it lacks, in order."""
    async with writing(shop) as desk:
        await desk.say("a")
        await settle()
        shop.bus.away(True)
        await desk.say("b", "c")
        await pass_time(5)
        await desk.say("d")
        await pass_time(5)
        said = deltas(desk.run_id, 0, "a", "b", "c", "d")
        assert (await shop.log(desk.run_id), len(shop.bus.outputs)) == (said, 1)
        shop.bus.away(False)
        await pass_time(2)
        assert await shop.stream(desk.run_id) == said
        await desk.end()
    assert await shop.stream(desk.run_id) == await shop.log(desk.run_id) == [*said, done(desk.run_id, 4)]


@in_a_workshop
async def test_a_bus_that_comes_back_empty_is_given_what_the_store_has_not(shop: Workshop) -> None:
    """Waiters have seen it, and if we die now, our successor finds it nowhere else."""
    async with writing(shop) as desk:
        await desk.say("a")
        await desk.writer.drain()
        store_away(desk.ports, True)
        await desk.say("b", "c")
        await settle()
        shop.bus.away(True)
        await desk.say("d")
        await settle()
        shop.bus.flush()
        shop.bus.away(False)
        await pass_time(2)
        said = deltas(desk.run_id, 0, "a", "b", "c", "d")
        assert (await shop.stream(desk.run_id), await shop.log(desk.run_id)) == (said[1:], said[:1])
        store_away(desk.ports, False)
        await pass_time(2)
        await desk.say("e")
        await settle()
        assert await shop.stream(desk.run_id) == [*said[1:], delta(desk.run_id, 4, "e")]


@in_a_workshop
async def test_what_the_bus_may_have_lost_is_stored_at_once(shop: Workshop) -> None:
    """From the moment in which it is known to be away, nothing waits for its batch."""
    async with writing(shop) as desk:
        await desk.say("a")
        await settle()
        assert await shop.log(desk.run_id) == []
        shop.bus.away(True)
        await desk.say("b")
        await settle()
        assert await shop.log(desk.run_id) == deltas(desk.run_id, 0, "a", "b")


@in_a_workshop
async def test_the_run_goes_on_without_the_store(shop: Workshop) -> None:
    """While it is away waiters get everything; when it is back the store does, once."""
    async with writing(shop) as desk:
        await desk.say("a")
        store_away(desk.ports, True)
        await desk.say("b", "c")
        await pass_time(20)
        said = deltas(desk.run_id, 0, "a", "b", "c")
        assert (await shop.stream(desk.run_id), await shop.log(desk.run_id)) == (said, [])
        store_away(desk.ports, False)
        await pass_time(2)
        assert await shop.log(desk.run_id) == said
        assert await shop.stream(desk.run_id) == said


@in_a_workshop
async def test_the_model_waits_when_too_much_is_not_stored(shop: Workshop) -> None:
    """A store that is away for long does not fill the memory: the fragment after the 256th waits until it is back."""
    async with writing(shop) as desk:
        await desk.say("a")
        await desk.writer.drain()
        store_away(desk.ports, True)
        await desk.say(*["b"] * MOST_UNSENT)
        late = asyncio.create_task(desk.say("c"))
        await pass_time(60)
        assert not late.done()
        assert desk.writer.next_seq == 1 + MOST_UNSENT
        store_away(desk.ports, False)
        await late
        await desk.writer.drain()
        assert [event.seq for event in await shop.log(desk.run_id)] == list(range(2 + MOST_UNSENT))


@in_a_workshop
async def test_a_store_that_is_away_at_the_first_fragment_is_waited_for(shop: Workshop) -> None:
    """Nothing is shown before the run streams; then it is, once."""
    async with writing(shop) as desk:
        store_away(desk.ports, True)
        first = asyncio.create_task(desk.say("a"))
        await pass_time(10)
        assert (first.done(), await shop.stream(desk.run_id)) == (False, [])
        store_away(desk.ports, False)
        await first
        await settle()
        assert await shop.stream(desk.run_id) == deltas(desk.run_id, 0, "a")


@in_a_workshop
async def test_a_first_fragment_whose_answer_was_lost_is_written_once(shop: Workshop) -> None:
    """The move was carried out and nobody heard of it: asked again, the run streams already."""
    async with writing(shop) as desk:
        tap(desk.ports.store, "move", after=once(refuse))
        await desk.say("a")
        await desk.writer.drain()
        assert await shop.log(desk.run_id) == await shop.stream(desk.run_id) == deltas(desk.run_id, 0, "a")
        assert [row.target for row in shop.store.transitions(desk.run_id)] == ["running", "streaming"]


@in_a_workshop
async def test_a_batch_whose_answer_was_lost_is_stored_once(shop: Workshop) -> None:
    """The same rows again change nothing."""
    async with writing(shop) as desk:
        tap(desk.ports.store, "append", after=times(2, refuse))
        await desk.say("a", "b")
        await desk.writer.drain()
        assert await shop.log(desk.run_id) == deltas(desk.run_id, 0, "a", "b")


# --- The end ----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_the_end_takes_what_is_not_stored_with_it(shop: Workshop) -> None:
    """Status and last events are one transaction; then the stream gets the terminal event and its time to live."""
    async with writing(shop) as desk:
        sizes = batches(desk.ports)
        await desk.say("a", "b")
        assert await desk.end(usage={"output_tokens": 2}) is Ending.ENDED
        all_of_it = [*deltas(desk.run_id, 0, "a", "b"), done(desk.run_id, 2, {"output_tokens": 2})]
        assert await shop.log(desk.run_id) == await shop.stream(desk.run_id) == all_of_it
        assert (await shop.status(desk.run_id), sizes) == (RunStatus.DONE, [])
        assert desk.writer.next_seq == 3
    await pass_time(15 * 60 - 1)
    assert len(await shop.stream(desk.run_id)) == 3
    await pass_time(1)
    assert await shop.stream(desk.run_id) == []


@in_a_workshop
async def test_an_end_with_an_unread_message_uses_no_seq(shop: Workshop) -> None:
    """W6: it is as if it had not been asked for: what was written stays, and what is written next has the next seq."""
    async with writing(shop) as desk:
        await desk.say("a")
        await shop.accept("wait", told=False)
        assert await desk.end(inputs_read=1) is Ending.UNREAD
        assert (await shop.status(desk.run_id), await shop.log(desk.run_id)) == (RunStatus.STREAMING, [])
        await desk.writer.rerun("merge")
        assert await desk.end(inputs_read=2) is Ending.ENDED
    run_id = desk.run_id
    assert await shop.log(run_id) == [delta(run_id, 0, "a"), rerun(run_id, 1, "merge", 1), done(run_id, 2)]
    assert await shop.stream(run_id) == await shop.log(run_id)


@in_a_workshop
async def test_a_store_that_is_away_at_the_end_is_waited_for(shop: Workshop) -> None:
    """Nobody is told of an end that the store has not got."""
    async with writing(shop) as desk:
        await desk.say("a")
        await settle()
        store_away(desk.ports, True)
        end = asyncio.create_task(desk.end())
        await pass_time(30)
        assert (end.done(), await shop.stream(desk.run_id)) == (False, deltas(desk.run_id, 0, "a"))
        store_away(desk.ports, False)
        assert await end is Ending.ENDED
        assert await shop.stream(desk.run_id) == await shop.log(desk.run_id) == [
            delta(desk.run_id, 0, "a"), done(desk.run_id, 1),
        ]  # fmt: skip


@in_a_workshop
async def test_an_end_whose_answer_was_lost_has_happened(shop: Workshop) -> None:
    """Carried out, and nobody heard of it: found done, said once, and no longer to be refused as a second end."""
    async with writing(shop) as desk:
        tap(desk.ports.store, "finish", after=once(refuse))
        await desk.say("a")
        assert await desk.end() is Ending.ENDED
    all_of_it = [delta(desk.run_id, 0, "a"), done(desk.run_id, 1)]
    assert await shop.log(desk.run_id) == await shop.stream(desk.run_id) == all_of_it
    assert shop.notes.of("illegal_transition") == []


@in_a_workshop
async def test_a_refusal_whose_answer_was_lost_is_asked_for_again(shop: Workshop) -> None:
    """W6: an end that was held up by a message, without our hearing of it, is still held up."""
    async with writing(shop) as desk:
        await shop.accept("wait", told=False)
        tap(desk.ports.store, "finish", after=times(2, refuse))
        await desk.say("a")
        assert await desk.end(inputs_read=1) is Ending.UNREAD
        assert await shop.status(desk.run_id) is RunStatus.STREAMING
        assert await desk.end(inputs_read=2) is Ending.ENDED


@in_a_workshop
async def test_a_bus_that_is_away_at_the_end_is_told_when_it_is_back(shop: Workshop) -> None:
    """The run has ended in the store, and the stream gets all it lacks when the bus returns within a lease."""
    async with writing(shop) as desk:
        shop.bus.away(True)
        await desk.say("a")
        end = asyncio.create_task(desk.end())
        await pass_time(10)
        assert (end.done(), await shop.status(desk.run_id)) == (False, RunStatus.DONE)
        shop.bus.away(False)
        assert await end is Ending.ENDED
    assert await shop.stream(desk.run_id) == await shop.log(desk.run_id)


@in_a_workshop
async def test_a_bus_that_stays_away_does_not_hold_up_the_end(shop: Workshop) -> None:
    """After a lease the writer lets it be: the store has the end, and waiters look there. It is written once."""
    async with writing(shop) as desk:
        sizes = batches(desk.ports)
        await desk.say("a")
        await settle()
        shop.bus.away(True)
        assert await desk.end() is Ending.ENDED
        assert now() == pytest.approx(15, abs=0.1)
        assert sizes == []
    assert shop.notes.of("goodbye_not_sent") == [{"run_id": desk.run_id, "seq": 1}]
    assert await shop.log(desk.run_id) == [delta(desk.run_id, 0, "a"), done(desk.run_id, 1)]
    shop.bus.away(False)
    assert await shop.stream(desk.run_id) == deltas(desk.run_id, 0, "a")


@in_a_workshop
async def test_an_end_that_is_cancelled_after_it_happened_stays(shop: Workshop) -> None:
    """Stopped between the end and its answer, the writer leaves an ended run and nothing else behind."""
    barrier = Barrier()

    async def end() -> None:
        async with writing(shop) as desk:
            tap(desk.ports.store, "finish", after=barrier)
            await desk.say("a", "b")
            await desk.end()

    ending = asyncio.create_task(end())
    await barrier.reached()
    ending.cancel()
    await asyncio.wait((ending,))
    assert ending.cancelled()
    await pass_time(60)
    ((run_id, events),) = [(stored.run.id, await shop.log(stored.run.id)) for stored in await shop.store.runs_of("s")]
    assert (await shop.status(run_id), events) == (RunStatus.DONE, [*deltas(run_id, 0, "a", "b"), done(run_id, 2)])


@in_a_workshop
async def test_an_end_that_is_cancelled_before_it_happened_has_not(shop: Workshop) -> None:
    """Stopped while it holds what is unsent, the writer sends none of it: the next owner finds the run as it was."""
    barrier = Barrier()

    async def end() -> None:
        async with writing(shop) as desk:
            tap(desk.ports.store, "finish", before=barrier)
            await desk.say("a", "b")
            await desk.end()

    ending = asyncio.create_task(end())
    await barrier.reached()
    ending.cancel()
    await asyncio.wait((ending,))
    await pass_time(60)
    (stored,) = await shop.store.runs_of("s")
    assert (stored.run.status, stored.last_seq) == (RunStatus.STREAMING, None)
    assert await shop.stream(stored.run.id) == deltas(stored.run.id, 0, "a", "b")


# --- Two owners -------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_nothing_of_a_former_owner_gets_through(shop: Workshop) -> None:
    """W2, O5: after a take-over its fragments, its end and what it has not flushed are refused on stream and store."""
    async with writing(shop) as zombie:
        await zombie.say("a")
        await zombie.writer.drain()
        claim = await taken_over(shop)
        async with writing(shop, claim) as desk:
            assert desk.writer.next_seq == 1
            await zombie.say("late")
            for late in (zombie.writer.drain, zombie.end):
                with pytest.raises(Fenced):
                    await late()
            with pytest.raises(Fenced):
                await zombie.say("later")
            await desk.say("b")
            assert await desk.end() is Ending.ENDED
    all_of_it = [*deltas(zombie.run_id, 0, "a", "b"), done(zombie.run_id, 2)]
    assert await shop.log(zombie.run_id) == await shop.stream(zombie.run_id) == all_of_it


@in_a_workshop
async def test_a_former_owner_does_not_begin(shop: Workshop) -> None:
    """W2: one that had written nothing is refused by its attempt, before its first fragment is anywhere."""
    async with writing(shop) as zombie:
        claim = await taken_over(shop)
        with pytest.raises(Fenced):
            await zombie.say("late")
        assert (await shop.stream(claim.run.id), await shop.status(claim.run.id)) == ([], RunStatus.RUNNING)


@in_a_workshop
async def test_an_owner_that_wakes_after_the_end_is_refused_by_the_table(shop: Workshop) -> None:
    """With the attempt still its own: the run has ended, and what has ended does not stream."""
    async with writing(shop) as zombie:
        await shop.store.finish(
            zombie.run_id, 1, RunStatus.RUNNING, RunStatus.DONE, [done(zombie.run_id, 0)], None, "end"
        )
        with pytest.raises(IllegalTransition):
            await zombie.say("late")
        with pytest.raises(IllegalTransition):
            await zombie.end()
    assert (await shop.log(zombie.run_id), await shop.stream(zombie.run_id)) == ([done(zombie.run_id, 0)], [])


@in_a_workshop
async def test_a_send_that_was_under_way_at_the_take_over_is_refused(shop: Workshop) -> None:
    """W2, O5: paused in the middle of a send, the former owner's event comes behind the fence."""
    async with writing(shop) as zombie:
        barrier = Barrier()
        tap(zombie.ports.output, "append", before=barrier)
        tap(zombie.ports.store, "append", before=barrier)
        await zombie.say("a")
        await pass_time(1)
        async with writing(shop, await taken_over(shop)) as desk:
            assert desk.writer.next_seq == 0
            await desk.say("b")
            barrier.let_go()
            await pass_time(1)
            assert await shop.stream(desk.run_id) == await shop.log(desk.run_id) == deltas(desk.run_id, 0, "b")


# --- Taking over ------------------------------------------------------------------------------------------------------


async def dead_owner(
    shop: Workshop, on_stream: Sequence[tuple[int, str]] = (), in_store: Sequence[tuple[int, str]] = ()
) -> Claim:
    """Leave a run as an owner did that wrote these fragments (seq, text) and died; return another one's claim of it."""
    claim = await shop.claimed()
    run_id = claim.run.id
    await shop.ledger.begin_streaming(run_id, 1)
    if on_stream:
        await shop.ports.output.append([delta(run_id, *fragment) for fragment in on_stream], 1)
    if in_store:
        await shop.ports.store.append(run_id, 1, [delta(run_id, *fragment) for fragment in in_store])
    return await taken_over(shop)


A, B, C, D = (0, "a"), (1, "b"), (2, "c"), (3, "d")


@in_a_workshop
@pytest.mark.parametrize(
    ("on_stream", "in_store", "texts"),
    [
        ([], [], []),
        ([A, B], [A, B], ["a", "b"]),
        ([A, B, C], [A], ["a", "b", "c"]),
        ([A, B, C], [], ["a", "b", "c"]),
        ([A], [A, B, C], ["a", "b", "c"]),  # the stream was away
        ([], [A, B], ["a", "b"]),  # the stream has vanished
        ([A, B, A, B, C], [A], ["a", "b", "c"]),  # an answer of the stream was lost
        ([C, A, B], [], ["a", "b", "c"]),
        ([A, (1, "first"), (1, "second")], [A], ["a", "first"]),  # what waiters saw first is what is so
    ],
)
async def test_the_next_owner_keeps_what_waiters_may_have_seen(
    shop: Workshop, on_stream: list[tuple[int, str]], in_store: list[tuple[int, str]], texts: list[str]
) -> None:
    """W1: what only the stream has is copied to the store before the next seq is given out, in one transaction."""
    claim = await dead_owner(shop, on_stream, in_store)
    door = shop.door()
    sizes = batches(door)
    before = await shop.stream(claim.run.id)
    async with writing(shop, claim, door) as desk:
        assert await shop.log(desk.run_id) == deltas(desk.run_id, 0, *texts)
        assert desk.writer.next_seq == len(texts)
        assert [count for _, count in sizes] == ([len(texts) - len(in_store)] if len(texts) > len(in_store) else [])
        assert await shop.stream(desk.run_id) == before


@in_a_workshop
async def test_a_seq_that_is_lost_everywhere_says_that_the_text_is_void(shop: Workshop) -> None:
    """A hole that neither store nor stream can fill becomes a rerun: it is not given to another text."""
    claim = await dead_owner(shop, [(3, "d"), (5, "f")], [A])
    async with writing(shop, claim) as desk:
        run_id = desk.run_id
        assert await shop.log(run_id) == [
            delta(run_id, 0, "a"), rerun(run_id, 1, "takeover", 2), rerun(run_id, 2, "takeover", 2),
            delta(run_id, 3, "d"), rerun(run_id, 4, "takeover", 2), delta(run_id, 5, "f"),
        ]  # fmt: skip
        assert desk.writer.next_seq == 6
        assert shop.notes.of("events_salvaged") == [{"run_id": run_id, "attempt": 2, "seq": 1, "count": 5}]


@in_a_workshop
@pytest.mark.parametrize("service", ["bus", "store"])
async def test_a_take_over_waits_for_bus_and_store(shop: Workshop, service: str) -> None:
    """Without either nobody knows what waiters have seen, so nothing is written until both are back."""
    claim = await dead_owner(shop, [A, B], [A])
    door = shop.door()
    shop.bus.away(service == "bus")
    store_away(door, service == "store")

    async def write() -> None:
        async with writing(shop, claim, door) as desk:
            await desk.say("c")
            await desk.writer.drain()

    task = asyncio.create_task(write())
    await pass_time(60)
    assert (task.done(), await shop.log(claim.run.id)) == (False, deltas(claim.run.id, 0, "a"))
    shop.bus.away(False)
    store_away(door, False)
    await task
    assert await shop.log(claim.run.id) == deltas(claim.run.id, 0, "a", "b", "c")


@in_a_workshop
async def test_a_take_over_whose_answers_were_lost_is_done_once(shop: Workshop) -> None:
    """Fence and copies bear being repeated."""
    claim = await dead_owner(shop, [A, B, C], [A])
    door = shop.door()
    for port, name in ((door.output, "raise_fence"), (door.store, "append"), (door.output, "entries")):
        tap(port, name, after=once(refuse))
    async with writing(shop, claim, door) as desk:
        assert await shop.log(desk.run_id) == deltas(desk.run_id, 0, "a", "b", "c")
        assert desk.writer.next_seq == 3


@in_a_workshop
async def test_a_take_over_that_is_overtaken_copies_nothing(shop: Workshop) -> None:
    """O5: when a third owner was faster, the second one learns that the run is lost, before it has written."""
    claim = await dead_owner(shop, [A, B], [A])
    await taken_over(shop)
    with pytest.raises(Fenced):
        async with writing(shop, claim):
            pytest.fail("there is nothing to write")
    assert await shop.log(claim.run.id) == deltas(claim.run.id, 0, "a")


# --- Faults of an adapter ---------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_fault_of_an_adapter_ends_the_writing(shop: Workshop) -> None:
    """What is neither an outage nor a loss stops whoever writes, at once, and comes out in a group."""

    async def crash() -> None:
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as raised:
        async with writing(shop) as desk:
            tap(desk.ports.store, "append", before=crash)
            await desk.say("a")
            await asyncio.Event().wait()
    assert [type(error) for error in raised.value.exceptions] == [ZeroDivisionError]
    assert now() == pytest.approx(0.2, abs=0.01)


# --- All together -----------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from(["", "a", "b ", "🙂"])),
        st.tuples(st.just("pass"), st.sampled_from(["0", "0.05", "0.3", "4"])),
        st.tuples(st.sampled_from(["bus away", "store away"]), st.sampled_from(["0.01", "1", "6"])),
        st.tuples(st.just("lose answers"), st.sampled_from(["store", "output"])),
        st.tuples(st.just("rerun"), st.just("merge")),
        st.tuples(st.just("die"), st.just("")),
    ),
    max_size=25,
)


@settings(calm, max_examples=50)
@given(STEPS)
def test_whatever_happens_store_and_stream_tell_one_story(steps: list[tuple[str, str]]) -> None:
    """O5: the store has each seq once, the stream no other text for any, and the reply is what was said last."""
    run(_one_story(steps))


async def _one_story(steps: list[tuple[str, str]]) -> None:
    async with open_workshop() as shop:
        claim = await shop.claimed()
        said: list[str] = []
        left = list(steps)
        ended = False
        while not ended:
            async with writing(shop, claim, shop.door()) as desk:
                if claim.resumed:
                    said.clear()
                    await desk.writer.rerun("takeover")
                while left and left[0][0] != "die":
                    await _step(shop, desk, *left.pop(0), said)
                if not left:
                    ended = await desk.end(inputs_read=None) is Ending.ENDED
            if left:
                left.pop(0)
                claim = await taken_over(shop)
        log, stream = await shop.log(claim.run.id), await shop.stream(claim.run.id)
    assert [event.seq for event in log] == list(range(len(log)))
    assert {event.seq for event in log if event.kind in TERMINAL} == {len(log) - 1}
    assert set(stream) <= set(log)
    assert reply_text(log) == "".join(said)


async def _step(shop: Workshop, desk: Desk, do: str, what: str, said: list[str]) -> None:
    if do == "say":
        said.append(what)
        await desk.say(what)
    elif do == "rerun":
        said.clear()
        await desk.writer.rerun(what)
    elif do == "pass":
        await pass_time(float(what))
    elif do == "lose answers":
        tap(getattr(desk.ports, what), "append", after=times(2, refuse))
    elif do == "bus away":
        shop.bus.away(True)
        asyncio.get_running_loop().call_later(float(what), shop.bus.away, False)
    else:
        store_away(desk.ports, True)
        asyncio.get_running_loop().call_later(float(what), store_away, desk.ports, False)
