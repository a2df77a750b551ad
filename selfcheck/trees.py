"""What the judge knows of the trees: which exercise is where, what was touched, what the solution does differently.

Syntax trees and text only. A tree is never executed here, so nothing in it can touch a verdict.

What belongs to an exercise is the definitions that `EXERCISES` lists: for the first the table and the function that
looks things up in it, for the second the whole class. A learner writes their **bodies**: the value of the table, the
statements of a function, the statements of the two methods and whatever else is put into the class. All the rest of a
file, signatures included, is **outside** and the same in `starter/` and `solution/`. Docstrings and comments count for
nothing in a comparison.

`starter/` is the learner's room, so what it was at first is kept in `pristine/`, for telling what was touched and for
putting it back.
"""

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from selfcheck import early
from shared.errors import Misconfigured
from shared.exercises import SHAPES
from shared.foreign import Unusable, binding_line, parse, read_source, shown


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise: `name` is what the business code calls, `definitions` all that belongs to it."""

    number: int
    name: str
    title: str
    file: str
    definitions: tuple[str, ...]


_TITLES: Final = {1: "transition table", 2: "orderer", 3: "resume arithmetic", 4: "merge criteria"}

EXERCISES: Final[Mapping[int, Exercise]] = {
    shape.number: Exercise(
        shape.number,
        shape.name,
        _TITLES[shape.number],
        shape.file,
        ("TRANSITIONS", shape.name) if shape.name == "transition" else (shape.name,),
    )
    for shape in SHAPES
}
"""The exercises by number."""


@dataclass(frozen=True, slots=True)
class Location:
    """A place to open: a file as `shared.foreign.shown` gives it, and a line unless none can be named."""

    file: str
    line: int | None

    @property
    def where(self) -> str:
        """The place as one word: file:line, or the file alone."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


def kit_root() -> Path:
    """Return the folder that holds `starter/` and `solution/`: where this package lies, else the current directory.

    Raises:
        Misconfigured: neither holds both.
    """
    places = (Path(__file__).resolve().parent.parent, Path.cwd())
    for place in places:
        if all((place / tree).is_dir() for tree in ("starter", "solution")):
            return place
    looked = " nor in ".join(str(place) for place in dict.fromkeys(places))
    raise Misconfigured("kit", f"starter/ and solution/ are not in {looked}", "run selfcheck in the lab's folder")


def folder_of(tree: str) -> Path:
    """Return the folder that `--tree` names: from the current directory, else from the kit's.

    Raises:
        Misconfigured: there is none. A file that is missing in a folder is a matter of its exercises.
    """
    folder = Path(early.find_tree(tree, str(kit_root())))
    if not folder.is_dir():
        raise Misconfigured(
            "--tree", f"there is no folder {shown(folder)}", "name one that holds lifecycle.py and delivery.py"
        )
    return folder


def locate(tree: Path, number: int) -> Location:
    """Return the line to open for an exercise: where its first definition begins, for the first exercise the table.

    When the file cannot be read it is the line that keeps it from being read.
    """
    exercise = EXERCISES[number]
    path = tree / exercise.file
    try:
        module = parse(read_source(path))
    except Unusable as unusable:
        return Location(shown(path), unusable.line)
    lines = (binding_line(name, module) for name in exercise.definitions)
    return Location(shown(path), next((line for line in lines if line is not None), None))


def exercise_at(tree: Path, file: str, line: int) -> int | None:
    """Return the exercise in whose definitions a line of a tree's file lies; None: in none, or the file has changed."""
    for number, exercise in EXERCISES.items():
        if Path(file).name == exercise.file:
            try:
                spans = _spans(read_source(tree / exercise.file))
            except (Unusable, RecursionError):
                return None
            if any(
                first < line <= last for first, last in (spans[name] for name in exercise.definitions if name in spans)
            ):
                return number
    return None


def is_untouched(tree: Path, number: int) -> bool:
    """Say whether an exercise is as the starter came. False when the file cannot be read."""
    exercise = EXERCISES[number]
    ours = definitions(pristine(exercise.file))
    try:
        theirs = definitions(read_source(tree / exercise.file))
        return all(name in theirs and ast.dump(theirs[name]) == ast.dump(ours[name]) for name in exercise.definitions)
    except (Unusable, RecursionError):  # the latter: nested deeper than a person writes
        return False


def outside_differs(tree: Path) -> bool:
    """Say whether anything but the bodies differs from the starter as it came. True when a file cannot be read."""
    return bool(differing_outside(tree))


def differing_outside(tree: Path) -> list[str]:
    """Return the files in which anything but the bodies differs from the starter as it came, or that cannot be read."""
    return [file for file in _files(EXERCISES) if _differs_outside(tree / file)]


def _differs_outside(path: Path) -> bool:
    try:
        return _outside(read_source(path)) != _outside(pristine(path.name))
    except (Unusable, RecursionError):
        return True


def difference(number: int | None = None) -> str:
    """Return what the solution changes in the starter, as a unified diff: one exercise, or None for all four."""
    chosen = EXERCISES if number is None else {number: EXERCISES[number]}
    text = ""
    for file in _files(chosen):
        names = [name for exercise in chosen.values() if exercise.file == file for name in exercise.definitions]
        before = pristine(file)
        after = spliced(before, read_source(kit_root() / "solution" / file), names)
        lines = difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), f"starter/{file}", f"solution/{file}"
        )
        text += "".join(lines)
    return text


def restored(tree: Path, number: int) -> str:
    """Return the text of a tree's file with one exercise as the starter came, and all else as it is.

    A file that is not there is the starter's.

    Raises:
        Unusable: the file is not Python, so nothing can be found in it.
    """
    exercise = EXERCISES[number]
    path, starter = tree / exercise.file, pristine(exercise.file)
    return spliced(read_source(path), starter, exercise.definitions) if path.exists() else starter


def spliced(text: str, donor: str, names: Sequence[str]) -> str:
    """Return `text` with the definitions of these names as they are in `donor`. What `text` lacks is put at its end.

    Raises:
        Unusable: one of the two is not Python.
    """
    lines, donated = text.split("\n"), donor.split("\n")
    spans, given = _spans(text), _spans(donor)
    for name in sorted((name for name in names if name in spans), key=lambda name: spans[name], reverse=True):
        lines[slice(*spans[name])] = donated[slice(*given[name])]
    for name in names:
        if name not in spans:
            lines += ["", *donated[slice(*given[name])], ""]
    return "\n".join(lines)


def definitions(source: str) -> dict[str, ast.stmt]:
    """Return the statement that defines each name at the top level of a text, docstrings left out.

    Raises:
        Unusable: it is not Python.
    """
    return _definitions(without_docstrings(source))


def _spans(source: str) -> dict[str, tuple[int, int]]:
    """Return for each definition the lines it takes, decorators included, as the bounds of a slice."""
    spans: dict[str, tuple[int, int]] = {}
    for name, node in _definitions(parse(source)).items():
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        spans[name] = (first - 1, node.end_lineno or node.lineno)
    return spans


def pristine(file: str) -> str:
    """Return the text of a file of the starter as it came."""
    # As text, so that it is no module that somebody could import.
    return read_source(Path(__file__).parent / "pristine" / f"{file}.txt")


def _files(exercises: Mapping[int, Exercise]) -> Iterable[str]:
    return dict.fromkeys(exercise.file for exercise in exercises.values())


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if text else node


def without_docstrings(source: str) -> ast.Module:
    """Return the syntax tree of a text with its docstrings left out: what counts in a comparison.

    Raises:
        Unusable: it is not Python.
    """
    module = parse(source)
    _WithoutDocstrings().visit(module)
    return module


def _names(node: ast.stmt) -> list[str]:
    """Return the names that a statement at the top level defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _definitions(module: ast.Module) -> dict[str, ast.stmt]:
    """Return the statement that defines each name; the last, when several do."""
    return {name: node for node in module.body for name in _names(node)}


def _outside(source: str) -> list[str]:
    """Return a file's statements with the bodies of the exercises taken out."""
    module = without_docstrings(source)
    ours = {name for exercise in EXERCISES.values() for name in exercise.definitions}
    for node in module.body:
        if ours.intersection(_names(node)):
            _empty(node)
    return [ast.dump(node) for node in module.body]


def _empty(node: ast.stmt) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node.body = []
    elif isinstance(node, ast.AnnAssign):
        node.value = None
    elif isinstance(node, ast.ClassDef):
        node.body = [
            each for each in node.body if isinstance(each, ast.FunctionDef) and each.name in ("__init__", "offer")
        ]
        for method in node.body:
            _empty(method)
