"""Check 1: the transition table. All 36 pairs, and a worker that wakes after its run has ended."""

from selfcheck.checks.check import Check, refuse_raised, show
from selfcheck.playing.stage import Broken, Stage
from selfcheck.playing.watcher import PATIENCE_S
from selfcheck.texts import Message, say
from shared.events import Json
from shared.run import RunStatus

RULE = say("checks.transitions_rule")

ALLOWED: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.PENDING: frozenset({RunStatus.RUNNING, RunStatus.CANCELLED, RunStatus.FAILED}),
    RunStatus.RUNNING: frozenset({RunStatus.STREAMING, RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED}),
    RunStatus.STREAMING: frozenset({RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED}),
    RunStatus.DONE: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}
"""What the judge holds an answer against. Written out here, and not taken from the solution."""


def play(stage: Stage) -> None:
    """Probe the 36 pairs, then let a run's own worker write after its end."""
    wrong = probe(stage)
    late_write(stage)
    if wrong is not None:
        raise wrong


def probe(stage: Stage) -> Broken | None:
    """Ask for every pair; keep the matrix as evidence, a row per current status, wrong cells marked."""
    pairs = [(current, target) for current in RunStatus for target in RunStatus]
    answers = stage.probe(1, [[str(current), str(target)] for current, target in pairs])
    matrix: dict[str, Json] = {str(status): [] for status in RunStatus}
    first: Broken | None = None
    for (current, target), answer in zip(pairs, answers, strict=True):
        given = f"transition({current}, {target})"
        allowed = target in ALLOWED[current]
        if answer.get("value_error") is not True:
            refuse_raised(given, answer)
        right = answer.get("returned") == str(target) if allowed else "raised" in answer
        row = matrix[str(current)]
        assert isinstance(row, list), "made so above"
        row.append(("yes" if allowed else "no") + ("" if right else " (wrong)"))
        if not right and first is None:
            expected = say("checks.returns", value=str(target)) if allowed else say("checks.raises_illegal")
            first = Broken(RULE, given, expected, _did(answer))
    stage.evidence["matrix"] = matrix
    return first


def _did(answer: dict[str, Json]) -> Message:
    if "raised" in answer:
        return say("checks.raised", error=str(answer["raised"]))
    return say("checks.returned", value=show(answer["returned"]))


def late_write(stage: Stage) -> None:
    """Let a run end, then wake its worker, which still believes the run to be running, and writes."""
    stage.gate(0)
    session = stage.new_session()
    run = stage.say(session, "My lamp arrived broken, I would like a refund.").run_id
    with stage.watch(run) as waiter:
        stage.gate(None)
        waiter.rest()
    before = len(stage.history(session))
    stage.expect_refusals()
    (refusal,) = stage.control(("late_write", [run]))
    standing, after = stage.standing(run), len(stage.history(session))
    # A refusal is written down before it is answered, but what is written is read beside us.
    logged = refusal is not None and stage.log.wait("illegal_transition", PATIENCE_S, run_id=run) is not None
    became = say("evidence.refused") if refusal is not None else say("evidence.carried_out")
    stage.evidence |= {
        "late_write": became,
        "logged_as_illegal": logged,
        "status_after": standing["status"],
        "events_added": after - before,
    }
    held = refusal is not None and logged and standing["status"] == "done" and after == before
    if not held:
        raise Broken(
            RULE,
            say("checks.late"),
            say("checks.late_refused"),
            say("checks.late_seen", late_write=became, status=str(standing["status"]), added=after - before),
        )


CHECK = Check(1, say("checks.transitions"), 1, play)
