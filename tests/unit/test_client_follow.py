"""Following a run over connections that do not last. Each test of a driver runs on the sync and on the async one."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.follow import afollow, follow, open_stream
from client.following import Following, GaveUp, Outcome, Patience, StreamRefused
from client.sse import ServerEvent
from shared.errors import CallerError, Unavailable
from tests.support.calm import calm

STREAM = {"content-type": "text/event-stream; charset=utf-8"}
RETRY = b"retry: 1000\n"


def frame(seq: int | str, event: str = "delta", data: str = "{}") -> bytes:
    """Encode an event as the gateway does."""
    return f"id: {seq}\nevent: {event}\ndata: {data}\n\n".encode()


def frames(seqs: Sequence[int]) -> bytes:
    """Encode some fragments."""
    return b"".join(frame(seq) for seq in seqs)


def had(seq: int, event: str = "delta", data: str = "{}") -> ServerEvent:
    """Return the event that `frame` becomes."""
    return ServerEvent(event, data, str(seq), True)


GAP = b'event: gap\ndata: {"requested":50}\n\n'
ERROR = b'event: error\ndata: {"code":"going_away"}\n\n'


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that comes in chunks and may break after them."""

    def __init__(self, chunks: Sequence[bytes], then: Exception | None) -> None:
        self._chunks = chunks
        self._then = then
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        if self._then is not None:
            raise self._then

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk

    def close(self) -> None:
        """Note that the connection was closed."""
        self.closed = True

    async def aclose(self) -> None:
        """Note that the connection was closed."""
        self.closed = True


@dataclass
class Connection:
    """One answer of the server: a head and a body, or an exception instead of both, or after the body's chunks."""

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: dict(STREAM))
    then: Exception | None = None
    refused: Exception | None = None


class Server:
    """Answers connections as scripted, the last one for ever, and keeps what was asked."""

    def __init__(self, *script: Connection) -> None:
        self._script = list(script)
        self.requests: list[httpx.Request] = []
        self.bodies: list[Body] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request: this is what a mock transport calls."""
        self.requests.append(request)
        connection = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if connection.refused is not None:
            raise connection.refused
        body = Body(connection.chunks, connection.then)
        self.bodies.append(body)
        return httpx.Response(connection.status, headers=connection.headers, stream=body)

    @property
    def asked(self) -> list[str | None]:
        """The cursor of each request, as it travelled."""
        return [request.headers.get("last-event-id") for request in self.requests]


@dataclass
class Followed:
    """What came out of a following: its events, the pauses between its connections, and how it ended."""

    events: list[ServerEvent]
    pauses: list[float]
    raised: StreamRefused | GaveUp | None


class Drive(Protocol):
    """Runs a following to its end against a server."""

    def __call__(self, server: Server, run: str | Following, limit: int = 100) -> Followed:
        """Return what came out, at most `limit` events."""
        ...


def sync_drive(server: Server, run: str | Following, limit: int = 100) -> Followed:
    """Drive `follow`."""
    followed = Followed([], [], None)

    def pause(duration: timedelta) -> None:
        followed.pauses.append(duration.total_seconds())

    with httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(server)) as client:
        try:
            with closing(follow(client, run, pause=pause)) as stream:
                for event in stream:
                    followed.events.append(event)
                    if len(followed.events) == limit:
                        break
        except (StreamRefused, GaveUp) as raised:
            followed.raised = raised
    return followed


def async_drive(server: Server, run: str | Following, limit: int = 100) -> Followed:
    """Drive `afollow`."""
    followed = Followed([], [], None)

    async def pause(duration: timedelta) -> None:
        followed.pauses.append(duration.total_seconds())

    async def main() -> None:
        async with httpx.AsyncClient(base_url="http://gateway", transport=httpx.MockTransport(server)) as client:
            try:
                async with aclosing(afollow(client, run, pause=pause)) as stream:
                    async for event in stream:
                        followed.events.append(event)
                        if len(followed.events) == limit:
                            break
            except (StreamRefused, GaveUp) as raised:
                followed.raised = raised

    asyncio.run(main())
    return followed


@pytest.fixture(params=[sync_drive, async_drive], ids=["sync", "async"])
def drive(request: pytest.FixtureRequest) -> Drive:
    """Return each driver in turn."""
    driver: Drive = request.param
    return driver


def certain(run_id: str = "run-1", cursor: int | None = None, patience: Patience | None = None) -> Following:
    """Return a following whose every pause is the longest that chance may give."""
    return Following(run_id, cursor, patience, chance=lambda: 1.0)


LAST = Connection([frame(99, "done")])


# --- To the end -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["done", "failed", "cancelled"])
def test_ends_with_the_terminal_event(drive: Drive, kind: str) -> None:
    """Events come in order up to the terminal one, which is the last; nothing after it is read, nothing asked again."""
    server = Server(Connection([RETRY + frames([0, 1]), frame(2, kind) + frame(3), frame(4)]))
    following = Following("run-1")
    assert drive(server, following) == Followed([had(0), had(1), had(2, kind)], [], None)
    assert (following.outcome, following.cursor, following.tries) == (Outcome.ENDED, 2, 1)
    assert server.bodies[0].closed


def test_asks_for_the_runs_stream(drive: Drive) -> None:
    """The request names the run, accepts a stream of events, and has no cursor while nothing was received."""
    server = Server(LAST)
    drive(server, "a/b ü?")
    request = server.requests[0]
    assert (request.method, request.url.raw_path) == ("GET", b"/runs/a%2Fb%20%C3%BC%3F/events")
    assert request.headers["accept"] == "text/event-stream"
    assert "last-event-id" not in request.headers


def test_three_silent_heartbeats_break_a_connection(drive: Drive) -> None:
    """Reads time out after 45 s of silence unless the patience says otherwise."""
    server = Server(LAST)
    drive(server, "run-1")
    drive(server, Following("run-1", patience=Patience(idle=timedelta(seconds=7))))
    assert [request.extensions["timeout"]["read"] for request in server.requests] == [45.0, 7.0]


def test_no_content_is_the_end(drive: Drive) -> None:
    """A 204 ends the following without an event and without another request (R10)."""
    server = Server(Connection(status=204, headers={}))
    following = Following("run-1", cursor=41)
    assert drive(server, following) == Followed([], [], None)
    assert (following.outcome, following.cursor, server.asked) == (Outcome.NOTHING_LEFT, 41, ["41"])


# --- Reconnecting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cut",
    [
        None,
        httpx.ReadTimeout("silence"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("incomplete chunked read"),
    ],
)
def test_goes_on_after_the_last_event_received(drive: Drive, cut: Exception | None) -> None:
    """However a connection ends, the next one asks with the last number received; an unfinished frame has none."""
    server = Server(Connection([frames([0, 1]) + b"id: 2\nevent: delta\n"], then=cut), Connection([frame(2, "done")]))
    assert drive(server, certain()) == Followed([had(0), had(1), had(2, "done")], [1.0], None)
    assert server.asked == [None, "1"]


@pytest.mark.parametrize(
    "why", [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("full")]
)
def test_a_connection_that_does_not_come_about_is_tried_again(drive: Drive, why: Exception) -> None:
    """Failing to connect is a broken connection like any other."""
    server = Server(Connection(refused=why), LAST)
    assert drive(server, certain()) == Followed([had(99, "done")], [1.0], None)


def test_a_drop_before_the_first_id_starts_again_at_the_beginning(drive: Drive) -> None:
    """While no number was received there is none to ask with (R9)."""
    server = Server(Connection([RETRY + b": ping\nid: 0\n"], then=httpx.ReadError("reset")), LAST)
    drive(server, "run-1")
    assert server.asked == [None, None]


def test_what_was_received_is_not_handed_on_again(drive: Drive) -> None:
    """A number at or below the cursor is dropped, within a connection and across; the run still reaches its end."""
    server = Server(Connection([frames([0, 1, 1, 0, 2])]), Connection([frames([1, 2, 3]) + frame(4, "done")]))
    assert [event.id for event in drive(server, "run-1").events] == ["0", "1", "2", "3", "4"]


def test_numbers_are_compared_within_a_run(drive: Drive) -> None:
    """Another run's following knows nothing of this one's numbers (R11)."""
    server = Server(Connection([frames([0, 1]) + frame(2, "done")]))
    assert drive(server, "run-1").events == drive(server, "run-2").events == [had(0), had(1), had(2, "done")]


def test_a_terminal_event_that_was_received_before_still_ends(drive: Drive) -> None:
    """A server that repeats the last event instead of answering 204 is not asked for ever."""
    following = Following("run-1", cursor=2)
    assert drive(Server(Connection([frame(2, "done")])), following).events == []
    assert following.outcome is Outcome.ENDED


@pytest.mark.parametrize("value", ["", "x", "-1", "+8", "1_0", " 8", "8.0", "²", "٣", "9" * 19])
def test_an_id_that_is_no_number_is_never_a_cursor(drive: Drive, value: str) -> None:
    """Such an event is handed on, and the cursor stays."""
    server = Server(Connection([frame(7) + frame(value)]), LAST)
    assert [event.event for event in drive(server, "run-1").events] == ["delta", "delta", "done"]
    assert server.asked == [None, "7"]


def test_an_event_without_an_id_of_its_own_has_no_number(drive: Drive) -> None:
    """An id that persists from an earlier event makes a later one neither a duplicate nor progress."""
    server = Server(Connection([frame(7) + b"event: note\ndata: a\n\n" + frame(8, "done")]))
    assert drive(server, "run-1").events == [had(7), ServerEvent("note", "a", "7", False), had(8, "done")]


@calm
@given(st.integers(0, 12), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.booleans()), max_size=12))
def test_every_event_comes_once_whatever_is_cut(length: int, cuts: list[tuple[int, int, bool]]) -> None:
    """Whatever a server sends before each cut, and however much of it again, the events are those of the run."""
    log = [frame(seq) for seq in range(length)] + [frame(length, "done")]
    plan = iter(cuts)

    def serve(request: httpx.Request) -> httpx.Response:
        start = int(request.headers.get("last-event-id", "-1")) + 1
        count, repeated, broken = next(plan, (len(log), 0, False))
        sent = b"".join(log[max(start - repeated, 0) : start + count])
        half = b"".join(log[start + count : start + count + 1])[:-1] if broken else b""
        return httpx.Response(
            200, headers=STREAM, stream=Body([sent + half], httpx.ReadError("reset") if broken else None)
        )

    with httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(serve)) as client:
        following = Following("run-1", patience=Patience(failures=20))
        events = list(follow(client, following, pause=lambda _: None))
    assert events == [had(seq) for seq in range(length)] + [had(length, "done")]


# --- Snapshot, gap, error ---------------------------------------------------------------------------------------------


def test_a_snapshot_moves_the_cursor_to_its_number(drive: Drive) -> None:
    """A snapshot is handed on, and what it covers is a duplicate from then on."""
    server = Server(Connection([frame(0) + frame(40, "snapshot") + frames([39, 40, 41])]), LAST)
    assert drive(server, "run-1").events == [had(0), had(40, "snapshot"), had(41), had(99, "done")]
    assert server.asked == [None, "41"]


def test_a_snapshot_replaces_whatever_its_number(drive: Drive) -> None:
    """A snapshot at or below the cursor is no duplicate: its text stands, and the events behind it are new again."""
    server = Server(Connection([frames([0, 1, 2]) + frame(1, "snapshot") + frame(2) + frame(3, "done")]))
    assert drive(server, "run-1").events == [had(0), had(1), had(2), had(1, "snapshot"), had(2), had(3, "done")]


def test_a_snapshot_after_a_gap_moves_the_cursor_back(drive: Drive) -> None:
    """A cursor ahead of the history is given up for the snapshot's, and the events after it are new (R4)."""
    server = Server(Connection([RETRY + GAP + frame(10, "snapshot") + frame(11)]), LAST)
    following = Following("run-1", cursor=50)
    assert drive(server, following).events == [
        ServerEvent("gap", '{"requested":50}', "", False),
        had(10, "snapshot"),
        had(11),
        had(99, "done"),
    ]
    assert server.asked == ["50", "11"]


def test_after_a_gap_the_run_may_begin_again(drive: Drive) -> None:
    """Without a snapshot behind the gap, the history is received from its first event (R4)."""
    server = Server(Connection([GAP + frames([0, 1]) + frame(2, "done")]))
    assert [event.id for event in drive(server, Following("run-1", cursor=50)).events] == ["", "0", "1", "2"]


def test_a_cursor_that_met_a_gap_is_not_asked_with_again(drive: Drive) -> None:
    """A gap that the stream closes behind leads to a connection from the beginning: the old number means nothing."""
    server = Server(Connection([GAP]), Connection([frame(0) + frame(1, "done")]))
    assert [event.event for event in drive(server, Following("run-1", cursor=50)).events] == ["gap", "delta", "done"]
    assert server.asked == ["50", None]


def test_gaps_without_end_are_given_up(drive: Drive) -> None:
    """A server that answers every cursor with a gap and the same snapshot makes no progress."""
    server = Server(Connection([GAP + frame(10, "snapshot")]))
    following = certain(cursor=50, patience=Patience(failures=3))
    assert isinstance(drive(server, following).raised, GaveUp)
    assert server.asked == ["50", "10", "10"]


def test_an_error_leads_to_the_next_connection(drive: Drive) -> None:
    """An `error` is not handed on, nothing behind it is read, and the next connection has the cursor."""
    server = Server(Connection([frame(0) + ERROR + frame(1), frame(2)]), Connection([frame(1, "done")]))
    following = certain()
    assert drive(server, following) == Followed([had(0), had(1, "done")], [1.0], None)
    assert server.asked == [None, "0"]
    assert server.bodies[0].closed


# --- Patience ---------------------------------------------------------------------------------------------------------


def test_backs_off_and_gives_up(drive: Drive) -> None:
    """Pauses double from the reconnection time up to the limit; the eighth failure in a row is the last."""
    reset = httpx.ReadError("reset")
    server = Server(Connection([frames([0, 1, 2])]), Connection(then=reset))
    following = certain()
    followed = drive(server, following)
    assert followed.events == [had(0), had(1), had(2)]
    assert followed.pauses == [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    gave_up = followed.raised
    assert isinstance(gave_up, GaveUp)
    assert isinstance(gave_up, Unavailable)
    assert (gave_up.run_id, gave_up.tries, gave_up.cursor, gave_up.last_error) == ("run-1", 9, 2, "ReadError: reset")
    assert gave_up.__cause__ is reset
    assert str(gave_up) == (
        "the gateway is away: gave up following run 'run-1': failures in a row: 8; "
        "event 2 was the last received; at last ReadError: reset"
    )
    assert following.outcome is Outcome.GAVE_UP


def test_each_pause_is_a_random_share(drive: Drive) -> None:
    """Jitter is full: a pause lies anywhere between nothing and the back-off, so clients that fail together spread."""
    chances = iter([0.0, 0.25, 0.5])
    following = Following("run-1", patience=Patience(failures=4), chance=lambda: next(chances))
    assert drive(Server(Connection()), following).pauses == [0.0, 0.5, 2.0]


@pytest.mark.parametrize(
    ("retry", "pauses"),
    [
        (b"retry: 200\n", [0.2, 0.4, 0.8]),
        (b"retry: 0\n", [0.0, 0.0, 0.0]),
        (b"retry: 60000\n", [60.0, 60.0, 60.0]),
        (b"retry: " + b"9" * 400 + b"\n", [300.0, 300.0, 300.0]),
        (b"retry: soon\n", [1.0, 2.0, 4.0]),
    ],
)
def test_the_servers_retry_is_where_back_off_begins(drive: Drive, retry: bytes, pauses: list[float]) -> None:
    """The last `retry` received counts, on later connections too; one beyond all reason is cut to the longest wait."""
    server = Server(Connection([retry]), Connection())
    assert drive(server, certain(patience=Patience(failures=4))).pauses == pauses


def test_progress_resets_the_count(drive: Drive) -> None:
    """A connection that brings a new event begins the count and the back-off anew."""
    nothing = Connection()
    server = Server(nothing, nothing, Connection([frame(0)]), nothing, nothing, Connection([frame(1)]), nothing)
    followed = drive(server, certain(patience=Patience(failures=3)))
    assert followed.events == [had(0), had(1)]
    assert followed.pauses == [1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0]


def test_repeated_events_are_no_progress(drive: Drive) -> None:
    """A server that sends what was asked not to be sent again, and closes, is given up."""
    server = Server(Connection([frames([0, 1])]))
    assert len(drive(server, certain(patience=Patience(failures=3))).pauses) == 3
    assert server.asked == [None, "1", "1", "1"]


def test_a_heartbeat_says_that_a_silent_connection_was_good(drive: Drive) -> None:
    """A run that waits for longer than a connection may last is not given up."""
    quiet = Connection([RETRY, b": ping\n", ERROR])
    server = Server(*[quiet] * 5, LAST)
    following = certain(patience=Patience(failures=2))
    assert drive(server, following) == Followed([had(99, "done")], [1.0] * 5, None)


@pytest.mark.parametrize("status", [301, 400, 401, 404, 405, 409, 410, 422])
def test_a_final_answer_is_not_asked_for_again(drive: Drive, status: int) -> None:
    """What asking again does not change is raised at once, with the position so far."""
    server = Server(
        Connection([frame(0)]), Connection(status=status, headers={"content-type": "application/problem+json"})
    )
    following = certain()
    refused = drive(server, following).raised
    assert isinstance(refused, StreamRefused)
    assert isinstance(refused, CallerError)
    answer = f"status {status} and content type application/problem+json"
    assert (refused.run_id, refused.answer, refused.tries, refused.cursor) == ("run-1", answer, 2, 0)
    assert str(refused) == f"the stream of run 'run-1' was refused with {answer}; asking again would change nothing"
    assert following.outcome is Outcome.REFUSED
    assert server.asked == [None, "0"]


def test_a_page_is_no_stream(drive: Drive) -> None:
    """A 200 that is not an event stream (somebody's login page) is final, and none of it is read as events."""
    server = Server(Connection([frame(0)], headers={"content-type": "text/html"}))
    followed = drive(server, "run-1")
    assert isinstance(followed.raised, StreamRefused)
    assert followed.events == []


@pytest.mark.parametrize(
    "content_type", ["text/event-stream", "Text/Event-Stream;charset=UTF-8", "text/event-stream ; a=b"]
)
def test_parameters_and_case_of_the_content_type_do_not_matter(drive: Drive, content_type: str) -> None:
    """The media type's essence decides."""
    server = Server(Connection([frame(0, "done")], headers={"content-type": content_type}))
    assert drive(server, "run-1").events == [had(0, "done")]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_passing_trouble_is_tried_again(drive: Drive, status: int) -> None:
    """What says "not now" and the server's own errors are failures like a broken connection; no body is read."""
    server = Server(Connection([frame(0)], status=status), LAST)
    assert drive(server, certain()) == Followed([had(99, "done")], [1.0], None)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"retry-after": "0"}, 1.0),
        ({"retry-after": "5"}, 6.0),
        ({"retry-after": "300"}, 301.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT", "date": "Fri, 31 Dec 1999 23:59:49 GMT"}, 11.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT", "date": "Sat, 01 Jan 2000 00:00:09 GMT"}, 1.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 1.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT", "date": "Fri, 31 Dec 1999 23:59:49 -0000"}, 1.0),
        ({"retry-after": "-5"}, 1.0),
        ({"retry-after": "soon"}, 1.0),
    ],
)
def test_retry_after_is_waited_for(drive: Drive, status: int, headers: dict[str, str], pause: float) -> None:
    """The pause is what the server asks for, plus the random back-off, so that not all come back at that moment."""
    server = Server(Connection(status=status, headers=headers), LAST)
    assert drive(server, certain()).pauses == [pause]


def test_what_one_answer_asks_for_is_waited_for_once(drive: Drive) -> None:
    """The pause after a later connection knows nothing of it."""
    server = Server(Connection(status=503, headers={"retry-after": "5"}), Connection(), LAST)
    assert drive(server, certain()).pauses == [6.0, 2.0]


def test_digits_that_are_no_ascii_ask_for_no_pause() -> None:
    """A superscript is a digit to Python and no number: it is ignored like any other text."""
    following = certain()
    following.begin()
    assert not following.answered(503, {"retry-after": "²"})
    assert following.next_pause() == timedelta(seconds=1)


@pytest.mark.parametrize("seconds", ["301", "9" * 400])
def test_a_server_that_wants_too_long_a_pause_is_given_up(drive: Drive, seconds: str) -> None:
    """Nobody is made to wait beyond the longest wait: the caller hears of it at once."""
    server = Server(Connection(status=503, headers={"retry-after": seconds}))
    followed = drive(server, certain())
    assert isinstance(followed.raised, GaveUp)
    assert followed.raised.tries == 1
    assert followed.raised.last_error == "status 503 and content type none"
    assert followed.pauses == []


def test_the_cause_is_what_ended_the_last_connection(drive: Drive) -> None:
    """Where the last connection ended in order, no earlier exception is blamed."""
    server = Server(Connection(refused=httpx.ConnectError("refused")), Connection())
    gave_up = drive(server, certain(patience=Patience(failures=2))).raised
    assert isinstance(gave_up, GaveUp)
    assert (gave_up.last_error, gave_up.__cause__) == ("the stream ended before the run did", None)


def test_giving_up_without_any_event_says_so(drive: Drive) -> None:
    """The message names the position, also where there is none; what the server said last is part of it."""
    following = certain(patience=Patience(failures=1))
    assert str(drive(Server(Connection([ERROR])), following).raised) == (
        "the gateway is away: gave up following run 'run-1': failures in a row: 1; "
        """nothing was received; at last the server's error {"code":"going_away"}"""
    )


# --- The drivers ------------------------------------------------------------------------------------------------------


def test_leaving_closes_the_connection_and_the_following_goes_on(drive: Drive) -> None:
    """The cursor is the last event handed on, not the last byte received; the same following can be driven again."""
    server = Server(Connection([frames([0, 1, 2, 3])]), Connection([frames([2, 3]) + frame(4, "done")]))
    following = certain()
    assert drive(server, following, limit=2).events == [had(0), had(1)]
    assert server.bodies[0].closed
    assert (following.cursor, following.outcome) == (1, None)
    assert drive(server, following).events == [had(2), had(3), had(4, "done")]
    assert server.asked == [None, "1"]
    assert drive(server, following).events == []


@pytest.mark.parametrize("mistake", [httpx.UnsupportedProtocol("no scheme"), httpx.LocalProtocolError("bad header")])
def test_a_mistake_in_the_call_goes_through(drive: Drive, mistake: Exception) -> None:
    """What no later connection can mend is not tried again."""
    server = Server(Connection(refused=mistake))
    with pytest.raises(type(mistake)):
        drive(server, "run-1")
    assert len(server.requests) == 1


def test_pauses_are_slept_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default the sync driver blocks and the async one gives way to the event loop, for the pause's seconds."""
    slept: list[tuple[str, float]] = []

    async def note(seconds: float) -> None:
        slept.append(("asyncio", seconds))

    monkeypatch.setattr(time, "sleep", lambda seconds: slept.append(("time", seconds)))
    monkeypatch.setattr(asyncio, "sleep", note)

    async def main() -> None:
        server = httpx.MockTransport(Server(Connection([b"retry: 2500\n"]), LAST))
        async with httpx.AsyncClient(base_url="http://gateway", transport=server) as client:
            assert [event async for event in afollow(client, certain())] == [had(99, "done")]

    server = httpx.MockTransport(Server(Connection([b"retry: 1500\n"]), LAST))
    with httpx.Client(base_url="http://gateway", transport=server) as client:
        assert list(follow(client, certain())) == [had(99, "done")]
    asyncio.run(main())
    assert slept == [("time", 1.5), ("asyncio", 2.5)]


def test_following_needs_no_event_loop() -> None:
    """Importing the sync driver does not load asyncio, and the decisions do not load httpx."""
    for module, absent in (("client.follow", {"asyncio", "anyio"}), ("client.following", {"asyncio", "httpx"})):
        program = f"import sys, {module}; print(*sys.modules)"
        path = {"PYTHONPATH": ":".join(sys.path)}
        answer = subprocess.run([sys.executable, "-c", program], env=path, capture_output=True, text=True)
        assert module in answer.stdout.split(), answer.stderr
        assert absent.isdisjoint(answer.stdout.split())


# --- One connection ---------------------------------------------------------------------------------------------------


def opened(server: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    """Return a client of this server."""
    return httpx.Client(base_url="http://gateway/lab", transport=httpx.MockTransport(server))


def test_a_single_connection_can_be_cut() -> None:
    """Leaving the block after n events closes the connection, and nothing is asked again."""
    server = Server(Connection([RETRY + frames([6, 7]), frames([8])]))
    with opened(server) as client, open_stream(client, "run-1", 5) as stream:
        assert [next(stream.events), next(stream.events)] == [had(6), had(7)]
        closed_inside = server.bodies[0].closed
    assert (closed_inside, server.bodies[0].closed) == (False, True)
    assert server.asked == ["5"]
    assert server.requests[0].url.raw_path == b"/lab/runs/run-1/events"
    assert server.requests[0].extensions["timeout"]["read"] == 45.0


def test_a_single_connection_filters_nothing() -> None:
    """Duplicates, disorder and errors are seen as they came; the end of the stream is the end."""
    server = Server(Connection([frames([0, 2, 1, 1]) + ERROR + frame(3, "done") + b": ping\n" + frame(4)]))
    with opened(server) as client, open_stream(client, "run-1") as stream:
        assert [event.id for event in stream.events] == ["0", "2", "1", "1", "1", "3", "4"]
        assert stream.parser.comments == 1
    assert server.asked == [None]


@pytest.mark.parametrize(("status", "content_type"), [(404, "application/problem+json"), (503, "text/event-stream")])
def test_a_single_connection_shows_the_answers_head(status: int, content_type: str) -> None:
    """Status and headers can be read whatever the answer; one that is no stream has no events."""
    server = Server(Connection([frame(0)], status=status, headers={"content-type": content_type, "x-run-id": "run-1"}))
    with opened(server) as client, open_stream(client, "run-1") as stream:
        assert (stream.status, stream.headers["X-Run-Id"]) == (status, "run-1")
        assert list(stream.events) == []


def test_a_single_connection_that_breaks_raises() -> None:
    """The transport's error comes out of the events, after those that were complete."""
    server = Server(Connection([frame(0)], then=httpx.ReadTimeout("silence")))
    with opened(server) as client, open_stream(client, "run-1", idle=timedelta(seconds=2)) as stream:
        assert next(stream.events) == had(0)
        with pytest.raises(httpx.ReadTimeout):
            next(stream.events)
    assert server.requests[0].extensions["timeout"]["read"] == 2.0
