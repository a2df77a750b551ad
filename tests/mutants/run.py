"""`python -m tests.mutants.run [NAME …]`: judge the whole catalogue, or what has one of these words in its name.

Prints a line for each submission and a count. Ends with 1 when one of them was not judged as the catalogue says.
"""

import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.catalog import MUTANTS, VARIANTS, Mutant, write
from tests.support.judging import Judged, judge

AT_ONCE = 2
ALL_CHECKS = range(1, 7)


def complaint(mutant: Mutant, judged: Judged, played: Collection[int] = ALL_CHECKS) -> str:
    """Return what is wrong with a verdict on the checks that were played, "" when it is as the catalogue says.

    The checks that see the mistake say so in one of its states, with one of its symptoms. Another one may be blocked by the exercise it is in,
    and by no other, unless that is chance. A right submission passes all six.
    """
    if judged.left_behind:
        return f"left behind: {judged.left_behind}"
    if not judged.results or list(judged.states) != sorted(played):
        return f"not all results, exit code {judged.code}: {judged.err[-300:]}"
    seen = {number: judged.states[number] for number in mutant.caught_by if number in played}
    missed = {number: state for number, state in seen.items() if state not in mutant.states}
    if missed or mutant.wild:
        return f"expected {' or '.join(mutant.states)}: {missed}" if missed else ""
    symptoms = {number: str(judged.checks[number]["symptom"]) for number in seen}
    if mutant.recognised_as and not {*symptoms.values()} <= {*mutant.recognised_as}:
        return f"expected {' or '.join(mutant.recognised_as)}: {symptoms}"
    others = {number: state for number, state in judged.wrong.items() if number not in mutant.caught_by}
    unfounded = {
        number: f"{state} {judged.checks[number]['blocked_by']}"
        for number, state in others.items()
        if state != "blocked" or judged.checks[number]["blocked_by"] != [mutant.exercise]
    }
    return f"expected nothing but blocked: {unfounded}" if unfounded else ""


def judge_all(mutants: Sequence[Mutant], folder: Path, tell: Callable[[Mutant, Judged, str], None]) -> int:
    """Judge submissions, `AT_ONCE` at a time, tell of each in their order, and return how many were misjudged."""

    def one(mutant: Mutant) -> Judged:
        return judge(write(mutant, folder / mutant.name))

    wrong = 0
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for mutant, judged in zip(mutants, threads.map(one, mutants), strict=True):
            fault = complaint(mutant, judged)
            wrong += bool(fault)
            tell(mutant, judged, fault)
    return wrong


def _shown(judged: Judged, number: int) -> str:
    """Return a check's state, and the symptom if there is one."""
    symptom = judged.checks[number]["symptom"]
    return f"{number} {judged.states[number]}{f' ({symptom})' if symptom else ''}"


def main(words: Sequence[str]) -> int:
    """Judge what was asked for and print the table; return the exit code."""
    chosen = [each for each in (*MUTANTS, *VARIANTS) if not words or any(word in each.name for word in words)]
    width = max((len(each.name) for each in chosen), default=0)

    def tell(mutant: Mutant, judged: Judged, fault: str) -> None:
        states = ", ".join(_shown(judged, number) for number in judged.wrong) if judged.results else "-"
        word = "misjudged" if fault else "ok"
        print(f"{word:9}  {mutant.name:{width}}  {judged.took_s:5.1f} s  {states or 'all pass'}", flush=True)
        if fault:
            print(f"           {fault}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        wrong = judge_all(chosen, Path(folder), tell)
    print(f"{len(chosen)} submissions, {len(chosen) - wrong} judged as the catalogue says, {wrong} not")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
