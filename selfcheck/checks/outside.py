"""Check 6: outside the window. What must not merge opens a run of its own, and the two replies never mix."""

from datetime import UTC, timedelta

from selfcheck.checks.check import Case, Check, first_wrong
from selfcheck.checks.merging import EAST, HELD_AT, RULE, WEST, asked, case, seconds
from selfcheck.playing.stage import Answer, Broken, Stage
from selfcheck.texts import Message, say
from shared.events import Json

CASES: list[Case] = [
    Case(asked(None, seconds(0)), say("cases.no_run"), expected=False),
    *(
        case(status, age, words, expected=False)
        for status in ("pending", "done", "failed", "cancelled")
        for age, words in ((seconds(0), say("cases.created_now")), (seconds(10), say("cases.age", seconds="10")))
    ),
    *(
        case(status, age, words, expected=False, zone=zone)
        for status in ("running", "streaming")
        for age, words, zone in (
            (seconds(30), say("cases.age_exactly"), UTC),
            (seconds(31), say("cases.age", seconds="31"), UTC),
            (timedelta(days=1, seconds=1), say("cases.age_day"), UTC),
            (seconds(31), say("cases.age_zone", seconds="31", zone="+08:00"), EAST),
            (seconds(31), say("cases.age_zone", seconds="31", zone="-05:30"), WEST),
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
        second = stage.say(session, "Actually, please make it an exchange.", merges=False)
        note(stage, runs, first, second, age_s, "streaming")
        with stage.watch(second.run_id) as later:
            stage.gate(None)
            waiter.rest()
            later.rest()
    given = say("checks.second_old", run=stage.name(first.run_id), age=f"{age_s:,}")
    expect_new_run(first, second, given)
    ended = stage.awaited_line("run_moved", run_id=first.run_id, target="done")
    begun = stage.awaited_line("run_moved", run_id=second.run_id, target="running")
    lines = stage.log.all("run_moved")
    if lines.index(ended) > lines.index(begun):
        raise Broken(RULE, given, say("checks.one_by_one"), say("checks.both_active"))
    for name, seen in ((first, waiter), (second, later)):
        if seen.seqs != list(range(len(seen.seqs))) or seen.ended_with != "done":
            whole = say("checks.by_itself", run=stage.name(name.run_id))
            raise Broken(RULE, given, whole, say("checks.seqs", seqs=str(seen.seqs)))


def when_done(stage: Stage, runs: list[Json]) -> None:
    """Send the second message inside the window, but when the first is answered."""
    session = stage.new_session()
    stage.gate(0)
    first = stage.say(session, "My lamp arrived broken, I would like a refund.")
    with stage.watch(first.run_id) as waiter:
        stage.gate(None)
        waiter.rest()
    stage.gate(0)
    second = stage.say(session, "Thank you!", merges=False)
    note(stage, runs, first, second, 0, "done")
    expect_new_run(first, second, say("checks.second_done", run=stage.name(first.run_id)))
    with stage.watch(second.run_id) as later:
        stage.gate(None)
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


def expect_new_run(first: Answer, second: Answer, given: Message) -> None:
    """Raise when the second message did not open a run of its own."""
    if second.merged or second.run_id == first.run_id:
        actual = say("checks.same_run", merged=str(second.merged))
        raise Broken(RULE, given, say("checks.run_of_its_own"), actual)


CHECK = Check(6, say("checks.outside"), 4, play)
