"""What errors say, read from the source: every problem and remedy as a sentence, its open places filled."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from tests.support.sources import Source, dotted

SAMPLE: Final = "X4711"  # what stands in an open place

_SENTENCES: Final[Mapping[str, Sequence[int]]] = {
    "Misconfigured": (1, 2),
    "Unavailable": (1,),
    "Unusable": (0,),
    "Fault": (3, 4),
    "BadPayload": (0, 1),
    "_decode": (2,),
    "_give_up": (0,),
    "_wrong": (0, 1, 2),
}
"""Which arguments of what errors are made with are sentences."""

_ANSWERS: Final = {"_misfit", "_unfit_offer", "why_not_callable"}
"""Functions that answer with one."""


def told(file: Source) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a file's errors, with their lines.

    A value alone, such as `str(error)`, is none, nor is a command to be typed.
    """
    for function in ast.walk(file.tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            bound = _bound(function)
            for expression in _expressions(function):
                for sentence in _filled(expression, bound):
                    if sentence.replace(SAMPLE, "").strip(" :") and not sentence.startswith("selfcheck "):
                        yield expression.lineno, sentence


def _expressions(function: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            places = _SENTENCES.get(dotted(node.func), ())
            yield from (argument for at, argument in enumerate(node.args) if at in places)
        elif isinstance(node, ast.Return) and node.value is not None and getattr(function, "name", "") in _ANSWERS:
            yield node.value


def _bound(function: ast.AST) -> Mapping[str, Sequence[ast.expr]]:
    """Return what is assigned to each name."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    bound.setdefault(target.id, []).append(node.value)
    return bound


def _filled(expression: ast.expr, bound: Mapping[str, Sequence[ast.expr]]) -> Iterator[str]:
    """Yield each text that an expression may be; what cannot be told from the source is no text."""
    match expression:
        case ast.Constant(str(text)):
            yield text
        case ast.JoinedStr(parts):
            for choice in product(*([*_part(part)] for part in parts)):
                yield "".join(choice)
        case ast.IfExp(_, yes, no):
            yield from _filled(yes, bound)
            yield from _filled(no, bound)
        case ast.BoolOp(_, values):
            for value in values:
                yield from _filled(value, bound)
        case ast.BinOp(left, ast.Add(), right):
            for before, after in product(_filled(left, bound), [*_filled(right, bound), SAMPLE][:1]):
                yield before + after
        case ast.Name(name):
            for value in bound.get(name, ()):
                yield from _filled(value, {})


def _part(part: ast.expr) -> Iterator[str]:
    match part:
        case ast.Constant(str(text)):
            yield text
        case ast.FormattedValue(ast.BinOp(ast.Constant(str(text)), ast.Mult(), _)):  # an "s", or none
            yield from ("", text)
        case _:
            yield SAMPLE
