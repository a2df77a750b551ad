"""What is wrong with a verdict, by the catalogue. `selfcheck verify` asks it of every submission."""

from tests.mutants.catalog import Mutant
from tests.support.judging import Judged

ALL_CHECKS = range(1, 7)


def complaint(mutant: Mutant, judged: Judged) -> str:
    """Return what is wrong with a verdict, "" when it is as the catalogue says.

    The checks that see the mistake say so in one of its states, with one of its symptoms. Another one may be blocked by
    the exercise it is in, and by no other, unless that is chance. A right submission passes all six.
    """
    if judged.left_behind:
        return f"left behind: {judged.left_behind}"
    if not judged.results or list(judged.states) != [*ALL_CHECKS]:
        return f"not all results, exit code {judged.code}: {judged.err[-300:]}"
    seen = {number: judged.states[number] for number in mutant.caught_by}
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
