"""Check 6: outside the window. What must not merge opens a run of its own, and the two replies never mix."""

from datetime import UTC, timedelta, timezone

from selfcheck.checks.check import Case, Check, first_wrong
from selfcheck.checks.merging import HELD_AT, RULE, case, seconds
from selfcheck.stage import Answer, Broken, Stage
from shared.events import Json

CASES: list[Case] = [
    case(None, seconds(0), "None: the session has no run", expected=False),
    *(
        case(status, age, f"a {status} run, {words}", expected=False)
        for status in ("pending", "done", "failed", "cancelled")
        for age, words in ((seconds(0), "created this instant"), (seconds(10), "10 s old"))
    ),
    *(
        case(status, age, f"a {status} run, {words}", expected=False, zone=zone)
        for status in ("running", "streaming")
        for age, words, zone in (
            (seconds(30), "exactly 30 s old", UTC),
            (seconds(31), "31 s old", UTC),
            (timedelta(days=1, seconds=1), "a day and a second old", UTC),
            (seconds(31), "31 s old, its time in the zone +08:00", timezone(timedelta(hours=8))),
            (seconds(31), "31 s old, its time in the zone -05:30", timezone(-timedelta(hours=5, minutes=30))),
        )
    ),
]


def play(stage: Stage) -> None:
    """Send a second message too late, and one when the first is answered; then probe every case whose answer is no."""
    runs: list[Json] = []
    stage.evidence["runs"] = runs
    too_late(stage, 30, runs)
    too_late(stage, 86_401, runs)
    when_done(stage, runs)
    wrong = first_wrong(stage, 4, RULE, CASES)
    if wrong is not None:
        raise wrong


def too_late(stage: Stage, age_s: int, runs: list[Json]) -> None:
    """Send the second message when the first one's run is exactly this old and still streaming."""
    stage.gate(0)
    session = stage.new_session()
    first = stage.say(session, "My lamp arrived broken, I would like a refund.")
    with stage.watch(first.run_id) as waiter:
        stage.gate(HELD_AT)
        waiter.take(HELD_AT)
        stage.control(("advance", [age_s]))
        second = stage.say(session, "Actually, please make it an exchange.")
        note(stage, runs, first, second, age_s, "streaming")
        with stage.watch(second.run_id) as later:
            stage.gate(None)
            waiter.rest()
            later.rest()
    given = f"a second message when {stage.name(first.run_id)} is {age_s:,} s old and streaming"
    expect_new_run(first, second, given)
    ended = stage.awaited_line("run_moved", run_id=first.run_id, target="done")
    begun = stage.awaited_line("run_moved", run_id=second.run_id, target="running")
    lines = stage.log.all("run_moved")
    if lines.index(ended) > lines.index(begun):
        raise Broken(RULE, given, "the second run begins when the first has ended", "both were active at once")
    for name, seen in ((first, waiter), (second, later)):
        if seen.seqs != list(range(len(seen.seqs))) or seen.ended_with != "done":
            raise Broken(RULE, given, f"{stage.name(name.run_id)} whole and by itself", f"seqs {seen.seqs}")


def when_done(stage: Stage, runs: list[Json]) -> None:
    """Send the second message inside the window, but when the first is answered."""
    session = stage.new_session()
    stage.gate(0)
    first = stage.say(session, "My lamp arrived broken, I would like a refund.")
    with stage.watch(first.run_id) as waiter:
        stage.gate(None)
        waiter.rest()
    second = stage.say(session, "Thank you!")
    note(stage, runs, first, second, 0, "done")
    expect_new_run(first, second, f"a second message when {stage.name(first.run_id)}, 0 s old, is done")
    with stage.watch(second.run_id) as later:
        later.rest()


def note(stage: Stage, runs: list[Json], first: Answer, second: Answer, age_s: int, status: str) -> None:
    """Keep what was answered."""
    runs.append(
        {
            "previous": stage.name(first.run_id),
            "age_s": age_s,
            "status": status,
            "merged": second.merged,
            "run": stage.name(second.run_id),
        }
    )


def expect_new_run(first: Answer, second: Answer, given: str) -> None:
    """Raise when the second message did not open a run of its own."""
    if second.merged or second.run_id == first.run_id:
        raise Broken(RULE, given, "merged: False, and a run of its own", f"merged: {second.merged}, the same run")


CHECK = Check(6, "outside the window", 4, play)
