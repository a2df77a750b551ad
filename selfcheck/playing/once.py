"""One play of one check on one service, and how it came out, before anybody asks whose fault it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from selfcheck import trees
from selfcheck.checks.check import Check, ProbeRaised
from selfcheck.playing.recorder import Recorder, Step
from selfcheck.playing.stage import Broken, Stage
from selfcheck.playing.watcher import Gone, Silent
from selfcheck.processes.held import Service
from selfcheck.processes.logbook import Line
from selfcheck.recognising import recognised, service_name
from selfcheck.results import NOTHING_WRONG, Evidence, Finding, Seen, State
from selfcheck.texts import say
from shared.errors import Unavailable
from shared.foreign import shown, told


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one play came out."""

    state: State
    finding: Finding = NOTHING_WRONG
    evidence: Evidence = field(default_factory=dict)
    where: str = ""  # where it raised or hangs, when that is known
    accused: int | None = None  # the exercise that the service blames
    timeline: Sequence[Step] = ()  # of a play that did not pass


def shown_at(place: str) -> str:
    """Return `file:line` with the file as a person would name it from here."""
    file, _, line = place.rpartition(":")
    return f"{shown(Path(file))}:{line}" if file else place


def play(check: Check, service: Service, seed: int) -> Outcome:
    """Play one check on one service. One that did not do its part is ended by this."""
    service.refusals_expected = False
    evidence: dict[str, Seen] = {}
    settled: dict[str, Seen] = {}
    record = Recorder()
    try:
        with Stage(service, seed) as stage:
            evidence, settled, record = stage.evidence, stage.settled, stage.record
            outcome = _play(check, stage)
            if outcome.state is not State.PASSED:
                stage.hear()
    except (Gone, Silent, Unavailable) as trouble:
        outcome = _explain(trouble, service)
        evidence = settled if isinstance(trouble, Gone) else evidence
    # What the service says of an exercise goes before what it looked like from outside.
    if service.fault is not None and outcome.accused is None:
        outcome = _explain(Gone(), service)
        evidence = settled  # how far we came in what it broke off is chance
        record.parted = False
    if outcome.state is State.PASSED:
        return replace(outcome, evidence=evidence)
    from selfcheck.reporting.timeline import arranged  # whoever passes everything needs none

    timeline = arranged(record, service.log, outcome.finding, outcome.accused)
    return replace(outcome, evidence=evidence, timeline=timeline)


def _play(check: Check, stage: Stage) -> Outcome:
    try:
        check.play(stage)
    except Broken as broken:
        stage.record.parted = True
        return Outcome(State.FAILED, broken.finding)
    except ProbeRaised as raised:
        stage.record.parted = True
        actual = f"{raised.raised}: {raised.message}"
        finding = Finding(say("playing.exercise_answers"), raised.given, say("playing.an_answer"), actual)
        return Outcome(State.CRASHED, finding, where=shown_at(raised.where))
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AssertionError) as garbled:
        # Whatever is in the service may answer whatever it likes; the judge is not to fall over it.
        finding = Finding(say("playing.keeps_protocol"), "", say("playing.as_agreed"), told(garbled))
        return Outcome(State.FAILED, finding)
    return Outcome(State.PASSED)


def _explain(trouble: Exception, service: Service) -> Outcome:
    """Say why the service did not do its part: which of the exercises, or the surroundings."""
    if isinstance(trouble, Gone):
        service.settle()  # it may be ending by itself, and its exit code says how
    exit_code = service.exit_code
    service.stop()  # and reads what it has said to the end
    return _reason(trouble, service, exit_code)


def _reason(trouble: Exception, service: Service, exit_code: int | None) -> Outcome:
    if service.log.all("not_started"):
        raise service.why_not_started()
    if service.hung_at is not None or service.stopped:
        hangs = service.hung_at is not None
        actual = say("playing.does_not_return") if hangs else say("playing.stopped_itself")
        finding = Finding(say("playing.exercise_returns"), say("playing.call"), say("playing.returns"), actual)
        file, _, line = (service.hung_at or ":0").rpartition(":")
        accused = trees.exercise_at(Path(service.spec.tree), file, int(line))
        return Outcome(State.HUNG, finding, where=shown_at(service.hung_at or ""), accused=accused)
    if service.fault is not None:
        return _told_by(service.fault)
    if isinstance(trouble, Silent):
        finding = Finding(say("playing.goes_on"), "", trouble.awaited, say("playing.did_not_come"))
        return Outcome(State.FAILED, finding)
    if isinstance(trouble, Unavailable):
        rule = say("playing.service_answers", service=service_name(trouble))
        return Outcome(State.ENVIRONMENT, Finding(rule, "", "", recognised(trouble.problem)))
    actual = say("playing.broke_off") if exit_code is None else say("playing.ended", code=str(exit_code))
    return Outcome(State.CRASHED, Finding(say("playing.goes_on"), "", say("playing.runs_on"), actual))


def _told_by(line: Line) -> Outcome:
    """Say what a line says of an exercise that went wrong inside the service."""
    if line["event"] == "illegal_transition":
        move = f"transition({line['source']}, {line['target']})"
        target = say("playing.returns_target", target=str(line["target"]))
        finding = Finding(say("playing.moves"), move, target, say("playing.was_refused"))
        return Outcome(State.FAILED, finding, accused=1)
    accused = int(str(line["exercise"]))
    if line["event"] == "exercise_strayed":
        given, expected, did = (recognised(str(line[name])) for name in ("given", "expected", "actual"))
        rule = say("playing.exercise_workable", number=accused)
        return Outcome(State.FAILED, Finding(rule, given, expected, did), accused=accused)
    call, raised = say("playing.call_of", number=accused), f"{line['raised']}: {line['message']}"
    finding = Finding(say("playing.exercise_answers"), call, say("playing.an_answer"), raised)
    return Outcome(State.CRASHED, finding, where=shown_at(str(line["where"])), accused=accused)
