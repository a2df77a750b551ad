"""Loading a tree: what is good is taken, what is not gives one clear fault, and nothing escapes."""

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.errors import Misconfigured
from shared.exercises import Exercises, Fault, Loaded, Orderer, load
from shared.foreign import MAX_SOURCE
from shared.run import Run, RunStatus

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "starter"
SOLUTION = ROOT / "solution"

TRANSITION = "def transition(current, target)"
ORDERER = "class SeqOrderer: __init__(self, start, emit), offer(self, seq, item)"
RESUME = "def resume_from(last_event_id)"
MERGE = "def should_merge(previous, now)"

if TYPE_CHECKING:  # the type checker proves that both trees have the signatures the business code calls
    from solution import delivery as solution_delivery
    from solution import lifecycle as solution_lifecycle
    from starter import delivery as starter_delivery
    from starter import lifecycle as starter_lifecycle

    _solution = Exercises(
        solution_lifecycle.transition,
        solution_lifecycle.should_merge,
        solution_delivery.resume_from,
        solution_delivery.SeqOrderer,
    )
    _starter = Exercises(
        starter_lifecycle.transition,
        starter_lifecycle.should_merge,
        starter_delivery.resume_from,
        starter_delivery.SeqOrderer,
    )


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work where faults read `tree/…`, and drop the modules that a test makes."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("_foreign_"):
            del sys.modules[name]


def tree_with(lifecycle: str | bytes | None = None, delivery: str | bytes | None = None) -> Path:
    """Write `tree/`: the starter's files, or what is given instead."""
    tree = Path("tree")
    tree.mkdir()
    for name, content in {"lifecycle.py": lifecycle, "delivery.py": delivery}.items():
        if content is None:
            content = (STARTER / name).read_bytes()
        (tree / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return tree


def starter_but(file: str, old: str, new: str) -> str:
    """Return the text of the starter's file with one piece exchanged."""
    text = (STARTER / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    return text.replace(old, new)


def line_of(text: str, piece: str) -> int:
    """Return the line a piece of text is in."""
    return text[: text.index(piece)].count("\n") + 1


def whose(loaded: Loaded) -> tuple[str, str, str, str]:
    """Tell by behaviour, exercise by exercise, whose body was taken: "naive" or "right"."""
    rules = loaded.exercises
    try:
        rules.transition(RunStatus.DONE, RunStatus.RUNNING)
        allowed = True
    except ValueError:
        allowed = False
    emitted: list[int] = []
    orderer: Orderer[str] = rules.SeqOrderer(0, lambda seq, item: emitted.append(seq))
    orderer.offer(1, "b")
    noon = datetime(2025, 1, 1, 12, tzinfo=UTC)
    run = Run("run-1", "session-1", "user-1", RunStatus.STREAMING, 1, noon, noon)
    naive = (allowed, bool(emitted), rules.resume_from("5") == 0, not rules.should_merge(run, noon))
    first, second, third, fourth = ("naive" if each else "right" for each in naive)
    return first, second, third, fourth


# --- A good tree ------------------------------------------------------------------------------------------------------


def test_both_trees_load_without_a_fault() -> None:
    """Each tree gives its own four bodies."""
    starter = load(STARTER, SOLUTION)
    solution = load(SOLUTION, SOLUTION)
    assert (starter.faults, whose(starter)) == ((), ("naive",) * 4)
    assert (solution.faults, whose(solution)) == ((), ("right",) * 4)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_replaced_exercise_is_the_stand_in_s(number: int) -> None:
    """Exactly the exercises asked for come from the stand-in, those of the same file included."""
    loaded = load(STARTER, SOLUTION, replaced=frozenset({number}))
    expected = ["naive"] * 4
    expected[number - 1] = "right"
    assert (loaded.faults, whose(loaded)) == ((), tuple(expected))


def test_a_file_that_nothing_is_taken_from_is_not_executed() -> None:
    """With both its exercises replaced a broken file does no harm."""
    loaded = load(tree_with(delivery="raise ValueError"), SOLUTION, replaced=frozenset({2, 3}))
    assert (loaded.faults, whose(loaded)) == ((), ("naive", "right", "right", "naive"))


def test_every_load_makes_modules_of_its_own() -> None:
    """What one load leaves in a module's globals is not there in the next."""
    tree = tree_with(delivery=(STARTER / "delivery.py").read_text(encoding="utf-8") + "\nSHARED: list[int] = []\n")
    first, second = (load(tree, SOLUTION).exercises.resume_from for _ in range(2))
    first_globals, second_globals = (vars(sys.modules[each.__module__]) for each in (first, second))
    first_globals["SHARED"].append(1)
    assert second_globals["SHARED"] == []


def test_a_changed_file_is_seen_at_once() -> None:
    """No cache stands between an edit and the next load, not even for an edit of the same length in the same second."""
    tree = tree_with(delivery=starter_but("delivery.py", "    return 0\n", "    return 7\n"))
    before = load(tree, SOLUTION).exercises.resume_from(None)
    (tree / "delivery.py").write_text(starter_but("delivery.py", "    return 0\n", "    return 8\n"), encoding="utf-8")
    assert (before, load(tree, SOLUTION).exercises.resume_from(None)) == (7, 8)


def test_loading_writes_nothing_into_the_tree() -> None:
    """There are the two files before and after: no bytecode."""
    tree = tree_with()
    load(tree, SOLUTION)
    assert sorted(path.name for path in tree.iterdir()) == ["delivery.py", "lifecycle.py"]


def test_modules_have_names_that_collide_with_nothing() -> None:
    """A tree's `lifecycle` is not importable as `lifecycle`, and names `sys.modules` had keep what they had."""
    before = dict(sys.modules)
    load(tree_with(), SOLUTION)
    assert {name: sys.modules[name] for name in before} == before
    assert "lifecycle" not in sys.modules


def test_a_traceback_shows_the_learner_s_line() -> None:
    """What an exercise raises is reported with file, line and text of the file it stands in."""
    text = starter_but("delivery.py", "    return 0\n", "    return [][0]\n")
    loaded = load(tree_with(delivery=text), SOLUTION)
    with pytest.raises(IndexError) as raised:
        loaded.exercises.resume_from("5")
    frame = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (Path(frame.filename), frame.lineno, frame.line) == (
        Path("tree/delivery.py").absolute(),
        line_of(text, "return [][0]"),
        "return [][0]",
    )


def test_a_learner_s_dataclass_finds_its_module() -> None:
    """Standard library code that looks a class's module up in `sys.modules` finds it there."""
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    tail = "\n\n@dataclass\nclass Held:\n    seq: int\n    item: ClassVar[int] = 0\n"
    text = head + (STARTER / "delivery.py").read_text(encoding="utf-8").replace(
        "import Generic,", "import ClassVar, Generic,"
    )
    assert load(tree_with(delivery=text + tail), SOLUTION).faults == ()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("delivery.py", "def resume_from(last_event_id: str | None) -> int:", "def resume_from(header, strict=True):"),
        ("delivery.py", "def offer(self, seq: int, item: T)", "def offer(self, *arguments)"),
        ("lifecycle.py", "def transition(current: RunStatus, target: RunStatus)", "def transition(old, new, /)"),
    ],
)
def test_other_parameter_names_are_fine(file: str, old: str, new: str) -> None:
    """Only the number of positional arguments counts, for that is how the business code calls."""
    text = starter_but(file, old, new)
    tree = tree_with(lifecycle=text) if file == "lifecycle.py" else tree_with(delivery=text)
    assert load(tree, SOLUTION).faults == ()


def test_a_function_may_be_wrapped_or_an_object() -> None:
    """A cached function, a partial and an object with `__call__` are called like any other."""
    text = (STARTER / "lifecycle.py").read_text(encoding="utf-8")
    tail = """
import functools
transition = functools.cache(transition)
class Merge:
    def __call__(self, previous, now): return False
should_merge = Merge()
"""
    assert load(tree_with(lifecycle=text + tail), SOLUTION).faults == ()


def test_the_table_is_how_not_what() -> None:
    """A `transition` that needs no table loads without one."""
    text = "def transition(current, target): return target\ndef should_merge(previous, now): return False\n"
    loaded = load(tree_with(lifecycle=text), SOLUTION)
    assert (loaded.faults, whose(loaded)) == ((), ("naive",) * 4)


def test_a_byte_order_mark_is_fine() -> None:
    """A file that an editor saved as UTF-8 with a mark loads."""
    marked = b"\xef\xbb\xbf" + (STARTER / "delivery.py").read_bytes().replace(b"\n", b"\r\n")
    assert load(tree_with(delivery=marked), SOLUTION).faults == ()


# --- A file that does not load ----------------------------------------------------------------------------------------

BROKEN = {
    "a syntax error": ("x = 1\ndef resume_from(:\n", 2, "is not Python: invalid syntax"),
    "an indentation error": ("def f():\nreturn 1\n", 2, "is not Python: expected an indented block after function"),
    "a half-written bracket": ("x = 1\ny = (\n", 2, "is not Python: '(' was never closed"),
    "a merge conflict": ("<<<<<<< HEAD\n", 1, "is not Python: invalid syntax"),
    "not UTF-8": (b"x = 1\n# caf\xe9\n", 2, "is not UTF-8 text (byte 0xE9)"),
    "UTF-16": ("x = 1\n".encode("utf-16-le").join([b"\xff\xfe", b""]), 1, "is not UTF-8 text (byte 0xFF)"),
    "a NUL byte": (b"x = 1\0\n", None, "is not Python: "),
    "nesting without end": ("x = " + "-" * 50_000 + "1\n", None, "is not Python: "),
    "an error at import": ("import json\njson.loads('{')\n", 2, "raises JSONDecodeError: Expecting property name"),
    "an unknown module": (
        "\nimport no_such_module\n",
        2,
        "raises ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "the other file": ("import lifecycle\n", 1, "raises ModuleNotFoundError: No module named 'lifecycle'"),
    "an import that is relative": ("from . import lifecycle\n", 1, "raises ImportError: attempted relative import"),
    "sys.exit(0)": ("import sys\n\nsys.exit(0)\n", 3, "raises SystemExit: 0 when it is loaded"),
    "quit": ("raise SystemExit\n", 1, "raises SystemExit when it is loaded"),
    "no Exception": ("class Odd(BaseException): ...\nraise Odd\n", 2, "raises Odd when it is loaded"),
    "recursion": ("def f():\n    f()\nf()\n", 2, "raises RecursionError: maximum recursion depth exceeded"),
    "an error without a text": (
        "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd\n",
        3,
        "raises Odd when it is loaded",
    ),
    "an error of many lines": ("raise ValueError('one\\ntwo')\n", 1, "raises ValueError: one when it is loaded"),
    "a huge error": (f"raise ValueError({'x' * 300!r})\n", 1, f"raises ValueError: {'x' * 200} when it is loaded"),
}


@pytest.mark.parametrize(("content", "line", "problem"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_gives_one_fault(content: str | bytes, line: int | None, problem: str) -> None:
    """Both its exercises are the stand-in's; the other file's stay the learner's; file and line are named."""
    loaded = load(tree_with(delivery=content), SOLUTION)
    (fault,) = loaded.faults
    assert fault.problem.startswith(problem)
    assert fault == Fault(
        (2, 3), "tree/delivery.py", line, fault.problem, f"a file that defines {ORDERER} and {RESUME}"
    )
    assert whose(loaded) == ("naive", "right", "right", "naive")


def test_both_files_may_be_broken() -> None:
    """Each gives its own fault, and the stand-in does all four."""
    loaded = load(tree_with(lifecycle="1/0", delivery="("), SOLUTION)
    assert [(fault.exercises, fault.where) for fault in loaded.faults] == [
        ((1, 4), "tree/lifecycle.py:1"),
        ((2, 3), "tree/delivery.py:1"),
    ]
    assert whose(loaded) == ("right",) * 4


def test_a_fault_names_only_what_was_asked_of_the_file() -> None:
    """An exercise that is replaced anyway is not missed."""
    loaded = load(tree_with(delivery="("), SOLUTION, replaced=frozenset({2}))
    assert [fault.exercises for fault in loaded.faults] == [(3,)]
    assert loaded.faults[0].expected == f"a file that defines {RESUME}"


def test_a_missing_tree_says_which_folder() -> None:
    """A path that was mistyped is seen as such."""
    loaded = load(Path("no/tree"), SOLUTION)
    assert loaded.faults == tuple(
        Fault(
            numbers, f"no/tree/{file}", None, "is not there: there is no folder no/tree", f"a file that defines {calls}"
        )
        for numbers, file, calls in [
            ((1, 4), "lifecycle.py", f"{TRANSITION} and {MERGE}"),
            ((2, 3), "delivery.py", f"{ORDERER} and {RESUME}"),
        ]
    )
    assert whose(loaded) == ("right",) * 4


def _absent(path: Path) -> None:
    path.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _huge(path: Path) -> None:
    path.write_bytes(b"#" * (MAX_SOURCE + 1))


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (_absent, "is not there"),
        (_folder, "is not a file"),
        (_pipe, "is not a file"),
        (_endless, "is not a file"),
        (_loop, "is not there"),
        (_huge, "is larger than 1000000 bytes"),
    ],
)
def test_what_is_no_file_is_not_read(spoil: Callable[[Path], None], problem: str) -> None:
    """A pipe, a device, a folder or an absent file gives a fault instead of a reader that waits for ever."""
    tree = tree_with()
    spoil(tree.absolute() / "lifecycle.py")
    (fault,) = load(tree, SOLUTION).faults
    assert (fault.exercises, fault.where, fault.problem) == ((1, 4), "tree/lifecycle.py", problem)


def test_an_unreadable_file_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system answers is passed on in its words."""
    tree = tree_with()
    read_text = Path.read_text

    def refuse(path: Path, encoding: str) -> str:
        if path.parent == tree:
            raise PermissionError(13, "Permission denied")
        return read_text(path, encoding=encoding)

    monkeypatch.setattr(Path, "read_text", refuse)
    assert [fault.problem for fault in load(tree, SOLUTION).faults] == ["cannot be read: Permission denied"] * 2


# --- A name that does not fit -----------------------------------------------------------------------------------------

DEFINITIONS = {
    "transition": ("lifecycle.py", "def transition(current: RunStatus, target: RunStatus) -> RunStatus:"),
    "SeqOrderer": ("delivery.py", "class SeqOrderer(Generic[T]):"),
    "offer": ("delivery.py", "    def offer(self, seq: int, item: T) -> None:"),
    "resume_from": ("delivery.py", "def resume_from(last_event_id: str | None) -> int:"),
    "should_merge": ("lifecycle.py", "def should_merge(previous: Run | None, now: datetime) -> bool:"),
}

MISFITS = [
    (1, "transition", "def transit(current, target):", None, "is not defined"),
    (1, "transition", "async def transition(current, target):", 0, "is async: a call gives a coroutine"),
    (1, "transition", "class transition:\n  def move(self, current, target):", 0, "is a class"),
    (1, "transition", "def transition(current):", 0, "cannot be called with 2 positional arguments: too many"),
    (
        1,
        "transition",
        "def transition(current, target, run):",
        0,
        "cannot be called with 2 positional arguments: missing",
    ),
    (
        1,
        "transition",
        "def transition(current, *, target):",
        0,
        "cannot be called with 2 positional arguments: too many",
    ),
    (2, "SeqOrderer", "class SeqOrder(Generic[T]):", None, "is not defined"),
    (2, "SeqOrderer", "def SeqOrderer(start, emit):", 0, "is not a class"),
    (2, "offer", "    def offers(self, seq, item):", -1, "is of no use: offer is not defined"),
    (2, "offer", "    async def offer(self, seq, item):", -1, "is of no use: offer is async"),
    (2, "offer", "    def offer(self, item):", -1, "is of no use: offer cannot be called with 3 positional arguments"),
    (2, "offer", "    def offer(self, seq, item):\n        yield", -1, "is of no use: offer is a generator"),
    (2, "offer", "    @property\n    def offer(self):", -1, "is of no use: offer is not a function"),
    (3, "resume_from", "def resume_from():", 0, "cannot be called with 1 positional argument: too many"),
    (
        3,
        "resume_from",
        "def resume_from(last_event_id):\n    yield 1",
        0,
        "is a generator: a call returns before a line",
    ),
    (2, "offer", "    async def offer(self, seq, item):\n        yield", -1, "is of no use: offer is a generator"),
    (4, "should_merge", "def should_merge(previous, session, now):", 0, "cannot be called with 2 positional arguments"),
    (4, "should_merge", "def Should_merge(previous, now):", None, "is not defined"),
]


@pytest.mark.parametrize(("number", "name", "written", "offset", "problem"), MISFITS)
def test_a_name_that_does_not_fit_costs_its_own_exercise(
    number: int, name: str, written: str, offset: int | None, problem: str
) -> None:
    """The stand-in does that one, the file's other exercise stays the learner's, and the line is named."""
    file, definition = DEFINITIONS[name]
    text = starter_but(file, definition, written)
    loaded = load(tree_with(lifecycle=text) if file == "lifecycle.py" else tree_with(delivery=text), SOLUTION)
    (fault,) = loaded.faults
    exercise = "SeqOrderer" if name == "offer" else name
    top = written if offset == 0 else "class SeqOrderer"
    assert fault.problem.startswith(f"{exercise} {problem}")
    assert fault == Fault(
        (number,),
        f"tree/{file}",
        None if offset is None else line_of(text, top),
        fault.problem,
        {1: TRANSITION, 2: ORDERER, 3: RESUME, 4: MERGE}[number],
    )
    expected = ["naive"] * 4
    expected[number - 1] = "right"
    assert whose(loaded) == tuple(expected)


def test_a_name_bound_to_no_function_is_refused_at_its_line() -> None:
    """The last binding counts, whatever kind of statement makes it."""
    text = (STARTER / "delivery.py").read_text(encoding="utf-8") + "\nresume_from = 0\n"
    (fault,) = load(tree_with(delivery=text), SOLUTION).faults
    assert (fault.where, fault.problem) == (
        f"tree/delivery.py:{line_of(text, 'resume_from = 0')}",
        "resume_from is not a function",
    )


def test_two_names_that_do_not_fit_give_two_faults() -> None:
    """Each exercise of a file that loads is judged for itself."""
    faults = load(tree_with(delivery="x = 1\n"), SOLUTION).faults
    assert [(fault.exercises, fault.line, fault.problem) for fault in faults] == [
        ((2,), None, "SeqOrderer is not defined"),
        ((3,), None, "resume_from is not defined"),
    ]


def test_an_object_that_resists_being_looked_at_is_refused() -> None:
    """What a learner's metaclass or property raises while we look stays a fault."""
    tail = """
class Meta(type):
    @property
    def offer(cls): raise OSError("no")
class SeqOrderer(metaclass=Meta):
    def __init__(self, start, emit): ...
"""
    text = (STARTER / "delivery.py").read_text(encoding="utf-8") + tail
    (fault,) = load(tree_with(delivery=text), SOLUTION).faults
    assert (fault.exercises, fault.problem) == ((2,), "SeqOrderer cannot be looked at: OSError: no")


def test_a_function_written_in_c_is_taken() -> None:
    """Without a signature to look at there is nothing to refuse; what it answers will be seen."""
    text = (STARTER / "delivery.py").read_text(encoding="utf-8") + "\nresume_from = getattr\n"
    assert load(tree_with(delivery=text), SOLUTION).faults == ()


# --- What load does not survive, and says --------------------------------------------------------------------------


def test_each_file_is_announced_just_before_it_is_executed() -> None:
    """A parent that hears only announcements knows which file was running; the stand-in's are announced too."""
    heard: list[str] = []
    text = "import builtins\nbuiltins.heard.append('running')\n"
    tree = tree_with(delivery=text + (STARTER / "delivery.py").read_text(encoding="utf-8"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.heard", heard, raising=False)
        load(tree, SOLUTION, replaced=frozenset({4}), announce=heard.append)
    assert heard == ["tree/lifecycle.py", "tree/delivery.py", "running", (SOLUTION / "lifecycle.py").as_posix()]


def test_a_file_that_cannot_be_executed_is_not_announced() -> None:
    """No line of it ran, so no death can be its doing."""
    heard: list[str] = []
    load(tree_with(lifecycle="(", delivery=b"\xff"), SOLUTION, announce=heard.append)
    assert heard == [(SOLUTION / name).as_posix() for name in ("lifecycle.py", "delivery.py")]


def test_a_file_that_ends_the_process_was_announced() -> None:
    """After `os._exit(0)` at import the last line heard names the file, and nothing says that loading ended."""
    tree = tree_with(delivery="import os\nos._exit(0)\n")
    program = (
        "from pathlib import Path; from shared.exercises import load;"
        f"load(Path({str(tree)!r}), Path({str(SOLUTION)!r}), announce=lambda file: print(file, flush=True));"
        "print('loaded')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout.split()) == (0, ["tree/lifecycle.py", "tree/delivery.py"])


def test_an_interrupt_goes_through() -> None:
    """Ctrl-C while a file loads is not taken for a fault of the file."""
    with pytest.raises(KeyboardInterrupt):
        load(tree_with(lifecycle="raise KeyboardInterrupt"), SOLUTION)


def test_a_damaged_stand_in_is_the_kit_s_fault() -> None:
    """When the solution does not load either there is nothing to run: the error names file, line and remedy."""
    damaged = Path("damaged")
    tree_with(delivery="x = 1\n(\n").rename(damaged)
    with pytest.raises(Misconfigured) as raised:
        load(STARTER, damaged, replaced=frozenset({3}))
    assert str(raised.value) == (
        "exercises: damaged/delivery.py:2 is not Python: '(' was never closed; restore the folder damaged"
    )


def test_a_damaged_stand_in_that_is_not_needed_is_not_seen() -> None:
    """The stand-in is read only for what the tree does not give."""
    assert load(STARTER, Path("nowhere")).faults == ()
