"""The timeline: what a check saw and what the service said in one order, and the place where the two part."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from client.sse import ServerEvent
from selfcheck.playing.recorder import Lane, Receipt, Recorder, Step
from selfcheck.processes.logbook import Logbook
from selfcheck.reporting.timeline import MOST_SHOWN, arranged, window
from selfcheck.results import Finding
from selfcheck.texts import english, say
from shared.events import Json

TOKEN = "token"
ACTUAL = Finding("rule", "", "expected", "actual")


def log(*lines: dict[str, Json]) -> Logbook:
    """Return a logbook with these lines."""
    book = Logbook(TOKEN, lambda _: None, lambda _: None)
    book.read(io.BytesIO(b"".join(f"{TOKEN} {json.dumps(line)}\n".encode() for line in lines)))
    return book


def moved(run_id: str, source: str, target: str) -> dict[str, Json]:
    """Return the line that says so."""
    return {"event": "run_moved", "run_id": run_id, "source": source, "target": target}


def whole(run_id: str) -> list[dict[str, Json]]:
    """Return the lines of a run that comes to its end."""
    return [
        moved(run_id, "pending", "running"), moved(run_id, "running", "streaming"), moved(run_id, "streaming", "done"),
    ]  # fmt: skip


def events(*seqs: int, last: str = "delta") -> list[ServerEvent]:
    """Return events of these numbers, the last one of a kind."""
    kinds = ["delta"] * (len(seqs) - 1) + [last]
    return [ServerEvent(kind, "{}", str(seq), True) for seq, kind in zip(seqs, kinds, strict=True)]


def record(
    *seqs: int, last: str = "done", arrivals: Sequence[int] = (), due: int = 0, to_the_end: bool = True
) -> Recorder:
    """Return the record of a check that watches one run and does not like what it sees."""
    made = Recorder()
    made.parted = True
    made.moved("gate", [0], None, "")
    made.said("session", "Hello", "id-1", "run-1", False, None)
    waiter = made.watched("run-1", None)
    made.received(waiter, "id-1", "run-1", due, events(*seqs, last=last), to_the_end=to_the_end)
    if arrivals:
        made.moved("arrivals", ["id-1"], [*arrivals], "run-1")
    return made


def shown(steps: Sequence[Step]) -> list[str]:
    """Return steps as they are read."""
    return [f"{'▶' if step.diverges else ' '} {step.lane}: {english(step.words)}" for step in steps]


BEGINNING = [
    '  client: POST /chat "Hello"',
    "  gateway: opens run-1 and puts its session on koda:in",
    "  bus: koda:in hands the session of run-1 to a worker",
    "  worker: run-1: pending → running",
    "  client: waiter A watches run-1 from its beginning",
    "  worker: run-1: running → streaming",
]


def test_events_are_told_up_to_the_first_wrong_one_and_from_it_on() -> None:
    """What the bus delivered is parted at the same place, each piece before what came of it."""
    steps = arranged(record(0, 1, 3, 2, 4, arrivals=[0, 1, 3, 2, 4]), log(*whole("id-1")), ACTUAL, None)
    assert shown(steps) == [
        *BEGINNING,
        "  worker: run-1: streaming → done",
        "  bus: delivers 0, 1",
        "  client: A receives 0, 1",
        "  bus: delivers 3",
        "▶ client: A receives 3; 2 was due",
        "  bus: delivers 2, 4",
        "  client: A receives 2, 4",
    ]


def test_a_line_of_the_log_is_told_only_when_its_effect_was_received() -> None:
    """What the service has come to meanwhile depends on how fast it is."""
    assert shown(arranged(record(0, 2, last="delta", to_the_end=False), log(*whole("id-1")), ACTUAL, None)) == [
        *BEGINNING,
        "  client: A receives 0",
        "▶ client: A receives 2; 1 was due",
    ]
    alone = record(0, 2, last="delta", to_the_end=False)
    alone.seen = [each for each in alone.seen if not isinstance(each, Receipt)]
    assert shown(arranged(alone, log(*whole("id-1")), replace(ACTUAL, actual="it did not"), None)) == [
        *BEGINNING[:2],
        BEGINNING[4],
        "▶ client: it did not",
    ]


def test_the_second_delivery_of_a_number_is_found_where_the_first_was_right() -> None:
    """A re-delivered event is wrong at its second coming."""
    steps = arranged(record(0, 1, 1, 2, arrivals=[0, 1, 1, 2]), log(), ACTUAL, None)
    assert [line for line in shown(steps) if "bus" in line or "▶" in line] == [
        "  bus: delivers 0, 1",
        "  bus: delivers 1",
        "▶ client: A receives 1; 2 was due",
        "  bus: delivers 2",
    ]


def test_a_stream_that_does_not_end_parts_at_its_end() -> None:
    """All that came was right, and more was due."""
    assert shown(arranged(record(0, 1, 2, last="delta"), log(), ACTUAL, None))[-2:] == [
        "  client: A receives 0 … 2",
        "▶ client: A's stream ends without an end; 3 was due",
    ]


def test_a_run_that_nobody_held_back_is_told_by_its_end_alone() -> None:
    """Which of its events come twice is a matter of who was faster."""
    made = Recorder()
    made.moved("gate", [None], None, "")
    made.said("session", "Hello", "id-1", "run-1", False, None)
    made.received(made.watched("run-1", None), "id-1", "run-1", 0, events(0, 0, 1, last="done"), to_the_end=True)
    made.moved("late_write", ["id-1"], None, "run-1")
    made.parted = True
    assert shown(arranged(made, log(*whole("id-1")), ACTUAL, None)) == [
        *BEGINNING,
        "  worker: run-1: streaming → done",
        "  client: A's stream ends with done",
        "  worker: run-1's own worker wakes late and writes",
        "▶ worker: the late write is carried out; it should have been refused",
    ]


@pytest.mark.parametrize(
    ("merged", "merges", "words", "wrong"),
    [
        (True, True, "merges it into run-1 and sets the mark", False),
        (True, False, "merges it into run-1: this message should have opened a run", True),
        (False, False, "opens run-2 and puts its session on koda:in", False),
        (False, True, "opens run-2: this message should have been merged", True),
    ],
)
def test_an_answer_that_is_not_as_due_is_where_they_part(merged: bool, merges: bool, words: str, wrong: bool) -> None:
    """And what the check says in words is told once more only where no step shows it."""
    made = Recorder()
    made.parted = True
    made.said("session", "Hello", "id-1", "run-1", False, None)
    made.said("session", "Wait", *(("id-1", "run-1") if merged else ("id-2", "run-2")), merged, merges)
    steps = shown(arranged(made, log(), replace(ACTUAL, actual="the check's words"), None))
    assert f"{'▶' if wrong else ' '} gateway: {words}" in steps
    assert ("▶ client: the check's words" in steps) is not wrong


def test_what_becomes_of_a_message_that_was_merged_wrongly_is_told_by_the_end_alone() -> None:
    """Where the worker comes upon it is chance."""
    made = record(0, 1, last="delta", to_the_end=False)
    made.said("session", "Wait", "id-1", "run-1", True, False)
    rerun = [ServerEvent("delta", "{}", "2", True), ServerEvent("rerun", "{}", "3", True)]
    made.received("A", "id-1", "run-1", 2, [*rerun, *events(4, last="done")], to_the_end=True)
    line: dict[str, Json] = {"event": "run_rerun", "run_id": "id-1", "seq": 3, "messages": 2}
    assert shown(arranged(made, log(*whole("id-1"), line), ACTUAL, None))[-5:] == [
        "  client: A receives 0, 1",
        '  client: POST /chat "Wait"',
        "▶ gateway: merges it into run-1: this message should have opened a run",
        "  worker: run-1: streaming → done",
        "  client: A's stream ends with done",
    ]


def test_a_rerun_and_a_run_that_waits_for_another_stand_before_what_shows_them() -> None:
    """The mark, the new beginning; and the second run's claim when the first has ended."""
    made = Recorder()
    made.moved("gate", [0], None, "")
    made.said("session", "Hello", "id-1", "run-1", False, None)
    first = made.watched("run-1", None)
    made.said("session", "Wait", "id-2", "run-2", False, False)
    second = made.watched("run-2", None)
    rerun = [ServerEvent("delta", "{}", "0", True), ServerEvent("rerun", "{}", "1", True)]
    made.received(first, "id-1", "run-1", 0, [*rerun, *events(2, last="done")], to_the_end=True)
    made.received(second, "id-2", "run-2", 0, events(0, last="done"), to_the_end=True)
    made.parted = True
    line: dict[str, Json] = {"event": "run_rerun", "run_id": "id-1", "seq": 1, "messages": 2}
    steps = shown(arranged(made, log(*whole("id-1"), line, *whole("id-2")), ACTUAL, None))
    assert steps[steps.index("  client: waiter B watches run-2 from its beginning") + 1 :] == [
        "  worker: run-1: running → streaming",
        "  bus: a write of run-1 brings the rerun mark back",
        "  worker: begins again with 2 messages, from seq 1",
        "  worker: run-1: streaming → done",
        "  client: A receives 0 … 2",
        "  client: A's stream ends with done",
        "  bus: koda:in hands the session of run-2 to a worker",
        "  worker: run-2: pending → running",
        "  worker: run-2: running → streaming",
        "  worker: run-2: streaming → done",
        "  client: B receives 0",
        "  client: B's stream ends with done",
        "▶ client: actual",
    ]


def test_a_probe_is_marked_when_nothing_else_is_wrong() -> None:
    """With what was answered."""
    made = record(0, 1)
    made.moved("probe", [4, []], [{}, {}], "")
    made.stood("run-1", "done")
    finding = replace(ACTUAL, given="f(x)", actual=say("states.todo"))
    assert shown(arranged(made, log(), finding, None))[-2:] == [
        "▶ gateway: exercise 4 is asked a table of 2: f(x): to do",
        "  store: run-1 is done",
    ]


@pytest.mark.parametrize(
    ("finding", "accused", "step"),
    [
        (replace(ACTUAL, given="a call", actual="KeyError"), 1, "▶ worker: a call: KeyError"),
        (replace(ACTUAL, given="a call", actual="KeyError"), 2, "▶ gateway: a call: KeyError"),
        (replace(ACTUAL, actual="it ended"), None, "▶ gateway: it ended"),
        (
            replace(ACTUAL, expected="event 7", actual=say("playing.did_not_come")),
            None,
            "▶ client: event 7: it did not come",
        ),
    ],
)
def test_what_the_check_did_not_see_itself_is_the_last_step(finding: Finding, accused: int | None, step: str) -> None:
    """In the lane of whom it happened to; nothing before it is marked."""
    made = record(0, 2)
    made.parted = False
    steps = shown(arranged(made, log(), finding, accused))
    assert steps[-1] == step
    assert [line for line in steps if line.startswith("▶")] == [step]


def test_how_far_a_stream_came_whose_service_was_ended_is_not_told() -> None:
    """It is chance."""
    ends = []
    for seqs in ((0, 1), (0, 1, 2, 3), ()):
        made = record(*seqs, last="delta") if seqs else record(0, to_the_end=False, last="delta")
        made.parted = False
        made.seen = made.seen if seqs else [each for each in made.seen if not isinstance(each, Receipt)]
        ends.append(shown(arranged(made, log(*whole("id-1")), replace(ACTUAL, actual="KeyError"), 2)))
    assert ends[0] == ends[1] == ends[2]


def test_long_rows_of_numbers_are_cut_with_a_count_and_kept_whole_beside() -> None:
    """A row is told by its ends, and loses nothing by it."""
    steps = arranged(record(*range(30), *range(10, 40, 2)), log(), ACTUAL, None)
    words = {english(step.words): step.full for step in steps if step.lane is Lane.CLIENT}
    assert words["A receives 0 … 29"] == ""
    assert words["A receives 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, … (14 in all)"] == ", ".join(
        str(seq) for seq in range(12, 40, 2)
    )


def test_numbers_that_are_none_are_left_out() -> None:
    """A service may send whatever it likes."""
    made = Recorder()
    odd = [ServerEvent("delta", "{}", each, True) for each in ("٣", "x", "", "9" * 19, "4")]
    made.received("A", "id-1", "run-1", 0, odd, to_the_end=False)
    assert [each.seqs for each in made.seen if isinstance(each, Receipt)] == [(4,)]


@pytest.mark.parametrize(
    ("count", "at", "before", "behind"),
    [(MOST_SHOWN, 3, 0, 0), (40, 39, 23, 0), (40, 20, 8, 15), (40, 0, 0, 23), (40, 14, 2, 21)],
)
def test_the_report_shows_the_steps_around_the_divergence(count: int, at: int, before: int, behind: int) -> None:
    """As many as fit, most of them before it."""
    steps = [Step(Lane.CLIENT, str(number), diverges=number == at) for number in range(count)]
    left, middle, right = window(steps)
    assert (left, right, len(middle)) == (before, behind, count - before - behind)
    assert steps[at] in middle


@pytest.mark.parametrize(
    ("last", "to_the_end", "hangs_up"), [("delta", False, True), ("done", False, False), ("delta", True, False)]
)
def test_only_who_is_still_connected_hangs_up(last: str, to_the_end: bool, hangs_up: bool) -> None:
    """A stream that has ended is nobody's to leave."""
    made = record(0, 1, last=last, to_the_end=to_the_end)
    made.left("A")
    assert ("  client: A hangs up" in shown(arranged(made, log(), ACTUAL, None))) is hangs_up


def test_a_long_message_is_quoted_in_part() -> None:
    """The line stays one line."""
    made = Recorder()
    made.said("session", "x" * 60, "id-1", "run-1", False, None)
    assert english(made.seen[0].words if isinstance(made.seen[0], Step) else "") == f'POST /chat "{"x" * 47}…"'
