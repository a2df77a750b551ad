"""Symptoms: each mistake of the catalogue is recognised by what it answers, and nothing that is right by any."""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcheck import symptoms
from selfcheck.lab.probes import probe
from selfcheck.symptoms.table import Answer
from selfcheck.texts import area_texts, text
from shared.events import Json
from shared.exercises import load
from tests.mutants.catalog import MISTAKES, VARIANTS, Mutant, write
from tests.mutants.merges import ALL, merge
from tests.mutants.orderers import OFFER, orderer
from tests.mutants.resumes import RESUME, resume
from tests.mutants.submission import SOLUTION
from tests.mutants.transitions import transition
from tests.support.calm import calm
from tests.support.judging import ROOT, STARTER

EXERCISES = (1, 2, 3, 4)

GENERAL = {
    "raises-always", "way-forward-missing", "nothing-comes-out", "offer-raises", "delivered-twice", "out-of-order",
    "held-never-released", "header-raises", "no-cursor-taken", "cursor-misread", "merge-raises", "merges-nothing",
    "criteria-mixed-up",
}  # fmt: skip
"""What could be said of mistakes of several kinds."""

OTHERS = (
    transition("no-body", "", "raise NotImplementedError", recognised_as=("raises-always",)),
    transition(
        "none-streams", "",
        """
        if target == "streaming" or target not in TRANSITIONS[current]:
            raise IllegalTransition(current, target)
        return target
        """,
        recognised_as=("way-forward-missing",),
    ),
    orderer("no-body", "", "raise NotImplementedError", recognised_as=("raises-always",)),
    orderer("no-item", "", OFFER.replace("self._held.pop(due)", "self._held.pop(due) and due"),
            recognised_as=("number-for-item",)),
    orderer("naive", "", "self._emit(seq, item)", recognised_as=("as-it-comes",)),
    orderer("odd", "", "if seq == 4:\n    raise KeyError(seq)\n" + OFFER, recognised_as=("offer-raises",)),
    orderer("fives-twice", "", OFFER + "if seq == 5:\n    self._emit(seq, item)\n", recognised_as=("delivered-twice",)),
    orderer("loses-fives", "", "if seq == 5:\n    return\n" + OFFER, recognised_as=("held-never-released",)),
    orderer(
        "sixes-late", "",
        """
        if seq < self._due:
            return
        self._held[seq] = item
        while self._due in self._held:
            if self._due % 10 == 6 and self._due + 1 in self._held:
                self._emit(self._due + 1, self._held.pop(self._due + 1))
                self._emit(self._due, self._held.pop(self._due))
                self._due += 2
            else:
                self._due += 1
                self._emit(self._due - 1, self._held.pop(self._due - 1))
        """,
        recognised_as=("out-of-order",),
    ),
    orderer(
        "in-pairs", "",
        """
        if seq < self._due:
            return
        self._held[seq] = item
        while self._due in self._held and self._due + 1 in self._held:
            for _ in range(2):
                self._due += 1
                self._emit(self._due - 1, self._held.pop(self._due - 1))
        if seq % 3 == 2 and self._due in self._held:
            self._due += 1
            self._emit(self._due - 1, self._held.pop(self._due - 1))
        """,
        recognised_as=("emitted-outside-of-offer",),
    ),
    resume("no-body", "", "raise NotImplementedError", recognised_as=("raises-always",)),
    resume("int-alone", "", "return int(last_event_id) + 1", recognised_as=("absent-header-raises",)),
    resume(
        "int-or-none", "", "return 0 if last_event_id is None else int(last_event_id) + 1",
        recognised_as=("empty-header-raises",),
    ),
    resume(
        "float", "",
        """
        try:
            return int(float(last_event_id)) + 1
        except (TypeError, ValueError):
            return 0
        """,
        recognised_as=("float-decides",),
    ),
    resume("odd", "", "assert last_event_id != '1e3'\n" + RESUME, recognised_as=("header-raises",)),
    resume("hexadecimal", "", "if last_event_id == '0x10':\n    return 17\n" + RESUME,
           recognised_as=("no-cursor-taken",)),
    resume("forty-one", "", "if last_event_id == '41':\n    return 41\n" + RESUME, recognised_as=("cursor-misread",)),
    merge("odd", "", (5,), f"assert previous is None or previous.status != 'streaming'\nreturn {ALL}",
          recognised_as=("merge-raises",)),
    merge("first", "", (6,), f"return previous is None or {ALL}", recognised_as=("criteria-mixed-up",)),
)  # fmt: skip
"""What shows the symptoms that nothing in the catalogue shows."""


def ample(case: Json) -> Json:
    """Return a case with more time: a collection of all that lies in this process takes some, whoever is at work."""
    return {**case, "most_cpu_s": 60.0} if isinstance(case, dict) and "most_cpu_s" in case else case


def answers(tree: Path, exercise: int, *, slow: bool = False) -> list[Answer]:
    """Return what a tree answers. What is asked here means well: it may raise and be slow, and that is all.

    Only what is `slow` by nature has no more time than a service gives it.
    """
    cases = [case if slow else ample(case) for case in symptoms.cases(exercise)]
    return cast("list[Answer]", probe(load(tree, SOLUTION).exercises, exercise, cases))


def recognised(tree: Path, exercise: int, *, slow: bool = False) -> str:
    """Return by which symptom a tree's exercise is recognised."""
    return symptoms.recognise(exercise, answers(tree, exercise, slow=slow))


@pytest.mark.parametrize("mutant", MISTAKES, ids=lambda mutant: mutant.name)
def test_a_mistake_is_recognised(mutant: Mutant, tmp_path: Path) -> None:
    """By one of the symptoms that the catalogue names, which are symptoms of its exercise."""
    slow = "cost-grows" in mutant.recognised_as
    assert recognised(write(mutant, tmp_path), mutant.exercise, slow=slow) in mutant.recognised_as
    assert set(mutant.recognised_as) <= {*symptoms.names(mutant.exercise)}


@pytest.mark.parametrize("mutant", OTHERS, ids=lambda mutant: f"{mutant.exercise}-{mutant.name}")
def test_a_general_symptom_is_what_is_left_to_be_said(mutant: Mutant, tmp_path: Path) -> None:
    """Of mistakes that nobody foresaw, and of bodies that only raise."""
    assert recognised(write(mutant, tmp_path), mutant.exercise) == mutant.recognised_as[0]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_symptom_is_shown_by_something(exercise: int) -> None:
    """By a mistake of the catalogue or one of the others; that something does not return, no answer shows."""
    shown = {name for each in (*MISTAKES, *OTHERS) if each.exercise == exercise for name in each.recognised_as}
    assert {*symptoms.names(exercise)} - shown <= {symptoms.HANGS}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_what_is_right_has_no_symptom(variant: Mutant, tmp_path: Path) -> None:
    """Whatever it looks like."""
    assert recognised(write(variant, tmp_path), variant.exercise) == ""


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_solution_has_no_symptom_and_the_starter_is_the_naive_one(exercise: int) -> None:
    """Who touches the starter's body without changing what it does is told what that is."""
    naive = {1: "allows-every-move", 2: "as-it-comes", 3: "header-not-read", 4: "merges-nothing"}
    assert recognised(SOLUTION, exercise) == ""
    assert recognised(STARTER, exercise) == naive[exercise]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_each_exercise_has_specific_symptoms_enough(exercise: int) -> None:
    """Ten and more different ones are recognised for each, and of all mistakes more than nine in ten by a specific."""
    named = [mutant.recognised_as[0] for mutant in MISTAKES if mutant.exercise == exercise and mutant.recognised_as]
    specific = [name for name in named if name not in GENERAL]
    assert len({*specific}) >= 10
    assert len(specific) > 0.9 * sum(mutant.exercise == exercise for mutant in MISTAKES)
    assert {*symptoms.names()} >= GENERAL


def test_every_symptom_has_its_question_in_both_languages() -> None:
    """A text for each name and no other, and each text asks."""
    for lang, mark in (("en", "?"), ("zh", "？")):
        assert {*area_texts("en", "symptoms")} == {*area_texts("zh", "symptoms")} == {*symptoms.names()}
        asked = {name: text(symptoms.question(name), "zh" if lang == "zh" else "en") for name in symptoms.names()}
        assert {name: words for name, words in asked.items() if mark not in words} == {}
        assert [words for words, count in Counter(asked.values()).items() if count > 1] == []


def test_no_question_gives_the_solution_away() -> None:
    """It names no line of it."""
    lines = ["seq < self._due", "+= 1", "+ 1", "isascii", "fullmatch", "total_seconds", "self._held", "MERGE_WINDOW"]
    told = {name for lang in ("en", "zh") for name, words in _texts(lang) for line in lines if line in words}
    assert told == set()


def _texts(lang: str) -> Sequence[tuple[str, str]]:
    return [*area_texts("zh" if lang == "zh" else "en", "symptoms").items()]


def test_names_are_words_joined_by_hyphens() -> None:
    """Each is one exercise's, but for those that any may show."""
    names = [name for exercise in EXERCISES for name in symptoms.names(exercise)]
    assert {name for name, count in Counter(names).items() if count > 1} == {"raises-always", symptoms.HANGS}
    assert all(part.isalnum() and part == part.lower() for name in names for part in name.split("-"))
    assert [*symptoms.names()] == [*dict.fromkeys(names)]


@cache
def right(exercise: int) -> list[Answer]:
    """Return what the solution answers."""
    return answers(SOLUTION, exercise)


json: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
emitted = st.fixed_dictionaries({"emitted": st.lists(st.lists(json, max_size=4), max_size=3), "brought": json})
answer = st.fixed_dictionaries(
    {}, optional={"returned": json | emitted, "raised": json, "value_error": json, "message": json}
)


@pytest.mark.parametrize("exercise", EXERCISES)
@settings(calm, max_examples=50)
@given(data=st.data())
def test_any_answer_can_be_read(exercise: int, data: st.DataObject) -> None:
    """Whatever a service answers in some of the cases, it has a name of ours, or none."""
    said = [*right(exercise)]
    for at in data.draw(st.lists(st.integers(0, len(said) - 1), max_size=4)):
        said[at] = cast("Answer", data.draw(answer))
    assert symptoms.recognise(exercise, said) in {"", *symptoms.names(exercise)}


def test_whoever_passes_loads_no_symptom() -> None:
    """All that a run imports before it has found something leaves them out."""
    program = "import sys, selfcheck.play, selfcheck.judge, selfcheck.reporting.report; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("selfcheck.")}
    assert "selfcheck.judge" in loaded
    assert {name for name in loaded if name.split(".")[1] in ("symptoms", "diagnosis", "hints")} == set()
