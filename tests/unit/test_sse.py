"""The bytes of the stream."""

from datetime import timedelta

import httpx
import pytest
from httpx_sse import EventSource
from hypothesis import example, given
from hypothesis import strategies as st

from client.sse import EventStreamParser
from gateway import sse
from gateway.frames import frame
from gateway.standing import Standing
from shared.events import Event, EventKind, decode_data, encode_data
from tests.support.calm import calm


def seen_by_httpx_sse(stream: bytes) -> list[tuple[str, str, str]]:
    """Return what a common client makes of a stream: id, event and data of each event that it dispatches."""
    response = httpx.Response(200, headers=dict(sse.HEADERS), content=stream)
    return [(event.id, event.event, event.data) for event in EventSource(response).iter_sse()]


def test_an_event_is_three_lines_and_a_blank_one() -> None:
    """An event leaves with its seq as id, its kind as event and its data as it was written."""
    made = frame(Event("r", 41, EventKind.DELTA, '{"text":"wa"}'))
    assert sse.event(made) == b'id: 41\nevent: delta\ndata: {"text":"wa"}\n\n'
    assert sse.event(made) is sse.event(made), "it is encoded once"


@pytest.mark.parametrize(
    ("kind", "terminal"),
    [
        (EventKind.DELTA, False),
        (EventKind.RERUN, False),
        (EventKind.DONE, True),
        (EventKind.FAILED, True),
        (EventKind.CANCELLED, True),
    ],
)
def test_a_frame_knows_whether_it_ends_the_run(kind: EventKind, terminal: bool) -> None:
    """Done, failed and cancelled end a run; a fragment and a rerun do not."""
    assert frame(Event("r", 0, kind, "{}")).terminal is terminal


@calm
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
@example("\r")
@example("\r\n")
@example("a\rb\r\nc\nd")
@example("\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e")
@example("data: x\n\nid: 9\nevent: done\n\n")
def test_no_text_breaks_its_frame(text: str) -> None:
    """Whatever breaks lines anywhere stays inside one frame of three lines, and comes out as it went in (C2)."""
    data = sse.event(frame(Event("r", 0, EventKind.DELTA, encode_data({"text": text}))))
    assert len(data.decode().splitlines()) == 4
    (event,) = EventStreamParser().feed(data)
    assert decode_data(event.data) == {"text": text}
    assert seen_by_httpx_sse(data) == [("0", "delta", event.data)]


def test_retry_is_a_line_in_milliseconds() -> None:
    """The reconnection time is given in whole milliseconds, on a line that ends no block."""
    assert sse.retry(timedelta(seconds=1)) == b"retry: 1000\n"
    assert sse.retry(timedelta(milliseconds=250)) == b"retry: 250\n"


def test_heartbeat_and_retry_dispatch_nothing() -> None:
    """A heartbeat after an event with an id, before one, or alone at the end is no event to any client (C1)."""
    first, last = (sse.event(frame(Event("r", seq, EventKind.DELTA, '{"text":"a"}'))) for seq in (0, 1))
    stream = sse.retry(timedelta(seconds=1)) + sse.PING + first + sse.PING + sse.PING + last + sse.PING
    expected = [("0", "delta", '{"text":"a"}'), ("1", "delta", '{"text":"a"}')]
    assert [(event.id, event.event, event.data) for event in EventStreamParser().feed(stream)] == expected
    assert seen_by_httpx_sse(stream) == expected


def test_a_snapshot_has_the_seq_it_reaches_to() -> None:
    """A snapshot carries the whole text, and as id the last seq that the text contains."""
    assert sse.snapshot(7, Standing("a\u2028b")) == b'id: 7\nevent: snapshot\ndata: {"text":"a\\u2028b"}\n\n'


def test_a_gap_has_no_id() -> None:
    """A gap tells what was asked for and what there is, and moves no cursor."""
    assert sse.gap(9, 0, 4) == b'event: gap\ndata: {"requested":9,"earliest":0,"latest":4}\n\n'
    assert sse.gap(9, None, None) == b'event: gap\ndata: {"requested":9,"earliest":null,"latest":null}\n\n'


def test_an_error_has_no_id() -> None:
    """An error tells a code and a sentence, and moves no cursor."""
    assert sse.error("missing", "event 3") == b'event: error\ndata: {"code":"missing","message":"event 3"}\n\n'
