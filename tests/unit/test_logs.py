"""Log lines: one event a line, for people and for programs."""

import io
import logging
from collections.abc import Iterator

import msgspec
import pytest

from shared import logs
from shared.events import Json

SAID = logs.logger("test")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the process's logging as it was."""
    root = logging.getLogger(logs.ROOT)
    before = root.handlers, root.level, root.propagate
    yield
    root.handlers, root.level, root.propagate = before


def _record(
    event: str, fields: dict[str, Json], level: int = logging.INFO, error: Exception | None = None
) -> logging.LogRecord:
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord("koda.test", level, "file.py", 1, event, None, exc_info)
    record.created = 1_700_000_000.25
    record.fields = fields
    return record


def _as_json(event: str, fields: dict[str, Json], level: int = logging.INFO) -> dict[str, Json]:
    line = logs.JsonLines().format(_record(event, fields, level))
    assert line.splitlines() == [line]
    decoded: dict[str, Json] = msgspec.json.decode(line)
    return decoded


HEAD: dict[str, Json] = {"at": "2023-11-14T22:13:20.250+00:00", "level": "info", "room": "test", "event": "run_moved"}


def test_a_json_line_has_its_head_and_its_fields_in_order() -> None:
    """When, how grave, where and what come first; then the fields as they were given, with their types."""
    line = _as_json("run_moved", {"run_id": "r", "seq": 3, "merged": True, "why": None, "all": [1, "a"]})
    expected = HEAD | {"run_id": "r", "seq": 3, "merged": True, "why": None, "all": [1, "a"]}
    assert list(line.items()) == list(expected.items())


def test_a_line_break_in_a_field_does_not_break_the_line() -> None:
    """A service's message of several lines, or with U+2028 in it, is still one line, and unchanged when it is read."""
    why = "first\nsecond\r\n\x85\u2028third"
    assert _as_json("run_moved", {"why": why}) == HEAD | {"why": why}


def test_a_text_that_cannot_be_encoded_does_not_cost_the_line() -> None:
    """C3: a lone surrogate becomes U+FFFD, however deep it stands; all other fields stay as they are."""
    fields: dict[str, Json] = {"seq": 3, "text": "a\ud83d", "all": ["\ude42", {"\ud83d": 1}], "good": "é", "no": None}
    held: dict[str, Json] = {"seq": 3, "text": "a\ufffd", "all": ["\ufffd", {"\ufffd": 1}], "good": "é", "no": None}
    assert _as_json("run_moved", fields) == HEAD | held


def test_a_readable_line_is_short() -> None:
    """Time of day, room, event, fields; the level only where it is worth a look."""
    fields: dict[str, Json] = {"run_id": "r", "seq": 3, "why": "so it is"}
    assert logs.Readable().format(_record("run_moved", fields)) == (
        "22:13:20.250 test run_moved run_id=r seq=3 why=so it is"
    )
    assert logs.Readable().format(_record("run_lost", {}, logging.WARNING)) == "22:13:20.250 warning test run_lost"


def test_a_readable_line_stays_a_line() -> None:
    """What would break the line or cannot be written is shown escaped."""
    line = logs.Readable().format(_record("run_moved", {"why": "a\nb", "text": "\ud83d", "next": "\u2028"}))
    assert line == r"22:13:20.250 test run_moved why='a\nb' text='\ud83d' next='\u2028'"


def _crash() -> ZeroDivisionError:
    try:
        raise ZeroDivisionError("why")
    except ZeroDivisionError as error:
        return error


def test_a_traceback_follows_the_line() -> None:
    """In JSON a traceback is one more field; for a person it stands below."""
    record = _record("run_crashed", {"run_id": "r"}, logging.ERROR, _crash())
    line: dict[str, Json] = msgspec.json.decode(logs.JsonLines().format(record))
    traceback = line.pop("traceback")
    assert line == HEAD | {"level": "error", "event": "run_crashed", "run_id": "r"}
    assert isinstance(traceback, str) and traceback.endswith("ZeroDivisionError: why")
    head, below = logs.Readable().format(record).split("\n", 1)
    assert head == "22:13:20.250 error test run_crashed run_id=r"
    assert below == traceback


def test_a_record_of_another_hand_is_a_line_too() -> None:
    """A library that logs under our root, with its own arguments and no fields, is shown like our lines."""
    record = logging.LogRecord("koda.test", logging.INFO, "file.py", 1, "%s of %d", ("one", 2), None)
    line: dict[str, Json] = msgspec.json.decode(logs.JsonLines().format(record))
    assert {"room": line["room"], "event": line["event"]} == {"room": "test", "event": "one of 2"}


@pytest.mark.parametrize("json", [True, False])
def test_a_process_writes_its_lines_to_one_stream(json: bool) -> None:
    """After `configure` a note is one line on the stream; configuring again replaces, so nothing is written twice."""
    stream = io.StringIO()
    logs.configure(json=json, stream=io.StringIO())
    logs.configure(json=json, stream=stream)
    logs.note(SAID, "message_accepted", run_id="100 % r")
    (line,) = stream.getvalue().splitlines()
    assert ('"event":"message_accepted","run_id":"100 % r"' if json else "message_accepted run_id=100 % r") in line


def test_lines_below_the_level_are_not_written() -> None:
    """A process that asked for warnings gets no more than that, and the root logger of Python gets nothing."""
    stream = io.StringIO()
    logs.configure(json=True, stream=stream, level=logging.WARNING)
    logs.note(SAID, "run_moved")
    assert stream.getvalue() == ""
    logs.note(SAID, "run_lost", logging.WARNING)
    assert '"run_lost"' in stream.getvalue()
    assert not logging.getLogger(logs.ROOT).propagate


def test_lines_go_to_stderr_unless_told_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output is for what a command answers."""
    logs.configure(json=False)
    logs.note(SAID, "run_moved")
    out, err = capsys.readouterr()
    assert (out, err.split(" ", 1)[1]) == ("", "test run_moved\n")


def test_lines_carry_what_their_block_says() -> None:
    """Whoever writes them need not know it; an inner block adds to an outer one, and nothing empty is carried."""
    with logs.carrying(trace="t", user=""), logs.carrying(run="r"):
        inside = _as_json("moved", {"target": "done"})
    assert {name: inside[name] for name in list(inside)[4:]} == {"target": "done", "trace": "t", "run": "r"}
    assert logs.Readable().format(_record("moved", {})).endswith("moved")


def test_what_is_carried_is_gone_behind_its_block() -> None:
    """Also when the block fails."""
    with pytest.raises(ZeroDivisionError), logs.carrying(trace="t"):
        raise ZeroDivisionError
    assert "trace" not in _as_json("moved", {})
