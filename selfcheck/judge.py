"""The judge: plays the checks on a service and says what became of each.

A check that does not pass is not yet a verdict on its exercise, for another exercise may be in the way. So it is tried
again with the others taken from the solution: what passes then is `blocked`, and by whom is found by putting the
learner's back one by one; what does not is the exercise's own fault, told as it shows without the others.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from selfcheck import trees
from selfcheck.checks import CHECKS
from selfcheck.checks.check import Check
from selfcheck.playing.once import Outcome, play, shown_at
from selfcheck.processes.held import Service, start
from selfcheck.processes.logbook import Line
from selfcheck.recognising import recognised
from selfcheck.results import CheckResult, Finding, State
from selfcheck.spec import ServiceSpec
from selfcheck.texts import say
from shared.errors import Unavailable
from shared.foreign import shown

ALL = frozenset(trees.EXERCISES)
_OWN_FAULTS = {State.FAILED, State.CRASHED, State.HUNG}


class Judge:
    """Judges one tree. Holds the service that plays; `close` it."""

    def __init__(self, spec: ServiceSpec, service: Service | None, seed: int) -> None:
        self._spec = spec
        self._seed = seed
        self._service = service
        self._faults: dict[int, Outcome] = {}  # exercises that did not load
        self._wrong: set[int] = set()  # exercises whose own check has not passed
        self.prints: list[str] = []  # what the tree printed, of services that have ended
        self._symptoms: dict[int, str] = {}  # of exercises that have been asked for theirs
        self.log = b""  # what services said that have ended, those of trials too
        self._unfit: set[int] = set()  # taken from the stand-in since: they end or hang the service at its import

    def close(self) -> None:
        """End the service."""
        if self._service is not None:
            self._service.stop()
            self.prints += self._service.log.prints
            self.log += self._service.log.tail()
            self._service = None

    def judge(self, only: int | None = None) -> Iterator[CheckResult]:
        """Yield the result of each check in order; with `only`, of that one."""
        for check in CHECKS:
            if only in (None, check.id):
                yield self._judge(check)

    def _judge(self, check: Check) -> CheckResult:
        outcome = self._play_or_fault(check)
        blocked_by: tuple[int, ...] = ()
        if outcome.state is not State.PASSED:
            outcome, blocked_by = self._attribute(check, outcome)
        self._wrong.update(blocked_by)
        if check.exercise is not None and outcome.state not in (State.PASSED, State.BLOCKED):
            self._wrong.add(check.exercise)
        where = outcome.where
        if outcome.state is not State.PASSED and not where and check.exercise is not None:
            where = trees.locate(Path(self._spec.tree), check.exercise).where
        return CheckResult(
            check.id, check.name, check.exercise, outcome.state, outcome.finding, where, blocked_by, outcome.evidence,
            outcome.timeline, self._symptom(check, outcome),
        )  # fmt: skip

    # playing

    def _play_or_fault(self, check: Check) -> Outcome:
        """Play a check on the service at hand, or say why its exercise is not there to be played."""
        service = self._ready()
        if check.exercise in self._faults:
            return self._faults[check.exercise]
        outcome = play(check, service, self._seed)
        if service.exit_code is not None:
            self.close()  # the next check gets a fresh one
        return outcome

    def _ready(self) -> Service:
        """Return a running service with all of the tree that loads."""
        while True:
            if self._service is None:
                self._service = self._start(frozenset(self._spec.replaced))
            service = self._service
            loaded = service.loaded()
            for line in service.faults():
                self._note_fault(line)
            if loaded:
                return service
            service.settle()
            self.close()
            self._note_unfit(service)

    def _note_fault(self, line: Line) -> None:
        where = str(line["file"]) if line["line"] is None else f"{line['file']}:{line['line']}"
        problem = say("playing.file_problem", file=str(line["file"]), problem=recognised(str(line["problem"])))
        finding = Finding(say("playing.loads"), where, recognised(str(line["expected"])), problem)
        numbers = line["exercises"]
        assert isinstance(numbers, list), "a fault names its exercises"
        for number in numbers:
            self._faults.setdefault(int(str(number)), Outcome(State.CRASHED, finding, {}, where))

    def _note_unfit(self, service: Service) -> None:
        """Blame the file of the tree that a service ended in, or had to be ended in; there may be none to blame."""
        file = service.loading() or ""
        mine = {number for number, exercise in trees.EXERCISES.items() if file.endswith(exercise.file)} - self._unfit
        if not mine or file == shown(Path(self._spec.stand_in) / Path(file).name):
            raise service.why_not_started()
        hangs = service.hung_at is not None or service.stopped
        ended = say("playing.process_ended", code=str(service.exit_code))
        finding = Finding(
            say("playing.defines"),
            say("playing.import", file=file),
            say("playing.returns"),
            say("playing.does_not_return") if hangs else ended,
        )
        if hangs:
            outcome = Outcome(State.HUNG, finding, {}, shown_at(service.hung_at or file))
        else:
            outcome = Outcome(State.CRASHED, finding, {}, file)
        for number in mine:
            self._faults[number] = outcome
        self._unfit |= mine

    # whose fault it is

    def _attribute(self, check: Check, outcome: Outcome) -> tuple[Outcome, tuple[int, ...]]:
        """Tell a todo, a blocked check and the exercise's own fault apart."""
        own = frozenset() if check.exercise is None else frozenset({check.exercise})
        if check.exercise in self._faults or outcome.state is State.ENVIRONMENT:
            return outcome, ()
        if check.exercise is not None and trees.is_untouched(Path(self._spec.tree), check.exercise):
            if outcome.accused not in (None, check.exercise):
                outcome = self._try(check, ALL - own)  # what is to be done here, and not what is wrong elsewhere
            return replace(outcome, state=State.TODO), ()
        if outcome.state is State.HUNG and outcome.accused in own:
            return outcome, ()  # a loop in it is its own, whatever it was given; showing it once more takes seconds
        # Most often it is the one that is blamed, or those that were found wrong before: then one trial tells all.
        suspects = (frozenset(self._wrong) if outcome.accused is None else frozenset({outcome.accused})) - own
        if suspects and self._try(check, suspects).state is State.PASSED:
            return replace(outcome, state=State.BLOCKED, where=""), self._blockers(check, suspects)
        alone = self._try(check, ALL - own)
        if alone.state is not State.PASSED:
            # Without an exercise of its own it was the solution that did not pass: that is the kit, or the machine.
            return (alone if own else replace(alone, state=State.ENVIRONMENT)), ()
        return replace(outcome, state=State.BLOCKED, where=""), self._blockers(check, ALL - own)

    def _blockers(self, check: Check, replaced: frozenset[int]) -> tuple[int, ...]:
        """Return the exercises that have to be the solution's for the check to pass: no smaller set does."""
        needed = set(replaced)
        for number in sorted(replaced):
            if len(needed) > 1 and self._try(check, frozenset(needed - {number})).state is State.PASSED:
                needed.discard(number)
        return tuple(sorted(needed))

    def _symptom(self, check: Check, outcome: Outcome) -> str:
        """Return by which common mistake a check's own exercise is recognised, "" when by none, or when it is right."""
        exercise = check.exercise
        if exercise is None or exercise in self._faults or outcome.state not in _OWN_FAULTS:
            return ""
        from selfcheck.playing.diagnosis import diagnose  # whoever passes everything needs none
        from selfcheck.symptoms import HANGS

        if outcome.state is State.HUNG:
            return HANGS if outcome.where else ""
        if exercise not in self._symptoms:
            try:
                service = self._ready()
            except Unavailable:  # the next check has to say so
                return ""
            self._symptoms[exercise] = diagnose(exercise, service, self._seed)
            if service.exit_code is not None:
                self.close()
        return self._symptoms[exercise]

    def _try(self, check: Check, replaced: frozenset[int]) -> Outcome:
        """Play a check on a service of its own, with these exercises from the solution."""
        service = self._start(replaced)
        try:
            return play(check, service, self._seed)
        finally:
            service.stop()
            self.log += service.log.tail()

    def _start(self, replaced: frozenset[int]) -> Service:
        """Start a service with these exercises from the stand-in, and those that must not be loaded again."""
        return start(replace_spec(self._spec, tuple(sorted(replaced | self._unfit))))


def replace_spec(spec: ServiceSpec, replaced: tuple[int, ...]) -> ServiceSpec:
    """Return the spec with other exercises taken from the stand-in."""
    return msgspec.structs.replace(spec, replaced=replaced)
