"""Where a tree's code goes round without an end, told so that it is the same place whenever one looks.

A dump shows the line that runs at one moment, and in a loop of three lines that is one of three.
"""

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from shared.foreign import Unusable, parse, read_source

_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)


def loop_at(tree: Path, places: Sequence[str]) -> str:
    """Return where a tree's code goes round, from one or more places it stood at (`file:line`, innermost first).

    That is the first line of the outermost loop that the calls lead through: the same one, whenever one looked. Without
    a loop it is the place from which the tree was not left again.
    """
    mine = [place for place in reversed(places) if Path(place.rpartition(":")[0]).parent == tree] or places[-1:]
    for place in mine:
        file, _, line = place.rpartition(":")
        first = _loop_around(tree / Path(file).name, int(line))
        if first is not None:
            return f"{file}:{first}"
    return mine[0]


def _loop_around(path: Path, line: int) -> int | None:
    """Return the first line of the outermost loop around a line of a file, in the function that the line is in."""
    try:
        nodes = ast.walk(parse(read_source(path)))
    except (Unusable, RecursionError):
        return None
    around = [node for node in nodes if isinstance(node, (*_SCOPES, *_LOOPS)) and node.lineno <= line <= _last(node)]
    scope = max((node.lineno for node in around if isinstance(node, _SCOPES)), default=0)
    return min((node.lineno for node in around if isinstance(node, _LOOPS) and node.lineno > scope), default=None)


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
