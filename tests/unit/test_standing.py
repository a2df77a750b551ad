"""What stands of a run: as good, to whoever comes in through a snapshot, as the events that it stands for."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.arrivals import Arrival, RunEvent
from client.line_frames import event_of, frame_of
from client.projection import SessionView, reduce
from client.reading import from_session, from_stream
from client.run_view import RunView
from client.sse import EventStreamParser
from gateway import sessions, sse
from gateway.envelopes import LineForm, stamp
from gateway.framing import completed, text_of
from gateway.standing import MOST_TOOLS, Standing, standing_of
from shared.adapters.clock import MovedClock
from shared.events import Event, EventKind, Json, encode_data
from shared.shortening import LONGEST_TEXT
from tests.support.asking import calling
from tests.support.calm import calm
from tests.support.histories import Logged, logs, stored
from tests.support.houses import SETTINGS, House, delta, done, house
from tests.support.lines import LOG, full_log, read
from tests.support.moved_loop import run
from tests.support.socketing import opening

ASKED: dict[str, Json] = {
    "question_id": "q",
    "question": "Shall I refund it?",
    "default": "no",
    "expires_at": "2026-01-01T00:02:00+00:00",
}


def question(seq: int, question_id: str = "q", run_id: str = "r", **more: Json) -> Event:
    """Return a question's event."""
    data = {"message": "Refund it?", **ASKED, "question_id": question_id, **more}
    return Event(run_id, seq, EventKind.QUESTION, encode_data(data))


def answer(seq: int, question_id: str = "q") -> Event:
    """Return an answer's event."""
    data: dict[str, Json] = {"message": "Yes.", "question_id": question_id, "text": "yes", "answered": True}
    return Event("r", seq, EventKind.ANSWER, encode_data(data))


def ended_tool(seq: int, key: str, result: Json) -> Event:
    """Return the event of a tool whose start is not there."""
    data: dict[str, Json] = {"message": "It is.", "key": key, "name": "look", "result": result, "ok": True}
    return Event("r", seq, EventKind.TOOL_ENDED, encode_data(data))


# --- what it is -------------------------------------------------------------------------------------------------------


def test_a_text_alone_is_said_as_ever() -> None:
    """What is not there is not mentioned: the bytes of an ordinary run's snapshot stay what they were."""
    assert standing_of([delta(0, "a"), delta(1, "b")]).data() == {"text": "ab"}
    assert Standing("ab").data() == {"text": "ab"}


def test_work_is_said_as_it_stands() -> None:
    """A tool with its call and what came of it, the last thought, the sub-runs, and the questions that are open."""
    assert standing_of(full_log()[:5]).data() == {
        "text": "",
        "tools": [
            {
                "key": "k0", "name": "order", "arguments": {"id": 7, "deep": [None, True]},
                "message": "It was sent.", "result": "sent on Monday", "ok": True,
            },
        ],
        "thinking": {"message": "Looking at the order.", "text": "I shall look at the order first."},
        "forks": [{"run_id": "sub-1", "number": 0, "title": "the carrier"}],
        "questions": [ASKED],
    }  # fmt: skip


@pytest.mark.parametrize("count", range(6, len(LOG) + 1))
def test_what_is_answered_or_void_is_not_asked(count: int) -> None:
    """An answer closes its question, a rerun voids all, and the end closes what is left."""
    assert "questions" not in standing_of(full_log()[:count]).data()
    assert ("tools" in standing_of(full_log()[:count]).data()) == (count <= 8)


@pytest.mark.parametrize("end", [EventKind.DONE, EventKind.FAILED, EventKind.CANCELLED])
def test_a_run_that_has_ended_asks_nothing(end: EventKind) -> None:
    """Whatever was open: nobody waits for it any more."""
    ended = Event("r", 2, end, "{}")
    assert standing_of([delta(0, "a"), question(1), ended]).data() == {"text": "a"}


def test_what_is_asked_twice_is_one_question() -> None:
    """The same id is the same question, and it stands where it was first asked."""
    events = [question(0), question(1, "p"), question(2), answer(3, "p")]
    assert standing_of(events[:3]).data()["questions"] == [ASKED, {**ASKED, "question_id": "p"}]
    assert standing_of(events).data()["questions"] == [ASKED]


def test_tools_are_cut_and_the_newest() -> None:
    """A snapshot is one piece: long texts of its tools are cut as a line cuts them, and only so many tools are told."""
    tools = standing_of([ended_tool(n, f"k{n}", "x" * (LONGEST_TEXT + n)) for n in range(MOST_TOOLS + 2)]).work["tools"]
    assert isinstance(tools, list) and len(tools) == MOST_TOOLS
    assert tools[0] == {
        "arguments": None, "key": "k2", "name": "look", "message": "It is.", "ok": True,
        "result": "x" * LONGEST_TEXT + "… (2 characters more)",
    }  # fmt: skip


def test_a_line_cuts_what_a_stream_has_whole() -> None:
    """A long question is cut there as its event is; the text never, and a tool that is cut already not twice."""
    long = "x" * (LONGEST_TEXT + 7)
    standing = standing_of([delta(0, long), ended_tool(1, "k", long), question(2, question=long)])
    assert standing.work["questions"] == [{**ASKED, "question": long}]
    data = read(text_of(completed([LineForm("r", 0).snapshot(2, standing)], stamp(MovedClock().now()))))["data"]
    cut = long[:LONGEST_TEXT] + "… (7 characters more)"
    assert data == {"text": long, "tools": standing.work["tools"], "questions": [{**ASKED, "question": cut}]}


# --- as good as the events --------------------------------------------------------------------------------------------


def seen(arrivals: Sequence[Arrival]) -> RunView:
    """Return a run as a client has it after these."""
    session = SessionView()
    for arrival in arrivals:
        session, _ = reduce(session, arrival)
    return session.runs["r"]


def streamed(seq: int, standing: Standing) -> Arrival:
    """Return a snapshot as it arrives on a stream."""
    (event,) = EventStreamParser().feed(sse.snapshot(seq, standing))
    arrival = from_stream("r", event)
    assert arrival is not None
    return arrival


def lined(seq: int, standing: Standing) -> Arrival:
    """Return a snapshot as it arrives on a line, held against the contract."""
    text = text_of(completed([LineForm("r", 0).snapshot(seq, standing)], stamp(MovedClock().now())))
    read(text)
    event = event_of(frame_of(text.decode()))
    assert event is not None and event.arrival is not None
    return event.arrival


def objects_alone(log: list[Logged]) -> list[Logged]:
    """Return a log whose tool calls are as the contract has them."""
    return [replace(each, data={**each.data, "arguments": {}}) if each.kind == "tool" else each for each in log]


@calm
@given(st.data(), logs("r", ended=False).map(objects_alone))
def test_a_snapshot_is_as_good_as_its_events(data: st.DataObject, log: list[Logged]) -> None:
    """Whichever the log and wherever it is cut: all that a client shows is the same, on a stream and on a line."""
    count = data.draw(st.integers(1, len(log))) if log else 0
    if count:
        whole, standing = seen([event.streamed() for event in log[:count]]), standing_of(stored(log[:count]))
        assert seen([streamed(count - 1, standing)]) == whole
        assert seen([lined(count - 1, standing)]) == whole


# --- where it is said -------------------------------------------------------------------------------------------------


async def asking(count: int = 12) -> House:
    """Return a gateway whose run "r" has so many events, asks with the last of them, and has more than are replayed."""
    gateway = house(settings=replace(SETTINGS, replay_cap=10))
    await gateway.streaming()
    await gateway.write(*(delta(seq) for seq in range(count - 1)), question(count - 1))
    return gateway


def test_whoever_comes_in_late_is_asked() -> None:
    """Behind by more than the cap, with an open question in between: stream and line ask it with the snapshot."""

    async def main() -> None:
        gateway = await asking()
        expected = {"text": "".join(f"{seq} " for seq in range(11)), "questions": [ASKED]}
        async with calling(gateway.app, "GET", "/runs/r/events") as call, opening(gateway.app) as socket:
            *_, frame = await socket.next(3)
            assert (frame["kind"], frame["seq"], frame["data"]) == ("snapshot", 11, expected)
            await gateway.write(answer(12))
            await gateway.publish(done(13))
            await gateway.end([done(13)])
            snapshot, *rest = await call.events()
            assert (snapshot.event, msgspec.json.decode(snapshot.data)) == ("snapshot", expected)
            assert [event.event for event in rest] == ["answer", "done"]

    run(main())


def test_a_cursor_of_another_history_is_asked_anew() -> None:
    """R4: the gap voids what was asked; what is asked in truth comes with the snapshot behind it."""

    async def main() -> None:
        gateway = await asking(3)
        async with opening(gateway.app, "/sessions/s/socket?cursor=0-9") as socket:
            _, gap, snapshot = await socket.next(3)
            assert (gap["kind"], snapshot["data"]) == ("gap", {"text": "0 1 ", "questions": [ASKED]})

    run(main())


def test_an_ended_run_is_shown_without_what_it_asked() -> None:
    """Its end is right behind the snapshot; archived or not, nobody is asked in between."""

    async def main() -> None:
        gateway = await asking()
        await gateway.end([done(12)])
        for _ in range(2):
            async with opening(gateway.app) as socket:
                *_, snapshot, end = await socket.next(4)
                assert (snapshot["kind"], end["kind"]) == ("snapshot", "done")
                assert snapshot["data"] == {"text": "".join(f"{n} " for n in range(11))}
            assert asked_by(await sessions.snapshot(gateway.store, "s")) == []
            await gateway.store.archive("r", "".join(f"{n} " for n in range(11)))

    run(main())


@pytest.mark.parametrize("written", range(len(LOG)))
def test_a_session_is_read_with_what_its_run_asks(written: int) -> None:
    """Wherever the log is cut: reading the session, and the pages behind its cursor, is as good as all events."""

    async def main() -> None:
        gateway, events = house(), full_log()
        await gateway.streaming()
        if written:
            await gateway.flush(*events[:written])
        document = await sessions.snapshot(gateway.store, "s")
        assert asked_by(document) == ([ASKED] if written == 5 else [])
        read_ = from_session(msgspec.json.encode(document))
        everything = [arrived(event) for event in events]
        assert seen([read_, *everything[written:]]) == seen(everything)
        if written:
            assert seen([read_]) == seen(everything[:written])

    run(main())


def asked_by(document: dict[str, Json]) -> Json:
    """Return what the one run of a session asks, as the session is read."""
    runs = document["runs"]
    assert isinstance(runs, list) and len(runs) == 1 and isinstance(runs[0], dict)
    return runs[0]["questions"]


def arrived(event: Event) -> RunEvent:
    """Return an event as it arrives on a stream."""
    return Logged(event.run_id, event.seq, event.kind, msgspec.json.decode(event.data)).streamed()


def test_a_question_of_which_only_the_store_knows_comes_as_an_event() -> None:
    """Asked, and not on the log yet: it is behind the cursor, so no snapshot has it and no event is missed."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.flush(delta(0, "a"))
        await gateway.ask()
        document = await sessions.snapshot(gateway.store, "s")
        assert (asked_by(document), document["cursor"]) == ([], "0-0")
        await gateway.flush(question(1))
        page = msgspec.json.decode(msgspec.json.encode(await sessions.page(gateway.store, "s", "0-0")))
        assert [event["kind"] for event in page["events"]] == ["question"]

    run(main())
