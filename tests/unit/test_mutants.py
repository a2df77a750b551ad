"""The catalogue of wrong submissions is itself held to account: none is right by accident, none is wrong twice."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from selfcheck.trees import EXERCISES, is_untouched
from tests.mutants.catalog import BROKEN, MISTAKES, MUTANTS, VARIANTS, Mutant, State, write
from tests.mutants.oracle import CASES, ENDLESS, Answers, ask
from tests.mutants.submission import ANY, SOLUTION

CHECKS = {1: {1}, 2: {2}, 3: {4}, 4: {5, 6}}


@cache
def right() -> dict[int, Answers]:
    """Return what the solution answers."""
    return ask(SOLUTION)


def wrong_cases(tree: Path) -> dict[int, dict[str, str]]:
    """Return the answers of a tree that are not the solution's, by exercise."""
    answers = ask(tree)
    return {
        number: wrong
        for number in EXERCISES
        if (wrong := {case: answer for case, answer in answers[number].items() if right()[number].get(case) != answer})
    }


def state_of(answer: str) -> set[State]:
    """Return what a judge may call a wrong answer."""
    if answer == ENDLESS:
        return {"hung"}
    if answer.startswith("does "):  # it does not load, or does what only a judge apart can survive
        return set(ANY)
    return {"crashed"} if answer.startswith("raises ") else {"failed"}


def test_the_solution_is_right_in_every_case() -> None:
    """The oracle asks each exercise, and the solution neither raises nor fails to return."""
    assert {number: len(answers) for number, answers in right().items()} == {n: len(CASES[n]) for n in EXERCISES}
    assert [a for answers in right().values() for a in answers.values() if state_of(a) != {"failed"}] == []
    assert {case.partition(":")[0]: answer for case, answer in right()[4].items()} == {
        "yes": "bool: True",
        "no": "bool: False",
    }
    assert right()[2]["cost"] == "str: 'linear'"


def test_each_exercise_has_mistakes_enough() -> None:
    """Twenty and more for each, every one under a name of its own and with a symptom in words."""
    assert all(count >= 20 for count in Counter(mutant.exercise for mutant in MISTAKES).values())
    assert len({mutant.name for mutant in (*MUTANTS, *VARIANTS)}) == len(MUTANTS) + len(VARIANTS)
    assert all(mutant.symptom and mutant.states for mutant in MUTANTS)
    assert not any(mutant.caught_by or mutant.states for mutant in VARIANTS)


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if each not in BROKEN], ids=lambda mutant: mutant.name)
def test_a_mutant_is_wrong_in_its_own_exercise_and_no_other(mutant: Mutant, tmp_path: Path) -> None:
    """It loads, is answered wrongly where it says, in a state that it lists, and seen by the checks that it lists."""
    wrong = wrong_cases(write(mutant, tmp_path))
    assert list(wrong) == [mutant.exercise]
    answers = wrong[mutant.exercise]
    expected = CHECKS[mutant.exercise]
    if mutant.exercise == 4:
        expected = {5 if case.startswith("yes") else 6 for case in answers}
        if answers.get("no: None 0:00:00 UTC", "").startswith("raises "):
            expected = {5, 6}  # no message gets as far as a second one
    if any(answer.startswith("does ") for answer in answers.values()):  # nothing was asked afterwards
        assert set(mutant.caught_by) >= expected
    else:
        assert set(mutant.caught_by) == expected
        assert set().union(*map(state_of, answers.values())) <= set(mutant.states)


@pytest.mark.parametrize("mutant", BROKEN, ids=lambda mutant: mutant.name)
def test_a_broken_mutant_does_not_load(mutant: Mutant, tmp_path: Path) -> None:
    """All exercises that it costs, and their checks, are those that it lists; the others stay right."""
    wrong = wrong_cases(write(mutant, tmp_path))
    assert {answer for answers in wrong.values() for answer in answers.values()} == {"does not load"}
    if not mutant.name.startswith("interrupts"):  # Ctrl-C ends the whole load; only a judge apart can tell the file
        assert set(mutant.caught_by) == set().union(*(CHECKS[number] for number in wrong))


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_is_right(variant: Mutant, tmp_path: Path) -> None:
    """It answers what the solution answers, in every case, though its text is another."""
    assert wrong_cases(write(variant, tmp_path)) == {}
    assert not is_untouched(tmp_path, variant.exercise)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_the_solution_but_for_one_exercise(mutant: Mutant, tmp_path: Path) -> None:
    """Its tree is whole, its other file is the solution's, and its body is not the starter's, which would be `todo`."""
    write(mutant, tmp_path / "new" / "folder")
    tree = tmp_path / "new" / "folder"
    assert sorted(path.name for path in tree.iterdir()) == ["delivery.py", "lifecycle.py"]
    same = [path.name for path in tree.iterdir() if path.read_bytes() == (SOLUTION / path.name).read_bytes()]
    assert same == [file for file in ("lifecycle.py", "delivery.py") if file != EXERCISES[mutant.exercise].file]
    assert not is_untouched(tree, mutant.exercise)
