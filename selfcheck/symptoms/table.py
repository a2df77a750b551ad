"""What a table of answers is, and what it means to recognise a mistake in one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from shared.events import Json

Answer: TypeAlias = Mapping[str, Json]
"""What an exercise did with one case: {"returned"}, or {"raised", "value_error", "message", "where"}."""

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Symptom(Generic[E]):
    """A mistake by its name, and what it is known by. `seen` is asked when none of those before it was seen."""

    name: str
    seen: Callable[[E], bool]


@dataclass(frozen=True, slots=True)
class Table(Generic[E]):
    """The cases of one exercise, how their answers are read, and its symptoms, those that say most first."""

    cases: Sequence[Json]
    read: Callable[[Sequence[Answer]], E]
    symptoms: Sequence[Symptom[E]]

    @property
    def names(self) -> tuple[str, ...]:
        """The symptoms' names."""
        return tuple(symptom.name for symptom in self.symptoms)

    def recognise(self, answers: Sequence[Answer]) -> str:
        """Return the name of the first symptom that is seen, "" for none."""
        evidence = self.read(answers)
        return next((symptom.name for symptom in self.symptoms if symptom.seen(evidence)), "")


class Recogniser(Protocol):
    """A table, whatever its evidence is."""

    @property
    def cases(self) -> Sequence[Json]:
        """What is asked, in order."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The symptoms' names."""
        ...

    def recognise(self, answers: Sequence[Answer]) -> str:
        """Return the name of the first symptom that is seen, "" for none."""
        ...


def raised(answer: Answer) -> str:
    """Return the type of what was raised, "" when something was returned."""
    return str(answer.get("raised", ""))


def refused(answer: Answer) -> bool:
    """Whether a `ValueError` was raised."""
    return answer.get("value_error") is True


def returned(answer: Answer, value: Json) -> bool:
    """Whether exactly this was returned; True is no 1."""
    got = answer.get("returned")
    return "returned" in answer and type(got) is type(value) and got == value


def kind(value: Json) -> str:
    """Return the type of a value as the tree had it."""
    return str(value["type"]) if isinstance(value, dict) and "type" in value else type(value).__name__
