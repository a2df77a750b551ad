"""What is to be said of a submission beside its checks, from its text alone."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from selfcheck import trees
from selfcheck.trees import EXERCISES
from shared.foreign import Unusable, parse, read_source

SAME: Final = "same-as-solution"
REACHES: Final = "reaches-for-solution"
OUTSIDE: Final = "outside-differs"
LINK: Final = "link"
UNREADABLE: Final = "unreadable"
MISSING: Final = "missing-file"
OUTPUT: Final = "too-much-output"
TIME: Final = "out-of-time"
MEMORY: Final = "out-of-memory"
PROCESSES: Final = "too-many-processes"
LOST: Final = "judge-lost"

FILES: Final = tuple(dict.fromkeys(exercise.file for exercise in EXERCISES.values()))


def of_text(tree: Path, solution: Path) -> tuple[str, ...]:
    """Return what a tree's text shows: that it is the solution's, reaches for it, or differs outside the bodies."""
    found = []
    if same_as(tree, solution) == tuple(EXERCISES):
        found.append(SAME)
    if any(_reaches(module) for module in _modules(tree)):
        found.append(REACHES)
    if all((tree / file).exists() for file in FILES) and trees.outside_differs(tree):
        found.append(OUTSIDE)
    return tuple(found)


def same_as(tree: Path, solution: Path) -> tuple[int, ...]:
    """Return the exercises whose definitions are the solution's, docstrings and comments aside."""
    return tuple(
        number
        for number, exercise in EXERCISES.items()
        if None is not (ours := _written(solution / exercise.file, exercise.definitions))
        and ours == _written(tree / exercise.file, exercise.definitions)
    )


def _written(file: Path, names: Iterable[str]) -> list[str] | None:
    """Return the definitions of these names in a file, as text that has no comments; None when one is not there."""
    try:
        defined = trees.definitions(read_source(file))
        return [ast.dump(defined[name]) for name in names]
    except (Unusable, RecursionError, KeyError):
        return None


def _modules(tree: Path) -> Iterator[ast.Module]:
    for file in FILES:
        try:
            yield parse(read_source(tree / file))
        except (Unusable, RecursionError):
            continue


def _reaches(module: ast.Module) -> bool:
    """Say whether code names the solution: imports it, or has the word in a text that is no docstring."""
    documenting = {
        id(node.value)
        for node in ast.walk(module)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(module):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documenting:
            names = [node.value]
        if any("solution" in name.lower() for name in names):
            return True
    return False
