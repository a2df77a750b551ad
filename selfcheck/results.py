"""Results: what became of each check, and the file that says so to programs.

Nothing in `checks` depends on the clock, on ids (they read `run-1`, `run-2` …), on the machine or on the mode: a mock
run and a real run of one tree and one seed write the same bytes there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

import msgspec

from selfcheck.files import write_whole
from selfcheck.playing.recorder import Step
from selfcheck.texts import Message, Words, english
from shared.errors import Misconfigured
from shared.events import Json

VERSION = 1

Seen: TypeAlias = "Json | Message"
Evidence: TypeAlias = Mapping[str, Seen]
"""What was seen, by name, in the order in which it was seen: values, and words about them."""


class State(StrEnum):
    """How a check came out (design: states of a check)."""

    PASSED = "passed"
    TODO = "todo"  # does not pass, and the body is still the starter's
    FAILED = "failed"
    BLOCKED = "blocked"  # passes when other exercises are taken from the solution
    CRASHED = "crashed"  # the exercise raised, or did not load
    HUNG = "hung"  # the exercise did not return
    ENVIRONMENT = "environment"  # not the learner's fault


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, in four lines: the rule, what was given, what that calls for, what came instead."""

    broken_rule: Words
    given: Words
    expected: Words
    actual: Words


NOTHING_WRONG = Finding("", "", "", "")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check's result. The report shows it in the language in use, the JSON in English."""

    id: int
    name: Words
    exercise: int | None  # check 3 has none of its own
    status: State
    finding: Finding = NOTHING_WRONG
    where: str = ""  # file:line of the function to open
    blocked_by: Sequence[int] = ()
    evidence: Evidence = field(default_factory=dict)
    timeline: Sequence[Step] = ()  # of a check that does not pass; not in the JSON, which is the same in both modes
    symptom: str = ""  # the common mistake that it looks like, one of `selfcheck.symptoms.names()`

    def to_json(self) -> dict[str, Json]:
        """Return the members in the order of the design."""
        return {
            "id": self.id,
            "name": english(self.name),
            "exercise": self.exercise,
            "status": str(self.status),
            "broken_rule": english(self.finding.broken_rule),
            "given": english(self.finding.given),
            "expected": english(self.finding.expected),
            "actual": english(self.finding.actual),
            "where": self.where,
            "blocked_by": [*self.blocked_by],
            "symptom": self.symptom,
            "evidence": {
                name: english(seen) if isinstance(seen, Message) else seen for name, seen in self.evidence.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Report:
    """All results of one run of the self-check, so far."""

    mode: str
    tree: str
    seed: int
    total: int  # how many there will be in the end
    checks: Sequence[CheckResult]  # of each the worst result, when all was played several times
    repeat: int = 1
    flaky: Mapping[int, Sequence[State]] = field(default_factory=dict)  # the states of what did not always come out so

    @property
    def passed(self) -> int:
        """How many checks pass."""
        return sum(check.status is State.PASSED for check in self.checks)

    def to_json(self) -> dict[str, Json]:
        """Return the document that `--json` writes."""
        return {
            "version": VERSION,
            "mode": self.mode,
            "tree": self.tree,
            "seed": self.seed,
            "passed": self.passed,
            "total": self.total,
            **(self._repetitions() if self.repeat > 1 else {}),
            "checks": [check.to_json() for check in self.checks],
        }

    def _repetitions(self) -> dict[str, Json]:
        flaky: dict[str, Json] = {str(number): [str(each) for each in states] for number, states in self.flaky.items()}
        return {"repeat": self.repeat, "flaky": flaky}


def write_json(path: Path, report: Report) -> None:
    """Write the report so that a kill at any moment leaves the old file or the new one, never half of one.

    Raises:
        Misconfigured: the place cannot be written to.
    """
    write_named(path, as_json(report), "--json")


def as_json(report: Report) -> bytes:
    """Return the document, to be read by people, too."""
    return msgspec.json.format(msgspec.json.encode(report.to_json()), indent=1) + b"\n"


def write_named(path: Path, content: bytes, option: str) -> None:
    """Write a file that an option names.

    Raises:
        Misconfigured: the place cannot be written to.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        problem = f"cannot write {path}: {error.strerror}"
        raise Misconfigured(option, problem, "name a file in a folder that you may write to") from error
