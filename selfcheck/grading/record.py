"""The record of one submission: what its checks came to, and what is to be said of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from selfcheck.checks import CHECKS
from selfcheck.checks.check import Check
from selfcheck.grading import flags
from selfcheck.grading.orders import Reason, Said
from selfcheck.results import VERSION, CheckResult, Finding, State
from selfcheck.texts import say

_FLAGS: Final[Mapping[Reason, str]] = {
    "time": flags.TIME,
    "memory": flags.MEMORY,
    "processes": flags.PROCESSES,
    "died": flags.LOST,
}
_STATES: Final[Mapping[Reason, State]] = {
    "time": State.HUNG,
    "memory": State.CRASHED,
    "processes": State.CRASHED,
    "died": State.ENVIRONMENT,
    "done": State.ENVIRONMENT,
}


class Record(msgspec.Struct, frozen=True):
    """All that results say of one submission. Nothing in it depends on the clock or on the machine."""

    name: str
    flags: tuple[str, ...]
    same_as_solution: tuple[int, ...]  # exercises
    results: Mapping[str, object]  # as `run --json` writes them

    @property
    def checks(self) -> Sequence[Mapping[str, object]]:
        """The results of the six checks, in order."""
        checks = self.results["checks"]
        assert isinstance(checks, list), "it is made so"
        return [check for check in checks if isinstance(check, dict)]

    @property
    def states(self) -> tuple[State, ...]:
        """The states of the six checks."""
        return tuple(State(str(check["status"])) for check in self.checks)

    @property
    def passed(self) -> int:
        """How many checks pass."""
        return self.states.count(State.PASSED)

    @property
    def symptoms(self) -> Sequence[str]:
        """What was recognised, as `check: symptom`, where results say so."""
        named = [(check["id"], check.get("symptom")) for check in self.checks]
        return [f"{number}: {_symptom(symptom)}" for number, symptom in named if symptom]


def compose(name: str, seed: int, noted: Iterable[str], said: Iterable[Said]) -> Record:
    """Make the record of a submission from what was noted when it was read, and what its judge said."""
    found = dict.fromkeys(noted)
    same: tuple[int, ...] = ()
    played: dict[int, Mapping[str, object]] = {}
    judged: dict[int, Mapping[str, object]] = {}
    problem, reason = "", "died"  # type: str, Reason
    for line in said:
        found |= dict.fromkeys(line.flags)
        same = same or line.same
        problem = line.problem or problem
        if line.kind == "end":
            reason = line.reason
        elif line.check is not None:
            (played if line.kind == "played" else judged)[int(str(line.check["id"]))] = line.check
    if reason in _FLAGS:
        found[_FLAGS[reason]] = None
    checks = [judged.get(each.id) or played.get(each.id) or _unplayed(each, reason, problem) for each in CHECKS]
    passed = sum(check["status"] == State.PASSED for check in checks)
    results = {
        "version": VERSION,
        "mode": "mock",
        "tree": name,
        "seed": seed,
        "passed": passed,
        "total": len(CHECKS),
        "checks": [*checks],
    }
    return Record(name, tuple(found), same, results)


def _unplayed(check: Check, reason: Reason, problem: str) -> Mapping[str, object]:
    """Return the result of a check to which it did not come."""
    finding = Finding(
        say("grading.is_judged"), "", say("grading.within_limits"), problem or say(f"grading.end_{reason}")
    )
    return CheckResult(check.id, check.name, check.exercise, _STATES[reason], finding).to_json()


def _symptom(symptom: object) -> str:
    if isinstance(symptom, dict):
        return str(symptom.get("name", symptom.get("id", "")))
    return str(symptom)
