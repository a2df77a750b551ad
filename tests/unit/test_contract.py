"""The contract of a session's line: the file is what the types say, and real frames keep to it."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest

from gateway import envelopes
from gateway.envelopes import LineForm, stamp
from gateway.frames import frame
from gateway.framing import completed, text_of
from gateway.standing import Standing
from shared.contract.frames import schema
from shared.envelope import CloseCode, Envelope, fitting
from shared.events import Event, EventKind, Json, encode_data
from shared.ports import StoredRun
from shared.shortening import LONGEST_TEXT, shortened
from tests.support.lines import LOG, SCHEMA, Frame, full_log, read
from tests.support.runs import a_run

_FILE = Path(__file__).parents[2] / "docs" / "line.schema.json"
NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
FORM = LineForm("r", 3)


def sent(written: bytes, at: datetime = NOW) -> Frame:
    """Return a frame as it arrives."""
    return read(text_of(completed([written], stamp(at))))


def logged(kind: EventKind, data: dict[str, Json], seq: int = 7) -> Frame:
    """Return an event of the log as it arrives."""
    return sent(FORM.event(frame(Event("r", seq, kind, encode_data(data)))))


def test_the_contract_is_what_the_types_say() -> None:
    """The file in docs/ is up to date; `make contract` writes it."""
    assert _FILE.read_text("utf-8") == schema()


def test_a_frame_has_its_envelope() -> None:
    """Version, type, cursor, run, seq, kind, a line for a person, data, and when it was sent, with offset."""
    assert logged(EventKind.DELTA, {"text": "wa"}) == {
        "v": 1,
        "type": "event",
        "cursor": "3-7",
        "run_id": "r",
        "seq": 7,
        "kind": "delta",
        "message": "The reply goes on.",
        "data": {"text": "wa"},
        "at": "2026-01-02T03:04:05.678+00:00",
    }


def test_every_kind_of_event_has_a_frame() -> None:
    """All kinds of the log, but the bell's, travel on a line, with their data as it is."""
    ends: list[tuple[EventKind, dict[str, Json]]] = [
        (EventKind.FAILED, {"error": "the model is away"}),
        (EventKind.CANCELLED, {"reason": "cancelled by the user"}),
    ]
    kinds = [*LOG, *ends]
    assert {kind for kind, _ in kinds} == set(EventKind) - {EventKind.RING}
    for kind, data in kinds:
        arrived = logged(kind, data)
        assert (arrived["kind"], arrived["data"], arrived["type"]) == (kind.value, data, "event")


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (EventKind.THINKING, {"message": "Looks at it.", "text": "I shall look."}, "Looks at it."),
        (EventKind.TOOL, {"key": "k", "name": "look", "arguments": {}}, "The model wants look called."),
        (EventKind.RERUN, {"reason": "merge", "attempt": 1}, "The reply begins anew: another message has joined."),
        (EventKind.DONE, {"usage": {}}, "The run is done."),
        (EventKind.FAILED, {"error": "no\nanswer"}, "The run has failed: no answer"),
        (EventKind.FAILED, {"error": "x" * 500}, "The run has failed: " + "x" * 179 + "…"),
        (EventKind.CANCELLED, {"reason": "by the user"}, "The run was cancelled."),
    ],
)
def test_every_frame_has_a_line_for_a_person(kind: EventKind, data: dict[str, Json], message: str) -> None:
    """An event's own, where it brings one; else ours. It is one line of 200 characters at most."""
    assert logged(kind, data)["message"] == message


def test_frames_that_are_not_of_the_log_keep_to_the_contract() -> None:
    """Ready, the word that a run is next, snapshot, gap, answered, error, ping and pong."""
    beginning: dict[str, Json] = {"session_id": "s", "ping_every_s": 15.0, "pong_wait_s": 10.0}
    ready = sent(envelopes.ready("", beginning))
    assert (ready["type"], ready["kind"], ready["cursor"], ready["data"]) == ("ready", "session_opened", "", beginning)
    run = a_run("r")
    started = sent(FORM.started(StoredRun(run, 3, 1, None, False, None)))
    assert (started["kind"], started["cursor"], started["seq"]) == ("run_started", "3-", None)
    assert started["data"] == {"ordinal": 3, "created_at": run.created_at.isoformat()}
    snapshot = sent(FORM.snapshot(4, Standing("t" * 9000)))
    assert (snapshot["kind"], snapshot["cursor"], snapshot["data"]) == ("snapshot", "3-4", {"text": "t" * 9000})
    gap = sent(FORM.gap(9, None, None))
    assert (gap["kind"], gap["cursor"], gap["seq"]) == ("gap", "3-", None)
    answered = sent(envelopes.answered("q", False, "yes", "Another was first."))
    assert (answered["type"], answered["data"]) == ("answered", {"question_id": "q", "counted": False, "text": "yes"})
    error = sent(envelopes.error("invalid_field", "text: is blank", field="text"))
    assert (error["type"], error["data"]) == ("error", {"code": "invalid_field", "field": "text"})
    for written, kind in ((envelopes.ping(), "ping"), (envelopes.pong(), "pong")):
        aside = sent(written)
        assert [aside[name] for name in ("type", "kind", "cursor", "run_id", "seq")] == [kind, kind, None, None, None]


def test_an_event_is_written_once() -> None:
    """Whichever of a session's sockets asks first: the others are given the same bytes."""
    made = frame(full_log()[0])
    assert FORM.event(made) is FORM.event(made)


def test_the_time_of_sending_keeps_its_offset() -> None:
    """A clock in another zone writes its own."""
    east = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=8)))
    assert sent(FORM.gap(0, 0, 0), east)["at"] == "2026-01-02T03:04:05.000+08:00"


def test_a_long_text_is_cut_with_a_mark() -> None:
    """2,000 characters travel and the number of those that do not, however deep the text stands."""
    long = "取" * (LONGEST_TEXT + 5)
    cut = "取" * LONGEST_TEXT + "… (5 characters more)"
    arrived = logged(
        EventKind.TOOL_ENDED,
        {"message": "It is long.", "key": "k", "name": "n", "result": {"of": [long, 7, None]}, "ok": True},
    )
    assert arrived["data"] == {
        "message": "It is long.", "key": "k", "name": "n", "result": {"of": [cut, 7, None]}, "ok": True,
    }  # fmt: skip
    assert shortened("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT


def test_what_is_to_be_appended_is_not_cut() -> None:
    """The text of a fragment is whole: cut, it would be lost."""
    text = "x" * (2 * LONGEST_TEXT)
    assert logged(EventKind.DELTA, {"text": text})["data"] == {"text": text}


def test_a_reader_ignores_what_it_does_not_know() -> None:
    """An envelope with members and a kind of a later version is read, and its known members are there."""
    later = (
        b'{"v":1,"type":"event","kind":"dreaming","message":"m","data":{"of":1},"cursor":"0-1","mood":"calm","at":"x"}'
    )
    envelope = msgspec.json.decode(later, type=Envelope)
    assert (envelope.kind, envelope.cursor, bytes(envelope.data)) == ("dreaming", "0-1", b'{"of":1}')


@pytest.mark.parametrize(
    ("frame_", "faults"),
    [
        ({"type": "ping"}, []),
        ({"type": "pong", "more": 1}, []),
        ({"type": "answer", "question_id": "q", "text": "yes"}, []),
        (
            {"type": "answer", "question_id": "q"},
            ["$: {'type': 'answer', 'question_id': 'q'} is none of the alternatives"],
        ),
        ({"type": "hum"}, ["$: {'type': 'hum'} is none of the alternatives"]),
    ],
)
def test_the_contract_tells_a_clients_frames_from_others(frame_: Frame, faults: list[str]) -> None:
    """Ping, pong and answer, with whatever else is in them; nothing else."""
    assert SCHEMA.faults(frame_, "from_client") == faults


def test_the_contract_sees_what_is_wrong() -> None:
    """A frame without a member, with a wrong one, or of no known kind, does not keep to it."""
    good = logged(EventKind.DELTA, {"text": "wa"})
    changes: list[Frame] = [{"at": 1}, {"seq": -1}, {"cursor": "x"}, {"data": {}}, {"kind": "delt"}, {"run_id": None}]
    for change in changes:
        assert SCHEMA.faults({**good, **change}, "from_server") != []
    for name in good:
        assert SCHEMA.faults({key: value for key, value in good.items() if key != name}, "from_server") != []


def test_a_close_code_says_whether_to_come_back() -> None:
    """What would end the same way again is final; going away, too slow, too many and a fault of ours are not."""
    assert {code for code in CloseCode if not code.final} == {
        *(CloseCode.GOING_AWAY, CloseCode.TOO_SLOW, CloseCode.TOO_MANY, CloseCode.FAULT)
    }


@pytest.mark.parametrize(("reason", "fits"), [("x" * 123, "x" * 123), ("x" * 124, "x" * 123), ("取" * 42, "取" * 41)])
def test_a_reason_fits_into_its_frame(reason: str, fits: str) -> None:
    """A close frame holds 123 bytes of it, and no part of a character."""
    assert fitting(reason) == fits
