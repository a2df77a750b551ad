"""The house's own source files, as syntax trees."""

import ast
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

MADE: Final = frozenset({"__pycache__", "node_modules", "build", "dist"})
"""Folders whose content is not ours. Those whose name begins with a dot are not either, except for `.ci`."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file. `path` is relative to the kit's folder, with slashes."""

    path: str
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The package that it belongs to, or the folder."""
        first, *rest = self.path.split("/")
        return rest[0] if first == "src" else first

    def lines(self) -> int:
        """Return how many lines it has."""
        return self.text.count("\n")


def source(path: str, text: str) -> Source:
    """Return a file that need not exist, so that a rule can be shown what it forbids."""
    return Source(path, text, ast.parse(text))


def sources(*folders: str) -> Sequence[Source]:
    """Return all Python files below these folders."""
    paths = sorted(path for folder in folders for path in _files(ROOT / folder) if path.suffix == ".py")
    assert paths, "the folders hold Python files"
    return [_read(path) for path in paths]


@cache
def _read(path: Path) -> Source:
    return source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


def texts() -> Iterator[tuple[str, str]]:
    """Yield every text file of the kit: its path, and what is in it."""
    for path in sorted(_files(ROOT)):
        if path.is_file():
            try:
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:  # a picture
                continue


def _files(top: Path) -> Iterator[Path]:
    """Yield what lies below a folder. Folders that are not ours are not looked into: in them, things come and go."""
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in MADE and (name[0] != "." or name == ".ci")]
        yield from (Path(folder, name) for name in names)


def imports(node: ast.AST) -> Iterator[str]:
    """Yield the full name of everything that is imported, wherever that is done; a relative one begins with a dot."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom):
            yield from (f"{'.' * each.level}{each.module or ''}.{alias.name}" for alias in each.names)


def calls(node: ast.AST) -> Iterator[tuple[str, Sequence[ast.expr]]]:
    """Yield every call of something that has a name: the name, dots included, and the arguments by position."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            name = dotted(each.func)
            if name:
                yield name, each.args


def dotted(node: ast.expr) -> str:
    """Return `a.b.c` for what is written so, "" for all else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        rest = dotted(node.value)
        return f"{rest}.{node.attr}" if rest else ""
    return ""


def undocumented(body: Iterable[ast.stmt], prefix: str = "") -> Iterator[str]:
    """Yield the public classes, functions and methods that have no docstring, by their dotted names."""
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name[0] == "_":
            continue
        if ast.get_docstring(node) is None:
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from undocumented(node.body, f"{prefix}{node.name}.")
