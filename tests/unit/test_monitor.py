"""Reports from inside a run: where they come out, and that they hurt nobody."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextvars import copy_context
from datetime import timedelta
from typing import Final

import pytest

from shared.events import Event, EventKind, Json, encode_data
from shared.run import RunStatus
from shared.settings import Settings
from tests.support.inside import Acting, kinds, told
from tests.support.moved_loop import pass_time, settle
from tests.support.scenes import on
from tests.support.taps import once, refuse, tap, times
from tests.support.workshop import LEASE, Workshop, open_workshop, store_away, with_settings, working
from worker import lane, monitor
from worker.models.port import Fragment, ModelFailed, Piece, Request, ToolCall
from worker.monitor import line, report

in_a_workshop = on(open_workshop)


def think(message: str, text: str = "…") -> None:
    """Report a thought."""
    report(EventKind.THINKING, message, {"text": text})


def thought(message: str, text: str = "…") -> tuple[str, dict[str, Json]]:
    """Return what it becomes on the log."""
    return "thinking", {"message": message, "text": text}


def said(text: str) -> tuple[str, dict[str, Json]]:
    """Return a fragment on the log."""
    return "delta", {"text": text}


NOTHING: Final[Sequence[Piece]] = ()
"""What a model says that says nothing: without a `yield` in it, it were none."""

DONE: tuple[str, dict[str, Json]] = ("done", {"usage": {}})


async def log_of(shop: Workshop, model: Acting, seconds: float = 1.0) -> list[tuple[str, dict[str, Json]]]:
    """Have a worker execute one run of this model, and return what its log says. Stream and store agree."""
    async with working(shop, model):
        run_id = (await shop.accept()).run_id
        await pass_time(seconds)
        log = await shop.log(run_id)
        assert await shop.stream(run_id) == log
        return told(log)


# --- Order ------------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_report_is_an_event_of_the_run_around_it(shop: Workshop) -> None:
    """Each of the three kinds, with its message first, between the fragments where the run made it."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        think("I look", "into it")
        yield Fragment("a")
        report(EventKind.TOOL_STARTED, "looking", {"key": "k", "name": "look", "arguments": {"order": 1}})
        report(EventKind.TOOL_ENDED, "found", {"ok": True, "result": ["x"], "key": "k", "name": "look"})
        yield Fragment("b")
        think("I am done")

    assert await log_of(shop, Acting(deed)) == [
        thought("I look", "into it"),
        said("a"),
        ("tool_started", {"message": "looking", "key": "k", "name": "look", "arguments": {"order": 1}}),
        ("tool_ended", {"message": "found", "ok": True, "result": ["x"], "key": "k", "name": "look"}),
        said("b"),
        thought("I am done"),
        DONE,
    ]


@in_a_workshop
async def test_a_report_is_told_at_once(shop: Workshop) -> None:
    """It does not wait for the model's next piece."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        think("this may take a while")
        await asyncio.Event().wait()
        yield Fragment("never")

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await settle()
        assert told(await shop.stream(run_id)) == [thought("this may take a while")]


@in_a_workshop
async def test_a_report_does_not_move_the_run_to_streaming(shop: Workshop) -> None:
    """That says that the reply has begun, and it has not; a run that says nothing else goes from running to done."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        think("nothing to say")
        await asyncio.sleep(1)
        for piece in NOTHING:
            yield piece

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await settle()
        assert await shop.status(run_id) is RunStatus.RUNNING
        await pass_time(2)
        assert [row.target for row in shop.store.transitions(run_id)] == ["running", "done"]


@in_a_workshop
async def test_tasks_of_the_run_report_to_it(shop: Workshop) -> None:
    """Several at once, while pieces are given, too: each report stands where it was made."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        async def work(name: str, turns: int) -> None:
            for turn in range(turns):
                think(f"{name}{turn}")
                await asyncio.sleep(1)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(work("a", 2))
            await asyncio.sleep(0.5)
            yield Fragment("x")
            tasks.create_task(work("b", 2))
            await asyncio.sleep(1)
            yield Fragment("y")

    assert await log_of(shop, Acting(deed), 5) == [
        *(thought("a0"), said("x"), thought("b0"), thought("a1"), said("y"), thought("b1"), DONE),
    ]


@in_a_workshop
async def test_two_runs_do_not_hear_each_other(shop: Workshop) -> None:
    """Each report goes to the run that it was made in."""

    async def deed(request: Request) -> AsyncGenerator[Piece]:
        for _ in range(3):
            think(request.messages[0].text)
            await asyncio.sleep(1)
        yield Fragment("x")

    async with working(shop, Acting(deed)):
        runs = {text: (await shop.accept(text, text)).run_id for text in ("one", "two")}
        await pass_time(5)
        for text, run_id in runs.items():
            assert told(await shop.log(run_id)) == [*[thought(text)] * 3, said("x"), DONE]


@in_a_workshop
async def test_a_report_does_not_part_the_halves_of_an_emoji(shop: Workshop) -> None:
    """C3: the text is what it would be without the report; a tool call, which is part of the reply, does part them."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment("a\ud83d")
        think("in between")
        yield Fragment("\ude00")
        yield Fragment("\ud83d")
        think("and again")
        yield ToolCall("k", "look", "{}")

    assert await log_of(shop, Acting(deed)) == [
        *(said("a"), thought("in between"), said("😀"), thought("and again"), said("\ufffd")),
        *(("tool", {"key": "k", "name": "look", "arguments": {}}), DONE),
    ]


@in_a_workshop
async def test_reports_wait_with_the_fragments_while_the_store_is_away(shop: Workshop) -> None:
    """In their order, none twice, however often the store has to be asked."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        for number in range(200):
            think(f"{number}")
            yield Fragment(f"{number}")
            await asyncio.sleep(0.01)

    door = shop.door()
    tap(door.store, "append", before=times(3, refuse))
    tap(door.store, "append", after=times(3, refuse))
    async with working(shop, Acting(deed), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(0.5)
        store_away(door, True)
        await pass_time(8)
        store_away(door, False)
        await pass_time(20)
        assert told(await shop.log(run_id)) == [
            *(event for number in range(200) for event in (thought(f"{number}"), said(f"{number}"))),
            DONE,
        ]


@in_a_workshop
async def test_what_a_model_reports_as_it_fails_is_told(shop: Workshop) -> None:
    """It is what people look for; the next attempt reports anew."""

    async def failing(_: Request) -> AsyncGenerator[Piece]:
        think("this will not do")
        for piece in NOTHING:
            yield piece
        raise ModelFailed("it did not")

    async def working_out(_: Request) -> AsyncGenerator[Piece]:
        think("this will")
        yield Fragment("a")

    assert await log_of(shop, Acting(failing, working_out), 20) == [
        *(thought("this will not do"), ("rerun", {"reason": "retry", "attempt": 2})),
        *(thought("this will"), said("a"), DONE),
    ]  # fmt: skip


@in_a_workshop
async def test_what_a_model_reports_as_it_is_stopped_is_told(shop: Workshop) -> None:
    """A tool that was at work says how it ended, before the run says so."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        try:
            await asyncio.Event().wait()
            yield Fragment("")
        finally:
            report(EventKind.TOOL_ENDED, "stopped", {"key": "k", "name": "look", "result": None, "ok": False})

    async with working(shop, Acting(deed)):
        run_id = (await shop.accept()).run_id
        await settle()
        await shop.cancel(run_id)
        await pass_time(1)
        assert kinds(await shop.log(run_id)) == ["tool_ended", "cancelled"]


# --- Nobody listens ---------------------------------------------------------------------------------------------------


def test_a_report_outside_a_run_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """There is not even an event loop here."""
    with caplog.at_level("INFO", "koda"):
        think("anybody there?")
    assert [record.getMessage() for record in caplog.records] == ["report_dropped"]


@in_a_workshop
async def test_a_task_that_outlives_its_run_is_not_heard(shop: Workshop) -> None:
    """Neither after the end, nor in the course that came after its own."""
    left: list[asyncio.Task[None]] = []

    async def talk() -> None:
        while True:
            think("I am still here")
            await asyncio.sleep(1)

    async def leaving(_: Request) -> AsyncGenerator[Piece]:
        left.append(asyncio.create_task(talk()))
        await asyncio.sleep(1.5)
        for piece in NOTHING:
            yield piece
        raise ModelFailed("gone")

    async def quiet(_: Request) -> AsyncGenerator[Piece]:
        await asyncio.sleep(5)
        yield Fragment("a")

    log = await log_of(shop, Acting(leaving, quiet), 30)
    left[0].cancel()
    await asyncio.wait(left)
    assert log == [*[thought("I am still here")] * 2, ("rerun", {"reason": "retry", "attempt": 2}), said("a"), DONE]
    assert len(shop.notes.of("report_dropped")) > 20


@in_a_workshop
async def test_a_foreign_thread_is_not_in_the_run_and_a_copied_context_is(shop: Workshop) -> None:
    """A bare thread reports to nobody; one that was given the context, or `to_thread`, reports to the run."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        context = copy_context()
        for target in (lambda: think("bare"), lambda: context.run(think, "copied")):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        yield Fragment("a")

    assert await log_of(shop, Acting(deed)) == [thought("copied"), said("a"), DONE]
    assert len(shop.notes.of("report_dropped")) == 1


@in_a_workshop
async def test_a_thread_that_outlives_its_loop_hurts_nobody(shop: Workshop) -> None:
    """Its report is dropped where there is nobody left to write it."""
    contexts = []

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        contexts.append(copy_context())
        yield Fragment("a")

    await log_of(shop, Acting(deed))
    thread = threading.Thread(target=contexts[0].run, args=(think, "late"))
    thread.start()
    thread.join()
    assert len(shop.notes.of("report_dropped")) == 1


@in_a_workshop
async def test_the_bus_may_be_away(shop: Workshop) -> None:
    """The store gets all reports, and the stream when it is back."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        for number in range(5):
            think(f"{number}")
            await asyncio.sleep(1)
        yield Fragment("a")

    async with working(shop, Acting(deed)):
        shop.bus.away(True)
        run_id = (await shop.accept(told=False)).run_id
        await pass_time(20)
        shop.bus.away(False)
        await pass_time(5)
        assert told(await shop.log(run_id)) == [*(thought(f"{number}") for number in range(5)), said("a"), DONE]
        assert await shop.stream(run_id) == await shop.log(run_id)


@in_a_workshop
async def test_whoever_reports_without_a_pause_is_heard_in_part(shop: Workshop) -> None:
    """Memory is bounded: what nobody had a chance to write is dropped, and the log says so."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        for number in range(lane.MOST_WAITING + 5):
            think(f"{number}")
        yield Fragment("a")

    log = await log_of(shop, Acting(deed))
    assert log == [*(thought(f"{number}") for number in range(lane.MOST_WAITING)), said("a"), DONE]
    assert len(shop.notes.of("report_dropped")) == 5


@in_a_workshop
async def test_a_worker_that_lost_the_run_reports_nothing(shop: Workshop) -> None:
    """W2: another one has it; its reports are refused with all else, and it learns of it by them."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        while True:
            await asyncio.sleep(1)
            think("I go on")
            for piece in NOTHING:
                yield piece

    async def other(_: Request) -> AsyncGenerator[Piece]:
        yield Fragment("b")

    with_settings(shop, renew_every=timedelta(seconds=14), lease=timedelta(seconds=14.5))
    async with working(shop, Acting(deed), "w1"):
        run_id = (await shop.accept()).run_id
        await pass_time(1.5)
        await shop.store.renew("w1", timedelta(0))
        claim = await shop.ledger.take_over("w2", LEASE)
        assert claim is not None
        await shop.ports.output.raise_fence(run_id, claim.run.attempt)
        await pass_time(3)
        assert [note["attempt"] for note in shop.notes.of("run_lost")] == [1]
    assert told(await shop.stream(run_id)) == [thought("I go on")]


# --- What cannot be reported ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "message", "data"),
    [
        (EventKind.DONE, "I end the run", {"usage": {}}),
        (EventKind.QUESTION, "I ask", {"question_id": "q", "question": "?", "default": "", "expires_at": ""}),
        ("thinking!", "no such kind", {"text": ""}),
        (None, "no kind", {"text": ""}),
        (EventKind.THINKING, "no text", {}),
        (EventKind.THINKING, "text is a number", {"text": 1}),
        (EventKind.THINKING, None, {"text": ""}),
        (EventKind.THINKING, "no data", None),
        (EventKind.THINKING, "no JSON", {"text": "", "more": object()}),
        (EventKind.TOOL_STARTED, "no arguments", {"key": "k", "name": "n"}),
        (EventKind.TOOL_ENDED, "ok is a word", {"key": "k", "name": "n", "result": 1, "ok": "yes"}),
    ],
)  # fmt: skip
def test_what_is_no_report_is_a_line_in_the_log(kind: EventKind, message: str, data: dict[str, Json]) -> None:
    """Nothing is written of it, nothing is raised, and the run goes on."""

    async def scene(shop: Workshop) -> None:
        async def deed(_: Request) -> AsyncGenerator[Piece]:
            report(kind, message, data)
            yield Fragment("a")

        assert await log_of(shop, Acting(deed)) == [said("a"), DONE]
        assert len(shop.notes.of("report_dropped")) == 1

    on(open_workshop)(scene)()


@in_a_workshop
async def test_what_no_text_can_hold_is_replaced(shop: Workshop) -> None:
    """C2, C3: NULs, lone surrogates and line ends, in message and data, as in a fragment."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        report(EventKind.THINKING, "a\x00\n  b\ud800", {"text": "\x00\u2028\ud800", "k\ud800": ["\udc00"]})
        yield Fragment("a")

    log = await log_of(shop, Acting(deed))
    data: dict[str, Json] = {"message": "a\ufffd b\ufffd", "text": "\ufffd\u2028\ufffd", "k\ufffd": ["\ufffd"]}
    assert log == [("thinking", data), said("a"), DONE]


@in_a_workshop
async def test_a_report_without_end_is_cut(shop: Workshop) -> None:
    """To what the settings give it, under a mark; what comes behind it in the data is there."""
    with_settings(shop, max_report=100)

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        result = "x" * 10_000_000
        report(EventKind.TOOL_ENDED, result, {"key": "k", "name": "n", "result": result, "ok": True})
        yield Fragment("a")

    data: dict[str, Json] = {"message": "x" * 199 + "…", "key": "k", "name": "n", "ok": True}
    data["result"] = "x" * 98 + "… (9999902 characters more)"
    assert await log_of(shop, Acting(deed)) == [("tool_ended", data), said("a"), DONE]


@pytest.mark.parametrize(
    ("message", "kept"),
    [("", ""), ("a\r\nb\tc ", "a b c"), ("x" * 200, "x" * 200), ("x" * 201, "x" * 199 + "…"), ("\ud83d\ude00", "😀")],
)
def test_a_message_is_one_line(message: str, kept: str) -> None:
    """Of 200 characters at the most."""
    assert line(message) == kept


# --- A monitor that is broken -----------------------------------------------------------------------------------------


def broken(*_: object, **__: object) -> None:
    """Fail."""
    raise ZeroDivisionError


def full(*_: object) -> None:
    """Fail as an encoder may."""
    raise MemoryError


@pytest.mark.parametrize(
    ("where", "what", "how"),
    [
        (lane.Lane, "put", broken),
        (monitor, "_checked", broken),
        (monitor, "encode_data", full),
        (monitor, "current", broken),
    ],
)
def test_a_monitor_that_always_fails_costs_the_run_nothing(
    monkeypatch: pytest.MonkeyPatch, where: object, what: str, how: Callable[[], None]
) -> None:
    """The same events but the reports, and the same `done`; not even a log that fails as well changes that."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        async def beside() -> None:
            for number in range(3):
                think(f"{number}")
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(beside())
            for number in range(3):
                think(f"before {number}")
                yield Fragment(f"{number}")
                await asyncio.sleep(0.1)
        yield ToolCall("k", "look", "{}")

    async def whole(shop: Workshop) -> None:
        logs.append([event for event in await log_of(shop, Acting(deed)) if event[0] != "thinking"])
        counts.append(len(shop.notes.of("report_dropped")))

    logs: list[list[tuple[str, dict[str, Json]]]] = []
    counts: list[int] = []
    on(open_workshop)(whole)()
    monkeypatch.setattr(where, what, how)
    on(open_workshop)(whole)()
    monkeypatch.setattr(monitor, "note", broken)
    on(open_workshop)(whole)()
    assert logs[0][-1] == DONE and len(logs[0]) == 5
    assert logs == [logs[0]] * 3
    assert counts == [0, 6, 0]


# --- Crashes ----------------------------------------------------------------------------------------------------------


@in_a_workshop
async def test_reports_survive_their_worker(shop: Workshop) -> None:
    """W1: those that waiters may have seen are copied to the store; the successor's are new ones, as its text is."""

    async def first(_: Request) -> AsyncGenerator[Piece]:
        think("one")
        yield Fragment("a")
        think("two")
        await asyncio.Event().wait()

    async def second(_: Request) -> AsyncGenerator[Piece]:
        think("one")
        yield Fragment("a")

    model = Acting(first, second)
    with_settings(shop, flush_every=timedelta(minutes=1))
    async with working(shop, model, "w1") as worker:
        run_id = (await shop.accept()).run_id
        await settle()
        await worker.die()
    assert await shop.log(run_id) == []
    async with working(shop, model, "w2"):
        await pass_time(25)
    assert told(await shop.log(run_id)) == [
        *(thought("one"), said("a"), thought("two"), ("rerun", {"reason": "takeover", "attempt": 2})),
        *(thought("one"), said("a"), DONE),
    ]
    assert await shop.stream(run_id) == await shop.log(run_id)


@in_a_workshop
async def test_a_report_whose_append_was_lost_is_one_row(shop: Workshop) -> None:
    """The answer was lost, the row was not: it is written again under the same seq, and is there once."""

    async def deed(_: Request) -> AsyncGenerator[Piece]:
        think("once")
        yield Fragment("a")

    door = shop.door()
    tap(door.store, "append", after=once(refuse))
    with_settings(shop, flush_every=timedelta(0))
    async with working(shop, Acting(deed), ports=door):
        run_id = (await shop.accept()).run_id
        await pass_time(5)
    assert told(await shop.log(run_id)) == [thought("once"), said("a"), DONE]


def test_the_default_bound_is_a_page_or_two_of_text() -> None:
    """A report of that size and the event around it fit what the bus takes."""
    most = Settings().max_report
    data = encode_data({"text": "x" * most})
    assert (most, len(Event("r", 0, EventKind.THINKING, data).data) < 2 * most) == (65_536, True)
