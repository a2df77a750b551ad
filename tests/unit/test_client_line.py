"""A session's line, decision by decision: frames in, arrivals and frames out, and whether to come back."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.arrivals import (
    Append,
    Disconnected,
    Ended,
    Gap,
    Question,
    Reconnected,
    RunEvent,
    RunOpened,
    SessionOpened,
    Snapshot,
    Unknown,
)
from client.following import Patience
from client.line import PING, PONG, Line, LineArrival, LineLost, LineRefused
from client.line_frames import Answered, Rejected
from client.reading import BadPayload
from shared.envelope import CloseCode
from shared.errors import CallerError, Misconfigured, Unavailable
from shared.events import Json
from shared.run import RunStatus
from tests.support.calm import calm
from tests.support.lines import LOG, SCHEMA, brief, read

READY = '{"v":1,"type":"ready","kind":"session_opened","cursor":"","data":{"ping_every_s":4,"pong_wait_s":3}}'
TIDY = {"v": 1, "message": "…", "at": "2026-01-01T00:00:00.000+00:00"}


def event(cursor: str, kind: str, seq: int | None = None, run_id: str = "r", **data: Json) -> str:
    """Encode an event."""
    return placed(cursor, kind, seq, run_id, data)


def placed(cursor: str, kind: str, seq: int | None, run_id: str, data: dict[str, Json]) -> str:
    """Encode an event whose data may have any member."""
    place: dict[str, Json] = {"cursor": cursor, "run_id": run_id, "seq": seq}
    return msgspec.json.encode({**TIDY, "type": "event", **place, "kind": kind, "data": data}).decode()


def aside(frame_type: str, message: str = "…", **data: Json) -> str:
    """Encode what moves no cursor."""
    place: dict[str, Json] = {"cursor": None, "run_id": None, "seq": None}
    document = {**TIDY, "type": frame_type, **place, "kind": frame_type, "message": message, "data": data}
    return msgspec.json.encode(document).decode()


def said(ordinal: int, seq: int, text: str = "a") -> str:
    """Encode a fragment of the run with this ordinal."""
    return event(f"{ordinal}-{seq}", "delta", seq, f"run-{ordinal}", text=text)


def had(ordinal: int, seq: int, text: str = "a") -> RunEvent:
    """Return what `said` becomes."""
    return RunEvent(f"run-{ordinal}", seq, Append(text))


def certain(cursor: str = "", patience: Patience | None = None) -> Line:
    """Return a line whose every pause is the longest that chance may give, with its first connection begun."""
    line = Line("s", cursor, patience, chance=lambda: 1.0)
    line.begin()
    return line


def taken(line: Line, *frames: str) -> list[LineArrival]:
    """Return what these bring."""
    return [arrival for each in frames for arrival in line.take(each)]


# --- What a connection asks for ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("session_id", "cursor", "target"),
    [
        ("s", "", "/sessions/s/socket?v=1"),
        ("a/b 取?", "12-", "/sessions/a%2Fb%20%E5%8F%96%3F/socket?v=1&cursor=12-"),
        ("s", "0-41", "/sessions/s/socket?v=1&cursor=0-41"),
    ],
)
def test_a_connection_names_version_and_cursor(session_id: str, cursor: str, target: str) -> None:
    """Without a cursor it begins at the session's beginning."""
    assert Line(session_id, cursor).begin() == target


@pytest.mark.parametrize("cursor", ["4", "-1", "0-x", "٣-1", "0--1", " 0-1", "1234567890-1"])
def test_what_is_no_cursor_is_refused_at_once(cursor: str) -> None:
    """It would be refused by the gateway, too, and with less to go by."""
    with pytest.raises(ValueError, match="is no cursor of a session's line"):
        Line("s", cursor)


# --- Frames in --------------------------------------------------------------------------------------------------------


def test_a_line_carries_one_run_after_the_other() -> None:
    """Its opening, each run's beginning, and events arrive in order; the cursor is the last one's."""
    line = certain()
    assert taken(
        line,
        READY,
        event("0-", "run_started", run_id="run-0", ordinal=0),
        said(0, 0),
        event("0-1", "done", 1, "run-0", usage={}),
        event("1-", "run_started", run_id="run-1", ordinal=1),
        said(1, 0),
    ) == [
        SessionOpened(""),
        RunOpened("run-0"),
        had(0, 0),
        RunEvent("run-0", 1, Ended(RunStatus.DONE, "")),
        RunOpened("run-1"),
        had(1, 0),
    ]
    assert line.cursor == "1-0"
    assert line.begin() == "/sessions/s/socket?v=1&cursor=1-0"


def test_frames_of_the_contract_are_read() -> None:
    """Every kind of the log, and what is not in it, as the contract has it."""
    log = [placed(f"0-{seq}", kind, seq, "r", data) for seq, (kind, data) in enumerate(LOG)]
    ready: dict[str, Json] = {"session_id": "s", "ping_every_s": 15.0, "pong_wait_s": 10.0}
    opened = {**TIDY, "type": "ready", "cursor": "", "run_id": None, "seq": None, "kind": "session_opened"}
    frames = [
        msgspec.json.encode({**opened, "data": ready}).decode(),
        *log,
        event("0-10", "snapshot", 10, text="Thank you"),
        event("0-", "gap", requested=50, earliest=0, latest=10),
        aside("answered", question_id="q", counted=True, text="yes"),
        aside("error", "no such question", code="unknown_question", field="question_id", question_id="p"),
    ]
    assert [brief(read(text))[0] for text in frames] == [  # each is held against the contract, too
        "session_opened",
        *(kind for kind, _ in LOG),
        *("snapshot", "gap", "answered", "error"),
    ]
    arrivals = taken(certain(), *frames)
    events = arrivals[1 : 1 + len(log)]
    assert [(each.seq, each.run_id) for each in events if isinstance(each, RunEvent)] == [
        (seq, "r") for seq in range(len(log))
    ]
    assert not any(isinstance(each, RunEvent) and isinstance(each.change, Unknown) for each in events)
    assert events[4] == RunEvent("r", 4, Question("q", "Shall I refund it?", "no", "2026-01-01T00:02:00+00:00"))
    assert arrivals[1 + len(log) :] == [
        RunEvent("r", 10, Snapshot("Thank you")),
        Gap("r", 50),
        Answered("q", True, "yes"),
        Rejected("p", "unknown_question", "no such question"),
    ]


def test_what_came_before_does_not_come_again() -> None:
    """An event at or below the cursor is dropped, in a later run too, and so is the word that a run begins."""
    line = certain("1-1")
    again = [event("1-", "run_started", run_id="run-1"), said(0, 7), said(1, 0), said(1, 1), said(1, 2), said(1, 2)]
    assert taken(line, READY, *again) == [SessionOpened("1-1"), had(1, 2)]


def test_a_snapshot_or_a_gap_moves_the_cursor_back() -> None:
    """Both replace what is shown; the events behind them are new again (R4)."""
    line = certain("0-9")
    gap = event("0-", "gap", run_id="run-0", requested=9, earliest=0, latest=2)
    snapshot = event("0-2", "snapshot", 2, "run-0", text="abc")
    assert taken(line, gap, snapshot, said(0, 3)) == [
        Gap("run-0", 9),
        RunEvent("run-0", 2, Snapshot("abc")),
        had(0, 3),
    ]
    assert line.cursor == "0-3"


def test_what_a_later_gateway_says_is_let_through() -> None:
    """Unknown members, types and kinds are nothing; an unknown kind of the log has its seq, and moves the cursor."""
    line = certain()
    later = msgspec.json.encode({**TIDY, "type": "weather", "kind": "rain", "later": [1]}).decode()
    placeless = msgspec.json.encode({**TIDY, "type": "event", "kind": "noted", "data": {"x": 1}}).decode()
    noted = event("0-", "noted", None, "run-0")
    assert taken(line, later, placeless, noted) == []
    assert taken(line, event("0-0", "mused", 0, "run-0", of="it")) == [RunEvent("run-0", 0, Unknown())]
    assert line.cursor == "0-0"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>",
        "[]",
        "7",
        "{}",
        '{"type":"event"}',
        '{"v":2,"type":"ready"}',
        '{"v":"1","type":"ready"}',
        '{"v":1,"type":7}',
        '{"v":1,"type":"ready","data":{"ping_every_s":0}}',
        '{"v":1,"type":"ready","data":{"ping_every_s":-1}}',
        '{"v":1,"type":"answered","data":{}}',
        '{"v":1,"type":"error","data":{}}',
        event("0-0", "delta", 0, text=7),
        event("0-0", "delta", text="a"),
        event("0-0", "delta", -1, text="a"),
        event("zero", "delta", 0, text="a"),
        '{"v":1,"type":"event","kind":"delta","seq":0,"data":{"text":"a"}}',
        '{"v":1,"type":"event","kind":"delta","seq":0,"data":' + "[" * 9999 + "]" * 9999 + "}",
        '"\ud83d"',
        b'{"v":1,"type":"ping"}',
    ],
)
def test_what_cannot_be_read_is_one_error(text: str | bytes) -> None:
    """Whatever it is, the error is of the project's tree, and says what was read."""
    with pytest.raises(BadPayload, match=r"^gateway: (a frame of the session's line|the (frame|event) \w+) cannot be"):
        certain().take(text)
    assert issubclass(BadPayload, Misconfigured)


@calm
@given(st.data())
def test_every_event_comes_once_whatever_is_cut(data: st.DataObject) -> None:
    """However often a line is cut and however much is sent again, its events are those of the session, in order."""
    log = [
        text
        for ordinal in range(data.draw(st.integers(1, 3)))
        for text in (
            event(f"{ordinal}-", "run_started", run_id=f"run-{ordinal}"),
            *(said(ordinal, seq) for seq in range(data.draw(st.integers(0, 3)))),
        )
    ]
    cursors = ["", *(msgspec.json.decode(text)["cursor"] for text in log)]
    cuts = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=9))
    line, arrived = Line("s", patience=Patience(failures=99)), list[LineArrival]()
    for again, count in [*cuts, (0, len(log))]:
        target = line.begin()
        start = cursors.index(target.partition("&cursor=")[2])
        arrived += taken(line, READY, *log[max(start - again, 0) : start + count])
        line.lost()
        line.next_pause()
    assert [each for each in arrived if isinstance(each, RunOpened | RunEvent)] == taken(Line("s"), *log)


# --- Pings ------------------------------------------------------------------------------------------------------------


def test_a_ping_is_answered() -> None:
    """At once, and once."""
    line = certain()
    assert taken(line, READY, aside("ping")) == [SessionOpened("")]
    assert (line.to_send(), line.to_send()) == ([PONG], [])


def test_a_silent_server_is_asked_once() -> None:
    """Two of its pings may be missing; then it has as long to reply as it gives its clients."""
    line = certain()
    assert line.wait_s == 30.0
    line.take(READY)
    assert line.wait_s == 8.0
    assert line.silence()
    assert (line.to_send(), line.wait_s) == ([PING], 3.0)
    line.take(aside("pong"))
    assert line.wait_s == 8.0
    assert line.silence()
    assert not line.silence()
    assert line.last_error == "nothing came for 3 s after a ping"


def test_a_server_that_wants_to_ping_never_is_asked_all_the_same() -> None:
    """No time is longer than the longest wait."""
    line = certain()
    line.take('{"v":1,"type":"ready","data":{"ping_every_s":1e300,"pong_wait_s":1e300}}')
    assert line.wait_s == 600.0


# --- Answers ----------------------------------------------------------------------------------------------------------

ANSWER = '{"type":"answer","question_id":"q","text":"yes"}'


def test_an_answer_is_sent_and_replied_to() -> None:
    """It waits for the connection to be open."""
    line = certain()
    line.answer("q", "yes")
    assert line.to_send() == []
    line.take(READY)
    assert line.to_send() == [ANSWER]
    assert taken(line, aside("answered", question_id="q", counted=True, text="yes")) == [Answered("q", True, "yes")]
    line.answer("p", "no")
    assert line.to_send() == ['{"type":"answer","question_id":"p","text":"no"}']


@pytest.mark.parametrize(("first", "counted"), [("yes", True), ("no", False)])
def test_an_answer_without_a_reply_is_sent_again(first: str, counted: bool) -> None:
    """Of a lost connection nobody knows what it took. One that is second to its own text was first."""
    line = certain()
    line.take(READY)
    line.answer("q", "yes")
    assert line.to_send() == [ANSWER]
    line.begin()
    assert line.to_send() == []
    line.take(READY)
    assert line.to_send() == [ANSWER]
    reply = aside("answered", question_id="q", counted=False, text=first)
    assert taken(line, reply) == [Answered("q", counted, first)]
    line.begin()
    line.take(READY)
    assert line.to_send() == []


def test_an_answer_that_is_second_is_told_so() -> None:
    """Sent once, it knows that somebody else was faster, whatever they said."""
    line = certain()
    line.take(READY)
    line.answer("q", "yes")
    assert taken(line, aside("answered", question_id="q", counted=False, text="yes")) == [Answered("q", False, "yes")]


@pytest.mark.parametrize("told", [{"question_id": "q"}, {"field": "text"}])
def test_an_answer_that_is_not_taken_is_not_sent_again(told: dict[str, Json]) -> None:
    """A problem that names no question is the first unanswered one's: replies come in order."""
    line = certain()
    line.take(READY)
    line.answer("q", "yes")
    line.answer("p", "no")
    arrived = taken(line, aside("error", "text: is too long", code="invalid_field", **told))
    assert arrived == [Rejected("q", "invalid_field", "text: is too long")]
    line.begin()
    line.take(READY)
    assert line.to_send() == ['{"type":"answer","question_id":"p","text":"no"}']


def test_a_problem_that_names_its_question_leaves_the_others_waiting() -> None:
    """It may be that of a later answer: the one that has no reply yet is sent again on the next connection."""
    line = certain()
    line.take(READY)
    line.answer("q", "yes")
    line.answer("p", " ")
    told = aside("error", "text: is blank", code="invalid_field", field="text", question_id="p")
    assert taken(line, told) == [Rejected("p", "invalid_field", "text: is blank")]
    line.begin()
    line.take(READY)
    assert line.to_send() == [ANSWER]


# --- Its end ----------------------------------------------------------------------------------------------------------


def test_a_lost_connection_interrupts_the_run_that_it_carried() -> None:
    """Once, however many connections fail; the next that opens says that it is over."""
    line = certain()
    taken(line, READY, event("0-", "run_started", run_id="run-0"), said(0, 0))
    assert (line.lost(), line.lost()) == ([Disconnected("run-0")], [])
    line.begin()
    assert taken(line, READY, said(0, 1)) == [SessionOpened("0-0"), Reconnected("run-0"), had(0, 1)]
    taken(line, event("0-2", "done", 2, "run-0", usage={}))
    assert line.lost() == []


@pytest.mark.parametrize("code", list(CloseCode))
def test_a_close_code_says_whether_to_come_back(code: CloseCode) -> None:
    """What the next connection would meet again ends the following, with the reason; all else is tried again."""
    line = certain()
    line.take(READY)
    line.closed(code, "cursor: is none of ours")
    if not code.final:
        assert line.next_pause() == timedelta(seconds=1)
        return
    with pytest.raises(LineRefused) as refused:
        line.next_pause()
    assert isinstance(refused.value, CallerError)
    assert str(refused.value) == (
        f"the line of session 's' was refused with close code {code.value} (cursor: is none of ours);"
        " asking again would change nothing"
    )


@pytest.mark.parametrize("code", [1000, 1002, 1005, 1006, 1012, 3000, 4999])
def test_a_code_of_nobodys_is_tried_again(code: int) -> None:
    """As are the ends that a proxy makes."""
    line = certain()
    line.closed(code, "")
    assert (line.next_pause(), line.last_error) == (timedelta(seconds=1), f"close code {code}")


@pytest.mark.parametrize(
    ("status", "headers", "pause"),
    [(503, {"retry-after": "5"}, 6.0), (408, {}, 1.0), (429, {}, 1.0), (500, {}, 1.0), (502, {}, 1.0)],
)
def test_an_upgrade_may_be_refused_for_now(status: int, headers: dict[str, str], pause: float) -> None:
    """A gateway that is full says when to come back."""
    line = certain()
    line.refused(status, headers)
    assert line.next_pause() == timedelta(seconds=pause)


@pytest.mark.parametrize("status", [200, 301, 400, 401, 404, 426])
def test_an_upgrade_may_be_refused_for_good(status: int) -> None:
    """Whoever is there has no line."""
    line = certain("0-1")
    line.refused(status, {})
    with pytest.raises(LineRefused, match=f"was refused with status {status}; asking") as refused:
        line.next_pause()
    assert (refused.value.session_id, refused.value.tries, refused.value.cursor) == ("s", 1, "0-1")


def pauses(line: Line, connection: Callable[[], object], count: int) -> list[float]:
    """Return the pauses behind these connections."""
    lengths = []
    for _ in range(count):
        connection()
        lengths.append(line.next_pause().total_seconds())
        line.begin()
    return lengths


def test_backs_off_and_gives_up() -> None:
    """Pauses double up to the limit; the eighth failure in a row is the last, and names the cause."""
    line = certain("0-4")
    reset = ConnectionResetError("reset")
    assert pauses(line, lambda: line.broke(reset), 7) == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    line.broke(reset)
    with pytest.raises(LineLost) as lost:
        line.next_pause()
    assert isinstance(lost.value, Unavailable)
    assert lost.value.__cause__ is reset
    assert (lost.value.tries, lost.value.cursor) == (8, "0-4")
    assert str(lost.value) == (
        "the gateway is away: gave up following session 's': failures in a row: 8; the cursor is '0-4'; "
        "at last ConnectionResetError: reset"
    )


@pytest.mark.parametrize("sign", [said(0, 5), aside("ping"), aside("pong")])
def test_a_sign_of_life_resets_the_count(sign: str) -> None:
    """A new event, or a line that was silent for long enough to be pinged, was a good connection."""
    line = certain("0-4", Patience(failures=3))
    pauses(line, lambda: line.closed(1001, ""), 2)
    taken(line, READY, sign)
    assert line.next_pause() == timedelta(seconds=1)
    assert line.failures == 0


@pytest.mark.parametrize("nothing", [[READY], [READY, said(0, 4)], [aside("weather")]])
def test_what_brings_nothing_new_is_a_failure(nothing: Sequence[str]) -> None:
    """A gateway that opens lines and closes them at once is given up."""
    line = certain("0-4", Patience(failures=3))
    assert pauses(line, lambda: taken(line, *nothing), 2) == [1.0, 2.0]
    taken(line, *nothing)
    with pytest.raises(LineLost, match=r"failures in a row: 3; the cursor is '0-4'; at last the connection ended$"):
        line.next_pause()


def test_a_server_that_wants_too_long_a_pause_is_given_up() -> None:
    """The caller hears of it at once; where nothing has come, the message says so."""
    line = certain()
    line.refused(503, {"retry-after": "301"})
    with pytest.raises(LineLost, match="asks to wait for 0:05:01; nothing was received; at last status 503"):
        line.next_pause()


def test_each_pause_is_a_random_share() -> None:
    """Jitter is full, so that those who were closed together do not come back together."""
    chances = iter([0.0, 0.25, 0.5])
    line = Line("s", patience=Patience(failures=4), chance=lambda: next(chances))
    line.begin()
    assert pauses(line, lambda: line.closed(1001, ""), 3) == [0.0, 0.5, 2.0]


def test_what_is_sent_keeps_the_contract() -> None:
    """Each frame of ours is one that the contract knows."""
    line = certain()
    taken(line, READY, aside("ping"))
    line.silence()
    line.answer("q", "取 \u2028")
    frames: list[Json] = [msgspec.json.decode(each) for each in line.to_send()]
    assert frames == [{"type": "pong"}, {"type": "ping"}, {"type": "answer", "question_id": "q", "text": "取 \u2028"}]
    assert [SCHEMA.faults(each, "from_client") for each in frames] == [[], [], []]
