"""One play of one check on one service, and how it came out, before anybody asks whose fault it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from selfcheck import trees
from selfcheck.checks.check import Check, ProbeRaised
from selfcheck.logbook import Line
from selfcheck.process import Service
from selfcheck.results import NOTHING_WRONG, Finding, State
from selfcheck.stage import Broken, Stage
from selfcheck.watcher import Gone, Silent
from shared.errors import Unavailable
from shared.events import Json
from shared.foreign import shown, told


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one play came out."""

    state: State
    finding: Finding = NOTHING_WRONG
    evidence: Mapping[str, Json] = field(default_factory=dict)
    where: str = ""  # where it raised or hangs, when that is known
    accused: int | None = None  # the exercise that the service blames


def shown_at(place: str) -> str:
    """Return `file:line` with the file as a person would name it from here."""
    file, _, line = place.rpartition(":")
    return f"{shown(Path(file))}:{line}" if file else place


def play(check: Check, service: Service, seed: int) -> Outcome:
    """Play one check on one service. One that did not do its part is ended by this."""
    service.refusals_expected = False
    evidence: dict[str, Json] = {}
    try:
        with Stage(service, seed) as stage:
            evidence = stage.evidence
            outcome = _play(check, stage)
            if outcome.state is not State.PASSED:
                stage.hear()
    except (Gone, Silent, Unavailable) as trouble:
        outcome = _explain(trouble, service)
    # What the service says of an exercise goes before what it looked like from outside.
    if service.fault is not None and outcome.accused is None:
        outcome = _explain(Gone(), service)
    return replace(outcome, evidence=evidence)


def _play(check: Check, stage: Stage) -> Outcome:
    try:
        check.play(stage)
    except Broken as broken:
        return Outcome(State.FAILED, broken.finding)
    except ProbeRaised as raised:
        finding = Finding("The exercise answers.", raised.given, "an answer", f"{raised.raised}: {raised.message}")
        return Outcome(State.CRASHED, finding, where=shown_at(raised.where))
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AssertionError) as garbled:
        # Whatever is in the service may answer whatever it likes; the judge is not to fall over it.
        finding = Finding("The service keeps to its protocol.", "", "an answer as agreed", told(garbled))
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
        actual = "it does not return" if service.hung_at is not None else "it stopped its own process"
        finding = Finding("The exercise returns.", "a call by the service", "it returns", actual)
        file, _, line = (service.hung_at or ":0").rpartition(":")
        accused = trees.exercise_at(Path(service.spec.tree), file, int(line))
        return Outcome(State.HUNG, finding, where=shown_at(service.hung_at or ""), accused=accused)
    if service.fault is not None:
        return _told_by(service.fault)
    if isinstance(trouble, Silent):
        return Outcome(State.FAILED, Finding("The service goes on.", "", trouble.awaited, "it did not come"))
    if isinstance(trouble, Unavailable):
        return Outcome(State.ENVIRONMENT, Finding(f"The {trouble.service} answers.", "", "", trouble.problem))
    actual = f"it ended with exit code {exit_code}"
    return Outcome(State.CRASHED, Finding("The service goes on.", "", "it runs on", actual))


def _told_by(line: Line) -> Outcome:
    """Say what a line says of an exercise that went wrong inside the service."""
    if line["event"] == "illegal_transition":
        move = f"transition({line['source']}, {line['target']})"
        finding = Finding("A run can move as the table says.", move, f"returns {line['target']}", "it was refused")
        return Outcome(State.FAILED, finding, accused=1)
    accused = int(str(line["exercise"]))
    if line["event"] == "exercise_strayed":
        given, expected, actual = (str(line[name]) for name in ("given", "expected", "actual"))
        rule = f"What exercise {accused} does can be worked with."
        return Outcome(State.FAILED, Finding(rule, given, expected, actual), accused=accused)
    given, actual = f"a call by the service of exercise {accused}", f"{line['raised']}: {line['message']}"
    finding = Finding("The exercise answers.", given, "an answer", actual)
    return Outcome(State.CRASHED, finding, where=shown_at(str(line["where"])), accused=accused)
