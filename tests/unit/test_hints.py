"""Hints: one more at each call, as far as somebody has come, in both languages, for what the last run has seen."""

import json
from pathlib import Path
from typing import Protocol

import pytest
from rich.cells import cell_len

from selfcheck import hints, texts
from selfcheck.console import out
from selfcheck.hints import memory, showing
from selfcheck.hints.memory import LastRun, Seen
from selfcheck.home import room
from selfcheck.symptoms import names, question
from selfcheck.texts import LANGUAGES, Lang, area_texts, text
from tests.support.judging import SOLUTION


class Show(Protocol):
    """Shows a hint and returns what was printed, with each run of blanks as one."""

    def __call__(self, exercise: int, level: int | None = None, *, again: bool = False) -> str:
        """Do it."""
        ...


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a tree of somebody's, whose room is in a folder of this test."""
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "home"))
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


@pytest.fixture
def show(tree: Path) -> Show:
    """Show hints for the tree."""

    def printed(exercise: int, level: int | None = None, *, again: bool = False) -> str:
        with out.capture() as capture:
            showing.show(str(tree), exercise, level, again=again)
        return flat(capture.get())

    return printed


def flat(words: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(words.split())


def ran(tree: Path, *checks: tuple[int, str, str]) -> None:
    """Leave the results of a run: exercise, state and symptom of some checks."""
    folder = room(tree) / "runs" / "last"
    folder.mkdir(parents=True, exist_ok=True)
    listed = [{"exercise": number, "status": state, "symptom": symptom, "id": 9} for number, state, symptom in checks]
    (folder / "results.json").write_text(json.dumps({"version": 1, "checks": listed}), "utf-8")


def test_there_are_three_for_each_exercise_in_both_languages() -> None:
    """Every one that is to be there is, and no other."""
    keys = [message.key.partition(".")[2] for message in hints.all_hints()]
    assert len(keys) == 12
    for lang in LANGUAGES:
        assert [*area_texts(lang, "hints")] == keys


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_first_asks_and_the_last_has_lines_of_pseudo_code(lang: Lang) -> None:
    """From a question to nearly the code; none but the last has a line to copy."""
    shown = {n: [text(hints.hint(n, level), lang) for level in hints.LEVELS] for n in hints.EXERCISES}
    mark = "?" if lang == "en" else "？"
    for number, (first, second, third) in shown.items():
        assert mark in first or (number == 4 and "…" in first)
        assert [any(line.startswith("    ") for line in each.splitlines()) for each in (first, second, third)] == [
            False,
            False,
            True,
        ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_hint_is_the_solution(lang: Lang) -> None:
    """No line of a hint, however near, is a line of the solution."""
    solution = {line.strip() for path in SOLUTION.glob("*.py") for line in path.read_text("utf-8").splitlines()}
    lines = {line.strip() for each in hints.all_hints() for line in text(each, lang).splitlines()}
    assert lines & solution == {""}


def test_each_call_shows_one_more(tree: Path, show: Show) -> None:
    """The first, the second, the third, and then where else to turn to."""
    for level in (1, 2, 3):
        said = show(2)
        assert said.startswith(f"Exercise 2, hint {level} of 3")
        assert flat(text(hints.hint(2, level))) in said
        assert ("selfcheck hint 2" in said, "selfcheck diff 2" in said) == (level < 3, level == 3)
    for _ in range(2):
        said = show(2)
        assert "hint 3 of 3" not in said
        commands = said[said.index("selfcheck hint") :].replace(f" --tree {tree}", "")
        assert commands == "selfcheck hint 2 --again selfcheck diff 2 selfcheck reset 2"


def test_commands_name_the_tree_unless_it_is_the_usual_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed can be copied, on one line however long it is."""
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    folder = f"{'far/' * 30}my tree"
    Path(folder).mkdir(parents=True)
    for tree, options in (("starter", ""), (folder, f" --tree '{folder}'")):
        with out.capture() as capture:
            showing.show(tree, 1, None, again=False)
        assert capture.get().endswith(f"\n    selfcheck hint 1{options}\n")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_line_is_too_wide_or_ends_with_blanks(lang: Lang, tree: Path) -> None:
    """Eighty cells hold every hint, its pseudo-code included."""
    texts.use(lang)
    try:
        with out.capture() as capture:
            for exercise in hints.EXERCISES:
                for level in hints.LEVELS:
                    showing.show("starter", exercise, level, again=False)
    finally:
        texts.use("en")
    lines = capture.get().splitlines()
    assert [line for line in lines if line != line.rstrip() or cell_len(line) > 80] == []


def test_each_exercise_has_its_own_place(show: Show) -> None:
    """How far somebody is with one says nothing of another."""
    show(1)
    show(1)
    assert show(3).startswith("Exercise 3, hint 1 of 3")
    assert show(1).startswith("Exercise 1, hint 3 of 3")


def test_a_level_is_shown_whenever_it_is_asked_for(show: Show) -> None:
    """It counts as seen, and so do those before it; an earlier one does not put anybody back."""
    assert show(4, 2).startswith("Exercise 4, hint 2 of 3")
    assert show(4, 1).startswith("Exercise 4, hint 1 of 3")
    assert show(4).startswith("Exercise 4, hint 3 of 3")


def test_again_starts_over(show: Show) -> None:
    """As if nothing had been seen."""
    show(1, 3)
    assert show(1, again=True).startswith("Exercise 1, hint 1 of 3")
    assert show(1).startswith("Exercise 1, hint 2 of 3")


def test_the_first_is_the_question_of_the_symptom(tree: Path, show: Show) -> None:
    """What the last run has seen is asked; the other two are the exercise's."""
    ran(tree, (1, "passed", ""), (2, "failed", "if-for-while"))
    said = show(2)
    assert flat(text(question("if-for-while"))) in said
    assert flat(text(hints.hint(2, 1))) not in said
    assert flat(text(hints.hint(2, 2))) in show(2)


def test_a_new_symptom_is_asked_first_and_costs_nothing(tree: Path, show: Show) -> None:
    """Whoever is at the third hint and makes another mistake has its question before the third."""
    show(2)
    show(2)
    ran(tree, (2, "failed", "every-copy-held"))
    assert flat(text(question("every-copy-held"))) in show(2)
    assert show(2).startswith("Exercise 2, hint 3 of 3")
    assert "selfcheck diff 2" in show(2)


def test_what_passes_needs_no_hint(tree: Path, show: Show) -> None:
    """It says so, and shows one when it is asked for."""
    ran(tree, (4, "passed", ""), (4, "passed", ""))
    assert show(4).startswith("Exercise 4 passed in the last run")
    assert show(4, 2).startswith("Exercise 4, hint 2 of 3")


def test_an_exercise_passes_when_all_its_checks_do(tree: Path) -> None:
    """One check of two says nothing of the other, and none nothing of any."""
    ran(tree, (4, "passed", ""))
    assert memory.last_run(tree, 4) == LastRun()
    ran(tree, (4, "passed", ""), (4, "failed", "ended-merged"))
    assert memory.last_run(tree, 4) == LastRun(passed=False, symptom="ended-merged")
    assert memory.last_run(tree, 1) == LastRun()


def test_a_symptom_that_nobody_knows_is_none(tree: Path) -> None:
    """Results may be of another version; a symptom of another exercise is none of this one."""
    ran(tree, (1, "failed", "no-such-thing"), (2, "failed", names(3)[1]))
    assert [memory.last_run(tree, number).symptom for number in (1, 2)] == ["", ""]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"1": 2}', b'{"1": {"level": "x"}}', b"\xff\x00", b"null"])
def test_a_memory_that_is_broken_is_none(content: bytes, tree: Path, show: Show) -> None:
    """Whatever is in the files: the first hint is shown, and from there it goes on."""
    ran(tree)
    for file in (room(tree) / "hints.json", room(tree) / "runs" / "last" / "results.json"):
        file.write_bytes(content)
    assert show(1).startswith("Exercise 1, hint 1 of 3")
    assert memory.seen(tree, 1) == Seen(1)
    assert show(1).startswith("Exercise 1, hint 2 of 3")


def test_a_level_beyond_the_last_is_all_seen(tree: Path, show: Show) -> None:
    """Whoever wrote that."""
    memory.remember(tree, 1, Seen(99))
    assert "selfcheck diff 1" in show(1)


def test_what_cannot_be_remembered_is_said(tree: Path, show: Show) -> None:
    """The hint is shown all the same."""
    room(tree).parent.mkdir(parents=True)
    room(tree).write_text("a file where the folder should be", "utf-8")
    said = show(1)
    assert said.startswith("Exercise 1, hint 1 of 3")
    assert "could not be remembered" in said
    assert [path.name for path in room(tree).parent.iterdir()] == [room(tree).name]


def test_hints_are_in_the_language_in_use(show: Show) -> None:
    """All of it."""
    texts.use("zh")
    try:
        said = show(3)
    finally:
        texts.use("en")
    assert said.startswith("练习 3，提示 1/3")
    assert "".join(text(hints.hint(3, 1), "zh").split()) in "".join(said.split())
