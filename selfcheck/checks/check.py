"""What a check is: a name, the exercise it is about, and a play on the stage.

Each play probes its exercise with a table of cases (fast, exact) and plays a scenario over real HTTP. It puts what it
sees into `stage.evidence` as it goes, and raises `Broken` at the first thing that does not hold. When both probe and
scenario fail, the scenario is what the learner is told about: it is the one that can be seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from selfcheck.stage import Broken, Stage
from shared.events import Json


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `exercise` is None when no exercise of its own decides it."""

    id: int
    name: str
    exercise: int | None
    play: Callable[[Stage], None]


class ProbeRaised(Exception):
    """The exercise raised, in a probe, what its rule does not let it raise. `where` is file:line in the tree."""

    def __init__(self, given: str, raised: str, message: str, where: str) -> None:
        self.given = given
        self.raised = raised
        self.message = message
        self.where = where
        super().__init__(f"{given}: {raised}: {message}")


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a probe's table: what is asked, as JSON and in words, and the right answer."""

    asked: Json
    given: str
    expected: Json


def first_wrong(stage: Stage, exercise: int, rule: str, cases: Sequence[Case]) -> Broken | None:
    """Probe an exercise whose rule is to return, and say where it first differs from the table; None when nowhere.

    Raises:
        ProbeRaised: it raised instead.
    """
    answers = stage.probe(exercise, [case.asked for case in cases])
    wrong = 0
    first: Broken | None = None
    for case, answer in zip(cases, answers, strict=True):
        refuse_raised(case.given, answer)
        got = answer["returned"]
        if type(got) is type(case.expected) and got == case.expected:
            continue
        wrong += 1
        first = first or Broken(rule, case.given, show(case.expected), show(got))
    stage.evidence["probe"] = f"{len(cases) - wrong} of {len(cases)} cases right"
    return first


def refuse_raised(given: str, answer: dict[str, Json]) -> None:
    """Raise `ProbeRaised` when an answer of a probe says that the exercise raised."""
    if "raised" in answer:
        raised, message, where = (str(answer[name]) for name in ("raised", "message", "where"))
        raise ProbeRaised(given, raised, message, where)


def show(value: Json) -> str:
    """Return a value as Python writes it, as learners know it; what is no plain value by its type."""
    if isinstance(value, dict) and value.keys() == {"type", "says"}:
        return f"{value['says']} (a {value['type']})"
    return repr(value)


def show_seqs(seqs: Sequence[int], most: int = 14) -> str:
    """Return seqs as `0, 1, 2, …`, cut with a count."""
    shown = ", ".join(map(str, seqs[:most]))
    return f"{shown}, … ({len(seqs)} in all)" if len(seqs) > most else shown or "nothing"
