"""Sockets of real gateways on real services: two of them on one bus, and a line whose own one ends."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from datetime import timedelta

import httpx
import pytest

from shared.adapters.clock import SystemClock
from shared.ports import Mark
from tests.support.dialling import Caller, dialling
from tests.support.fleet import Fleet, open_fleet
from tests.support.lines import Frame
from tests.support.member import Member
from tests.support.onlooking import question_of
from tests.support.patience import PATIENCE_S
from tests.support.real import services_to_break
from tests.support.runs import a_message, a_run

Play = Callable[[Fleet, Member, Member], Coroutine[None, None, None]]


@pytest.fixture(scope="module")
def play() -> Iterator[Callable[[Play], None]]:
    """Return what plays a scene with two gateways and a worker, which are the same for all of them."""
    fleeting = open_fleet(services_to_break())
    with asyncio.Runner() as runner:
        fleet = runner.run(fleeting.__aenter__())
        try:
            runner.run(hired(fleet))

            def on_stage(scene: Play) -> None:
                runner.run(bounded(scene(fleet, fleet.gateways[0], fleet.gateways[1])))

            yield on_stage
        finally:
            runner.run(fleeting.__aexit__(None, None, None))


async def hired(fleet: Fleet) -> None:
    """Have two gateways and a worker at work."""
    await asyncio.gather(fleet.hire("gateway"), fleet.hire("gateway"), fleet.hire("worker"))


async def bounded(scene: Coroutine[None, None, None]) -> None:
    """Play a scene that has an end."""
    async with asyncio.timeout(60):
        await scene


async def send(gateway: Member, session_id: str, **fields: str) -> str:
    """Send a message through a gateway; return its run."""
    body = {"session_id": session_id, "text": "hello", **fields}
    async with http(gateway) as client:
        answer = await client.post("/chat", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


def base(gateway: Member) -> str:
    """Return a gateway's address."""
    return f"http://{gateway.address}"


def http(gateway: Member) -> httpx.AsyncClient:
    """Return an HTTP client of a gateway."""
    return httpx.AsyncClient(base_url=base(gateway), trust_env=False, timeout=PATIENCE_S)


async def logged(gateway: Member, session_id: str) -> list[tuple[str, int, str]]:
    """Return a session as the store has it: run, seq, kind."""
    async with http(gateway) as client:
        page = (await client.get(f"/sessions/{session_id}/events")).json()
    assert not page["more"]
    return [(entry["run_id"], entry["seq"], entry["kind"]) for entry in page["events"]]


def told(frames: list[Frame]) -> list[tuple[str, int, str]]:
    """Return what came of the log: run, seq, kind."""
    events = [frame for frame in frames if isinstance(frame["seq"], int)]
    return [(str(frame["run_id"]), int(str(frame["seq"])), str(frame["kind"])) for frame in events]


def begun(frames: list[Frame]) -> list[str]:
    """Return the runs that were said to be next."""
    return [str(frame["run_id"]) for frame in frames if frame["kind"] == "run_started"]


async def through(runs: list[str], callers: list[Caller]) -> None:
    """Read each line up to the last run's end."""
    for caller in callers:
        await caller.until("run_started", runs[-1])
        while caller.frames[-1]["kind"] not in ("done", "failed", "cancelled"):
            await caller.frame()


def test_a_line_has_what_any_gateway_accepts(play: Callable[[Play], None]) -> None:
    """Sent through the one and watched at the other: queued, cancelled while it waited, interrupted, in their order."""

    async def scene(fleet: Fleet, one: Member, other: Member) -> None:
        async with dialling(base(one), "shared") as first, dialling(base(other), "shared") as second:
            assert (await first.frame())["kind"] == (await second.frame())["kind"] == "session_opened"
            active = await send(other, "shared", text="#ask")
            await first.until("question", active)  # it does not end by itself
            waiting = await send(one, "shared", if_active="enqueue")
            async with http(other) as client:
                assert (await client.post(f"/runs/{waiting}/cancel")).status_code == 200
            last = await send(other, "shared", if_active="interrupt")
            await through([active, waiting, last], [first, second])
            log = await logged(one, "shared")
            assert told(first.frames) == told(second.frames) == log
            assert begun(first.frames) == begun(second.frames) == [active, waiting, last]
            ends = [kind for _, _, kind in log if kind in ("done", "cancelled")]
            assert ends == ["cancelled", "cancelled", "done"]

    play(scene)


@pytest.mark.parametrize("ending", ["killed", "told to end"])
def test_a_line_goes_on_at_another_gateway(play: Callable[[Play], None], ending: str) -> None:
    """Its gateway ends in the middle of a run: with its cursor the rest comes from the other, each event once."""

    async def scene(fleet: Fleet, one: Member, other: Member) -> None:
        doomed = await fleet.hire("gateway")
        async with dialling(base(doomed), ending) as caller:
            run_id = await send(doomed, ending, text="#ask")
            asked = (await caller.until("question", run_id))[-1]  # it does not end before it is answered
            if ending == "killed":
                await fleet.dismiss(doomed)
            else:
                doomed.terminate()
            code, _ = await caller.closed()
            assert code == (1006 if ending == "killed" else 1001)
        async with dialling(base(one), ending, True, cursor=caller.cursor) as again:
            assert (await again.frame())["cursor"] == caller.cursor
            await again.say({"type": "answer", "question_id": question_of(asked), "text": "the green one"})
            while again.frames[-1]["kind"] != "done":
                await again.frame()
        assert told(caller.frames) + told(again.frames) == await logged(one, ending)
        assert begun(caller.frames + again.frames) == [run_id]

    play(scene)


def test_a_live_line_may_be_cut_anywhere(play: Callable[[Play], None]) -> None:
    """While the runs go on, each connection reads a few frames at a gateway in turn: the union is the log, in order."""

    async def scene(fleet: Fleet, one: Member, other: Member) -> None:
        runs = [await send(one, "cut"), await send(other, "cut", if_active="enqueue")]
        frames: list[Frame] = []
        cursor, turn = "", 0
        while not (frames and frames[-1]["kind"] == "done" and frames[-1]["run_id"] == runs[-1]):
            gateway = (one, other)[turn % 2]
            async with dialling(base(gateway), "cut", True, cursor=cursor) as caller:
                await caller.frame()
                for _ in range(1 + turn % 4):
                    frames.append(await caller.frame())
                    if (frames[-1]["kind"], frames[-1]["run_id"]) == ("done", runs[-1]):
                        break
                cursor, turn = caller.cursor, turn + 1
        assert (told(frames), begun(frames)) == (await logged(one, "cut"), runs)
        async with dialling(base(other), "cut") as whole:
            await through(runs, [whole])
        assert [_timeless(frame) for frame in whole.frames[1:]] == [_timeless(frame) for frame in frames]

    play(scene)


def _timeless(frame: Frame) -> Frame:
    return {name: value for name, value in frame.items() if name != "at"}


async def held_run(fleet: Fleet, session_id: str) -> str:
    """Return a run of the session that is executed by nobody but the test."""
    for worker in fleet.workers:
        worker.pause()  # a sweep would find it
    try:
        await fleet.ports.store.open_run(a_run(f"{session_id}-0", session_id), a_message("m", session_id))
        claim = await fleet.ports.store.claim("test", timedelta(minutes=5), session_id)
    finally:
        for worker in fleet.workers:
            worker.resume()
    assert claim is not None
    return claim.run.id


def test_an_answer_counts_once_whichever_way_it_comes(play: Callable[[Play], None]) -> None:
    """By a socket at the one gateway and a POST to the other: the second is told what the first has said."""

    async def scene(fleet: Fleet, one: Member, other: Member) -> None:
        run_id = await held_run(fleet, "asked")
        soon = SystemClock().now() + timedelta(minutes=2)
        await fleet.ports.questions.ask("q", run_id, 1, 0, "Shall I?", "no", soon)
        async with dialling(base(one), "asked") as caller, dialling(base(other), "stranger") as stranger:
            await stranger.say({"type": "answer", "question_id": "q", "text": "mine"})
            (refused,) = (await stranger.until("error"))[1:]
            assert refused["data"] == {"code": "unknown_question", "field": "question_id", "question_id": "q"}
            await caller.say({"type": "answer", "question_id": "q", "text": "yes"})
            answered = (await caller.until("answered"))[-1]
            assert answered["data"] == {"question_id": "q", "counted": True, "text": "yes"}
        assert await fleet.ports.marks.read(run_id) == {Mark.ANSWER}
        async with http(other) as client:
            late = await client.post(f"/runs/{run_id}/answers", json={"question_id": "q", "text": "no"})
        assert (late.status_code, late.json()["answer"]) == (409, "yes")

    play(scene)
