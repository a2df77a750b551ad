"""What a submission is, and how it becomes a tree of files."""

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from typing import Literal, TypeAlias

from selfcheck.trees import EXERCISES, spliced
from shared.foreign import binding_line, parse

SOLUTION = Path(__file__).resolve().parents[2] / "solution"

State: TypeAlias = Literal["failed", "crashed", "hung"]
States: TypeAlias = tuple[State, ...]

FAILED: States = ("failed",)
CRASHED: States = ("crashed",)
HUNG: States = ("hung",)
FAILED_OR_CRASHED: States = ("failed", "crashed")
FAILED_OR_HUNG: States = ("failed", "hung")
ANY: States = ("failed", "crashed", "hung")


@dataclass(frozen=True, slots=True)
class Mutant:
    """The solution with one exercise rewritten.

    `source` takes the place of the exercise's definitions of the same names; `head` stands before the file's first line
    and `tail` behind its last. `caught_by` are the checks that must not pass (others may be blocked by it), each with
    one of `states`. A right submission has neither. `symptom` is what somebody would notice, in words, `recognised_as` by
    which of the names in `selfcheck.symptoms` the judge may call it; none where nobody can say. Of a `wild` one nobody
    can say what else it breaks: that is chance.
    """

    name: str
    exercise: int
    symptom: str
    source: str = ""
    head: bytes = b""
    tail: str = ""
    caught_by: tuple[int, ...] = ()
    states: States = ()
    wild: bool = False
    recognised_as: tuple[str, ...] = ()


def write(mutant: Mutant, folder: Path) -> Path:
    """Write the submission as a whole tree into `folder`, made when it is not there, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in dict.fromkeys(exercise.file for exercise in EXERCISES.values()):
        content = (SOLUTION / file).read_text(encoding="utf-8")
        head = b""
        exercise = EXERCISES[mutant.exercise]
        if file == exercise.file:
            written = parse(mutant.source)
            names = [name for name in exercise.definitions if binding_line(name, written) is not None]
            content = spliced(content, mutant.source, names) + mutant.tail
            head = mutant.head
        (folder / file).write_bytes(head + content.encode())
    return folder


def function(signature: str, body: str) -> str:
    """Return a function's text. `body` may be indented or not, but as a whole."""
    return f"def {signature}:\n{indent(dedent(body).strip(), '    ')}\n"


def orderer_class(offer: str, init: str, extra: str = "", parameters: str = "start, emit") -> str:
    """Return the text of a class with a constructor and `offer`; `extra` goes before them."""
    members = [
        dedent(extra).strip(),
        function(f"__init__(self, {parameters})", init),
        function("offer(self, seq, item)", offer),
    ]
    return "class SeqOrderer(Generic[T]):\n" + indent("\n\n".join(member for member in members if member), "    ")
