"""The judge of one submission: first what passes, then whose fault it is that something does not.

All checks are played before anything is tried again with the solution's bodies, and no result of the second part turns
one of the first green. In the first part nothing of the solution is in a process of the submission, with one exception
that helps nobody: where an exercise cannot be loaded, which costs its checks for good, the solution's body of that one
stands in, so that the others can be played.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from selfcheck import early, trees
from selfcheck.checks import CHECKS
from selfcheck.checks.check import Check
from selfcheck.grading import flags, house, metered
from selfcheck.grading.cell import Cell
from selfcheck.grading.descendants import allowance
from selfcheck.grading.orders import Place, Said
from selfcheck.judge import Judge
from selfcheck.playing.once import Outcome
from selfcheck.processes.held import Service, encode
from selfcheck.results import CheckResult
from selfcheck.spec import BOTH, ServiceSpec, new_token
from selfcheck.trees import EXERCISES, kit_root, spliced
from shared.events import Json
from shared.foreign import read_source

_ENVIRONMENT: Final = {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC"}
_PROGRAM: Final = "import sys; sys.path.append({house!r}); from selfcheck.grading.cell import main; main()"


def judge(place: Place, room: Path, say: Callable[[Said], None]) -> None:
    """Judge the tree in a room, and say what comes of it, line by line."""
    tree, solution = room / "tree", kit_root() / "solution"
    os.chdir(tree)  # so that results name the files, and not where they happen to lie
    say(Said("flags", flags=flags.of_text(tree, solution), same=flags.same_as(tree, solution)))
    grading = GradingJudge(place, room, solution)
    try:
        for result in grading.first_part():
            say(Said("played", check=_neutral(result, room)))
        for result in grading.second_part():
            say(Said("judged", check=_neutral(result, room)))
    finally:
        grading.close()
    if grading.over:
        say(Said("flags", flags=(flags.OUTPUT,)))


class GradingJudge(Judge):
    """A judge whose services run in cells."""

    def __init__(self, place: Place, room: Path, solution: Path) -> None:
        spec = ServiceSpec(str(room / "tree"), str(room), (), new_token(), BOTH, early.LAB_SETTINGS)
        super().__init__(spec, None, place.seed)
        self._place = place
        self._room = room
        self._solution = solution
        self._played: dict[int, Outcome] = {}
        self.over = False  # a service has printed more than it may

    def first_part(self) -> Iterator[CheckResult]:
        """Play every check once, with what loads of the submission, and yield how it came out."""
        for check in CHECKS:
            outcome = super()._play_or_fault(check)
            self._played[check.id] = outcome
            found, where, evidence = outcome.finding, outcome.where, outcome.evidence
            yield CheckResult(check.id, check.name, check.exercise, outcome.state, found, where, (), evidence)
        self.close()

    def second_part(self) -> Iterator[CheckResult]:
        """Yield the result of every check: those that were not passed are tried again, to see whose fault it is."""
        yield from self.judge()

    def _play_or_fault(self, check: Check) -> Outcome:
        return self._played[check.id]

    def _symptom(self, check: Check, outcome: Outcome) -> str:
        """Return none when too much was printed: a service that is ended for that shows what it came to by then."""
        return "" if self.over else super()._symptom(check, outcome)

    def _ready(self) -> Service:
        service = super()._ready()
        while lost := self._faults.keys() - self._unfit:  # they are not even tried any more: the solution's stand in
            self._unfit |= lost
            self.close()
            service = super()._ready()
        return service

    def _start(self, replaced: frozenset[int]) -> Service:
        """Start a service in a cell, with the solution's bodies of the exercises that are replaced within reach."""
        numbers = tuple(sorted(replaced | self._unfit))
        spec = msgspec.structs.replace(self._spec, replaced=numbers, stand_in=str(self._stand_in(numbers)))
        limits = self._place.limits
        readable = (self._place.house, spec.tree, spec.stand_in)
        cell = Cell(readable, limits.memory, limits.cpu_s, allowance(limits.processes), self._place.user)
        process = subprocess.Popen(  # noqa: S603
            [
                *(house.python(), "-S", "-s", "-P", "-B", "-u", "-c", _PROGRAM.format(house=self._place.house)),
                *(msgspec.json.encode(cell).decode(), encode(spec)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=spec.tree,
            env=_ENVIRONMENT,
            start_new_session=True,
        )
        metered.meter(process, limits.output, self._note_over)
        return Service(spec, {"+".join(spec.roles): process})

    def _note_over(self) -> None:
        self.over = True

    def _stand_in(self, numbers: tuple[int, ...]) -> Path:
        """Return a tree with the solution's bodies of these exercises, and the starter's of all others."""
        folder = self._room / f"stand-in-{''.join(map(str, numbers))}"
        if not folder.exists():
            folder.mkdir()
            for file in flags.FILES:
                names = [
                    name for at in numbers if EXERCISES[at].file == file for name in EXERCISES[at].definitions
                ]  # fmt: skip
                text = spliced(trees.pristine(file), read_source(self._solution / file), names)
                (folder / file).write_text(text, "utf-8")
        return folder


def _neutral(result: CheckResult, room: Path) -> dict[str, Json]:
    """Return a result without what is another one each time: the room."""
    text = json.dumps(result.to_json()).replace(f"{room}/tree/", "").replace(str(room), "")
    neutral: dict[str, Json] = json.loads(text)
    return neutral
