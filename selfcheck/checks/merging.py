"""Check 5: merge inside the window. A correction joins the run that is being answered, and the reply takes it in."""

from datetime import UTC, datetime, timedelta, timezone

from selfcheck.checks.check import Case, Check, first_wrong, show, show_seqs
from selfcheck.playing.stage import Broken, Stage
from selfcheck.texts import Message, say
from shared.events import Json

RULE = say("checks.merging_rule")
HELD_AT = 8  # fragments of the first reply that are out when the correction comes
NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def case(status: str, age: timedelta, words: Message, expected: bool, zone: timezone = UTC) -> Case:
    """Return a case for `should_merge` about a previous run of this status and age."""
    return Case(asked(status, age, zone), say("cases.a_run", status=status, age=words), expected)


def asked(status: str | None, age: timedelta, zone: timezone = UTC) -> Json:
    """Return what the probe is asked; no status: no run."""
    return {
        "status": status,
        "created_at": (NOW - age).astimezone(zone).isoformat(),
        "now": NOW.isoformat(),
    }


def seconds(count: float) -> timedelta:
    """Return so many seconds."""
    return timedelta(seconds=count)


EAST = timezone(timedelta(hours=8))
WEST = timezone(-timedelta(hours=5, minutes=30))


CASES = [
    case(status, age, words, expected=True, zone=zone)
    for status in ("running", "streaming")
    for age, words, zone in (
        (seconds(0), say("cases.created_now"), UTC),
        (seconds(10), say("cases.age", seconds="10"), UTC),
        (seconds(29.5), say("cases.age", seconds="29.5"), UTC),
        (seconds(30) - timedelta(microseconds=1), say("cases.age_almost"), UTC),
        (seconds(10), say("cases.age_zone", seconds="10", zone="+08:00"), EAST),
        (seconds(10), say("cases.age_zone", seconds="10", zone="-05:30"), WEST),
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
        second = stage.say(session, "Actually, please make it an exchange.", merges=True)
        stage.evidence |= {
            "first_answer": {"run_id": stage.name(first.run_id), "merged": first.merged},
            "second_answer": {"run_id": stage.name(second.run_id), "merged": second.merged},
        }
        if not second.merged or second.run_id != first.run_id:
            stage.gate(None)
            raise Broken(
                RULE,
                say("checks.second_streaming"),
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
        raise Broken(RULE, say("checks.with_correction"), say("checks.across_rerun"), show_seqs(seqs, 50))
    if "exchange" not in waiter.reply:
        raise Broken(RULE, say("checks.two_messages"), say("checks.takes_in"), show(waiter.reply))
    if rerun["messages"] != 2 or rerun["reason"] != "merge":
        actual = say("checks.rerun_seen", reason=str(rerun["reason"]), messages=str(rerun["messages"]))
        raise Broken(RULE, say("checks.rerun_line"), say("checks.rerun_as"), actual)


CHECK = Check(5, say("checks.merging"), 4, play)
