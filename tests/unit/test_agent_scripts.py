"""What the scripted model does inside a run: it thinks, uses tools, splits off sub-runs, asks, and answers."""

from datetime import timedelta

import pytest

from shared.events import Json, decode_data, reply_text
from shared.run import RunStatus
from tests.support.inside import answer, kinds, told
from tests.support.models import reply_of, said
from tests.support.moved_loop import pass_time, run
from tests.support.scenes import on
from tests.support.workshop import Workshop, open_workshop, working
from worker import monitor
from worker.course import NotInside
from worker.models.agent import AGENT_SCRIPTS
from worker.models.script import Act, Script, Tell
from worker.models.scripted import AGENTS, SCRIPTS, ScriptedModel

in_a_workshop = on(open_workshop)

AT_ONCE = timedelta(0)
OPENING = "Thank you for writing in. I am having this looked into."
WELL = "The courier: All is well. The warehouse: All is well."
BACK = "You would like your money back: it is on its way."


async def played(shop: Workshop, word: str, answered: str | None = None) -> str:
    """Have a worker play a script to its end, answer what it asks unless None, and return the run's id."""
    async with working(shop, ScriptedModel(AT_ONCE)):
        run_id = (await shop.accept(f"{word} please")).run_id
        await pass_time(10)
        if answered is not None:
            await answer(shop, run_id, answered)
        await pass_time(150)
        assert await shop.stream(run_id) == await shop.log(run_id)
    return run_id


def outline(names: list[str]) -> list[str]:
    """Return kinds with fragments that follow one another as one."""
    short = ["delta" if name.startswith("'") else name for name in names]
    return [name for place, name in enumerate(short) if name != "delta" or short[place - 1 : place] != ["delta"]]


@in_a_workshop
@pytest.mark.parametrize(
    ("word", "insurance", "failed"),
    [
        ("#agent", "The insurance: All is well.", 0),
        ("#agent-fail", "The insurance: not known (the model will not answer this).", 1),
    ],
)
async def test_the_agent_does_all_that_a_run_can_do(shop: Workshop, word: str, insurance: str, failed: int) -> None:
    """It thinks, uses two tools, splits off three tasks, asks once, and says what came of all that."""
    run_id = await played(shop, word, "the green one {results}")
    log = await shop.log(run_id)
    tool = ["tool_started", "tool_ended"]
    assert outline(kinds(log)) == [
        *("thinking", *tool, *tool, "delta", *["forked"] * 3, "question", "answer", "delta", "done"),
    ]
    end = "You would like the green one {results}: it is on its way."
    assert reply_text(log) == f"{OPENING} {WELL} {insurance} {end}"
    subtasks = decode_data(log[-1].data)["subtasks"]
    tokens: dict[str, Json] = {"input_tokens": 2 * (3 - failed), "output_tokens": 3 * (3 - failed)}
    assert subtasks == {"count": 3, "failed": failed, "usage": tokens}
    parts = [found.stored for found in await shop.store.forks_of(run_id)]
    assert [part.run.status for part in parts] == ["done", "done", "failed" if failed else "done"]
    assert outline(kinds(await shop.log(parts[0].run.id))) == ["thinking", "delta", "done"]


@in_a_workshop
async def test_an_agent_whose_reports_all_fail_does_the_same(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log lacks the reports and nothing else: questions and sub-runs are part of what it does."""
    heard = await shop.log(await played(shop, "#agent", "the green one"))

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(monitor, "_checked", broken)
    unheard = await shop.log(await played(shop, "#agent", "the green one"))
    assert {event.kind for event in heard} - {event.kind for event in unheard} == {*monitor.MEMBERS}
    assert kinds(unheard) == kinds([event for event in heard if event.kind not in monitor.MEMBERS])
    assert unheard[-1].data == heard[-1].data
    assert len(shop.notes.of("report_dropped")) == 5 + 3


@in_a_workshop
async def test_the_agent_goes_on_without_an_answer(shop: Workshop) -> None:
    """After two minutes, with what it would do by itself."""
    run_id = await played(shop, "#agent")
    assert reply_text(await shop.log(run_id)).endswith(BACK)


@in_a_workshop
@pytest.mark.parametrize(
    ("word", "names", "text"),
    [
        ("#think", ["thinking", "tool_started", "tool_ended", "delta"], "Your order was delivered on Monday."),
        ("#ask", ["delta", "question", "answer", "delta"], f"Thank you for writing in. {BACK}"),
        ("#fork", ["delta", "forked", "forked", "delta"], f"I am having this looked into. {WELL}"),
        ("#part", ["thinking", "delta"], "All is well."),
    ],
)
async def test_each_of_it_can_be_had_alone(shop: Workshop, word: str, names: list[str], text: str) -> None:
    """By the first word of a message."""
    run_id = await played(shop, word)
    log = await shop.log(run_id)
    assert (outline(kinds(log)), reply_text(log)) == ([*names, "done"], text)


@in_a_workshop
async def test_what_a_tool_is_told_and_answers_is_reported(shop: Workshop) -> None:
    """Under one key, which is the step's own; the line for people is the tool's name, then its answer."""
    run_id = await played(shop, "#think")
    _, started, ended, *_ = told(await shop.log(run_id))
    call = {"key": "step-1", "name": "order_status"}
    assert started == ("tool_started", {"message": "order_status", **call, "arguments": {"order": 4711}})
    result: dict[str, Json] = {"message": "delivered on Monday", **call, "result": "delivered on Monday", "ok": True}
    assert ended == ("tool_ended", result)


@in_a_workshop
async def test_a_message_that_joins_while_the_agent_asks_ends_its_script(shop: Workshop) -> None:
    """As it does every script; the question is not asked again, and the sub-runs have ended."""
    async with working(shop, ScriptedModel(AT_ONCE)):
        run_id = (await shop.accept("#agent")).run_id
        await pass_time(10)
        await shop.accept("a refund, please")
        await pass_time(2)
        assert await shop.status(run_id) is RunStatus.DONE
        assert "refund" in reply_text(await shop.log(run_id))


def test_the_words_are_those_of_the_scripts() -> None:
    """None is missing on either side, and none is taken twice."""
    assert AGENT_SCRIPTS.keys() == AGENTS
    assert not AGENTS & SCRIPTS.keys()


def test_outside_a_run_there_is_nobody_to_ask() -> None:
    """Whoever plays such a script needs a run around it; a report has none and is dropped."""
    with pytest.raises(NotInside):
        run(reply_of(ScriptedModel(AT_ONCE), "#ask"))
    with pytest.raises(NotInside):
        run(reply_of(ScriptedModel(AT_ONCE), "#agent"))
    assert said(run(reply_of(ScriptedModel(AT_ONCE), "#part")).pieces) == ["All", " is", " well."]


def test_what_was_not_kept_is_told_as_it_stands() -> None:
    """Braces in a text are nobody's fault."""
    model = ScriptedModel(AT_ONCE, Script((Tell("{answer} {x y} {}"),)))
    assert "".join(said(run(reply_of(model, "hello")).pieces)) == "{answer} {x y} {}"


def test_an_act_that_is_none_says_so() -> None:
    """The step itself does nothing: what there is to do is for who derives from it."""
    with pytest.raises(NotImplementedError):
        run(reply_of(ScriptedModel(AT_ONCE, Script((Act(),))), "hello"))
