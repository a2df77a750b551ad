"""One claimed run, from its first fragment to its end."""

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest

from shared.bootstrap import Ports
from shared.events import Json
from shared.ledger import Ledger
from shared.ports import Claim, Mark, Resumed
from shared.run import RunStatus
from tests.support.moved_loop import now, pass_time, settle
from tests.support.scenes import on
from tests.support.taps import Barrier, once, refuse, tap, times
from tests.support.workshop import (
    LEASE,
    RULES,
    LoopClock,
    Puppet,
    Workshop,
    cancelled,
    delta,
    deltas,
    done,
    failed,
    open_workshop,
    rerun,
    store_away,
    taken_over,
    tool,
    with_settings,
)
from worker.executor import Executor
from worker.models.port import (
    Finished,
    FinishReason,
    Fragment,
    Model,
    ModelFailed,
    Piece,
    Request,
    ToolCall,
    Usage,
    Working,
)  # fmt: skip
from worker.signals import Signals

in_a_workshop = on(open_workshop)

AN_HOUR = timedelta(hours=1)
CANCEL = frozenset({Mark.CANCEL})


@dataclass(slots=True)
class Execution:
    """One execution of a claimed run, with ports of its own."""

    run_id: str
    task: asyncio.Task[None]
    signals: Signals
    door: Ports


@asynccontextmanager
async def executing(
    shop: Workshop, model: Model, claim: Claim | None = None, door: Ports | None = None
) -> AsyncIterator[Execution]:
    """Execute a claimed run, a new one unless told, beside the block. It is stopped with the block."""
    claim = await shop.claimed() if claim is None else claim
    door = shop.door() if door is None else door
    signals = Signals()
    ledger = Ledger(door.store, LoopClock(), RULES)
    executor = Executor(ledger, door, LoopClock(), model, shop.settings)
    task = asyncio.create_task(executor.execute(claim, signals))
    try:
        yield Execution(claim.run.id, task, signals, door)
    finally:
        task.cancel()
        await asyncio.wait((task,))
        await executor.bell.close()


# --- A reply ----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_reply_is_written_as_the_model_says_it(shop: Workshop) -> None:
    """Each fragment is an event, usage goes into the last one, and the model was given run, attempt and messages."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.say("Hel", "", "lo")
        assert await shop.stream(run.run_id) == deltas(run.run_id, 0, "Hel", "", "lo")
        await call.end(Usage(input_tokens=1, output_tokens=3))
        await run.task
    request = Request(run.run_id, 1, await shop.store.messages_of(run.run_id))
    assert [call.request for call in model.calls] == [request]
    assert (call.texts, call.closed) == (["hello"], True)
    last = done(run.run_id, 3, {"input_tokens": 1, "output_tokens": 3})
    assert await shop.log(run.run_id) == [*deltas(run.run_id, 0, "Hel", "", "lo"), last]
    assert await shop.stream(run.run_id) == await shop.log(run.run_id)
    assert await shop.status(run.run_id) is RunStatus.DONE


@in_a_workshop
async def test_a_reply_without_a_fragment_is_a_reply(shop: Workshop) -> None:
    """A model that says nothing ends a run that never streamed."""
    model = Puppet()
    async with executing(shop, model) as run:
        await (await model.call(0)).end()
        await run.task
    assert await shop.log(run.run_id) == [done(run.run_id, 0)]
    assert [row.target for row in shop.store.transitions(run.run_id)] == ["running", "done"]


@in_a_workshop
async def test_a_store_that_is_away_at_the_start_is_waited_for(shop: Workshop) -> None:
    """The model is not called before the messages are read."""
    claim, door, model = await shop.claimed(), shop.door(), Puppet()
    store_away(door, True)
    async with executing(shop, model, claim, door) as run:
        await pass_time(60)
        assert model.calls == []
        store_away(door, False)
        await (await model.call(0)).end()
        await run.task
    assert await shop.status(run.run_id) is RunStatus.DONE


@in_a_workshop
async def test_a_tool_call_is_an_event(shop: Workshop) -> None:
    """Its arguments are JSON in JSON; it begins the streaming, and comes after the half emoji that waited before it."""
    model, arguments = Puppet(), '{\n "order": 4711,\n "name": "a\\u2028b"}'
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.give(ToolCall("k", "look", arguments))
        assert await shop.status(run.run_id) is RunStatus.STREAMING
        await call.give(Fragment("a\ud83d"), ToolCall("l", "book", "{}"), Fragment("\ude00"))
        await call.end()
        await run.task
    run_id = run.run_id
    assert await shop.log(run_id) == [
        tool(run_id, 0, "k", "look", {"order": 4711, "name": "a\u2028b"}), delta(run_id, 1, "a"),
        delta(run_id, 2, "\ufffd"), tool(run_id, 3, "l", "book", {}), delta(run_id, 4, "\ufffd"), done(run_id, 5),
    ]  # fmt: skip
    assert await shop.stream(run_id) == await shop.log(run_id)
    assert all(event.data.isascii() for event in await shop.log(run_id) if "order" in event.data)
    assert [row.target for row in shop.store.transitions(run_id)] == ["running", "streaming", "done"]


@in_a_workshop
async def test_arguments_that_are_no_json_are_a_fault_of_the_adapter(shop: Workshop) -> None:
    """Nothing is written of such a call; the run is tried again."""
    model = Puppet()
    async with executing(shop, model) as run:
        await (await model.call(0)).give(ToolCall("k", "look", '{"order":'))
        await run.task
    assert await shop.log(run.run_id) == []
    assert [note["why"] for note in shop.notes.of("run_given_back")] == ["retry"]


@in_a_workshop
@pytest.mark.parametrize("reason", FinishReason)
async def test_an_unusual_end_is_told(shop: Workshop, reason: FinishReason) -> None:
    """Why the model stopped stands in the last event, unless it had simply said all."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.give(Working(), Finished(reason), Usage(1, 2))
        await call.end()
        await run.task
    usage: dict[str, Json] = {"input_tokens": 1, "output_tokens": 2}
    told: dict[str, Json] = {} if reason is FinishReason.STOP else {"finish_reason": reason.value}
    assert await shop.log(run.run_id) == [done(run.run_id, 0, usage, **told)]


@in_a_workshop
async def test_what_a_voided_reply_said_of_its_end_is_void(shop: Workshop) -> None:
    """Usage and reason are those of the reply that stands."""
    model = Puppet()
    async with executing(shop, model) as run:
        first = await model.call(0)
        await shop.accept("no, wait", told=False)
        await first.give(Finished(FinishReason.LENGTH), Usage(1, 2))
        await first.end()
        await (await model.call(1)).end()
        await run.task
    assert await shop.log(run.run_id) == [rerun(run.run_id, 0, "merge", 1), done(run.run_id, 1)]


# --- Reruns -----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_message_that_joins_starts_the_reply_again(shop: Workshop) -> None:
    """The model is stopped and called with all messages; seqs go on over every rerun, and the log line says where."""
    model = Puppet()
    async with executing(shop, model) as run:
        first = await model.call(0)
        await first.say("a", "b")
        await shop.accept("no, wait")
        await first.say("c")
        second = await model.call(1)
        assert first.closed
        assert second.texts == ["hello", "no, wait"]
        await second.say("d")
        await shop.accept("yes")
        await second.say("e")
        third = await model.call(2)
        await third.say("f")
        await third.end()
        await run.task
    run_id = run.run_id
    assert await shop.log(run_id) == [
        *deltas(run_id, 0, "a", "b", "c"), rerun(run_id, 3, "merge", 1),
        *deltas(run_id, 4, "d", "e"), rerun(run_id, 6, "merge", 1), delta(run_id, 7, "f"), done(run_id, 8),
    ]  # fmt: skip
    assert await shop.stream(run_id) == await shop.log(run_id)
    assert shop.notes.of("run_rerun") == [
        {"run_id": run_id, "reason": "merge", "seq": 3, "attempt": 1, "messages": 2},
        {"run_id": run_id, "reason": "merge", "seq": 6, "attempt": 1, "messages": 3},
    ]


@in_a_workshop
async def test_a_message_that_joins_while_the_model_is_silent_is_seen_soon(shop: Workshop) -> None:
    """Nothing is written that could bring the mark, so it is looked for every half second."""
    model = Puppet()
    async with executing(shop, model):
        await model.call(0)
        await pass_time(7.3)
        await shop.accept("no, wait")
        await model.call(1)
        assert 7.3 < now() < 7.9
        assert model.calls[0].closed


@in_a_workshop
async def test_messages_that_join_together_are_one_rerun(shop: Workshop) -> None:
    """The second one is read with the first; its mark comes late and finds nothing to do."""
    model = Puppet()
    async with executing(shop, model) as run:
        first = await model.call(0)
        await first.say("a")
        await shop.accept("no")
        await shop.accept("yes")
        await first.say("b")
        second = await model.call(1)
        assert second.texts == ["hello", "no", "yes"]
        await second.say("c")
        await shop.ports.marks.set(run.run_id, Mark.RERUN, AN_HOUR)
        await second.say("d")
        await second.end()
        await run.task
    assert len(model.calls) == 2


@in_a_workshop
async def test_a_mark_without_a_message_changes_nothing(shop: Workshop) -> None:
    """A mark set twice, or for a message that was read already, is cleared, and the model goes on undisturbed."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await shop.ports.marks.set(run.run_id, Mark.RERUN, AN_HOUR)
        await call.say("a")
        assert await shop.ports.marks.read(run.run_id) == frozenset()
        await shop.ports.marks.set(run.run_id, Mark.RERUN, AN_HOUR)
        await pass_time(3)
        assert await shop.ports.marks.read(run.run_id) == frozenset()
        await call.end()
        await run.task
    assert await shop.log(run.run_id) == [delta(run.run_id, 0, "a"), done(run.run_id, 1)]


@in_a_workshop
async def test_a_message_whose_mark_was_lost_is_answered(shop: Workshop) -> None:
    """W6: the end itself finds that there is more to read."""
    model = Puppet()
    async with executing(shop, model) as run:
        first = await model.call(0)
        await first.say("a")
        await shop.accept("no, wait", told=False)
        await first.end()
        second = await model.call(1)
        await second.say("b")
        await second.end()
        await run.task
    run_id = run.run_id
    assert await shop.log(run_id) == [
        delta(run_id, 0, "a"), rerun(run_id, 1, "merge", 1), delta(run_id, 2, "b"), done(run_id, 3),
    ]  # fmt: skip


@in_a_workshop
async def test_a_message_while_the_end_is_being_written_is_answered(shop: Workshop) -> None:
    """W6: after the last look at the messages, and before the end is written, it is found by the end."""
    model, door = Puppet(), shop.door()
    barrier = Barrier()
    tap(door.store, "finish", before=barrier)
    async with executing(shop, model, door=door) as run:
        await (await model.call(0)).end()
        await barrier.reached()
        joined = await shop.accept("no, wait")
        assert joined.merged
        barrier.let_go()
        second = await model.call(1)
        assert second.texts == ["hello", "no, wait"]
        await second.end()
        await run.task
    assert await shop.log(run.run_id) == [rerun(run.run_id, 0, "merge", 1), done(run.run_id, 1)]


@in_a_workshop
async def test_a_message_right_after_the_end_opens_a_run(shop: Workshop) -> None:
    """W6: once the end is written, heard of or not, the message has a run of its own."""
    model, door = Puppet(), shop.door()
    barrier = Barrier()
    tap(door.store, "finish", after=barrier)
    async with executing(shop, model, door=door) as run:
        await (await model.call(0)).end()
        await barrier.reached()
        later = await shop.accept("no, wait")
        barrier.let_go()
        await run.task
    assert (later.merged, later.status) == (False, RunStatus.PENDING)
    assert await shop.log(run.run_id) == [done(run.run_id, 0)]


@in_a_workshop
async def test_a_bus_that_goes_away_with_a_mark_read_does_not_stop_the_run(shop: Workshop) -> None:
    """What the mark says is in the store: the reply starts again at once, although the mark cannot be cleared yet."""
    model, door = Puppet(), shop.door()

    async def go_away() -> None:
        shop.bus.away(True)

    async with executing(shop, model, door=door) as run:
        first = await model.call(0)
        await first.say("a")
        await shop.accept("no, wait")
        tap(door.output, "append", after=once(go_away))
        await first.say("b")
        second = await model.call(1)
        assert now() < 0.1
        await second.say("c")
        await second.end()
        assert await shop.status(run.run_id) is RunStatus.DONE
        shop.bus.away(False)
        await run.task
    assert await shop.stream(run.run_id) == await shop.log(run.run_id)


@in_a_workshop
async def test_a_bus_that_is_away_does_not_hold_up_a_silent_model(shop: Workshop) -> None:
    """The marks cannot be read; the run ends all the same when the model does."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        shop.bus.away(True)
        await pass_time(20)
        await call.end()
        assert await shop.status(run.run_id) is RunStatus.DONE


# --- Cancelling -------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_cancel_stops_the_model_at_its_next_fragment(shop: Workshop) -> None:
    """The append brings the mark; what was said stays, and the run ends cancelled."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.say("a")
        await shop.cancel(run.run_id)
        await call.say("b", "c")
        await run.task
        assert call.closed
    log = await shop.log(run.run_id)
    assert log[-1] == cancelled(run.run_id, len(log) - 1)
    assert log[:2] == deltas(run.run_id, 0, "a", "b")
    assert await shop.stream(run.run_id) == log
    assert await shop.status(run.run_id) is RunStatus.CANCELLED


@in_a_workshop
async def test_a_cancel_stops_a_silent_model_soon(shop: Workshop) -> None:
    """Within the half second after which the marks are looked for."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await pass_time(7.3)
        await shop.cancel(run.run_id)
        await run.task
        assert 7.3 < now() < 7.9
        assert call.closed
    assert await shop.log(run.run_id) == [cancelled(run.run_id, 0)]


@in_a_workshop
@pytest.mark.parametrize("away", [False, True])
async def test_a_cancel_that_comes_with_the_lease_is_carried_out(shop: Workshop, away: bool) -> None:
    """W4: with the bus away the wish comes from the store, and the model is stopped at once."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.say("a")
        shop.bus.away(away)
        await pass_time(7.3)
        run.signals.add(CANCEL)
        await settle()
        assert (call.closed, await shop.status(run.run_id)) == (True, RunStatus.CANCELLED)
    assert await shop.log(run.run_id) == [delta(run.run_id, 0, "a"), cancelled(run.run_id, 1)]


@in_a_workshop
async def test_a_cancel_wins_over_a_rerun(shop: Workshop) -> None:
    """Asked to stop and to start again at once, a run stops."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await shop.accept("no, wait")
        await shop.cancel(run.run_id)
        await call.say("a")
        await run.task
    assert (len(model.calls), await shop.status(run.run_id)) == (1, RunStatus.CANCELLED)


# --- Models that fail -------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_run_whose_model_fails_is_given_back(shop: Workshop) -> None:
    """What was said is stored first; after a pause of up to a second whoever takes it over starts the reply again."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.say("a")
        await call.fail(ModelFailed("overloaded"))
        await run.task
    run_id = run.run_id
    assert (await shop.status(run_id), await shop.log(run_id)) == (RunStatus.STREAMING, [delta(run_id, 0, "a")])
    (given_back,) = shop.notes.of("run_given_back")
    assert given_back == {"run_id": run_id, "attempt": 1, "after_s": given_back["after_s"], "why": "retry"}
    await pass_time(0.4)
    assert await shop.ledger.take_over("w2", LEASE) is None
    await pass_time(0.6)
    claim = await shop.ledger.take_over("w2", LEASE)
    assert claim is not None and claim.resumed is Resumed.RETRY
    async with executing(shop, model, claim) as again:
        second = await model.call(1)
        assert (second.request.attempt, second.texts) == (2, ["hello"])
        await second.say("b")
        await second.end()
        await again.task
    assert await shop.log(run_id) == [
        delta(run_id, 0, "a"), rerun(run_id, 1, "retry", 2), delta(run_id, 2, "b"), done(run_id, 3),
    ]  # fmt: skip


@in_a_workshop
async def test_a_failure_that_would_repeat_ends_the_run(shop: Workshop) -> None:
    """Asking again would give the same answer, so the run fails at the first attempt, with the model's words."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.say("a")
        await call.fail(ModelFailed("refused", permanent=True))
        await run.task
    assert await shop.log(run.run_id) == [delta(run.run_id, 0, "a"), failed(run.run_id, 1, "refused")]
    assert await shop.status(run.run_id) is RunStatus.FAILED


@in_a_workshop
async def test_what_a_model_says_of_its_failure_can_be_written(shop: Workshop) -> None:
    """C3: NUL and a lone surrogate in the words of a failure become U+FFFD, like those in its reply."""
    model = Puppet()
    async with executing(shop, model) as run:
        await (await model.call(0)).fail(ModelFailed("a\x00b\ud83d", permanent=True))
        await run.task
    assert await shop.log(run.run_id) == [failed(run.run_id, 0, "a\ufffdb\ufffd")]


@in_a_workshop
@pytest.mark.parametrize("permanent", [False, True])
async def test_a_message_that_joined_before_a_failure_is_answered(shop: Workshop, permanent: bool) -> None:
    """W6: the model was not given it, and may have an answer to it; the run fails only of what was read."""
    with_settings(shop, max_attempts=1)
    model = Puppet()
    async with executing(shop, model) as run:
        first = await model.call(0)
        await shop.accept("no, wait", told=False)
        await first.fail(ModelFailed("refused", permanent=permanent))
        second = await model.call(1)
        assert second.texts == ["hello", "no, wait"]
        await second.end()
        await run.task
    run_id = run.run_id
    assert await shop.log(run_id) == [rerun(run_id, 0, "merge", 1), done(run_id, 1)]


async def third_attempt(shop: Workshop) -> Claim:
    """Return the claim of a run that was claimed twice before."""
    await shop.claimed()
    await taken_over(shop)
    return await taken_over(shop)


@in_a_workshop
async def test_the_last_attempt_that_fails_ends_the_run(shop: Workshop) -> None:
    """After three attempts there is no fourth."""
    model, claim = Puppet(), await third_attempt(shop)
    async with executing(shop, model, claim) as run:
        await (await model.call(0)).fail(ModelFailed("overloaded"))
        await run.task
    assert await shop.log(run.run_id) == [rerun(run.run_id, 0, "takeover", 3), failed(run.run_id, 1, "overloaded")]


@in_a_workshop
async def test_waiters_learn_no_more_of_a_crash_than_its_kind(shop: Workshop) -> None:
    """The words of an exception may hold what is nobody's business; they stay in the log."""
    model, claim = Puppet(), await third_attempt(shop)
    async with executing(shop, model, claim) as run:
        await (await model.call(0)).fail(RuntimeError("key=secret"))
        await run.task
    told = failed(run.run_id, 1, "the model's adapter crashed: RuntimeError")
    assert (await shop.log(run.run_id))[-1] == told


@in_a_workshop
async def test_a_run_that_is_out_of_attempts_is_not_tried_again(shop: Workshop) -> None:
    """Three owners were lost with it, so the fourth ends it without asking the model."""
    model = Puppet()
    await third_attempt(shop)
    async with executing(shop, model, await taken_over(shop)) as run:
        await run.task
    assert (model.calls, await shop.log(run.run_id)) == ([], [failed(run.run_id, 0, "gave up after 3 attempts")])


@in_a_workshop
@pytest.mark.parametrize(
    "crash", [ZeroDivisionError("why"), ExceptionGroup("many", [ValueError()]), StopAsyncIteration()]
)
async def test_a_crash_of_the_models_code_is_a_failure_of_the_model(shop: Workshop, crash: Exception) -> None:
    """The run is given back and tried again; the log has the traceback."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.say("a")
        await call.fail(crash)
        await run.task
    assert await shop.log(run.run_id) == [delta(run.run_id, 0, "a")]
    assert [note["why"] for note in shop.notes.of("run_given_back")] == ["retry"]
    assert [note["run_id"] for note in shop.notes.of("model_crashed")] == [run.run_id]


@in_a_workshop
async def test_a_model_that_cancels_itself_has_failed(shop: Workshop) -> None:
    """A cancellation that nobody here asked for is a crash of the model's code, not the end of the worker's task."""
    model = Puppet()
    async with executing(shop, model) as run:
        await (await model.call(0)).fail(asyncio.CancelledError())
        await asyncio.wait((run.task,))
        assert not run.task.cancelled()
    assert [note["why"] for note in shop.notes.of("run_given_back")] == ["retry"]


@in_a_workshop
async def test_a_run_is_given_back_when_the_store_is_there_again(shop: Workshop) -> None:
    """A model that fails while the store is away: first everything is stored, then the run is given back, once."""
    model, door = Puppet(), shop.door()
    tap(door.store, "release", after=once(refuse))
    async with executing(shop, model, door=door) as run:
        call = await model.call(0)
        await call.say("a")
        store_away(door, True)
        await call.fail(ModelFailed("overloaded"))
        await pass_time(10)
        assert not run.task.done()
        store_away(door, False)
        await run.task
    assert await shop.log(run.run_id) == [delta(run.run_id, 0, "a")]
    assert await shop.ledger.renew("w", LEASE) == []


# --- Models that say nothing ------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_model_that_says_nothing_has_failed_after_a_while(shop: Workshop) -> None:
    """Thirty seconds before the first piece: its request is aborted, and the run given back to be tried again."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await pass_time(29.9)
        assert not run.task.done()
        await run.task
        assert call.closed
        assert now() == pytest.approx(30, abs=0.01)
    assert [note["why"] for note in shop.notes.of("run_given_back")] == ["retry"]
    assert [note["why"] for note in shop.notes.of("model_failed")] == ["the model was silent for 30 s"]


@in_a_workshop
@pytest.mark.parametrize("piece", [Fragment(""), Working(), ToolCall("k", "look", "{}"), Usage(1, 1)])
async def test_every_piece_breaks_the_silence(shop: Workshop, piece: Piece) -> None:
    """Also one that shows nothing; from then on it is the pause between two pieces that counts."""
    with_settings(shop, next_piece_wait=timedelta(seconds=7))
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await pass_time(29)
        for _ in range(3):
            await call.give(piece)
            await pass_time(6.9)
            assert not run.task.done()
        await run.task
        assert call.closed
        assert now() == pytest.approx(29 + 2 * 6.9 + 7, abs=0.01)
    assert [note["why"] for note in shop.notes.of("model_failed")] == ["the model was silent for 7 s"]


@in_a_workshop
async def test_a_store_that_is_away_is_not_the_models_silence(shop: Workshop) -> None:
    """While the worker waits to write what the model has said, the model owes it nothing."""
    model, door = Puppet(), shop.door()
    barrier = Barrier()
    tap(door.store, "move", before=barrier)
    async with executing(shop, model, door=door) as run:
        call = await model.call(0)
        await call.say("a")
        await barrier.reached()
        await pass_time(60)
        assert not (call.closed or run.task.done())
        barrier.let_go()
        await call.say("b")
        await call.end()
        await run.task
    assert await shop.log(run.run_id) == [*deltas(run.run_id, 0, "a", "b"), done(run.run_id, 2)]


@in_a_workshop
async def test_an_attempt_ends_after_ten_minutes(shop: Workshop) -> None:
    """A model that never stops talking is stopped, reruns included."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        for _ in range(3):
            await pass_time(9)
            await call.give(Working())
        await shop.accept("no, wait")
        call = await model.call(1)
        while not call.closed:
            await call.give(Working())
            await pass_time(20)
        await run.task
        assert 600 <= now() < 621
    assert [note["why"] for note in shop.notes.of("model_failed")] == ["the reply was not complete after 600 s"]
    assert [note["why"] for note in shop.notes.of("run_given_back")] == ["retry"]


@in_a_workshop
async def test_the_last_silence_ends_the_run(shop: Workshop) -> None:
    """After three attempts the run fails, and says why in words for people."""
    model, claim = Puppet(), await third_attempt(shop)
    async with executing(shop, model, claim) as run:
        call = await model.call(0)
        await call.say("a")
        await run.task
        assert call.closed
    run_id = run.run_id
    assert await shop.log(run_id) == [
        rerun(run_id, 0, "takeover", 3), delta(run_id, 1, "a"), failed(run_id, 2, "the model was silent for 30 s"),
    ]  # fmt: skip
    assert await shop.status(run_id) is RunStatus.FAILED


class Punctual:
    """A model that ends its reply in the moment in which it would have been silent for too long."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Say one thing, and take its time to end."""
        yield Fragment("a")
        await asyncio.sleep(30)


@in_a_workshop
async def test_a_reply_that_ends_in_the_last_moment_has_ended(shop: Workshop) -> None:
    """What is complete is not thrown away for having been slow."""
    async with executing(shop, Punctual()) as run:
        await run.task
    assert await shop.log(run.run_id) == [delta(run.run_id, 0, "a"), done(run.run_id, 1)]


@in_a_workshop
async def test_a_wish_to_stop_wins_over_silence(shop: Workshop) -> None:
    """Both are seen at the same look: the run ends as its user wished."""
    with_settings(shop, look_every=timedelta(seconds=8), first_piece_wait=timedelta(seconds=7))
    model = Puppet()
    async with executing(shop, model) as run:
        await model.call(0)
        await shop.cancel(run.run_id)
        await run.task
    assert await shop.log(run.run_id) == [cancelled(run.run_id, 0)]


# --- Runs of others ---------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_run_that_is_taken_over_starts_again(shop: Workshop) -> None:
    """W1: the text so far is void, seqs go on behind what waiters saw, and the model gets all messages."""
    model = Puppet()
    async with executing(shop, model):
        await (await model.call(0)).say("a", "b")
    await shop.accept("no, wait")
    async with executing(shop, model, await taken_over(shop)) as run:
        call = await model.call(1)
        assert (call.request.attempt, call.texts) == (2, ["hello", "no, wait"])
        await call.say("c")
        await call.end()
        await run.task
    run_id = run.run_id
    assert await shop.log(run_id) == [
        *deltas(run_id, 0, "a", "b"), rerun(run_id, 2, "takeover", 2), delta(run_id, 3, "c"), done(run_id, 4),
    ]  # fmt: skip
    assert await shop.stream(run_id) == await shop.log(run_id)


@in_a_workshop
@pytest.mark.parametrize("attempts", [1, 3])
async def test_a_run_that_was_asked_to_stop_is_not_started_again(shop: Workshop, attempts: int) -> None:
    """W3, W5: its owner died with the wish; the next one ends it cancelled and asks no model, whatever the attempt."""
    model = Puppet()
    claim = await shop.claimed()
    await shop.cancel(claim.run.id, told=False)
    for _ in range(attempts):
        claim = await taken_over(shop)
    async with executing(shop, model, claim) as run:
        await run.task
    assert (model.calls, await shop.log(run.run_id)) == ([], [cancelled(run.run_id, 0)])
    following = await shop.accept("and now")
    assert (await shop.ledger.claim("w", LEASE, "s")) is not None
    assert not following.merged


@in_a_workshop
@pytest.mark.parametrize("known_to", ["bus", "store"])
async def test_an_execution_that_has_lost_its_run_ends(shop: Workshop, known_to: str) -> None:
    """W2: whichever refuses it first, it stops the silent model, says so in the log, and returns."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.say("a")
        if known_to == "bus":
            await shop.ports.output.raise_fence(run.run_id, 2)
        else:
            await taken_over(shop)
        await call.say("b", "c")
        await run.task
        assert call.closed
    (lost,) = shop.notes.of("run_lost")
    assert (lost["run_id"], lost["attempt"]) == (run.run_id, 1)


@in_a_workshop
async def test_a_take_over_of_a_lost_run_ends(shop: Workshop) -> None:
    """Lost before the first event: the model is not asked, and the log says so."""
    model = Puppet()
    claim = await shop.claimed()
    await shop.ledger.begin_streaming(claim.run.id, 1)
    await shop.ports.output.append(deltas(claim.run.id, 0, "a"), 1)
    claim = await taken_over(shop)
    await taken_over(shop)
    async with executing(shop, model, claim) as run:
        await run.task
    assert (model.calls, await shop.log(run.run_id)) == ([], [])
    assert [note["attempt"] for note in shop.notes.of("run_lost")] == [2]


# --- Being stopped ----------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_an_execution_that_is_cancelled_leaves_the_run_as_it_stands(shop: Workshop) -> None:
    """The model is closed, nothing more is written, and the run is still claimed."""
    model = Puppet()
    async with executing(shop, model) as run:
        call = await model.call(0)
        await call.say("a")
        run.task.cancel()
        await asyncio.wait((run.task,))
        assert (run.task.cancelled(), call.closed) == (True, True)
    await pass_time(60)
    stored = await shop.stored(run.run_id)
    assert (stored.run.status, stored.run.attempt, stored.last_seq) == (RunStatus.STREAMING, 1, None)


class Slow:
    """A model that takes a minute to stop, less when it is told to hurry, and never less than a second."""

    def __init__(self) -> None:
        self.closed = False

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Say one thing, and wait."""
        try:
            yield Fragment("a")
            await asyncio.Event().wait()
        finally:
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(1)
                self.closed = True


@in_a_workshop
@pytest.mark.parametrize(("cancels", "seconds"), [(1, 61), (2, 1)])
async def test_a_model_is_stopped_before_its_execution_ends(shop: Workshop, cancels: int, seconds: float) -> None:
    """However long its clean-up takes nobody is left behind; being stopped twice hurries it."""
    model = Slow()
    async with executing(shop, model) as run:
        await pass_time(0.1)
        for _ in range(cancels):
            run.task.cancel()
            await settle()
        await asyncio.wait((run.task,))
        assert (run.task.cancelled(), model.closed) == (True, True)
        assert now() == pytest.approx(0.1 + seconds, abs=0.01)


@in_a_workshop
async def test_an_execution_can_be_stopped_while_its_model_closes(shop: Workshop) -> None:
    """In the middle of a rerun, too: it hurries the model, and the model is not called again."""
    model = Slow()
    async with executing(shop, model) as run:
        await pass_time(0.1)
        await shop.accept("no, wait")
        await pass_time(5)
        run.task.cancel()
        await pass_time(1.1)
        assert (run.task.done(), model.closed) == (True, True)
        assert run.task.cancelled()
    assert await shop.log(run.run_id) == deltas(run.run_id, 0, "a")


class Clumsy:
    """A model whose clean-up fails."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Say one thing, and wait."""
        try:
            yield Fragment("a")
            await asyncio.Event().wait()
        finally:
            raise ZeroDivisionError


@in_a_workshop
async def test_a_clean_up_that_fails_is_no_failure_of_the_run(shop: Workshop) -> None:
    """The model was stopped because nobody wants its reply any more; what it raises then is moot."""
    async with executing(shop, Clumsy()) as run:
        await settle()
        await shop.cancel(run.run_id)
        await run.task
    gc.collect(1)  # an error that nobody looked at would be told now, and fail this test
    assert await shop.log(run.run_id) == [delta(run.run_id, 0, "a"), cancelled(run.run_id, 1)]
    assert shop.notes.of("model_crashed") == shop.notes.of("model_failed") == []


@in_a_workshop
async def test_a_fault_of_an_adapter_stops_the_model_and_comes_out(shop: Workshop) -> None:
    """What nobody foresaw is seen by whoever runs the execution."""

    async def crash() -> None:
        raise ZeroDivisionError

    model, door = Puppet(), shop.door()
    tap(door.store, "append", before=times(1, crash))
    async with executing(shop, model, door=door) as run:
        call = await model.call(0)
        await call.say("a")
        await asyncio.wait((run.task,))
        assert call.closed
        error = run.task.exception()
    assert isinstance(error, ExceptionGroup)
    assert [type(inner) for inner in error.exceptions] == [ZeroDivisionError]
