"""The scripted model: the lab's reply, word for word, and all that a model can do wrong, as data."""

import asyncio
import subprocess
import sys
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.events import reply_text
from shared.run import RunStatus
from tests.support.calm import calm
from tests.support.models import Outcome, asked, outcome, reply_of, said
from tests.support.moved_loop import Stuck, now, pass_time, run, settle
from tests.support.scenes import on
from tests.support.workshop import LEASE, Workshop, open_workshop, working
from worker.models.port import Finished, FinishReason, Fragment, ToolCall, Usage, Working
from worker.models.script import Crash, Fail, Say, Script, Stall, Step, Wait, split
from worker.models.scripted import SCRIPTS, ScriptedModel

AT_ONCE = timedelta(0)
REFUND = (
    "Thank you for writing in. I am sorry that the lamp arrived with a broken shade. I have opened a refund for your"
    " order 4711; the full amount will be back on your card within three working days."
)
EXCHANGE = (
    "Of course, no refund then. I have set up an exchange for your order 4711 instead: a new lamp leaves our"
    " warehouse tomorrow, and the courier takes the broken one back when it is delivered. There is nothing to pay."
)
OPENING = "Thank you for writing in. Let me look at your order."


def play(*steps: Step, finish: FinishReason = FinishReason.STOP, attempt: int = 1) -> Outcome:
    """Return what becomes of one call with this script, in moved time."""
    model = ScriptedModel(AT_ONCE, Script(steps, finish))
    return run(reply_of(model, "two words", attempt=attempt))


def end(fragments: int, reason: FinishReason = FinishReason.STOP) -> list[Finished | Usage]:
    """Return the end of a reply to "two words"."""
    return [Finished(reason), Usage(input_tokens=2, output_tokens=fragments)]


# --- The lab's reply --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "text", "words"),
    [
        (["My lamp arrived broken, I would like a refund."], REFUND, 38),
        (["hello", "and hello again"], REFUND, 38),
        (["about #stall and interchanges"], REFUND, 38),
        (["My lamp arrived broken, I would like a refund.", "Actually, please make it an exchange."], EXCHANGE, 40),
        (["an EXCHANGE, please", "thanks"], EXCHANGE, 40),
        (["another one instead"], EXCHANGE, 40),
        (["我想换货"], EXCHANGE, 40),
    ],
)
def test_the_reply_depends_on_the_messages_alone(messages: list[str], text: str, words: int) -> None:
    """A correction anywhere leads to the exchange; the text and its cut into 24 to 40 fragments are always the same."""
    first, second = (run(reply_of(ScriptedModel(AT_ONCE), *messages)) for _ in range(2))
    assert first == second
    *fragments, finished, usage = first.pieces
    assert finished == Finished(FinishReason.STOP)
    assert usage == Usage(input_tokens=sum(len(message.split()) for message in messages), output_tokens=words)
    assert said(fragments) == split(text)
    assert ("".join(said(fragments)), len(fragments)) == (text, words)
    assert 24 <= words <= 40


def test_fragments_come_at_a_pace() -> None:
    """The first one comes after one pause, and each further one after another."""

    async def times() -> list[float]:
        async with aclosing(ScriptedModel(timedelta(seconds=2)).stream(asked("hello"))) as pieces:
            return [now() async for piece in pieces if isinstance(piece, Fragment)]

    assert run(times()) == [2.0 * number for number in range(1, 39)]


@calm
@given(st.text())
def test_a_text_is_cut_into_words_and_loses_nothing(text: str) -> None:
    """Joined, the fragments are the text; a blank text has none."""
    assert "".join(split(text)) == (text if text.strip() else "")
    assert all(fragment.strip() for fragment in split(text))


# --- Steps ------------------------------------------------------------------------------------------------------------


def test_steps_are_played_in_order() -> None:
    """Words, pieces as they stand and tool calls come out as written; why it ends and what it cost come last."""
    call = ToolCall("a", "look_up", '{"order":1}')
    halves = (Fragment("\ud83d"), Fragment("\ude00"), Fragment(""))
    reply = play(Say("One moment."), Working(), call, *halves, Say(" Yes"), finish=FinishReason.TOOL_CALLS)
    assert reply == Outcome(
        [
            Fragment("One"),
            Fragment(" moment."),
            Working(),
            call,
            *halves,
            Fragment(" Yes"),
            *end(6, FinishReason.TOOL_CALLS),
        ]
    )


def test_a_script_without_steps_is_an_empty_reply() -> None:
    """A model that says nothing has ended well."""
    assert play() == Outcome([*end(0)])


def test_a_wait_takes_its_time() -> None:
    """Nothing is said meanwhile, and what follows comes right after."""

    async def waited() -> float:
        await reply_of(ScriptedModel(AT_ONCE, Script((Say("a"), Wait(timedelta(minutes=3)), Say("b")))), "hello")
        return now()

    assert run(waited()) == 180


@pytest.mark.parametrize("permanent", [False, True])
def test_a_failure_breaks_off(permanent: bool) -> None:
    """What came before it was said; what comes after it never is."""
    assert play(Say("one two"), Fail("overloaded", permanent=permanent), Say("three")) == Outcome(
        [Fragment("one"), Fragment(" two")], ("overloaded", permanent)
    )


@pytest.mark.parametrize(("attempt", "fails"), [(1, True), (2, True), (3, False)])
def test_a_failure_can_be_of_the_first_attempts_only(attempt: int, fails: bool) -> None:
    """So a script can show a run that is tried again and then succeeds."""
    failed, complete = Outcome([Fragment("a")], ("overloaded", False)), Outcome([Fragment("a"), Fragment("b"), *end(2)])
    assert play(Say("a"), Fail("overloaded", attempts=2), Say("b"), attempt=attempt) == (failed if fails else complete)


def test_a_stall_lasts_until_the_stream_is_closed() -> None:
    """It waits for nothing that could happen, and closing it leaves nothing behind."""
    with pytest.raises(Stuck):
        play(Say("a"), Stall(), Say("b"))

    async def closed() -> set[asyncio.Task[None]]:
        stream = ScriptedModel(AT_ONCE, Script((Stall(),))).stream(asked("hello"))
        reading = asyncio.create_task(outcome(stream))
        await settle()
        assert not reading.done()
        reading.cancel()
        await asyncio.wait((reading,))
        assert reading.cancelled()
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert run(closed()) == set()


def test_a_crash_is_no_failure_of_the_port() -> None:
    """It stands for a bug in an adapter: an error that nobody declared."""
    with pytest.raises(RuntimeError, match=r"^a bug$"):
        play(Say("a"), Crash("a bug"))


# --- Scripts that a message can ask for -------------------------------------------------------------------------------

PLAYED = {
    "#tool": (OPENING, None, FinishReason.TOOL_CALLS),
    "#slow": (OPENING + REFUND, None, FinishReason.STOP),
    "#cut": (OPENING, None, FinishReason.LENGTH),
    "#fail": (OPENING, ("the model is overloaded", False), None),
    "#fail-once": (OPENING, ("the model is overloaded", False), None),
    "#refuse": (OPENING, ("the model will not answer this", True), None),
}


@pytest.mark.parametrize("word", PLAYED)
def test_a_first_word_chooses_a_script(word: str) -> None:
    """The newest message's first word, whatever else it and older messages say."""
    text, failure, reason = PLAYED[word]
    reply = run(reply_of(ScriptedModel(AT_ONCE), "an exchange", f" {word} please"))
    assert ("".join(said(reply.pieces)), reply.failure) == (text, failure)
    assert [piece.reason for piece in reply.pieces if isinstance(piece, Finished)] == ([reason] if reason else [])
    calls = [piece for piece in reply.pieces if isinstance(piece, ToolCall)]
    assert calls == ([ToolCall("call-0", "order_status", '{"order":4711}')] if word == "#tool" else [])


def test_every_script_is_tried_here() -> None:
    """Those above, and the two that do not come to an end by themselves or crash."""
    assert SCRIPTS.keys() == {*PLAYED, "#stall", "#crash"}
    with pytest.raises(Stuck):
        run(reply_of(ScriptedModel(AT_ONCE), "#stall"))
    with pytest.raises(RuntimeError):
        run(reply_of(ScriptedModel(AT_ONCE), "#crash"))


def test_a_message_that_joins_ends_the_script() -> None:
    """A run that stalls can be brought on by saying anything else."""
    assert "".join(said(run(reply_of(ScriptedModel(AT_ONCE), "#stall", "hello?")).pieces)) == REFUND


# --- In a worker ------------------------------------------------------------------------------------------------------

in_a_workshop = on(open_workshop)


@in_a_workshop
async def test_a_run_whose_model_calls_a_tool_ends_well(shop: Workshop) -> None:
    """A worker takes every kind of piece, and the text is not touched by those that are none."""
    async with working(shop, ScriptedModel(AT_ONCE)):
        accepted = await shop.accept("#tool")
        await settle()
        assert await shop.status(accepted.run_id) is RunStatus.DONE
        assert reply_text(await shop.log(accepted.run_id)) == OPENING


@in_a_workshop
async def test_a_run_whose_model_fails_once_is_tried_again(shop: Workshop) -> None:
    """The second attempt plays the same script past its failure."""
    async with working(shop, ScriptedModel(AT_ONCE)):
        accepted = await shop.accept("#fail-once")
        await pass_time(2 * LEASE.total_seconds())
        stored = await shop.stored(accepted.run_id)
        assert (stored.run.status, stored.run.attempt) == (RunStatus.DONE, 2)
        assert reply_text(await shop.log(accepted.run_id)) == OPENING + REFUND


@in_a_workshop
@pytest.mark.parametrize(("word", "attempt"), [("#fail", 3), ("#crash", 3), ("#refuse", 1)])
async def test_a_run_whose_model_keeps_failing_fails(shop: Workshop, word: str, attempt: int) -> None:
    """After three attempts, or at once when another would be no use."""
    async with working(shop, ScriptedModel(AT_ONCE)):
        accepted = await shop.accept(word)
        await pass_time(4 * LEASE.total_seconds())
        stored = await shop.stored(accepted.run_id)
        assert (stored.run.status, stored.run.attempt) == (RunStatus.FAILED, attempt)


# --- Being quick to import --------------------------------------------------------------------------------------------

IMPORTS = """
import asyncio, sys
import shared.ports
before = set(sys.modules)
import worker.models.scripted
print(*sorted(set(sys.modules) - before))
"""


def test_imports_nothing_but_the_standard_library() -> None:
    """A self-check waits for no HTTP client and no further dependency of another model."""
    src = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], env={"PYTHONPATH": src}, capture_output=True, text=True, check=True
    )
    new = {name for name in done.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names}
    assert new == {
        "worker", "worker.models", "worker.models.port", "worker.models.script", "worker.models.scripted",
    }  # fmt: skip
