"""The rules of the house, held by its own source files.

Each rule is a function from a file to what is wrong with it. One test applies it to the files, another to a file that
breaks it, so that no rule is kept because it sees nothing.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pytest

from tests.support.sources import ROOT, Source, calls, dotted, imports, source, sources, texts, undocumented

Rule = Callable[[Source], Iterable[str]]

CODE: Final = ("src", "selfcheck")
TREES: Final = ("starter", "solution")
ALL: Final = (*CODE, *TREES, "tests", "bench", "scripts")

SEES: Final = {
    "shared": {"shared"},
    "gateway": {"gateway", "shared"},
    "worker": {"worker", "shared"},
    "client": {"client", "shared"},
    "selfcheck": {"selfcheck", "gateway", "worker", "client", "shared"},
    "starter": {"shared"},
    "solution": {"shared"},
}
"""Which rooms a room may look into."""

HOUSE: Final = {*SEES, "tests", "bench", "scripts", "lifecycle", "delivery"}

PURE: Final = {
    *("ast", "codecs", "collections", "contextlib", "contextvars", "dataclasses", "datetime", "enum", "inspect"),
    *("itertools", "json", "logging", "math", "msgspec", "os", "pathlib", "random", "re", "shared", "sys", "types"),
    *("typing", "uuid", "warnings"),
}
"""What the business code may lean on: no I/O, no clock, no event loop.

`os` is for the environment; `pathlib`, `sys` and `warnings` are for the loader, which reads files, and for the log.
"""

CHOOSERS: Final = re.compile(
    r"src/shared/adapters/.*|src/\w+/(bootstrap|__main__)\.py|selfcheck/(lab/compose|processes/traces|experiments/compose)\.py"
)
"""Who may import adapters: composition roots, and who removes from real services what a self-check wrote there.

That of the experiments is one of them: what they break they break in an adapter, and nowhere else.
"""

VENDORS: Final = {
    "redis": "src/shared/adapters/redis/",
    "psycopg": "src/shared/adapters/postgres/",
    "psycopg_pool": "src/shared/adapters/postgres/",
}
"""Where a service's library is spoken: its exceptions and types stop there."""

MOST_LINES: Final = 300
LONG: Final = {"src/shared/ports.py": "one page says all that the business code asks of the outside; it has no code"}


def looks_where_it_may_not(file: Source) -> Iterator[str]:
    """Arrows point one way."""
    for name in imports(file.tree):
        room = name.partition(".")[0]
        if room == "" or (room in HOUSE and room not in SEES[file.room]):
            yield name


def chooses_adapters(file: Source) -> Iterator[str]:
    """Only composition roots know which adapters there are. The lab moves its clock, which is one of them."""
    if not CHOOSERS.fullmatch(file.path):
        for name in imports(file.tree):
            clock = file.room == "selfcheck" and name.startswith("shared.adapters.clock.")
            if name.startswith("shared.adapters") and not clock:
                yield name


def speaks_to_vendors(file: Source) -> Iterator[str]:
    """A service's library is imported by its adapter alone."""
    for name in imports(file.tree):
        home = VENDORS.get(name.partition(".")[0])
        if home is not None and not file.path.startswith(home):
            yield name


def is_impure(file: Source) -> Iterator[str]:
    """What is shared, adapters and their choice aside, has no I/O, no clock and no event loop."""
    if file.room == "shared" and not CHOOSERS.fullmatch(file.path):
        yield from (name for name in imports(file.tree) if name.partition(".")[0] not in PURE)


def reads_a_clock(file: Source) -> Iterator[str]:
    """What time it is, the port `Clock` says."""
    if file.room in SEES["worker"] | SEES["gateway"] | set(TREES) and "/adapters/" not in file.path:
        names = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time"}
        yield from (name for name, _ in calls(file.tree) if name.removeprefix("datetime.") in names or name in names)


def is_long(file: Source) -> Iterator[str]:
    """A file is read at one go."""
    if file.lines() > MOST_LINES and file.path not in LONG:
        yield f"{file.lines()} lines"


def says_any(file: Source) -> Iterator[str]:
    """A type that says nothing checks nothing."""
    yield from (name for name in imports(file.tree) if name in {"typing.Any", "typing_extensions.Any"})
    yield from (name for node in ast.walk(file.tree) if (name := _name(node)) in {"Any", "typing.Any", "t.Any"})


def _name(node: ast.AST) -> str:
    return dotted(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def sleeps(file: Source) -> Iterator[str]:
    """A test waits for what it waits for, or moves the clock. Zero seconds are a way to let others run."""
    jumps = file.path == "tests/support/moved_loop.py" or any(
        name.startswith("tests.support.moved_loop.") for name in imports(file.tree)
    )
    for name, arguments in calls(file.tree):
        waits = name.rpartition(".")[2] == "sleep" and [ast.unparse(argument) for argument in arguments] != ["0"]
        if waits and not (jumps and name == "asyncio.sleep"):  # on that loop, seconds take no time
            yield name


def is_hasty(file: Source) -> Iterator[str]:
    """A property is tried calmly: how long an example took says something of the machine."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = {_name(part) for decorator in node.decorator_list for part in ast.walk(decorator)}
            if "given" in said and "calm" not in said:
                yield node.name


def is_undocumented(file: Source) -> Iterator[str]:
    """Whatever is public says what it is for."""
    if ast.get_docstring(file.tree) is None:
        yield "the module"
    yield from undocumented(file.tree.body)


RULES: Final[dict[Rule, tuple[str, ...]]] = {
    looks_where_it_may_not: (*CODE, *TREES),
    chooses_adapters: CODE,
    speaks_to_vendors: CODE,
    is_impure: CODE,
    reads_a_clock: (*CODE, *TREES),
    is_long: CODE,
    says_any: ALL,
    sleeps: ("tests",),
    is_hasty: ("tests",),
    is_undocumented: (*CODE, *TREES),
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_file_keeps_the_rule(rule: Rule) -> None:
    """No file of the folders that it is for breaks it."""
    broken = {file.path: [*rule(file)] for file in sources(*RULES[rule])}
    assert {path: faults for path, faults in broken.items() if faults} == {}


@pytest.mark.parametrize(
    ("rule", "path", "text", "faults"),
    [
        (looks_where_it_may_not, "src/gateway/a.py", "import worker.writer", ["worker.writer"]),
        (looks_where_it_may_not, "src/worker/a.py", "def f():\n    from gateway import feed", ["gateway.feed"]),
        (looks_where_it_may_not, "src/shared/a.py", "from client.sse import parse", ["client.sse.parse"]),
        (looks_where_it_may_not, "src/client/a.py", "import selfcheck", ["selfcheck"]),
        (looks_where_it_may_not, "selfcheck/a.py", "from solution import delivery", ["solution.delivery"]),
        (looks_where_it_may_not, "solution/delivery.py", "from lifecycle import transition", ["lifecycle.transition"]),
        (looks_where_it_may_not, "src/worker/a.py", "from . import writer", ["..writer"]),
        (looks_where_it_may_not, "selfcheck/a.py", "import gateway, worker.writer, shared.run, os", []),
        (chooses_adapters, "src/gateway/app.py", "from shared import adapters", ["shared.adapters"]),
        (chooses_adapters, "src/gateway/app.py", "import shared.adapters.clock", ["shared.adapters.clock"]),
        (chooses_adapters, "selfcheck/lab/controls.py", "from shared.adapters.clock import MovedClock", []),
        (chooses_adapters, "src/worker/bootstrap.py", "from shared.adapters.clock import SystemClock", []),
        (speaks_to_vendors, "src/worker/a.py", "from redis.asyncio import Redis", ["redis.asyncio.Redis"]),
        (speaks_to_vendors, "src/shared/adapters/redis/a.py", "import psycopg, redis", ["psycopg"]),
        (is_impure, "src/shared/a.py", "import asyncio, time, datetime", ["asyncio", "time"]),
        (is_impure, "src/shared/adapters/a.py", "import asyncio", []),
        (reads_a_clock, "src/worker/a.py", "at = datetime.now(UTC)", ["datetime.now"]),
        (reads_a_clock, "solution/lifecycle.py", "at = datetime.datetime.utcnow()", ["datetime.datetime.utcnow"]),
        (is_long, "src/a.py", "\n" * 301, ["301 lines"]),
        (is_long, "src/a.py", "\n" * 300, []),
        (says_any, "tests/a.py", "from typing import Any\nx: Any", ["typing.Any", "Any"]),
        (says_any, "src/a.py", "import typing\nx: list[typing.Any]", ["typing.Any"]),
        (
            sleeps,
            "tests/a.py",
            "time.sleep(1)\nasyncio.sleep(0)\nsleep(0.1)\nsleep()",
            ["time.sleep", "sleep", "sleep"],
        ),
        (
            sleeps,
            "tests/a.py",
            "from tests.support.moved_loop import run\nasyncio.sleep(9)\ntime.sleep(9)",
            ["time.sleep"],
        ),
        (is_hasty, "tests/a.py", "@given(texts)\ndef test_a(): ...", ["test_a"]),
        (is_hasty, "tests/a.py", "@settings(deadline=None)\n@given(texts)\ndef test_a(): ...", ["test_a"]),
        (is_hasty, "tests/a.py", "@calm\n@given(texts)\ndef test_a(): ...", []),
        (is_hasty, "tests/a.py", "@settings(calm, max_examples=9)\n@given(texts)\ndef test_a(): ...", []),
        (is_undocumented, "src/a.py", '"""A."""\nclass B:\n    def c(self): ...\n    def _d(self): ...', ["B", "B.c"]),
        (is_undocumented, "src/a.py", "async def b(): ...", ["the module", "b"]),
    ],
)
def test_the_rule_sees_what_breaks_it(rule: Rule, path: str, text: str, faults: list[str]) -> None:
    """And lets pass what does not."""
    assert sorted(rule(source(path, text))) == sorted(faults)


def test_no_exception_outlives_its_reason() -> None:
    """A file that is allowed to be long is."""
    lengths = {file.path: file.lines() for file in sources(*CODE)}
    assert {path: lengths[path] for path in LONG if lengths[path] <= MOST_LINES} == {}


# what no file may say


PLACES: Final = re.compile(
    r"(?<![\w.])/(?:wor" r"k|roo" r"t|hom" r"e|User" r"s|op" r"t)/\w"
    r"|pyp" r"i\.org|pythonhost" r"ed|npm" r"js\.|inde" r"x-url|ghc" r"r\.io",
    re.IGNORECASE,
)  # fmt: skip
"""Folders of somebody's machine, and addresses of registries: in pieces, for this file is looked at too."""


def test_no_file_knows_a_machine_or_a_registry() -> None:
    """The kit speaks of itself, and installs from wherever the machine is told to."""
    found = {path: [match[0] for match in PLACES.finditer(text)] for path, text in texts()}
    assert {path: places for path, places in found.items() if places} == {}
    assert {"Makefile", ".ci/run", "README.md", "src/shared/adapters/redis/append.lua"} <= found.keys()


def test_places_are_seen() -> None:
    """Such a word is found in the middle of a line, and a path of the web is not taken for one."""
    said = "see /" + "home/ann, /" + "root/x and https://pyp" + "i.org/simple; not shared/work/a or /rooted/b"
    assert [match[0] for match in PLACES.finditer(said)] == ["/" + "home/a", "/" + "root/x", "pyp" + "i.org"]


# what a process loads


def _loaded(program: str) -> set[str]:
    """Return the top-level packages in memory after a program has run in an interpreter of its own."""
    report = f"{program}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", report], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


SERVICE_IN_MEMORY: Final = """
import asyncio
import selfcheck.service, selfcheck.lab.controls, selfcheck.lab.compose, gateway.bootstrap, worker.bootstrap
from shared.bootstrap import open_ports
from shared.settings import Settings
async def opened():
    async with open_ports(None, Settings()):
        pass
asyncio.run(opened())
"""


def test_in_memory_no_service_is_loaded() -> None:
    """The judged process has neither library in it: it starts sooner, and could not reach a service if it tried."""
    loaded = _loaded(SERVICE_IN_MEMORY)
    assert {"starlette", "uvicorn", "msgspec", "gateway", "worker"} <= loaded
    assert loaded & {"redis", "hiredis", "psycopg", "psycopg_pool", "httpx", "typer", "rich", "pytest"} == set()


def test_the_command_starts_with_nothing_heavy() -> None:
    """What a learner waits for first is the interpreter, and the service beside it."""
    loaded = _loaded("import selfcheck.entry")
    assert "selfcheck" in loaded
    assert loaded - sys.stdlib_module_names - {"selfcheck"} <= _loaded("pass")
    assert loaded & {"asyncio", "json", "pathlib", "logging", "typing", "dataclasses"} == set()
