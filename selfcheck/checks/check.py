"""What a check is: a name, the exercise it is about, and a play on the stage.

Each play probes its exercise with a table of cases (fast, exact) and plays a scenario over real HTTP. It puts what it
sees into `stage.evidence` as it goes, and raises `Broken` at the first thing that does not hold. When both probe and
scenario fail, the scenario is what the learner is told about: it is the one that can be seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from selfcheck.playing.stage import Broken, Stage
from selfcheck.texts import Message, Words, english, say
from shared.events import Json


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `exercise` is None when no exercise of its own decides it."""

    id: int
    name: Words
    exercise: int | None
    play: Callable[[Stage], None]


class ProbeRaised(Exception):
    """The exercise raised, in a probe, what its rule does not let it raise. `where` is file:line in the tree."""

    def __init__(self, given: Words, raised: str, message: str, where: str) -> None:
        self.given = given
        self.raised = raised
        self.message = message
        self.where = where
        super().__init__(f"{english(given)}: {raised}: {message}")


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a probe's table: what is asked, as JSON and in words, and the right answer."""

    asked: Json
    given: Words
    expected: Json


def first_wrong(stage: Stage, exercise: int, rule: Words, cases: Sequence[Case]) -> Broken | None:
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
    stage.evidence["probe"] = say("evidence.cases_right", right=len(cases) - wrong, cases=len(cases))
    return first


def refuse_raised(given: Words, answer: dict[str, Json]) -> None:
    """Raise `ProbeRaised` when an answer of a probe says that the exercise raised."""
    if "raised" in answer:
        raised, message, where = (str(answer[name]) for name in ("raised", "message", "where"))
        raise ProbeRaised(given, raised, message, where)


def show(value: Json) -> Words:
    """Return a value as Python writes it, as learners know it; what is no plain value by its type."""
    if isinstance(value, dict) and value.keys() == {"type", "says"}:
        return say("checks.typed", says=str(value["says"]), type=str(value["type"]))
    return repr(value)


def show_seqs(seqs: Sequence[int], most: int = 14) -> Words:
    """Return seqs as `0, 1, 2, …`, cut with a count."""
    return listed([str(seq) for seq in seqs[:most]], len(seqs))


def listed(items: Sequence[Words], count: int) -> Words:
    """Return items one after the other, and how many there are in all when these are not all."""
    if not items:
        return say("checks.nothing")
    shown, *more = items
    for item in more:
        said = isinstance(shown, Message) or isinstance(item, Message)
        shown = say("checks.listed", before=shown, next=item) if said else f"{shown}, {item}"
    return say("checks.cut", shown=shown, count=count) if count > len(items) else shown
