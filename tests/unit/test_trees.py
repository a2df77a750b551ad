"""The two trees differ in four bodies and nothing else, and the judge can tell what was touched."""

import ast
import os
import re
from pathlib import Path

import pytest

from selfcheck import trees
from selfcheck.trees import (
    EXERCISES,
    Location,
    difference,
    exercise_at,
    is_untouched,
    kit_root,
    locate,
    outside_differs,
    restored,
)
from shared.errors import Misconfigured
from shared.foreign import Unusable
from tests.support.trees import copied

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "starter"
SOLUTION = ROOT / "solution"
FILES = ("lifecycle.py", "delivery.py")


def text_of(tree: Path, file: str) -> str:
    """Return a file's text."""
    return (tree / file).read_text(encoding="utf-8")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a learner's copy of the starter, `mine/` in the current directory."""
    monkeypatch.chdir(tmp_path)
    copied(STARTER, "mine")
    return Path("mine")


def edit(tree: Path, file: str, old: str, new: str) -> None:
    """Exchange one piece of a file."""
    text = text_of(tree, file)
    assert text.count(old) == 1
    (tree / file).write_text(text.replace(old, new), encoding="utf-8")


# --- The kit ----------------------------------------------------------------------------------------------------------


def test_the_table_of_exercises() -> None:
    """Four exercises in two files, with the names the business code calls."""
    assert [(each.number, each.name, each.file, each.definitions) for each in EXERCISES.values()] == [
        (1, "transition", "lifecycle.py", ("TRANSITIONS", "transition")),
        (2, "SeqOrderer", "delivery.py", ("SeqOrderer",)),
        (3, "resume_from", "delivery.py", ("resume_from",)),
        (4, "should_merge", "lifecycle.py", ("should_merge",)),
    ]
    assert list(EXERCISES) == [1, 2, 3, 4]


@pytest.mark.parametrize("tree", [STARTER, SOLUTION])
def test_a_tree_holds_the_two_files_and_no_other(tree: Path) -> None:
    """What is not one of the two has no business there."""
    assert sorted(path.name for path in tree.iterdir() if path.name != "__pycache__") == sorted(FILES)


@pytest.mark.parametrize("file", FILES)
def test_the_starter_is_as_it_came(file: str) -> None:
    """What the judge holds for the untouched starter is the starter, to the byte: copy it after a change."""
    assert (ROOT / "selfcheck" / "pristine" / f"{file}.txt").read_bytes() == (STARTER / file).read_bytes()


class _Blanked(ast.NodeTransformer):
    """Takes the four bodies out of a syntax tree, and leaves docstrings and signatures in."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        documented = ast.get_docstring(node) is not None
        node.body = node.body[:1] if documented else []
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.value = None
        return node


@pytest.mark.parametrize("file", FILES)
def test_the_trees_differ_in_the_bodies_and_nothing_else(file: str) -> None:
    """Imports, names, signatures and docstrings are equal; each of the four bodies is not."""
    starter, solution = (ast.parse(text_of(tree, file)) for tree in (STARTER, SOLUTION))
    written = {
        name
        for node, other in zip(starter.body, solution.body, strict=True)
        if ast.dump(node) != ast.dump(other)
        for name in [getattr(node, "name", "TRANSITIONS")]
    }
    assert written == ({"TRANSITIONS", "should_merge"} if file == "lifecycle.py" else {"SeqOrderer", "resume_from"})
    assert ast.dump(_Blanked().visit(starter)) == ast.dump(_Blanked().visit(solution))


@pytest.mark.parametrize("file", FILES)
def test_comments_outside_the_bodies_are_equal_too(file: str) -> None:
    """With the solution's definitions put in, the starter's text is the solution's, to the byte."""
    names = [name for each in EXERCISES.values() if each.file == file for name in each.definitions]
    assert trees.spliced(text_of(STARTER, file), text_of(SOLUTION, file), names) == text_of(SOLUTION, file)


@pytest.mark.parametrize("number", EXERCISES)
def test_a_marker_shows_where_to_write(number: int) -> None:
    """Each exercise has one marker in the starter, below the line that `locate` names, and none in the solution."""
    exercise, marker = EXERCISES[number], f"# TODO {number} of 4: "
    lines = text_of(STARTER, exercise.file).splitlines()
    (at,) = (line for line, text in enumerate(lines, 1) if marker in text)
    opened = locate(STARTER, number).line
    assert opened is not None and opened < at
    assert "TODO" not in text_of(SOLUTION, exercise.file)


@pytest.mark.parametrize("tree", [STARTER, SOLUTION])
@pytest.mark.parametrize("file", FILES)
def test_the_trees_import_only_shared_and_the_standard_library(tree: Path, file: str) -> None:
    """Neither the other file, nor a package that would have to be installed."""
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(text_of(tree, file)))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= {"collections.abc", "datetime", "typing", "shared.errors", "shared.run", "shared.settings"}


def test_nothing_imports_a_tree() -> None:
    """The business code and the judge get the exercises by injection, never by name."""
    sources = [path for folder in ("src", "selfcheck") for path in (ROOT / folder).rglob("*.py")]
    importing = [
        str(path)
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
        if name.split(".")[0] in ("starter", "solution", "lifecycle", "delivery")
    ]
    assert len(sources) > 10
    assert importing == []


# --- Where the kit is -------------------------------------------------------------------------------------------------


def test_the_kit_lies_around_the_package() -> None:
    """In a checkout both trees are beside the judge, wherever it is started from."""
    assert kit_root() == ROOT


def test_an_installed_judge_finds_the_kit_in_the_current_directory(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Away from the checkout the trees are looked for where the command was given."""
    monkeypatch.setattr(trees, "__file__", str(tmp_path / "site-packages" / "selfcheck" / "trees.py"))
    copied(SOLUTION, "solution")
    mine.rename("starter")
    assert kit_root() == Path.cwd()


def test_without_a_kit_the_error_says_where_it_was_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names both places and the remedy."""
    monkeypatch.setattr(trees, "__file__", str(tmp_path / "elsewhere" / "selfcheck" / "trees.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misconfigured) as raised:
        kit_root()
    assert str(raised.value) == (
        f"kit: starter/ and solution/ are not in {tmp_path / 'elsewhere'} nor in {tmp_path};"
        " run selfcheck in the lab's folder"
    )


# --- What was touched -------------------------------------------------------------------------------------------------


def touched(tree: Path) -> list[int]:
    """Return the exercises that are not as they came."""
    return [number for number in EXERCISES if not is_untouched(tree, number)]


def test_a_fresh_starter_is_untouched_and_the_solution_is_not(mine: Path) -> None:
    """All four or none."""
    assert (touched(mine), outside_differs(mine)) == ([], False)
    assert (touched(SOLUTION), outside_differs(SOLUTION)) == ([1, 2, 3, 4], False)


@pytest.mark.parametrize(
    ("file", "old", "new", "numbers"),
    [
        ("lifecycle.py", "    status: frozenset(RunStatus)\n", "    status: frozenset({RunStatus.DONE})\n", [1]),
        ("lifecycle.py", "        raise IllegalTransition(", "        raise ValueError(", [1]),
        ("lifecycle.py", "    return False\n", "    return True\n", [4]),
        ("delivery.py", "        self._due = start\n", "        self._due = start + 1\n", [2]),
        (
            "delivery.py",
            "        self._emit(seq, item)\n",
            "        self._emit(seq, item)\n        self._due += 1\n",
            [2],
        ),
        ("delivery.py", "        self._emit(seq, item)\n", "        return\n\n    def late(self): ...\n", [2]),
        ("delivery.py", "    return 0\n", "    return 1\n", [3]),
        ("delivery.py", "    return 0\n", "    return 0\n\n\ndef resume_from(header): return 1\n", [3]),
    ],
)
def test_a_written_body_touches_its_exercise(mine: Path, file: str, old: str, new: str, numbers: list[int]) -> None:
    """Whatever of an exercise is rewritten touches this one and no other."""
    edit(mine, file, old, new)
    assert touched(mine) == numbers


@pytest.mark.parametrize("file", FILES)
def test_comments_docstrings_and_layout_touch_nothing(mine: Path, file: str) -> None:
    """Notes are not an answer: a learner who only wrote some has everything left to do."""
    lines = [line for line in text_of(mine, file).splitlines() if "TODO" not in line]
    text = re.sub(r'(?m)^( +)"""(?=[A-Z])', r'\1# a note\n\1"""My own words. ', "\n".join(lines)) + "\n\n\n# done?"
    assert text.count("My own words") == (3 if file == "delivery.py" else 2)
    (mine / file).write_text(text.replace("    return 0", "    return (\n        0\n    )"), encoding="utf-8")
    assert (touched(mine), outside_differs(mine)) == ([], False)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("delivery.py", "from typing import Generic", "import heapq\nfrom typing import Generic"),
        ("delivery.py", "def offer(self, seq: int", "def offer(self, number: int"),
        ("delivery.py", "def resume_from(last_event_id: str | None)", "def resume_from(header: str | None)"),
        ("delivery.py", "class SeqOrderer(Generic[T]):", "@final\nclass SeqOrderer(Generic[T]):"),
        ("lifecycle.py", "from shared.run import", "WINDOW = 30\nfrom shared.run import"),
        ("lifecycle.py", "frozenset[RunStatus]] = {", "frozenset[str]] = {"),
        ("lifecycle.py", "def should_merge(", "def helper(): ...\n\n\ndef should_merge("),
    ],
)
def test_what_is_outside_the_bodies_is_seen(mine: Path, file: str, old: str, new: str) -> None:
    """Imports, helpers, decorators and signatures are not part of a body."""
    edit(mine, file, old, new)
    assert outside_differs(mine)


def test_a_written_body_is_not_outside(mine: Path) -> None:
    """Methods of its own, another table, other statements: all inside."""
    edit(mine, "delivery.py", "        self._emit(seq, item)\n", "        return\n\n    def late(self): ...\n")
    edit(mine, "lifecycle.py", "    status: frozenset(RunStatus)\n    for status in RunStatus\n", "")
    edit(mine, "lifecycle.py", "    return False\n", "    from datetime import timedelta\n    return True\n")
    assert outside_differs(mine) is False


DEEP = "x = " + "+".join("1" * 2_000) + "\n"


@pytest.mark.parametrize("content", [b"def f(:\n", b"\xff\n", b"\0", b"", b"1 / 0\n", ("-" * 50_000 + "1").encode()])
def test_a_file_that_cannot_be_read_was_touched(mine: Path, content: bytes) -> None:
    """What is broken is not as it came; nothing is executed to find that out."""
    (mine / "delivery.py").write_bytes(content)
    assert (touched(mine), outside_differs(mine)) == ([2, 3], True)


@pytest.mark.parametrize("number", [2, 3])
def test_nesting_beyond_measure_was_touched(mine: Path, number: int) -> None:
    """A body that only a program writes ends no comparison."""
    text = text_of(mine, "delivery.py")
    for old in ("        self._emit(seq, item)\n", "    return 0\n"):
        text = text.replace(old, old.replace(old.strip(), DEEP.strip()))
    (mine / "delivery.py").write_text(text, encoding="utf-8")
    assert is_untouched(mine, number) is False


def test_a_missing_tree_was_touched() -> None:
    """There is nothing in it that could be as it came."""
    nowhere = Path("no/tree")
    assert (touched(nowhere), outside_differs(nowhere)) == ([1, 2, 3, 4], True)


# --- Where to look ----------------------------------------------------------------------------------------------------


def test_an_exercise_is_opened_at_its_first_definition(mine: Path) -> None:
    """File and line as a terminal can open them: relative to where the command was given."""
    heads = {
        1: "TRANSITIONS: Mapping[RunStatus, frozenset[RunStatus]] = {",
        2: "class SeqOrderer(Generic[T]):",
        3: "def resume_from(last_event_id: str | None) -> int:",
        4: "def should_merge(previous: Run | None, now: datetime) -> bool:",
    }
    for number, head in heads.items():
        file = EXERCISES[number].file
        line = text_of(mine, file).splitlines().index(head) + 1
        assert locate(mine, number) == locate(mine.absolute(), number) == Location(f"mine/{file}", line)
        assert locate(mine, number).where == f"mine/{file}:{line}"


def test_a_transition_without_a_table_is_opened_at_its_def(mine: Path) -> None:
    """The table is how, not what."""
    (mine / "lifecycle.py").write_text("\n@print\ndef transition(current, target): ...\n", encoding="utf-8")
    assert locate(mine, 1) == Location("mine/lifecycle.py", 3)


@pytest.mark.parametrize(
    ("content", "line"), [(b"x = 1\ny = (\n", 2), (b"x = 1\n# \xff\n", 2), (b"\0", None), (b"x = 1\n", None)]
)
def test_a_broken_file_is_opened_where_it_is_broken(mine: Path, content: bytes, line: int | None) -> None:
    """When there is such a line; else the file alone is named."""
    (mine / "delivery.py").write_bytes(content)
    assert locate(mine, 3) == Location("mine/delivery.py", line)


def test_a_line_belongs_to_the_exercise_around_it(mine: Path) -> None:
    """Lines inside a definition do, lines between definitions to none, and a file that cannot be read has none."""
    lines = text_of(mine, "lifecycle.py").split("\n")
    first = lines.index("TRANSITIONS: Mapping[RunStatus, frozenset[RunStatus]] = {") + 1
    last = lines.index("        raise IllegalTransition(current, target)") + 1
    merge = lines.index("    return False") + 1
    asked = [1, first - 1, first, last, last + 1, merge, merge + 1]
    assert [exercise_at(mine, "/somewhere/lifecycle.py", line) for line in asked] == [None, None, 1, 1, 1, 4, None]
    assert exercise_at(mine, "delivery.py", merge) != 4
    (mine / "lifecycle.py").write_text("def broken(:", encoding="utf-8")
    assert exercise_at(mine, "lifecycle.py", 1) is None


def test_a_tree_elsewhere_keeps_the_path_it_was_given(mine: Path) -> None:
    """A path that leads out of the current directory is shown as it is."""
    assert mine.exists()
    assert locate(STARTER, 2).file == f"{STARTER.as_posix()}/delivery.py"
    assert locate(Path("no/tree"), 2) == Location("no/tree/delivery.py", None)


def test_a_pipe_is_not_waited_for(mine: Path) -> None:
    """A file that would never end is a file that cannot be read."""
    (mine / "delivery.py").unlink()
    os.mkfifo(mine / "delivery.py")
    assert (locate(mine, 2), is_untouched(mine, 2)) == (Location("mine/delivery.py", None), False)


# --- The difference and the way back ----------------------------------------------------------------------------------


def changed(diff: str) -> tuple[list[str], list[str]]:
    """Return what a diff takes away and what it puts there, without indentation and comments."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    codes = ([line[1:].strip() for line in lines if line.startswith(sign)] for sign in "-+")
    gone, come = ([code for code in each if not code.startswith("#")] for each in codes)
    return gone, come


def test_the_difference_of_one_exercise() -> None:
    """It shows the naive body and the written one, with the line numbers of the files, and no other exercise."""
    assert changed(difference(3)) == (
        ["return 0"],
        [
            "if last_event_id is None or len(last_event_id) > 18:",
            "return 0",
            "if not (last_event_id.isascii() and last_event_id.isdigit()):",
            "return 0",
            "return int(last_event_id) + 1",
        ],
    )
    assert changed(difference(2))[0] == ["self._emit(seq, item)"]
    line = locate(STARTER, 3).line
    assert line is not None
    header, first = difference(3).splitlines()[1:3]
    assert header == "+++ solution/delivery.py"
    assert int(first.split()[1].split(",")[0]) < -line


def test_the_difference_of_all_is_that_of_the_files() -> None:
    """Four exercises in two files, each file once, and nothing else in it."""
    whole = difference()
    assert [line for line in whole.splitlines() if line.startswith("---")] == [f"--- starter/{file}" for file in FILES]
    parts = [changed(difference(number)) for number in (1, 4, 2, 3)]
    assert changed(whole) == (
        [line for gone, _ in parts for line in gone],
        [line for _, come in parts for line in come],
    )


def test_the_difference_does_not_depend_on_the_learner(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken from the starter as it came, whatever has become of `starter/` since."""
    before = difference()
    copied(SOLUTION, "solution")
    mine.rename("starter")
    edit(Path("starter"), "delivery.py", "    return 0\n", "    return 9\n")
    monkeypatch.setattr(trees, "kit_root", Path.cwd)
    assert difference() == before


@pytest.mark.parametrize("number", EXERCISES)
def test_one_exercise_is_put_back_and_the_others_stay(mine: Path, number: int) -> None:
    """From the solution back to the starter, one exercise at a time; the file's other one is left as written."""
    copied(SOLUTION, mine)
    file = EXERCISES[number].file
    (mine / file).write_text(restored(mine, number), encoding="utf-8")
    assert touched(mine) == [other for other in EXERCISES if other != number]
    assert outside_differs(mine) is False


def test_all_put_back_is_the_starter_to_the_byte(mine: Path) -> None:
    """Nothing of what was written stays behind."""
    copied(SOLUTION, mine)
    for number, exercise in EXERCISES.items():
        (mine / exercise.file).write_text(restored(mine, number), encoding="utf-8")
    assert [text_of(mine, file) for file in FILES] == [text_of(STARTER, file) for file in FILES]


def test_what_is_missing_is_put_at_the_end(mine: Path) -> None:
    """A definition that was deleted comes back, a file that was deleted too."""
    (mine / "delivery.py").write_text("x = 1\n", encoding="utf-8")
    (mine / "delivery.py").write_text(restored(mine, 3), encoding="utf-8")
    assert (is_untouched(mine, 3), is_untouched(mine, 2)) == (True, False)
    assert text_of(mine, "delivery.py").startswith("x = 1\n")
    (mine / "delivery.py").unlink()
    assert restored(mine, 3) == text_of(STARTER, "delivery.py")


def test_a_decorator_goes_with_its_function(mine: Path) -> None:
    """What was put on top of a definition is part of it."""
    edit(mine, "delivery.py", "def resume_from(", "@print\n@(\n    print\n)\ndef resume_from(")
    assert restored(mine, 3) == text_of(STARTER, "delivery.py")


def test_a_form_feed_is_not_a_line(mine: Path) -> None:
    """Lines are counted as Python counts them, not as `str.splitlines` does."""
    edit(mine, "delivery.py", "T = TypeVar", "# \x0c \u2028 \x85\nT = TypeVar")
    before = text_of(mine, "delivery.py")
    edit(mine, "delivery.py", "    return 0\n", "    return 9\n")
    assert restored(mine, 3) == before


def test_a_file_that_is_no_python_is_not_put_back(mine: Path) -> None:
    """Nothing can be found in it; the caller decides about the whole file."""
    (mine / "delivery.py").write_text("(", encoding="utf-8")
    with pytest.raises(Unusable):
        restored(mine, 3)
