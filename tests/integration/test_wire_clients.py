"""Our bytes in other people's clients, and our clients on real sockets (C1, C2)."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx
import httpx_sse
import pytest

from client.follow import afollow, follow, open_stream
from client.following import Following, Outcome, Patience
from client.sse import ServerEvent
from gateway import sse
from gateway.frames import frame
from gateway.sse import PING, gap, retry, snapshot
from gateway.standing import Standing
from shared.events import Event, EventKind, decode_data, encode_data
from tests.support.npm import run_node
from tests.support.wire_server import Answer, serve

PACKAGES: Final = ("eventsource@4.1.0", "eventsource-parser@3.0.8")
PATIENCE_S: Final = 60.0
PROGRAM: Final = Path(__file__).with_name("wire_clients.mjs")

TEXTS: Final = (
    "",
    "a plain word",
    "line\nfeed",
    "lone\rreturn",
    "both\r\nof them",
    "\n\ndata: an event?\n\nid: 99\n\n",
    "separators \u2028 and \u2029",
    "next line \x85",
    "\x0b\x0c\x1c\x1d\x1e\x00",
    ' "quoted" \\ and : colons',
    "\ufeffé 汉字 🎉 👩‍👩‍👧",
)

LOG: Final = (
    *(Event("run-1", seq, EventKind.DELTA, encode_data({"text": text})) for seq, text in enumerate(TEXTS, 3)),
    Event("run-1", 3 + len(TEXTS), EventKind.RERUN, encode_data({"reason": "merge", "attempt": 1})),
    Event("run-1", 4 + len(TEXTS), EventKind.DONE, encode_data({"usage": {}})),
)

# A heartbeat wherever one can come: before the first event, after one without an id, and after each with one.
CHUNKS: Final = (
    retry(timedelta(seconds=1)),
    PING,
    gap(50, 0, 2),
    PING,
    snapshot(2, Standing("so far")),
    *(chunk for event in LOG for chunk in (PING, PING, sse.event(frame(event)))),
)

EXPECTED: Final = [
    ("gap", '{"requested":50,"earliest":0,"latest":2}', ""),
    ("snapshot", '{"text":"so far"}', "2"),
    *((str(event.kind), event.data, str(event.seq)) for event in LOG),
]


@pytest.fixture(params=[CHUNKS, [bytes([byte]) for byte in b"".join(CHUNKS)]], ids=["chunks", "bytes"])
def chunks(request: pytest.FixtureRequest) -> Sequence[bytes]:
    """Return the stream as the gateway cuts it, and cut after every byte."""
    cut: Sequence[bytes] = request.param
    return cut


def texts_of(received: Sequence[tuple[str, str, str]]) -> list[object]:
    """Return the texts that the deltas carry."""
    return [decode_data(data)["text"] for event, data, _ in received if event == "delta"]


def test_our_parser_reads_the_stream(chunks: Sequence[bytes]) -> None:
    """Exactly the events that were sent come out, each text unchanged, and every heartbeat is seen (C1, C2)."""
    with serve(lambda _: Answer(chunks)) as url, httpx.Client(base_url=url) as client:  # noqa: SIM117
        with open_stream(client, "run-1") as stream:
            received = [(event.event, event.data, event.id) for event in stream.events]
    assert received == EXPECTED
    assert texts_of(received) == list(TEXTS)
    assert (stream.parser.retry, stream.parser.comments) == (timedelta(seconds=1), CHUNKS.count(PING))


def test_httpx_sse_reads_the_stream(chunks: Sequence[bytes]) -> None:
    """httpx-sse gives the events that were sent and no empty one for a heartbeat (C1, C2)."""
    with serve(lambda _: Answer(chunks)) as url:
        assert read_with_httpx_sse(url) == EXPECTED


def test_a_heartbeat_with_a_blank_line_would_be_an_event() -> None:
    """Here is why a heartbeat is a line without one: httpx-sse takes a block of a comment alone for an event (C1)."""
    with serve(lambda _: Answer([sse.event(frame(LOG[0])), PING, b"\n"])) as url:
        assert read_with_httpx_sse(url) == [EXPECTED[2], ("message", "", "3")]


def read_with_httpx_sse(url: str) -> list[tuple[str, str, str]]:
    """Read a whole stream with httpx-sse."""
    with httpx.Client(timeout=PATIENCE_S) as client, httpx_sse.connect_sse(client, "GET", url) as source:
        return [(event.event, event.data, event.id) for event in source.iter_sse()]


def read_with_node(client: str, url: str, capsys: pytest.CaptureFixture[str]) -> list[list[str | None]]:
    """Read a stream up to its `done` with a client of npm's."""
    received: list[list[str | None]] = json.loads(run_node(PROGRAM, PACKAGES, client, url, capsys=capsys))
    return received


def test_eventsource_reads_the_stream(chunks: Sequence[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    """The EventSource of browsers, as npm's eventsource has it, dispatches the events that were sent (C1, C2)."""
    with serve(lambda _: Answer(chunks)) as url:
        assert read_with_node("eventsource", url, capsys) == [list(event) for event in EXPECTED]


def test_eventsource_parser_reads_the_stream(chunks: Sequence[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    """The parser of npm that most front ends read a model's output with gives the same (C1, C2)."""
    with serve(lambda _: Answer(chunks)) as url:
        received = read_with_node("eventsource-parser", url, capsys)
    assert received == [[event, data, seq or None] for event, data, seq in EXPECTED]


# --- Our followers on real sockets ------------------------------------------------------------------------------------

RUN: Final = [
    *(Event("run-1", seq, EventKind.DELTA, encode_data({"text": text})) for seq, text in enumerate(TEXTS)),
    Event("run-1", len(TEXTS), EventKind.DONE, encode_data({"usage": {}})),
]
EVENTS: Final = [ServerEvent(str(event.kind), event.data, str(event.seq), True) for event in RUN]


class LossyGateway:
    """Sends three events after the cursor, and half of a fourth; then loses the connection, or ends it in order."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def __call__(self, last_event_id: str | None) -> Answer:
        """Answer a request with this cursor."""
        self.asked.append(last_event_id)
        start = 0 if last_event_id is None else int(last_event_id) + 1
        if start == len(RUN):
            return Answer(status=HTTPStatus.NO_CONTENT)
        frames = [sse.event(frame(event)) for event in RUN[start : start + 4]]
        whole, half = frames[:3], b"".join(frames[3:])[:20]
        return Answer([retry(timedelta(0)), PING, *whole, half or PING], broken=len(self.asked) % 2 == 1)


CURSORS: Final = [None, "2", "5", "8"]


def test_follow_gets_a_run_over_lost_connections() -> None:
    """Every event comes once, in order, however often the connection is lost, and nothing is asked again at the end."""
    gateway, following = LossyGateway(), Following("run-1")
    with serve(gateway) as url, httpx.Client(base_url=url) as client:
        assert list(follow(client, following)) == EVENTS
        assert (following.outcome, gateway.asked) == (Outcome.ENDED, CURSORS)
        again = Following("run-1", cursor=following.cursor)
        assert list(follow(client, again)) == []
    assert again.outcome is Outcome.NOTHING_LEFT


def test_afollow_gets_a_run_over_lost_connections() -> None:
    """The async follower does the same over the same connections."""
    gateway = LossyGateway()

    async def main(url: str) -> list[ServerEvent]:
        async with httpx.AsyncClient(base_url=url) as client:
            return [event async for event in afollow(client, "run-1")]

    with serve(gateway) as url:
        assert asyncio.run(main(url)) == EVENTS
    assert gateway.asked == CURSORS


def test_a_silent_connection_counts_as_broken() -> None:
    """A server that says nothing for the idle time is left, and the next connection goes on after the cursor."""
    answers = {
        None: Answer([retry(timedelta(0)), sse.event(frame(RUN[0]))], silent=True),
        "0": Answer([sse.event(frame(RUN[-1]))]),
    }
    asked: dict[str | None, None] = {}

    def answer(last_event_id: str | None) -> Answer:
        asked[last_event_id] = None  # not how often: on a busy machine, an answer may take longer than the idle time
        return answers[last_event_id]

    following = Following("run-1", patience=Patience(idle=timedelta(milliseconds=50)))
    with serve(answer) as url, httpx.Client(base_url=url) as client:
        assert list(follow(client, following)) == [EVENTS[0], EVENTS[-1]]
    assert list(asked) == [None, "0"]


def test_a_connection_can_be_cut_after_n_events() -> None:
    """Leaving the block of one connection early leaves the server's thread and the client usable for the next."""
    gateway = LossyGateway()
    with serve(gateway) as url, httpx.Client(base_url=url) as client:
        with open_stream(client, "run-1") as stream:
            before = [next(stream.events) for _ in range(2)]
        with open_stream(client, "run-1", int(before[-1].id)) as stream:
            assert next(stream.events) == EVENTS[2]
    assert before == EVENTS[:2]
    assert gateway.asked == [None, "1"]
