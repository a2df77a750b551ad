"""The parser of server-sent events, against WHATWG HTML §9.2.6 read a second time by an oracle of its own."""

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from client.sse import EventStreamParser, ServerEvent
from tests.support.calm import calm


def parsed(stream: bytes) -> list[ServerEvent]:
    """Parse a stream that comes in one piece."""
    return EventStreamParser().feed(stream)


def datas(stream: bytes) -> list[str]:
    """Parse a stream and keep the data alone."""
    return [event.data for event in parsed(stream)]


# --- The oracle: the whole text at once, in the standard's order of sentences and with its three buffers --------------


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines that have an end: CRLF, LF or CR."""
    line = ""
    for position, character in enumerate(text):
        if character == "\n" and text[position - 1 : position] == "\r":
            continue
        if character in "\r\n":
            yield line
            line = ""
        else:
            line += character


def interpret(stream: bytes) -> tuple[list[ServerEvent], str, list[int]]:
    """Return the events, the last event id and every reconnection time of a complete stream."""
    text = stream.decode("utf-8", "replace")
    data = event_type = last_event_id_buffer = last_event_id = ""
    set_here = False
    events: list[ServerEvent] = []
    retries: list[int] = []
    for line in lines_of(text[1:] if text[:1] == "\ufeff" else text):
        if line == "":
            last_event_id = last_event_id_buffer
            if data != "":
                events.append(ServerEvent(event_type or "message", data[:-1], last_event_id, set_here))
            data = event_type = ""
            set_here = False
        elif line[0] != ":":
            field, value = line.split(":", 1) if ":" in line else (line, "")
            value = value[1:] if value[:1] == " " else value
            if field == "event":
                event_type = value
            elif field == "data":
                data += value + "\n"
            elif field == "id" and "\0" not in value:
                last_event_id_buffer = value
                set_here = True
            elif field == "retry" and value != "" and set(value) <= set("0123456789"):
                retries.append(int(value))
    return events, last_event_id, retries


PIECES = [b"data", b"event", b"id", b"retry", b":", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"7", b"x"]
PIECES += [
    b"data: ",
    b"data:",
    b"\xef\xbb\xbf",
    "é…🎉\u2028\x85²".encode(),
    b"\xe2\x80",
    b"\xf0\x9f",
    b"\xff",
    b"\xed\xa0\x80",
]
STREAMS = st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join)


@calm
@given(STREAMS)
@example(b"\xef\xbb\xbf\xef\xbb\xbfdata: the second mark is part of the name\n\ndata: x\n\n")
def test_agrees_with_the_oracle(stream: bytes) -> None:
    """Events, last event id and reconnection time are those that a plain reading of the standard gives."""
    parser = EventStreamParser()
    events, last_event_id, retries = interpret(stream)
    assert parser.feed(stream) == events
    assert parser.last_event_id == last_event_id
    assert parser.retry == (timedelta(milliseconds=retries[-1]) if retries else None)


@calm
@given(STREAMS, st.data())
def test_any_split_gives_the_same_events(stream: bytes, data: st.DataObject) -> None:
    """How a stream is cut into chunks, empty ones included, changes nothing that comes out of it."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    whole, split = EventStreamParser(), EventStreamParser()
    expected = whole.feed(stream)
    chunks = [stream[start:end] for start, end in pairwise([0, *cuts, len(stream)])]
    assert [event for chunk in chunks for event in split.feed(chunk)] == expected
    assert (split.last_event_id, split.retry, split.comments) == (whole.last_event_id, whole.retry, whole.comments)


@calm
@given(STREAMS)
def test_byte_by_byte_gives_the_same_events(stream: bytes) -> None:
    """A stream that comes one byte at a time gives the events that it gives at once."""
    parser = EventStreamParser()
    assert [event for byte in stream for event in parser.feed(bytes([byte]))] == parsed(stream)


# --- Sentence by sentence ---------------------------------------------------------------------------------------------


def test_reads_a_frame_of_the_wire() -> None:
    """An id, a type and data make one event, and the id is its own."""
    assert parsed(b'id: 41\nevent: delta\ndata: {"text":"wa"}\n\n') == [
        ServerEvent("delta", '{"text":"wa"}', "41", True)
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_each_line_end_counts_once(end: bytes) -> None:
    """CR, LF and CRLF each end one line; a CRLF is never a line and an empty one."""
    assert datas(end.join([b"data: a", b"data: b", b"", b"data: c", b"", b""])) == ["a\nb", "c"]


def test_a_crlf_split_between_chunks_is_one_line_end() -> None:
    """The LF that opens a chunk belongs to the CR that closed the one before, also past an empty chunk."""
    parser = EventStreamParser()
    assert [parser.feed(chunk) for chunk in (b"data: a\r", b"", b"\ndata: b\r", b"\n\r")] == [
        [],
        [],
        [],
        [ServerEvent("message", "a\nb", "", False)],
    ]


def test_a_cr_dispatches_without_waiting_for_what_follows() -> None:
    """A block that a lone CR closes is an event at once, not when the next byte shows that no LF follows."""
    parser = EventStreamParser()
    assert parser.feed(b"data: a\r\r") == [ServerEvent("message", "a", "", False)]
    assert parser.feed(b"\n") == []


def test_only_cr_and_lf_end_a_line() -> None:
    """What str.splitlines takes for line ends (U+2028, U+2029, U+0085, VT, FF, FS, GS, RS) stays in the text (C2)."""
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei"
    assert datas(f"data: {text}\n\n".encode()) == [text]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"\n\xef\xbb\xbfdata: a\n\n", []),
        (b"data: \xef\xbb\xbf\n\n", ["\ufeff"]),
    ],
)
def test_a_byte_order_mark_is_dropped_at_the_very_start_only(stream: bytes, expected: list[str]) -> None:
    """One mark before the first byte is no part of the stream; any other is a character."""
    assert datas(stream) == expected


def test_data_lines_are_joined_by_lf() -> None:
    """Every data line but the last keeps its line end, empty ones too."""
    assert datas(b"data: a\ndata:\ndata\ndata: b\n\n") == ["a\n\n\nb"]


def test_one_space_after_the_colon_is_dropped() -> None:
    """The first space is not part of the value; a second one, a tab and a missing one change nothing."""
    assert datas(b"data:a\n\ndata: a\n\ndata:  a\n\ndata:\ta\n\ndata: a:b \n\n") == ["a", "a", " a", "\ta", "a:b "]


def test_an_empty_data_field_is_an_event() -> None:
    """A block with a data field whose value is empty is dispatched with empty data."""
    assert datas(b"data\n\ndata:\n\ndata: \n\n") == ["", "", ""]


def test_a_block_without_data_is_no_event() -> None:
    """Blocks of a comment, a retry, an id or a type alone dispatch nothing (C1)."""
    assert parsed(b": ping\n\nretry: 1000\n\nid: 1\n\nevent: delta\n\n\n\n") == []


def test_the_type_does_not_outlive_its_block() -> None:
    """The event type is reset at each blank line, also at one that dispatches nothing."""
    assert [event.event for event in parsed(b"event: x\n\ndata: a\n\nevent: y\ndata: b\n\ndata: c\n\n")] == [
        "message",
        "y",
        "message",
    ]


def test_the_id_outlives_its_block_and_says_whose_it_is() -> None:
    """The last event id persists until it is set again, and `has_id` tells the event that set it."""
    assert parsed(b"id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n") == [
        ServerEvent("message", "a", "7", True),
        ServerEvent("message", "b", "7", False),
        ServerEvent("message", "c", "", True),
    ]


def test_an_id_with_nul_is_ignored() -> None:
    """An id that contains NUL leaves the one before in force."""
    assert parsed(b"id: 7\ndata: a\n\nid: 8\x00\ndata: b\n\n") == [
        ServerEvent("message", "a", "7", True),
        ServerEvent("message", "b", "7", False),
    ]


def test_the_last_event_id_is_set_by_blocks_without_data() -> None:
    """An id counts when its block is complete: not before, and without any data too."""
    parser = EventStreamParser()
    parser.feed(b"id: 7\n")
    assert parser.last_event_id == ""
    parser.feed(b"\n")
    assert parser.last_event_id == "7"


@pytest.mark.parametrize("value", ["", "-1", "+1", "1.5", "1e3", "0x10", "1_000", "٣", "²", " 1 ", "ten"])
def test_a_retry_that_is_not_ascii_digits_is_ignored(value: str) -> None:
    """Only the ten ASCII digits name a reconnection time; anything else leaves the one before in force."""
    parser = EventStreamParser()
    parser.feed(f"retry: 250\nretry: {value}\n".encode())
    assert parser.retry == timedelta(milliseconds=250)


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        (b"0", timedelta(0)),
        (b"1000", timedelta(seconds=1)),
        (b"0" * 5000 + b"5", timedelta(milliseconds=5)),
        (b"9" * 16, timedelta(milliseconds=9_999_999_999_999_999)),
        (b"9" * 17, timedelta.max),
        (b"9" * 5000, timedelta.max),
    ],
)
def test_a_retry_of_any_length_is_a_duration(digits: bytes, expected: timedelta) -> None:
    """A number in milliseconds, however long, is read without an error, and counts before its block is complete."""
    parser = EventStreamParser()
    parser.feed(b"retry: " + digits + b"\n")
    assert parser.retry == expected


def test_names_of_fields_are_exact() -> None:
    """Unknown names, other case and spaces around a name make a field that is ignored."""
    assert parsed(b"Data: a\nDATA: b\n data: c\ndata : d\nfoo: e\n\n") == []


def test_comments_are_counted_and_change_nothing() -> None:
    """A heartbeat without a blank line becomes part of the next frame, and can be seen all the same (C1)."""
    parser = EventStreamParser()
    assert parser.feed(b": ping\n:\n: ping\nid: 0\ndata: a\n: ping\ndata: b\n\n: pi") == [
        ServerEvent("message", "a\nb", "0", True)
    ]
    assert parser.comments == 4


def test_ill_formed_utf8_is_replaced() -> None:
    """Bytes that are not UTF-8 become U+FFFD, one for each maximal part, and never swallow a line end."""
    assert datas(b"data: \xff|\xf0\x9f\x98|\xed\xa0\x80|\xe2\ndata: b\xc3\n\n") == [
        "\ufffd|\ufffd|\ufffd\ufffd\ufffd|\ufffd\nb\ufffd"
    ]


def test_an_unfinished_block_is_discarded() -> None:
    """What no blank line closes is no event, whatever it holds (the connection was cut)."""
    for rest in (b"data: b", b"data: b\n", b"id: 9\ndata: b\r\n"):
        assert datas(b"data: a\n\n" + rest) == ["a"]


def test_time_grows_with_the_size_and_no_faster() -> None:
    """A line eight times as long takes about eight times as long; re-copying it at each chunk would take 64 times."""

    def seconds(chunks: int) -> float:
        parser = EventStreamParser()
        begin = time.process_time()
        assert [event for _ in range(chunks) for event in parser.feed(b"x" * 256)] == []
        return time.process_time() - begin

    assert min(seconds(8_192) for _ in range(3)) < 30 * max(min(seconds(1_024) for _ in range(3)), 0.001)


def test_an_event_cannot_be_changed() -> None:
    """An event is a value."""
    with pytest.raises(AttributeError):
        parsed(b"data: a\n\n")[0].data = "b"  # type: ignore[misc]


def test_imports_the_standard_library_only() -> None:
    """Importing the parser pulls in neither an HTTP client nor an event loop, so a process that parses starts fast."""
    program = "import sys, client.sse; print(*{name.partition('.')[0] for name in sys.modules})"
    answer = subprocess.run(
        [sys.executable, "-S", "-c", program], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True
    )
    loaded = set(answer.stdout.split())
    assert "client" in loaded, answer.stderr
    assert loaded - sys.stdlib_module_names - {"client", "shared", "__main__"} == set()
    assert "asyncio" not in loaded
