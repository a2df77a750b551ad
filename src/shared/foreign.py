"""Python files that somebody else wrote: read them, execute them, look over what they define.

A foreign file may be anything: absent, a pipe, not text, not Python, a call of `sys.exit`. All of that comes out as one
`Unusable` with the line to look at. What cannot be helped here is a file that ends the process (`os._exit`) or never
returns.
"""

import ast
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Final

MAX_SOURCE: Final = 1_000_000
"""Bytes in a file. A person writes 5 kB; what is larger than this is a mistake or an attack."""

_serial: Final = count(1)


class Unusable(Exception):
    """A file gives no module. `problem` goes on with a sentence that begins with the file's name."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        self.problem = problem
        self.line = line
        super().__init__(problem)


def shown(path: Path) -> str:
    """Return a path as messages show it: relative to the current directory if it lies inside, with slashes."""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except (OSError, ValueError):  # outside, or there is no current directory any more
        return path.as_posix()


def read_source(path: Path) -> str:
    """Read a file's text. A byte order mark is left out.

    Raises:
        Unusable: it is absent, unreadable, too large, not UTF-8, or no file at all (a pipe would never end).
    """
    try:
        if not path.exists():
            folder = path.parent
            raise Unusable("is not there" if folder.is_dir() else f"is not there: there is no folder {shown(folder)}")
        if not path.is_file():
            raise Unusable("is not a file")
        if path.stat().st_size > MAX_SOURCE:
            raise Unusable(f"is larger than {MAX_SOURCE} bytes")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise Unusable(f"is not UTF-8 text (byte 0x{error.object[error.start]:02X})", line) from error
    except OSError as error:
        raise Unusable(f"cannot be read: {error.strerror}") from error


@contextmanager
def _reading_python() -> Iterator[None]:
    # The compiler's warnings ("\d" is no escape) are about style; whoever reads our output did not ask for them.
    with warnings.catch_warnings(action="ignore"):
        try:
            yield
        except SyntaxError as error:
            raise Unusable(f"is not Python: {error.msg}", error.lineno) from error
        except Exception as error:  # a NUL byte, or nesting beyond the compiler's limits
            raise Unusable(f"is not Python: {told(error)}") from error


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a file's text, executing nothing.

    Raises:
        Unusable: it is not Python.
    """
    with _reading_python():
        return ast.parse(source)


def execute(path: Path, source: str, announce: Callable[[str], None] | None = None) -> ModuleType:
    """Execute a file's text as a fresh module that remembers where it came from. No bytecode is written.

    `announce` is called with the file, as `shown` gives it, just before the first line runs.

    Raises:
        Unusable: it is not Python, or it raised, `SystemExit` included. `KeyboardInterrupt` alone goes through.
    """
    where = str(path.absolute())  # under this name a traceback finds the lines it shows
    with _reading_python():
        code = compile(source, where, "exec", dont_inherit=True)
    module = ModuleType(f"_foreign_{path.stem}_{next(_serial)}")
    module.__file__ = where
    module.__package__ = ""  # it belongs to none, so that a relative import says just that
    sys.modules[module.__name__] = module  # dataclasses and typing look there for what a class's module holds
    if announce is not None:
        announce(shown(path))
    try:
        exec(code, vars(module))  # noqa: S102  # running foreign files is what this module is for
    except BaseException as error:
        del sys.modules[module.__name__]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(f"raises {told(error)} when it is loaded", _line_in(where, error)) from error
    return module


def told(error: BaseException) -> str:
    """Return an error's type and the first line of its text, whatever its author made of `__str__`."""
    try:
        first = str(error).strip().partition("\n")[0][:200]
    except Exception:
        first = ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _line_in(where: str, error: BaseException) -> int | None:
    """Return the line of this file, the innermost, that was running when the error was raised."""
    line = None
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == where:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def why_not_callable(value: object, arguments: int) -> str | None:
    """Say why a value cannot be called with so many positional arguments and answer at once; None: it can.

    The answer goes on with a sentence that begins with the value's name.
    """
    if not callable(value):
        return "is not a function"
    if inspect.iscoroutinefunction(value):
        return "is async: a call gives a coroutine, and nobody awaits it"
    if inspect.isgeneratorfunction(value) or inspect.isasyncgenfunction(value):
        return "is a generator: a call returns before a line of it has run"
    try:
        inspect.signature(value).bind(*[None] * arguments)
    except TypeError as error:
        return f"cannot be called with {arguments} positional argument{'s' * (arguments > 1)}: {error}"
    except ValueError:  # written in C, without a signature to look at
        return None
    return None


def binding_line(name: str, module: ast.Module) -> int | None:
    """Return the line at the top level that binds a name, the last of several; None: there is none."""
    line = None
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        else:
            parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
            names = [part.id for part in parts if isinstance(part.ctx, ast.Store)]
        if name in names:
            line = node.lineno
    return line
