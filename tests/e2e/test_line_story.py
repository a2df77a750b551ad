"""A session's line from end to end, with real clients: in memory, and on real services with a fleet.

What is promised of the line, and where each promise is held, is a table in `docs/wire.md`.
"""

import asyncio
import os
import re
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString
from uuid import uuid4

import httpx
import psycopg
import pytest
from psycopg import sql

from selfcheck.serving import serving
from shared.events import TERMINAL, EventKind, Json, decode_data
from tests.support.agents import Agents
from tests.support.dialling import Caller, deaf_socket, dialling
from tests.support.fleet import Fleet, open_fleet
from tests.support.fleet_stage import open_stage
from tests.support.lines import Frame
from tests.support.mayhem import SETTINGS, Mayhem
from tests.support.onlooking import Onlooker, question_of
from tests.support.patience import PATIENCE_S, until
from tests.support.processes import ROOT
from tests.support.real import services_to_break
from tests.support.watching import WAITER, Waiter

Bases = Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class House:
    """What a client sees: gateways, and a client that speaks to any of them. In memory there is no fleet."""

    bases: Bases
    client: httpx.AsyncClient
    fleet: Fleet | None = None

    async def send(self, session_id: str, text: str, if_active: str = "merge") -> str:
        """Send a message; return its run."""
        body = {"session_id": session_id, "text": text, "if_active": if_active}
        return str((await self.client.post("/chat", json=body)).raise_for_status().json()["run_id"])

    async def page(self, session_id: str) -> list[Frame]:
        """Return the session's events as its page has them."""
        page = (await self.client.get(f"/sessions/{session_id}/events")).raise_for_status().json()
        assert not page["more"]
        return [dict(entry) for entry in page["events"]]


Scene = Callable[[House], Coroutine[None, None, None]]
Play = Callable[[Scene], None]


async def bounded(playing: Coroutine[None, None, None]) -> None:
    """Play a scene that has an end."""
    async with asyncio.timeout(2 * PATIENCE_S):
        await playing


@contextmanager
def in_memory() -> Iterator[Play]:
    """Play on one process, as `selfcheck serve` starts it."""
    with pytest.MonkeyPatch.context() as environment, asyncio.Runner() as runner:
        environment.setenv("KODA_FRAGMENT_PACE", "0s")
        with serving("solution") as service:
            base = service.url("gateway")

            async def scened(scene: Scene) -> None:
                async with httpx.AsyncClient(base_url=base, trust_env=False, timeout=PATIENCE_S) as client:
                    try:
                        await bounded(scene(House(lambda: [base], client)))
                    finally:
                        left = [task for task in asyncio.all_tasks() if task.get_name() == WAITER]
                        for task in left:
                            task.cancel()
                        await asyncio.gather(*left, return_exceptions=True)

            yield lambda scene: runner.run(scened(scene))


def house_of(fleet: Fleet) -> House:
    """Return what a fleet is to a client."""
    return House(lambda: [f"http://{gateway.address}" for gateway in fleet.gateways], fleet.client, fleet)


@contextmanager
def on_services() -> Iterator[Play]:
    """Play on a fleet in which nobody loses a run by being slow: a lease is over when a test says so."""
    with open_stage(KODA_LEASE="60s") as stage:
        yield lambda scene: stage.play(lambda fleet: bounded(scene(house_of(fleet))))


@pytest.fixture(scope="module", params=[in_memory, on_services])
def play(request: pytest.FixtureRequest) -> Iterator[Play]:
    """Return what plays a scene in each house in turn, on processes that all scenes share."""
    opened: Callable[[], AbstractContextManager[Play]] = request.param
    with opened() as play:
        yield play


@pytest.fixture
def play_on_fleet(play: Play, request: pytest.FixtureRequest) -> Play:
    """Return what plays a scene in which processes die."""
    if request.node.callspec.params["play"] is in_memory:
        pytest.skip("there is one process in memory, and all dies with it")
    return play


def name() -> str:
    """Return a session that nobody has."""
    return str(uuid4())


def timeless(frames: Sequence[Frame]) -> list[Frame]:
    """Return frames without the time at which each was sent."""
    return [{name: value for name, value in frame.items() if name != "at"} for frame in frames]


def events(frames: Sequence[Frame]) -> list[Frame]:
    """Return what comes of the log, as a page has it."""
    return [
        {name: frame[name] for name in ("run_id", "seq", "kind", "data")}
        for frame in frames
        if frame["seq"] is not None
    ]


async def streamed(house: House, run_ids: Sequence[str]) -> list[Frame]:
    """Return the runs' events as their streams have them."""
    found: list[Frame] = []
    for run_id in run_ids:
        waiter = Waiter(house.client, run_id)
        await waiter.ended()
        for event in waiter.events:
            found.append({"run_id": run_id, "seq": int(event.id), "kind": event.event, "data": decode_data(event.data)})
    return found


def text_of(frames: Sequence[Frame]) -> str:
    """Return the reply behind the last rerun."""
    text = ""
    for frame in frames:
        if frame["kind"] == "rerun":
            text = ""
        if frame["kind"] == "delta":
            text += str(data_of(frame)["text"])
    return text


def data_of(frame: Frame) -> dict[str, Json]:
    """Return a frame's data."""
    data = frame["data"]
    assert isinstance(data, dict)
    return data


# --- One log, however it is read --------------------------------------------------------------------------------------


async def cut_everywhere(house: House, session_id: str, ends: int) -> list[Frame]:
    """Follow a line with a connection for every single frame, up to the end of so many runs."""
    frames: list[Frame] = []
    cursor = ""
    while sum(frame["kind"] in TERMINAL for frame in frames) < ends:
        base = house.bases()[len(frames) % len(house.bases())]
        async with dialling(base, session_id, True, cursor=cursor) as caller:
            assert (await caller.frame())["cursor"] == cursor
            frames.append(await caller.frame())
            cursor = caller.cursor
            caller.connection.transport.abort()  # with whatever else was on its way
    return frames


async def replayed(house: House, session_id: str, count: int) -> list[Frame]:
    """Return the first so many frames of a session, as one connection has them."""
    async with dialling(house.bases()[0], session_id) as caller:
        await caller.frame()
        return [await caller.frame() for _ in range(count)]


def test_a_line_is_the_log_wherever_it_is_cut(play: Play) -> None:
    """Connected before anything is sent: a run does all that a run can, one of its sub-runs fails, and another follows.

    Live, live with a connection for each frame, replayed in both ways, streamed and paged: all have the same events,
    each once, in one order.
    """

    async def scene(house: House) -> None:
        session_id = name()
        whole = Onlooker(house.bases, session_id)
        await whole.has(lambda whole: whole.connections == 1)
        cut = asyncio.create_task(cut_everywhere(house, session_id, 2), name=WAITER)
        runs = [await house.send(session_id, "#agent-fail")]
        await whole.answer(await whole.told("question"), "the green one")
        assert data_of(await whole.replied())["counted"] is True
        await whole.told_ends(1)
        runs.append(await house.send(session_id, "hello"))
        await whole.told_ends(2)
        frames = timeless(whole.frames)
        assert [frame["run_id"] for frame in whole.of("run_started")] == runs
        assert timeless(await cut) == frames
        assert timeless(await cut_everywhere(house, session_id, 2)) == frames
        assert timeless(await replayed(house, session_id, len(frames))) == frames
        assert events(frames) == await streamed(house, runs) == await house.page(session_id)
        assert_agent(whole, runs[0])

    play(scene)


def assert_agent(whole: Onlooker, run_id: str) -> None:
    """See that a run has done all that `#agent-fail` says."""
    frames = [frame for frame in whole.frames if frame["run_id"] == run_id]
    told = [kind for frame in frames if (kind := frame["kind"]) != "delta"]
    tools = ["tool_started", "tool_ended"] * 2
    assert told == ["run_started", "thinking", *tools, *["forked"] * 3, "question", "answer", "done"]
    assert "The courier: All is well. The warehouse: All is well. The insurance: not known (" in text_of(frames)
    assert text_of(frames).endswith("You would like the green one: it is on its way.")
    subtasks = data_of(frames[-1])["subtasks"]
    assert isinstance(subtasks, dict) and (subtasks["count"], subtasks["failed"]) == (3, 1)
    assert {frame["run_id"] for frame in whole.frames}.isdisjoint(
        data_of(fork)["run_id"] for fork in whole.of("forked")
    )


def test_a_page_that_is_loaded_again_has_one_line(play: Play) -> None:
    """Its new socket is there before the old one says goodbye, and loses nothing by that: it is asked, and told all."""

    async def scene(house: House) -> None:
        session_id, base = name(), house.bases()[0]
        async with AsyncExitStack() as stack:
            old = await stack.enter_async_context(dialling(base, session_id))
            run_id = await house.send(session_id, "#ask")
            await old.until("delta")
            new = await stack.enter_async_context(dialling(base, session_id, True, cursor=old.cursor))
            assert (await new.frame())["cursor"] == old.cursor
            asked = (await new.until("question"))[-1]
            await old.connection.close()
            await new.say({"type": "answer", "question_id": question_of(asked), "text": "the green one"})
            await new.until("done", run_id)
            following = await house.send(session_id, "hello")
            await new.until("done", following)
            both = [*old.frames[: position(old, new)], *new.frames[1:]]
            assert events([frame for frame in both if frame["type"] == "event"]) == await house.page(session_id)

    play(scene)


def position(old: Caller, new: Caller) -> int:
    """Return how many of the old one's frames were read when the new one took its cursor."""
    return 1 + max(n for n, frame in enumerate(old.frames) if frame["cursor"] == new.frames[0]["cursor"])


# --- Questions --------------------------------------------------------------------------------------------------------


def test_a_cancel_ends_a_run_that_asks(play: Play) -> None:
    """At once: nobody waits for the answer, who gives it later is told so, and the next message is taken."""

    async def scene(house: House) -> None:
        session_id = name()
        onlooker = Onlooker(house.bases, session_id)
        run_id = await house.send(session_id, "#ask")
        asked = await onlooker.told("question")
        assert (await house.client.post(f"/runs/{run_id}/cancel")).status_code in (200, 202)
        await onlooker.told("cancelled")
        await onlooker.answer(asked, "the green one")
        reply = await onlooker.replied()
        assert (reply["type"], data_of(reply)["code"]) == ("error", "question_closed")
        late = await house.client.post(f"/runs/{run_id}/answers", json={"question_id": question_of(asked), "text": "x"})
        assert (late.status_code, "answer" in late.json()) == (409, False)
        await house.send(session_id, "hello")
        await onlooker.told("done")
        assert onlooker.kinds() == ["run_started", "question", "cancelled", "run_started", "done"]

    play(scene)


def test_a_message_joins_a_run_that_asks(play: Play) -> None:
    """It voids the question, which comes again under its id; of two who answer at once, one is told who was first."""

    async def scene(house: House) -> None:
        session_id = name()
        first, second = Onlooker(house.bases, session_id), Onlooker(house.bases, session_id, 1)
        run_id = await house.send(session_id, "#ask")
        asked = await first.told("question")
        assert await house.send(session_id, "#ask and hurry") == run_id
        await first.told("rerun")
        again = await first.told("question", 2)
        assert question_of(again) == question_of(asked)
        await asyncio.gather(first.answer(again, "green"), second.answer(again, "red"))
        replies = [data_of(await onlooker.replied()) for onlooker in (first, second)]
        assert {reply["counted"] for reply in replies} == {True, False}
        assert len({reply["text"] for reply in replies}) == 1
        await asyncio.gather(first.told_ends(1), second.told_ends(1))
        assert timeless(first.frames) == timeless(second.frames)

    play(scene)


async def expired(fleet: Fleet, question_id: str) -> None:
    """Have the time of a question be over."""
    await changed(fleet, "UPDATE {}.questions SET expires_at = now() WHERE id = %s", question_id)


async def lapsed(fleet: Fleet, run_id: str) -> None:
    """Have the lease of a run's dead owner be over, whatever is still under way of his."""
    await changed(fleet, "UPDATE {}.runs SET owner = NULL, leased_until = now() WHERE id = %s", run_id)


async def changed(fleet: Fleet, query: LiteralString, value: str) -> None:
    """Change a row of the store."""
    statement = sql.SQL(query).format(sql.Identifier(fleet.prefix))
    async with await psycopg.AsyncConnection.connect(fleet.services.database_url) as connection:
        assert (await connection.execute(statement, [value])).rowcount == 1


def test_a_question_that_nobody_answers_has_its_default(play_on_fleet: Play) -> None:
    """When its time is over the run goes on with it; the log says so, and whoever answers then is told that too."""

    async def scene(house: House) -> None:
        assert house.fleet is not None
        session_id = name()
        onlooker = Onlooker(house.bases, session_id)
        await house.send(session_id, "#ask")
        asked = await onlooker.told("question")
        await expired(house.fleet, question_of(asked))
        answer = data_of(await onlooker.told("answer"))
        assert (answer["answered"], answer["text"]) == (False, data_of(asked)["default"])
        await onlooker.told("done")
        assert text_of(onlooker.frames).endswith("You would like your money back: it is on its way.")
        await onlooker.answer(asked, "the green one")
        assert data_of(await onlooker.replied())["code"] == "question_closed"

    play_on_fleet(scene)


def test_a_question_is_answered_through_another_gateway(play_on_fleet: Play) -> None:
    """The first is killed with its sockets: the client comes back elsewhere, answers there, and all is one log."""

    async def scene(house: House) -> None:
        assert house.fleet is not None
        session_id = name()
        doomed, bases = await house.fleet.hire("gateway"), house.bases()
        onlooker = Onlooker(lambda: [f"http://{doomed.address}"] if doomed.alive else bases[:-1], session_id)
        run_id = await house.send(session_id, "#ask")
        asked = await onlooker.told("question")
        await house.fleet.dismiss(doomed)
        await onlooker.has(lambda onlooker: onlooker.connections == 2)
        await onlooker.answer(asked, "the green one")
        assert data_of(await onlooker.replied())["counted"] is True
        await onlooker.told("done")
        assert text_of(onlooker.frames).endswith("You would like the green one: it is on its way.")
        assert onlooker.kinds() == ["run_started", "question", "answer", "done"]
        assert events(onlooker.frames) == await streamed(house, [run_id]) == await house.page(session_id)

    play_on_fleet(scene)


def test_a_question_is_answered_after_a_take_over(play_on_fleet: Play) -> None:
    """Its worker is killed: the successor asks under the same id and deadline, and has the answer of the socket."""

    async def scene(house: House) -> None:
        assert house.fleet is not None
        session_id = name()
        onlooker = Onlooker(house.bases, session_id)
        run_id = await house.send(session_id, "#ask")
        asked = await onlooker.told("question")
        await (await house.fleet.owner(run_id)).kill()
        await lapsed(house.fleet, run_id)
        again = await onlooker.told("question", 2)
        assert data_of(again) == data_of(asked)
        await onlooker.answer(again, "the green one")
        await onlooker.told("done")
        assert text_of(onlooker.frames).endswith("You would like the green one: it is on its way.")
        assert onlooker.kinds() == ["run_started", "question", "rerun", "question", "answer", "done"]
        assert events(onlooker.frames) == await streamed(house, [run_id]) == await house.page(session_id)

    play_on_fleet(scene)


# --- The monitor ------------------------------------------------------------------------------------------------------

BROKEN = """
import worker.monitor

def fail(*_: object) -> None:
    raise ZeroDivisionError

worker.monitor.encode_data = fail
"""


def test_an_agent_whose_monitor_fails_does_the_same(play_on_fleet: Play, tmp_path: Path) -> None:
    """Every report raises in the worker: the same events but the reports, and the same `done`."""

    async def told(house: House, session_id: str) -> list[tuple[str, Json]]:
        onlooker = Onlooker(house.bases, session_id)
        await house.send(session_id, "#agent")
        await onlooker.answer(await onlooker.told("question"), "the green one")
        await onlooker.told("done")
        plain = ("message", "run_id", "question_id", "expires_at", "created_at")
        data = [{k: v for k, v in data_of(frame).items() if k not in plain} for frame in onlooker.frames]
        return [(str(frame["kind"]), told) for frame, told in zip(onlooker.frames, data, strict=True)]

    async def scene(house: House) -> None:
        fleet = house.fleet
        assert fleet is not None
        whole = await told(house, name())
        for worker in fleet.workers:
            await fleet.dismiss(worker)
        (tmp_path / "sitecustomize.py").write_text(BROKEN)
        path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        broken = await fleet.hire("worker", PYTHONPATH=path)
        unheard = await told(house, name())
        reports = {EventKind.THINKING, EventKind.TOOL_STARTED, EventKind.TOOL_ENDED}
        assert unheard == [(kind, data) for kind, data in whole if kind not in reports]
        dropped = 5 + 3  # its own, and those of its sub-runs

        async def found() -> bool | None:
            return len(broken.find("report_dropped")) >= dropped or None

        await until("all reports are dropped", found)
        assert len(broken.find("report_dropped")) == dropped
        await fleet.dismiss(broken)

    play_on_fleet(scene)


# --- Bad input --------------------------------------------------------------------------------------------------------


def test_what_makes_no_sense_is_told_and_harms_nobody(play: Play) -> None:
    """What is no frame ends the line with a code and a reason, another is told the field; others hear nothing."""

    async def scene(house: House) -> None:
        session_id, stranger_id, base = name(), name(), house.bases()[0]
        onlooker, other = Onlooker(house.bases, session_id), Onlooker(house.bases, stranger_id)
        await house.send(session_id, "#ask")
        asked = question_of(await onlooker.told("question"))
        await house.send(stranger_id, "hello")
        await other.told("done")
        for frame, code in ENDING:
            async with dialling(base, stranger_id) as caller:
                await caller.connection.send(frame)
                told, reason = await caller.closed()
                assert (told, bool(reason)) == (code, True), frame[:20]
        async with dialling(base, stranger_id) as caller:
            for said, code_told, field in told_of(asked):
                await caller.say(said)
                data = data_of((await caller.until("error"))[-1])
                assert (data["code"], data.get("field")) == (code_told, field)
            await caller.say({"type": "ping", "more": [1]})
            assert (await caller.until("pong"))[-1]["data"] == {}
        mine = onlooker.cursor
        for query, code in asking(mine):
            async with dialling(base, stranger_id, True, **query) as caller:
                told, reason = await caller.closed()
                assert (told, reason.partition(":")[0]) == (code, next(iter(query)))
        assert (onlooker.kinds(), other.kinds()) == (["run_started", "question"], ["run_started", "done"])
        assert (onlooker.replies, other.replies, onlooker.connections, other.connections) == ([], [], 1, 1)
        await onlooker.answer(onlooker.of("question")[0], "green")
        await onlooker.told("done")
        if house.fleet is not None:
            lines = [line for gateway in house.fleet.gateways for line in gateway.lines]
            assert [line for line in lines if "Traceback" in str(line) or line["event"] == ""] == []

    play(scene)


ENDING: Sequence[tuple[str | bytes, int]] = [
    ("hello", 4400), ("[]", 4400), ("", 4400), ("[" * 9000, 4400), ('{"type":"answer",', 4400),
    ("x" * (1 << 20), 1009), (b"\x00", 1003),
]  # fmt: skip


def told_of(foreign: str) -> list[tuple[Json, str, str]]:
    """Return frames that are told what is wrong with them: of which kind it is, and of which field."""
    return [
        ({}, "invalid_field", "type"),
        ({"type": "dance"}, "invalid_field", "type"),
        ({"type": 7}, "invalid_field", "type"),
        ({"type": "answer"}, "invalid_field", "question_id"),
        ({"type": "answer", "question_id": 7, "text": "x"}, "invalid_field", "question_id"),
        ({"type": "answer", "question_id": "q"}, "invalid_field", "text"),
        ({"type": "answer", "question_id": "q", "text": " "}, "invalid_field", "text"),
        ({"type": "answer", "question_id": "nobody's", "text": "x"}, "unknown_question", "question_id"),
        ({"type": "answer", "question_id": foreign, "text": "x"}, "unknown_question", "question_id"),
    ]


def asking(foreign: str) -> list[tuple[dict[str, str], int]]:
    """Return queries that are refused, the last of them with a cursor of another session."""
    ordinal, _, seq = foreign.partition("-")
    assert int(seq) > 0 and ordinal == "0"
    return [({"cursor": "x"}, 4400), ({"cursor": "7-0"}, 4404), ({"cursor": "0-99999"}, 4404), ({"v": "2"}, 4406)]


def test_a_thousand_sockets_on_one_session_leave_room_for_others(play_on_fleet: Play) -> None:
    """A hundred are served, the others closed with 4429; nobody reads on, and that holds up nobody who does."""

    async def scene(house: House) -> None:
        session_id, base = name(), house.bases()[0]
        first = Onlooker(lambda: [base], session_id)
        await first.has(lambda first: first.connections == 1)
        with ExitStack() as stack:
            crowd = await asyncio.to_thread(crowding, stack, int(base.rpartition(":")[2]), session_id)
            assert Counter(crowd) == {b"session_opened": 99, TOO_MANY: 901}
            await house.send(session_id, "hello")
            await first.told("done")
            assert first.connections == 1
            async with dialling(base, name()) as stranger:
                assert (await stranger.frame())["kind"] == "session_opened"

    play_on_fleet(scene)


TOO_MANY = (4429).to_bytes(2, "big")


def crowding(stack: ExitStack, port: int, session_id: str) -> list[bytes]:
    """Open a thousand sockets of a session, and return what each is told first: that it is open, or a code."""
    target = f"/sessions/{session_id}/socket".encode()
    sockets = [stack.enter_context(closing(deaf_socket(port, target))) for _ in range(1000)]
    return [told_first(client) for client in sockets]


def told_first(client: socket.socket) -> bytes:
    """Read what comes behind the upgrade, up to one of the two."""
    came = b""
    client.settimeout(PATIENCE_S)
    while True:
        came += client.recv(4096)
        _, _, frames = came.partition(b"\r\n\r\n")
        for wanted in (b"session_opened", TOO_MANY):
            if wanted in frames:
                return wanted


def test_a_client_that_never_pongs_is_told_to_come_back(play_on_fleet: Play) -> None:
    """4408: what it missed is there when it does."""

    async def scene(house: House) -> None:
        assert house.fleet is not None
        session_id = name()
        strict = await house.fleet.hire("gateway", KODA_PING_EVERY="200ms", KODA_PONG_WAIT="200ms")
        async with dialling(f"http://{strict.address}", session_id, pongs=False) as caller:
            code, reason = await caller.closed()
            assert (code, reason) == (4408, "nothing came from you for 0.2 s after a ping")
        run_id = await house.send(session_id, "hello")
        onlooker = Onlooker(lambda: [f"http://{strict.address}"], session_id, cursor=caller.cursor)
        await onlooker.told("done")
        assert events(onlooker.frames) == await streamed(house, [run_id])
        await house.fleet.dismiss(strict)

    play_on_fleet(scene)


# --- All at once ------------------------------------------------------------------------------------------------------


def test_everything_is_broken_under_agents_at_random() -> None:
    """Each run ends once, and its sub-runs with it; each question has one answer; each line has all of its session."""

    async def main() -> None:
        async with open_fleet(services_to_break(), **SETTINGS) as fleet:
            agents = Agents(fleet, seed=1)
            await Mayhem(fleet, 1, agents, longest_s=1).over(agents.converse(8))
            await agents.add_up()
            assert agents.wrong == []
            assert agents.ends["done"] >= 8

    asyncio.run(main())


# --- The page ---------------------------------------------------------------------------------------------------------


def test_the_page_names_tests_that_are_there() -> None:
    """The table of promises in `docs/wire.md` does, and names every one of this file."""
    page, here = (ROOT / "docs" / "wire.md").read_text(encoding="utf-8"), Path(__file__)
    named = set(re.findall(r"`(?:(tests/[\w/]+\.py)::)?(test_\w+)`", page))
    text = {file: (ROOT / file if file else here).read_text(encoding="utf-8") for file, _ in named}
    assert [name for file, name in named if f"def {name}(" not in text[file]] == []
    ours = set(re.findall(r"^def (test_\w+)", text[""], re.MULTILINE))
    assert ours - {name for file, name in named if not file} == {"test_the_page_names_tests_that_are_there"}
