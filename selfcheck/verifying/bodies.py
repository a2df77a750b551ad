"""The trees: four bodies differ, and nothing else; and the starter that is kept is the starter."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from selfcheck import trees
from selfcheck.texts import say
from selfcheck.verifying.kit import Kit
from selfcheck.verifying.proof import Fault, Proof
from shared.foreign import Unusable, read_source

FILES: Final = tuple(dict.fromkeys(exercise.file for exercise in trees.EXERCISES.values()))
_NOT_OURS: Final = "__pycache__"


def bodies(kit: Kit) -> Iterator[Proof]:
    """Look at both trees, as text and as syntax trees."""
    yield Proof(say("verifying.bodies_written"), len(trees.EXERCISES), [*_unwritten(kit.root)])
    outside = [fault for tree in ("starter", "solution") for fault in _outside(kit.root / tree)]
    yield Proof(say("verifying.outside_same"), len(FILES), outside)
    yield Proof(say("verifying.pristine_same"), len(FILES), [*_not_pristine(kit.root / "starter")])


def _unwritten(root: Path) -> Iterator[Fault]:
    for number, exercise in trees.EXERCISES.items():
        where = trees.locate(root / "solution", number).where
        if trees.is_untouched(root / "solution", number):
            expected, actual = say("verifying.written"), say("verifying.as_in_starter")
            yield Fault(say("verifying.body", name=exercise.name), where, expected, actual, say("verifying.write_it"))


def _outside(tree: Path) -> Iterator[Fault]:
    for file in trees.differing_outside(tree):
        expected, actual = say("verifying.as_in_starter"), say("verifying.something_else")
        remedy = say("verifying.mend_outside", file=file)
        yield Fault(say("verifying.outside"), f"{tree.name}/{file}", expected, actual, remedy)
    names = sorted(path.name for path in tree.iterdir() if path.name != _NOT_OURS)
    if names != sorted(FILES):
        what, remedy = say("verifying.files"), say("verifying.take_away")
        yield Fault(what, f"{tree.name}/", ", ".join(sorted(FILES)), ", ".join(names), remedy)


def _not_pristine(starter: Path) -> Iterator[Fault]:
    for file in FILES:
        try:
            theirs = read_source(starter / file)
        except Unusable:
            theirs = ""
        if theirs != trees.pristine(file):
            where, remedy = f"selfcheck/pristine/{file}.txt", say("verifying.copy_pristine", file=file)
            yield Fault(say("verifying.kept"), where, f"starter/{file}", say("verifying.something_else"), remedy)
