"""The four exercises as one injected value, and the loader that takes them from a tree of files.

The business code gets an `Exercises` and relies on nothing but the call signatures below. Whose bodies are in it is the
composition root's choice: a learner's tree, the solution, or a learner's with single exercises replaced.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar, cast

from shared.errors import Misconfigured
from shared.foreign import Unusable, binding_line, execute, parse, read_source, shown, told, why_not_callable
from shared.run import Run, RunStatus

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

Transition: TypeAlias = Callable[[RunStatus, RunStatus], RunStatus]
ShouldMerge: TypeAlias = Callable[[Run | None, datetime], bool]
ResumeFrom: TypeAlias = Callable[[str | None], int]


class Orderer(Protocol[T_contra]):
    """Exercise 2 at work: hands on the items of one connection in order, each once."""

    def offer(self, seq: int, item: T_contra, /) -> None:
        """Take one item and, before returning, emit all that are due."""
        ...


class OrdererFactory(Protocol):
    """Exercise 2: makes orderers."""

    def __call__(self, start: int, emit: Callable[[int, T], None], /) -> Orderer[T]:
        """Make an orderer of its own whose first due number is `start`."""
        ...


@dataclass(frozen=True, slots=True)
class Exercises:
    """The four rules that are injected. They are called by position; what they take is in their own docstrings."""

    transition: Transition
    should_merge: ShouldMerge
    resume_from: ResumeFrom
    SeqOrderer: OrdererFactory


@dataclass(frozen=True, slots=True)
class Shape:
    """Where one exercise is found in a tree, and how it is called."""

    number: int
    file: str
    name: str
    arguments: int  # how many it is called with, by position
    call: str  # the same, as a learner would write it


SHAPES: Final[Sequence[Shape]] = (
    Shape(1, "lifecycle.py", "transition", 2, "def transition(current, target)"),
    Shape(2, "delivery.py", "SeqOrderer", 2, "class SeqOrderer: __init__(self, start, emit), offer(self, seq, item)"),
    Shape(3, "delivery.py", "resume_from", 1, "def resume_from(last_event_id)"),
    Shape(4, "lifecycle.py", "should_merge", 2, "def should_merge(previous, now)"),
)
"""The exercises by number, the same in every tree."""

_UNDEFINED: Final = object()


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the exercises with these numbers were not taken from the tree.

    `file` is as `shared.foreign.shown` gives it, `line` the one to look at (None when no line is to blame). `problem`
    goes on with a sentence that begins with the file's name; `expected` is what should be there.
    """

    exercises: tuple[int, ...]
    file: str
    line: int | None
    problem: str
    expected: str

    @property
    def where(self) -> str:
        """The place to open: file:line, or the file alone."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Four callable exercises. Those that `faults` names are the stand-in's."""

    exercises: Exercises
    faults: tuple[Fault, ...]


def load(
    tree: Path,
    stand_in: Path,
    replaced: frozenset[int] = frozenset(),
    announce: Callable[[str], None] | None = None,
) -> Loaded:
    """Take the exercises from `tree`; those in `replaced`, and those that cannot be taken, from `stand_in`.

    Each file is executed anew, as a module of its own. A file that does not load gives one fault and costs both its
    exercises; a name that is missing or cannot be called gives one fault and costs its own exercise alone. `stand_in`
    is read only as far as something of it is needed.

    A file that ends the process or never returns cannot be survived here: load foreign trees in a process of their own.
    `announce` is called with each file, named as in `Fault`, just before it is executed, and so tells which one it was.

    Raises:
        Misconfigured: the stand-in does not load either, so the kit is damaged.
    """
    found, faults = _take(tree, [shape for shape in SHAPES if shape.number not in replaced], announce)
    stood_in, broken = _take(stand_in, [shape for shape in SHAPES if shape.name not in found], announce)
    if broken:
        problem = f"{broken[0].where} {broken[0].problem}"
        raise Misconfigured("exercises", problem, f"restore the folder {shown(stand_in)}")
    found |= stood_in
    # A module's names are objects. How these are called was checked; what they answer is for their callers to see.
    exercises = Exercises(
        transition=cast("Transition", found["transition"]),
        should_merge=cast("ShouldMerge", found["should_merge"]),
        resume_from=cast("ResumeFrom", found["resume_from"]),
        SeqOrderer=cast("OrdererFactory", found["SeqOrderer"]),
    )
    return Loaded(exercises, tuple(faults))


def _take(
    tree: Path, shapes: Sequence[Shape], announce: Callable[[str], None] | None
) -> tuple[dict[str, object], list[Fault]]:
    """Return what the tree has of these exercises, by name, and faults for all that it has not."""
    found: dict[str, object] = {}
    faults: list[Fault] = []
    for file in dict.fromkeys(shape.file for shape in shapes):
        path = tree / file
        wanted = [shape for shape in shapes if shape.file == file]
        try:
            source = read_source(path)
            names = vars(execute(path, source, announce))
        except Unusable as unusable:
            numbers = tuple(shape.number for shape in wanted)
            expected = "a file that defines " + " and ".join(shape.call for shape in wanted)
            faults.append(Fault(numbers, shown(path), unusable.line, unusable.problem, expected))
            continue
        for shape in wanted:
            value = names.get(shape.name, _UNDEFINED)
            problem = _misfit(shape, value)
            if problem is None:
                found[shape.name] = value
            else:
                line = _line_of(shape.name, source)
                faults.append(Fault((shape.number,), shown(path), line, f"{shape.name} {problem}", shape.call))
    return found, faults


def _line_of(name: str, source: str) -> int | None:
    try:
        return binding_line(name, parse(source))
    except Unusable:  # a syntax tree has narrower limits than the compiler
        return None


def _misfit(shape: Shape, value: object) -> str | None:
    """Say what keeps a value from being called as its exercise is; None: nothing does."""
    if value is _UNDEFINED:
        return "is not defined"
    try:
        if shape.name != "SeqOrderer":
            return "is a class" if isinstance(value, type) else why_not_callable(value, shape.arguments)
        if not isinstance(value, type):
            return "is not a class"
        return why_not_callable(value, shape.arguments) or _unfit_offer(getattr(value, "offer", _UNDEFINED))
    except Exception as error:  # foreign code again: a metaclass, a property, a signature of its own making
        return f"cannot be looked at: {told(error)}"


def _unfit_offer(offer: object) -> str | None:
    problem = "is not defined" if offer is _UNDEFINED else why_not_callable(offer, 3)
    return None if problem is None else f"is of no use: offer {problem}"
