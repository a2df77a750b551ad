"""Check 5: merge inside the window. A correction joins the run that is being answered, and the reply takes it in."""

from datetime import UTC, datetime, timedelta, timezone

from selfcheck.checks.check import Case, Check, first_wrong, show, show_seqs
from selfcheck.stage import Broken, Stage
from shared.events import Json

RULE = (
    "A message merges when all three hold: the session has a previous run, that run is running or streaming, and it is"
    " younger than MERGE_WINDOW (30 s, strictly)."
)
HELD_AT = 8  # fragments of the first reply that are out when the correction comes
NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def case(status: str | None, age: timedelta, words: str, expected: bool, zone: timezone = UTC) -> Case:
    """Return a case for `should_merge` about a previous run of this status and age."""
    asked: dict[str, Json] = {
        "status": status,
        "created_at": (NOW - age).astimezone(zone).isoformat(),
        "now": NOW.isoformat(),
    }
    return Case(asked, f"should_merge({words})", expected)


def seconds(count: float) -> timedelta:
    """Return so many seconds."""
    return timedelta(seconds=count)


CASES = [
    case(status, age, f"a {status} run, {words}", expected=True, zone=zone)
    for status in ("running", "streaming")
    for age, words, zone in (
        (seconds(0), "created this instant", UTC),
        (seconds(10), "10 s old", UTC),
        (seconds(29.5), "29.5 s old", UTC),
        (seconds(30) - timedelta(microseconds=1), "a microsecond younger than 30 s", UTC),
        (seconds(10), "10 s old, its time in the zone +08:00", timezone(timedelta(hours=8))),
        (seconds(10), "10 s old, its time in the zone -05:30", timezone(-timedelta(hours=5, minutes=30))),
    )
]


def play(stage: Stage) -> None:
    """Correct a message while it is being answered; then probe every case whose answer is yes."""
    correct(stage)
    wrong = first_wrong(stage, 4, RULE, CASES)
    if wrong is not None:
        raise wrong


def correct(stage: Stage) -> None:
    """Play the scenario: the second message joins the run, which is rerun with both and goes on with the next seq."""
    stage.gate(0)
    session = stage.new_session()
    first = stage.say(session, "My lamp arrived broken, I would like a refund.")
    with stage.watch(first.run_id) as waiter:
        stage.gate(HELD_AT)
        waiter.take(HELD_AT)
        second = stage.say(session, "Actually, please make it an exchange.")
        stage.evidence |= {
            "first_answer": {"run_id": stage.name(first.run_id), "merged": first.merged},
            "second_answer": {"run_id": stage.name(second.run_id), "merged": second.merged},
        }
        if not second.merged or second.run_id != first.run_id:
            stage.gate(None)
            raise Broken(
                RULE,
                "a second message while run-1, 0 s old, is streaming",
                "merged: True, run_id: run-1",
                f"merged: {second.merged}, run_id: {stage.name(second.run_id)}",
            )
        stage.gate(HELD_AT + 1)  # one fragment more: writing it brings the mark back, and the run is rerun
        waiter.take(2)
        stage.gate(None)
        waiter.rest()
    rerun = stage.awaited_line("run_rerun", run_id=first.run_id)
    stage.evidence |= {"reruns_from_seq": rerun["seq"], "messages": rerun["messages"], "reply": waiter.reply}
    seqs = waiter.seqs
    if seqs != list(range(len(seqs))) or waiter.ended_with != "done":
        raise Broken(RULE, "run-1 with the correction merged", "seqs 0, 1, 2, … across the rerun", show_seqs(seqs, 50))
    if "exchange" not in waiter.reply:
        given = 'the messages "… a refund." and "Actually, … an exchange."'
        raise Broken(RULE, given, "a reply that takes the exchange in", show(waiter.reply))
    if rerun["messages"] != 2 or rerun["reason"] != "merge":
        actual = f"reason {rerun['reason']}, {rerun['messages']} message(s)"
        raise Broken(RULE, "the worker's line about the rerun", "reason merge, 2 messages", actual)


CHECK = Check(5, "merge inside the window", 4, play)
