"""What comes in on a socket: answers, and everything that makes no sense. Never a traceback, never a word elsewhere."""

import json
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.adapters.memory import MemoryStore
from shared.events import Json
from shared.ports import Mark
from shared.questions import QuestionState
from tests.support.asking import ask
from tests.support.calm import calm
from tests.support.houses import SETTINGS, House, deltas, done, house, log
from tests.support.lines import Frame
from tests.support.moved_loop import run, settle
from tests.support.notes import noting
from tests.support.socketing import Socket, opening


async def asking() -> House:
    """Return a house whose run "r" of session "s" asks question "q"."""
    gateway = house()
    await gateway.streaming()
    await gateway.ask()
    return gateway


def an_answer(**fields: Json) -> Json:
    """Return an answer to question "q"."""
    return {"type": "answer", "question_id": "q", "text": "yes"} | fields


async def reply_to(socket: Socket, frame: Json) -> Frame:
    """Send a frame and return the first that comes behind it."""
    await socket.until("run_started")
    socket.say(frame)
    return await socket.frame()


async def standing(gateway: House) -> tuple[QuestionState, str | None]:
    """Return the state of question "q", and its answer."""
    question = await gateway.store.question("q")
    assert question is not None
    return question.state, question.answer


# --- answers ----------------------------------------------------------------------------------------------------------


def test_an_answer_is_stored_its_worker_told_and_its_sender_too() -> None:
    """The question is answered, the run has the mark, and the client is told that its answer counts."""

    async def main() -> None:
        gateway = await asking()
        async with opening(gateway.app) as socket:
            frame = await reply_to(socket, an_answer(more="is ignored"))
            assert (frame["type"], frame["message"]) == ("answered", "Your answer counts.")
            assert frame["data"] == {"question_id": "q", "counted": True, "text": "yes"}
            assert await standing(gateway) == (QuestionState.ANSWERED, "yes")
            assert await gateway.marks.read("r") == {Mark.ANSWER}

    run(main())


def test_of_two_answers_the_first_counts() -> None:
    """Two tabs of one session answer: the second is told so, with what the first has said."""

    async def main() -> None:
        gateway = await asking()
        async with opening(gateway.app) as one, opening(gateway.app) as other:
            assert (await reply_to(one, an_answer()))["data"] == {"question_id": "q", "counted": True, "text": "yes"}
            late = await reply_to(other, an_answer(text="no"))
            assert (late["type"], late["data"]) == ("answered", {"question_id": "q", "counted": False, "text": "yes"})
            assert await standing(gateway) == (QuestionState.ANSWERED, "yes")
            assert len(one.frames) == 3, "one is told nothing of the other"

    run(main())


def test_an_answer_to_another_sessions_question_is_to_an_unknown_one() -> None:
    """It is told in the words of one that never was; the question stays open, and its session hears nothing."""

    async def main() -> None:
        gateway = await asking()
        await gateway.streaming("x", "t")
        async with opening(gateway.app) as owner, opening(gateway.app, "/sessions/t/socket") as other:
            await owner.until("run_started")
            foreign = await reply_to(other, an_answer())
            other.say(an_answer(question_id="never"))
            unknown = await other.frame()
            assert foreign["data"] == {"code": "unknown_question", "field": "question_id", "question_id": "q"}
            assert unknown["data"] == {"code": "unknown_question", "field": "question_id", "question_id": "never"}
            assert str(foreign["message"]).replace("'q'", "'never'") == unknown["message"]
            await settle()
            assert (await standing(gateway), len(owner.frames)) == ((QuestionState.OPEN, None), 2)

    run(main())


@pytest.mark.parametrize("why", ["expired", "withdrawn"])
def test_a_question_that_waits_no_more_takes_no_answer(why: str) -> None:
    """An error frame says so; nothing was first."""

    async def main() -> None:
        gateway = await asking()
        async with opening(gateway.app) as socket:
            await (gateway.store.expire("q", 1) if why == "expired" else gateway.end([done(0)]))
            frame = await reply_to(socket, an_answer())
            if frame["kind"] == "done":
                frame = await socket.frame()
            assert frame["data"] == {"code": "question_closed", "field": "question_id", "question_id": "q"}
            assert str(frame["message"]).endswith(f"it is {why}")

    run(main())


def test_without_a_store_an_answer_is_to_be_sent_again() -> None:
    """The line goes on, and the same answer counts when the store is back; a bus is not needed for it."""

    async def main() -> None:
        gateway = await asking()
        gateway.bus.away(True)
        async with opening(gateway.app) as socket:
            await socket.until("run_started")
            gateway.store.away(True)
            socket.say(an_answer())
            assert (await socket.frame())["data"] == {"code": "unavailable", "question_id": "q"}
            gateway.store.away(False)
            socket.say(an_answer())
            assert (await socket.frame())["type"] == "answered"

    run(main())


@pytest.mark.parametrize(
    ("frame", "field"),
    [
        ({"type": "answer", "text": "yes"}, "question_id"),
        ({"type": "answer", "question_id": "q"}, "text"),
        (an_answer(text=" "), "text"),
        (an_answer(text=7), "text"),
        (an_answer(text="x" * 8001), "text"),
        (an_answer(question_id=None), "question_id"),
        (an_answer(question_id="x" * 129), "question_id"),
        (an_answer(question_id="a\nb"), "question_id"),
        ({}, "type"),
        ({"type": None}, "type"),
        ({"type": ["answer"]}, "type"),
        ({"type": "hum"}, "type"),
        ({"type": "event", "kind": "done"}, "type"),
    ],
)
def test_a_frame_that_makes_no_sense_is_told_with_its_field(frame: Json, field: str) -> None:
    """An error frame names it, and the question if that was named, and the line goes on: what comes behind is taken."""

    async def main() -> None:
        gateway = await asking()
        async with opening(gateway.app) as socket:
            told = await reply_to(socket, frame)
            named = {"question_id": "q"} if field == "text" else {}
            assert (told["type"], told["data"]) == ("error", {"code": "invalid_field", "field": field, **named})
            assert str(told["message"]).startswith(f"{field}: ")
            socket.say(an_answer())
            assert (await socket.frame())["type"] == "answered"

    run(main())


# --- no frames at all -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "frame: is no JSON: Expecting value: line 1 column 1 (char 0)"),
        ("hello", "frame: is no JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[]", "frame: is an array; expected a JSON object"),
        ("NaN", "frame: is no JSON: NaN is no number in JSON"),
        ("[" * 60000, "frame: is no JSON: "),
        ('"' + "x" * 9 + '"', "frame: is a string; expected a JSON object"),
    ],
)
def test_what_is_no_frame_ends_the_line(text: str, reason: str) -> None:
    """4400 with the reason, which fits into a close frame; nothing of it is logged as a fault."""

    async def main() -> None:
        gateway = await asking()
        async with opening(gateway.app) as socket:
            await socket.frame()
            socket.say_text(text)
            code, why = await socket.closed()
            assert (code, why[: len(reason)]) == (4400, reason)
            assert len(why.encode()) <= 123

    run(main())


def test_binary_ends_the_line() -> None:
    """1003: nothing that we speak is binary."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app) as socket:
            await socket.frame()
            socket.say_binary(b"\x00")
            assert await socket.closed() == (1003, "frame: is binary; expected a text")

    run(main())


def test_the_first_mistake_is_the_one_that_is_told() -> None:
    """What comes behind it changes nothing."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app) as socket:
            await socket.frame()
            socket.say_text("[]")
            socket.say_binary(b"")
            assert (await socket.closed())[0] == 4400

    run(main())


def test_a_fault_of_ours_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever goes wrong while a frame is taken, the client is told that it is not its own."""

    class Broken(MemoryStore):
        async def answer(self, question_id: str, session_id: str | None, text: str) -> None:
            """Crash."""
            raise ZeroDivisionError

    async def main() -> None:
        gateway = house(store=Broken)
        async with opening(gateway.app) as socket:
            await socket.frame()
            socket.say(an_answer())
            assert await socket.closed() == (1011, "internal: a fault of ours; it has been logged; reconnect")

    run(main())
    assert [record.getMessage() for record in caplog.records] == ["frame_crashed"]


def test_who_sends_and_does_not_read_is_not_read_from() -> None:
    """A few replies wait for it, and then its frames do: what is kept for it has a bound."""

    async def main() -> None:
        gateway = house()
        async with opening(gateway.app, takes=2) as socket:
            await socket.frame()
            for _ in range(1000):
                socket.say({"type": "ping"})
            await settle()
            assert socket.unread > 900
            socket.take_all()
            assert {frame["kind"] for frame in await socket.next(1000)} == {"pong"}

    run(main())


# --- what is asked for ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "code", "reason"),
    [
        ("s/socket?cursor=x", 4400, "cursor: is none of ours"),
        ("s/socket?cursor=0-0%0A", 4400, "cursor: is none of ours"),
        ("s/socket?cursor=%D9%A3-%D9%A3", 4400, "cursor: is none of ours"),
        ("s/socket?cursor=0--1", 4400, "cursor: is none of ours"),
        ("s/socket?cursor=" + "9" * 500, 4400, "cursor: is none of ours"),
        ("a%00b/socket", 4400, "session_id: has a control character"),
        ("parent%1Fsub/socket", 4400, "session_id: has a control character"),  # as sub-runs' sessions are named
        ("x" * 129 + "/socket", 4400, "session_id: has 129 characters"),
        ("s/socket?v=2", 4406, "v: this gateway speaks version 1"),
        ("s/socket?v=", 4406, "v: this gateway speaks version 1"),
        ("s/socket?v=one&cursor=x", 4406, "v: this gateway speaks version 1"),
        ("s/socket?cursor=1-", 4404, "cursor: is not of this session's history"),
        ("s/socket?cursor=0-3", 4404, "cursor: is not of this session's history"),
        ("s/socket?cursor=999999999-0", 4404, "cursor: is not of this session's history"),
        ("t/socket?cursor=0-2", 4404, "cursor: is not of this session's history"),
        ("t/socket?cursor=0-", 4404, "cursor: is not of this session's history"),
    ],
)
def test_what_is_not_to_be_had_is_told_by_a_close(target: str, code: int, reason: str) -> None:
    """Malformed, of another session, from the future, of another version: a browser sees the code, and no frame."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(3))
        async with opening(gateway.app, f"/sessions/{target}") as socket:
            said, why = await socket.closed()
            assert (said, why[: len(reason)], socket.frames) == (code, reason, [])
            assert len(why.encode()) <= 123
        assert "koda_sockets 0" in (await ask(gateway.app, "GET", "/metrics")).body.decode().splitlines()

    run(main())


@pytest.mark.parametrize("query", ["", "?v=1", "?v=1&cursor=", "?cursor=0-2", "?cursor=0-", "?more=1"])
def test_what_makes_sense_is_served(query: str) -> None:
    """The version may be left out, and so may the cursor; what else is asked for is ignored."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(3))
        async with opening(gateway.app, f"/sessions/s/socket{query}") as socket:
            assert (await socket.frame())["kind"] == "session_opened"

    run(main())


def test_any_name_of_a_session_will_do() -> None:
    """Whatever a message may name its session, its line is named too."""

    async def main() -> None:
        gateway = house()
        name = "ünï 取/%2F?#/socket"
        await gateway.ended(log(2), name)
        async with opening(gateway.app, f"/sessions/{quote(name, safe='')}/socket") as socket:
            await socket.next(4)

    run(main())


def test_a_live_run_may_be_further_than_the_store() -> None:
    """A cursor that only the stream has reached yet is of the session's history."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.publish(*deltas(0, 3))
        async with opening(gateway.app, "/sessions/s/socket?cursor=0-1") as socket:
            assert [frame["cursor"] for frame in await socket.next(2)] == ["0-1", "0-2"]

    run(main())


def test_without_a_store_a_cursor_cannot_be_judged() -> None:
    """503 before the upgrade, with Retry-After; without a cursor the line is opened, and waits."""

    async def main() -> None:
        gateway = house()
        gateway.store.away(True)
        async with opening(gateway.app, "/sessions/s/socket?cursor=0-1") as socket:
            answer = await socket.refused()
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert answer.problem()["detail"] == "the store is away; try again"
        async with opening(gateway.app) as socket:
            assert (await socket.frame())["kind"] == "session_opened"

    run(main())


def test_without_an_upgrade_there_is_no_line() -> None:
    """426 names what is to be asked for; another method is not known."""

    async def main() -> None:
        gateway = house()
        answer = await ask(gateway.app, "GET", "/sessions/s/socket")
        assert (answer.status, answer.headers["upgrade"]) == (426, "websocket")
        assert "WebSocket" in str(answer.problem()["detail"])
        assert (await ask(gateway.app, "POST", "/sessions/s/socket")).status == 405

    run(main())


# --- how many ---------------------------------------------------------------------------------------------------------


def test_a_thousand_sockets_on_one_session_are_served_or_refused() -> None:
    """As many as a session may have are served, all others closed with 4429; one that leaves makes room for one."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        sockets = [opening(gateway.app) for _ in range(1000)]
        opened = [await each.__aenter__() for each in sockets]
        try:
            await settle()
            served = [socket for socket in opened if not socket.over]
            assert len(served) == SETTINGS.max_session_sockets == 100
            refused = {(await socket.closed())[0] for socket in opened if socket not in served}
            assert refused == {4429}
            assert all(socket.frames == [] for socket in opened if socket.over)
            await gateway.publish(*deltas(0, 1))
            assert {(await socket.next(3))[2]["cursor"] for socket in served} == {"0-0"}
            served[0].leave()
            await settle()
            async with opening(gateway.app) as late:
                assert len(await late.next(3)) == 3
        finally:
            for each in sockets:
                await each.__aexit__(None, None, None)

    run(main())


def test_a_full_gateway_says_so_before_the_upgrade() -> None:
    """503 with Retry-After: another may not be full. Who is in stays in."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, max_sockets=2))
        async with opening(gateway.app) as one, opening(gateway.app, "/sessions/t/socket"):
            await one.frame()
            async with opening(gateway.app, "/sessions/u/socket") as late:
                answer = await late.refused()
                assert (answer.status, answer.headers["retry-after"]) == (503, "1")
                assert answer.problem()["detail"] == "this gateway has 2 sockets open, as many as it may"
            assert not one.over
        async with opening(gateway.app) as after:
            await after.frame()

    run(main())


# --- anything at all --------------------------------------------------------------------------------------------------

_JSON: st.SearchStrategy[Json] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=5,
)
_MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.one_of(st.sampled_from(["answer", "ping", "pong", "event"]), _JSON),
        "question_id": st.one_of(st.just("q"), _JSON),
        "text": st.one_of(st.just("yes"), _JSON),
    },
)
_TEXTS = st.one_of(
    st.text(),
    st.one_of(_MEMBERS, _JSON).map(lambda document: json.dumps(document)),
    st.one_of(_MEMBERS, _JSON).map(lambda document: json.dumps(document)[:-1]),
)


@calm
@given(st.lists(_TEXTS, max_size=4))
@example(['{"type":"answer","question_id":"q","text":"\\ud800"}'])
@example(['{"type":"answer","question_id":"\\ud800","text":"yes"}'])
@example(['{"type":"ping","type":"pong"}', '{"type":1e999}', '{"type":"ping","x":' + "9" * 5000 + "}"])
def test_whatever_is_sent_is_answered_or_closed(texts: list[str]) -> None:
    """Each text gets frames that keep to the contract, or ends the line with a code; nothing is logged as a fault."""

    async def main() -> None:
        gateway = await asking()
        with noting() as notes:
            async with opening(gateway.app) as socket:
                await socket.until("run_started")
                for text in texts:
                    socket.say_text(text)
                    await settle()
                if socket.over:
                    assert (await socket.closed())[0] == 4400
                assert {frame["type"] for frame in socket.frames[2:]} <= {"pong", "error", "answered"}
        assert {event for event, _ in notes.lines} <= {"socket_closed", "answer_taken"}

    run(main())
