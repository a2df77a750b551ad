"""Reading what came over the wire into what arrives at a projection."""

from collections.abc import Sequence
from datetime import timedelta

import msgspec
import pytest

from client.arrivals import (
    Answer,
    Append,
    Change,
    Ended,
    Fork,
    Gap,
    Page,
    Question,
    ReadRun,
    Rerun,
    RunEvent,
    RunOpened,
    SessionRead,
    Snapshot,
    Thought,
    Tool,
    ToolEnded,
    Unknown,
    Work,
)
from client.reading import BadPayload, from_line, from_page, from_session, from_stream
from client.sse import EventStreamParser, ServerEvent
from gateway import sessions, sse
from gateway.frames import frame
from shared.errors import Misconfigured
from shared.events import Event, EventKind, Json, encode_data
from shared.run import RunStatus
from tests.support.houses import delta, done, house, rerun
from tests.support.moved_loop import run

KINDS: Sequence[tuple[str, str, Change]] = [
    ("delta", '{"text":"取"}', Append("取")),
    ("delta", '{"text":"","later":{"x":[1]}}', Append("")),
    ("rerun", '{"reason":"merge","attempt":2}', Rerun("merge")),
    ("rerun", "{}", Rerun("")),
    ("snapshot", '{"text":"all"}', Snapshot("all")),
    (
        "snapshot",
        '{"text":"all","tools":[{"key":"k","name":"look","arguments":null,"message":"seen","result":[1],"ok":false},'
        '{"key":"l","name":"look","arguments":{"at": 1}}],"thinking":{"message":"a","text":"a b"},'
        '"forks":[{"run_id":"sub","number":2,"title":"part"}],'
        '"questions":[{"question_id":"q","question":"Red?","default":"no","expires_at":"2026-01-01T00:02:00Z"}]}',
        Snapshot(
            "all",
            Work(
                (Tool("k", "look", "null", "[1]", "seen", False), Tool("l", "look", '{"at": 1}', None)),
                Thought("a", "a b"),
                (Fork("sub", 2, "part"),),
                (Question("q", "Red?", "no", "2026-01-01T00:02:00Z"),),
            ),
        ),
    ),
    ("done", '{"usage":{"input_tokens":1}}', Ended(RunStatus.DONE, "")),
    ("failed", '{"error":"no answer"}', Ended(RunStatus.FAILED, "no answer")),
    ("cancelled", '{"reason":"by the user"}', Ended(RunStatus.CANCELLED, "by the user")),
    ("tool", '{"key":"k","name":"look","arguments":{"at": 1}}', Tool("k", "look", '{"at": 1}', None)),
    ("tool", '{"key":"k","name":"look","arguments":[],"result":null}', Tool("k", "look", "[]", "null")),
    (
        "tool_started",
        '{"message":"looks","key":"k","name":"look","arguments":{"at": 1}}',
        Tool("k", "look", '{"at": 1}', None, "looks"),
    ),
    (
        "tool_ended",
        '{"message":"seen","key":"k","name":"look","result":[1],"ok":false}',
        ToolEnded("k", "look", "[1]", "seen", False),
    ),
    ("tool_ended", '{"key":"k","name":"look","result":null}', ToolEnded("k", "look", "null", "", True)),
    ("thinking", '{"message":"a","text":"a b"}', Thought("a", "a b")),
    ("thinking", '{"text":"a b"}', Thought("a b", "a b")),
    ("forked", '{"message":"m","run_id":"sub","number":2,"title":"part"}', Fork("sub", 2, "part")),
    (
        "question",
        '{"message":"m","question_id":"q","question":"Red?","default":"no","expires_at":"2026-01-01T00:02:00Z"}',
        Question("q", "Red?", "no", "2026-01-01T00:02:00Z"),
    ),
    ("question", '{"question_id":"q","question":"Red?"}', Question("q", "Red?", "", "")),
    ("answer", '{"message":"m","question_id":"q","text":"no","answered":false}', Answer("q", "no", False)),
    ("thought", '{"of":"a later version"}', Unknown()),
    ("message", "{}", Unknown()),
]

BAD = [
    ("delta", "{}"),
    ("delta", '{"text":null}'),
    ("delta", '"text"'),
    ("delta", "[]"),
    ("delta", '{"text":"a"'),
    ("delta", ""),
    ("delta", '{"text":"\\ud83d"}'),
    ("delta", '{"text":"a","x":' + "[" * 9999 + "]" * 9999 + "}"),
    ("snapshot", "{}"),
    ("snapshot", '{"text":"all","questions":[{"question":"Red?"}]}'),
    ("snapshot", '{"text":"all","tools":{}}'),
    ("rerun", '{"reason":7}'),
    ("done", "7"),
    ("failed", '{"error":{}}'),
    ("tool", '{"key":"k","name":"look"}'),
    ("tool", '{"key":7,"name":"look","arguments":{}}'),
    ("tool_started", '{"key":"k","name":"look"}'),
    ("tool_ended", '{"key":"k","name":"look"}'),
    ("thinking", '{"message":"a"}'),
    ("forked", '{"run_id":"sub","number":"2"}'),
    ("question", '{"question":"Red?"}'),
    ("answer", '{"question_id":"q"}'),
]
NO_UTF8 = b'{"events":[{"run_id":"r","seq":0,"kind":"tool","data":{"key":"k","name":"n","arguments":"\xff"}}]'


def page_of(kind: str, data: str, seq: str = "4") -> bytes:
    """Return a page of one event."""
    entry = f'{{"run_id":"r","seq":{seq},"kind":"{kind}","data":{data},"later":0}}'
    return f'{{"events":[{entry}],"cursor":"0-4","more":true,"later":0}}'.encode()


@pytest.mark.parametrize(("kind", "data", "change"), KINDS)
def test_stream_page_and_line_say_the_same(kind: str, data: str, change: Change) -> None:
    """An event is one value, however it came; unknown kinds keep their seq, unknown fields are nothing."""
    event = RunEvent("r", 4, change)
    assert from_stream("r", ServerEvent(kind, data, "4", True)) == event
    assert from_line("r", 4, kind, msgspec.Raw(data.encode())) == event
    assert from_page(page_of(kind, data)) == Page((event,), "0-4", True)


@pytest.mark.parametrize(("kind", "data"), BAD)
def test_what_is_known_and_cannot_be_read_is_one_error(kind: str, data: str) -> None:
    """The error is of the project's tree, and names the event."""
    with pytest.raises(BadPayload, match=f"^gateway: the event {kind} cannot be read: .+; see that "):
        from_stream("r", ServerEvent(kind, data, "4", True))
    with pytest.raises(BadPayload):
        from_page(page_of(kind, data))
    with pytest.raises(BadPayload):
        from_line("r", 4, kind, msgspec.Raw(data.encode()))
    assert issubclass(BadPayload, Misconfigured)


@pytest.mark.parametrize("event_id", ["", "x", "-1", "²", "٣", "1" * 19])
def test_a_known_event_has_its_seq(event_id: str) -> None:
    """Without its seq a fragment has no place; an unknown event without one is nothing."""
    with pytest.raises(BadPayload, match="no seq"):
        from_stream("r", ServerEvent("delta", '{"text":"a"}', event_id, True))
    assert from_stream("r", ServerEvent("thought", "{}", event_id, True)) is None


def test_an_id_that_another_event_has_set_is_no_seq() -> None:
    """The standard has an id last until the next one; here it would make two events of one seq."""
    with pytest.raises(BadPayload, match="no seq"):
        from_stream("r", ServerEvent("delta", '{"text":"a"}', "4", False))
    assert from_stream("r", ServerEvent("error", '{"code":"going_away","message":"reconnect"}', "4", False)) is None


def test_what_has_no_seq_on_a_line() -> None:
    """A run's beginning and a gap are of the line and not of the log; a fragment is of the log."""
    assert from_line("r", None, "run_started", msgspec.Raw(b'{"ordinal":0}')) == RunOpened("r")
    assert from_line("r", None, "gap", msgspec.Raw(b'{"requested":50,"earliest":0,"latest":9}')) == Gap("r", 50)
    assert from_line("r", None, "thought", msgspec.Raw(b"{}")) is None
    with pytest.raises(BadPayload, match="it has no seq"):
        from_line("r", None, "delta", msgspec.Raw(b'{"text":"a"}'))


def test_a_gap_says_which_cursor_it_is_about() -> None:
    """R4: a gap has no seq, and is about the cursor that was asked with."""
    (event,) = EventStreamParser().feed(sse.gap(50, 0, 9))
    assert from_stream("r", event) == Gap("r", 50)
    with pytest.raises(BadPayload, match="the event gap"):
        from_stream("r", ServerEvent("gap", "{}", "", False))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"events":[],"cursor":"0-4"}',
        b'{"events":[7],"cursor":"0-4","more":false}',
        page_of("delta", '{"text":"a"}', "-1"),
        page_of("delta", '{"text":"a"}', '"4"'),
        page_of("delta", '{"text":"a"}', "4.5"),
        b"\xff",
        NO_UTF8 + b',"cursor":"0-0","more":false}',
    ],
)
def test_what_is_no_page_is_refused(body: bytes) -> None:
    """An answer of something else than a gateway is told from a page."""
    with pytest.raises(BadPayload, match="a page of a session's events cannot be read"):
        from_page(body)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"{}",
        b'{"runs":[]}',
        b'{"runs":[{"run_id":"r","status":"lost","text":""}],"cursor":""}',
        b'{"runs":[],"cursor":"4"}',
        b'{"runs":[],"cursor":"0--1"}',
    ],
)
def test_what_is_no_session_is_refused(body: bytes) -> None:
    """An answer of something else than a gateway is told from a session's snapshot."""
    with pytest.raises(BadPayload, match="a session's snapshot cannot be read"):
        from_session(body)


# --- What our gateway really sends ------------------------------------------------------------------------------------


def test_frames_of_the_gateway_are_read() -> None:
    """Every kind of the log comes through frame and parser as it was written."""
    log = [delta(0, "a\r\n"), rerun(1), delta(2, "取"), Event("r", 3, EventKind.FAILED, encode_data({"error": "no"}))]
    sent = b"".join([sse.retry(timedelta(seconds=1)), *(sse.event(frame(event)) for event in log)])
    assert [from_stream("r", event) for event in EventStreamParser().feed(sent)] == [
        RunEvent("r", 0, Append("a\r\n")),
        RunEvent("r", 1, Rerun("merge")),
        RunEvent("r", 2, Append("取")),
        RunEvent("r", 3, Ended(RunStatus.FAILED, "no")),
    ]


def test_a_session_of_the_gateway_is_read() -> None:
    """Ended runs are whole, the run in progress reaches up to the cursor, and one that waits has nothing."""
    ended, streaming = ReadRun("r", "a", None, RunStatus.DONE), ReadRun("q", "bc", 1, None)
    cancelled, waiting = ReadRun("p", "", None, RunStatus.CANCELLED), ReadRun("o", "", None, None)

    async def main() -> None:
        gateway = house()
        await gateway.ended([delta(0, "void"), rerun(1), delta(2, "a"), done(3)])
        await gateway.streaming("q")
        await gateway.flush(delta(0, "b", "q"), delta(1, "c", "q"))
        await gateway.run("p")
        end = Event("p", 0, EventKind.CANCELLED, encode_data({"reason": "by the user"}))
        await gateway.store.finish("p", 0, RunStatus.PENDING, RunStatus.CANCELLED, [end], None, "cancelled")
        await gateway.run("o")
        document: dict[str, Json] = await sessions.snapshot(gateway.store, "s")
        assert from_session(msgspec.json.encode(document)) == SessionRead((ended, streaming, cancelled, waiting))

    run(main())


def test_a_session_of_which_nothing_is_written() -> None:
    """The empty cursor is the beginning."""
    body = b'{"session_id":"s","messages":[],"runs":[{"run_id":"r","status":"pending","text":""}],"cursor":""}'
    assert from_session(body) == SessionRead((ReadRun("r", "", None, None),))
