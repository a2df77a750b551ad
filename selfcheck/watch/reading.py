"""The tree as it is read at one moment, and what of it differs from another moment in a way that counts."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from selfcheck import trees
from shared.exercises import SHAPES, Fault
from shared.foreign import Unusable, read_source, shown

FILES: Final = tuple(dict.fromkeys(shape.file for shape in SHAPES))

Stamp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Essence:
    """What counts in a file: the definitions of its exercises, by number, and all the rest; neither has comments."""

    exercises: Mapping[int, str]
    rest: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, by file. A file that gives nothing to judge has a fault and no essence."""

    stamps: tuple[Stamp, ...]
    essences: Mapping[str, Essence]
    faults: Mapping[str, Fault]
    unfinished: bool  # a file is absent or empty, as it is for a moment while an editor writes it


def stamps(tree: Path) -> tuple[Stamp, ...]:
    """Return what tells two states of the files apart without reading them. A file that is not there has an empty one.

    Through links, so that a file that lies elsewhere is seen to change.
    """
    return tuple(_stamp(tree / file) for file in FILES)


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)


def read(tree: Path) -> Reading:
    """Read the tree, whatever is in it. Stamps are taken first: what is written meanwhile shows as a later change."""
    at = stamps(tree)
    essences: dict[str, Essence] = {}
    faults: dict[str, Fault] = {}
    for file in FILES:
        try:
            essences[file] = essence(file, read_source(tree / file))
        except (Unusable, RecursionError) as error:  # the latter: nested deeper than a person writes
            problem = error if isinstance(error, Unusable) else Unusable("is not Python: RecursionError")
            faults[file] = _fault(tree / file, problem)
    return Reading(at, essences, faults, any(not stamp or not stamp[1] for stamp in at))


def _fault(path: Path, problem: Unusable) -> Fault:
    """Say what is wrong as the loader does when the file is judged."""
    mine = [shape for shape in SHAPES if shape.file == path.name]
    expected = "a file that defines " + " and ".join(shape.call for shape in mine)
    return Fault(tuple(shape.number for shape in mine), shown(path), problem.line, problem.problem, expected)


def essence(file: str, source: str) -> Essence:
    """Return what counts in the text of a file.

    Raises:
        Unusable: it is not Python.
    """
    mine = {number: exercise for number, exercise in trees.EXERCISES.items() if exercise.file == file}
    names = {name for exercise in mine.values() for name in exercise.definitions}
    found = {name: ast.dump(node) for name, node in trees.definitions(source).items() if name in names}
    exercises = {number: "\n".join(found.get(name, "") for name in each.definitions) for number, each in mine.items()}
    statements = map(ast.dump, trees.without_docstrings(source).body)
    return Essence(exercises, "\n".join(each for each in statements if each not in found.values()))


def changed(before: Mapping[str, Essence], now: Mapping[str, Essence]) -> frozenset[int]:
    """Return the exercises that a change can affect: those that differ themselves; of a file whose rest does, all.

    What cannot be read now is left out. What could not be read before has changed as a whole.
    """
    found: set[int] = set()
    for file, essence_ in now.items():
        old = before.get(file)
        for number, definition in essence_.exercises.items():
            if old is None or old.rest != essence_.rest or old.exercises.get(number) != definition:
                found.add(number)
    return frozenset(found)
