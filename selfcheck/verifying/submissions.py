"""The submissions of the catalogue: each wrong one is caught by the checks that should, and each right one passes."""

import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from selfcheck.checks import CHECKS
from selfcheck.early import DEFAULT_SEED
from selfcheck.grading.orders import MIB, Limits, Order, Place, Said
from selfcheck.grading.wardens import Held
from selfcheck.results import State
from selfcheck.texts import Message, Words, say
from selfcheck.trees import EXERCISES
from selfcheck.verifying.kit import Kit, Mutant
from selfcheck.verifying.proof import Fault, Proof
from shared.events import Json

LEAST: Final = 10
"""Wrong submissions that each exercise has at the least, those aside that do not load or fight back."""

_LIMITS: Final = Limits(seconds=180, memory=2048 * MIB, output=64 * MIB, processes=64)
PROGRAM: Final = "from selfcheck.verifying.yard import main; main()"
_WHERE: Final = "tests/mutants/"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a submission. `complaint` is "" when that is what should become of it."""

    mutant: Mutant
    states: Mapping[int, str]  # of the checks that did not pass
    symptoms: Mapping[int, str]  # of those that have one
    complaint: str
    instead: Words = ""  # of states: what outlived its judge, or why there are not all results

    def to_json(self) -> dict[str, Json]:
        """Return it for programs."""
        return {
            "name": self.mutant.name,
            "exercise": self.mutant.exercise,
            "states": {str(number): state for number, state in self.states.items()},
            "symptoms": {str(number): symptom for number, symptom in self.symptoms.items()},
            "complaint": self.complaint,
        }

    def seen(self) -> Words:
        """Return the states and symptoms in words."""
        return _list([_seen(number, state, self.symptoms.get(number, "")) for number, state in self.states.items()])

    def actual(self) -> Words:
        """Return what came, in words."""
        return self.instead or self.seen()

    def expected(self) -> Words:
        """Return what the catalogue says, in words."""
        mutant = self.mutant
        if not mutant.caught_by:
            return say("verifying.all_pass")
        states = _or([say(f"states.{state}") for state in mutant.states])
        symptom = _or(mutant.recognised_as) if mutant.recognised_as else ""
        return _list([_seen(number, "", symptom, states) for number in mutant.caught_by])


def _seen(number: int, state: str, symptom: Words, word: Words = "") -> Words:
    shown = word or say(f"states.{state}")
    if symptom:
        return say("verifying.check_is_because", number=number, state=shown, symptom=symptom)
    return say("verifying.check_is", number=number, state=shown)


def _list(words: Sequence[Words]) -> Words:
    if not words:
        return say("verifying.all_pass")
    return _joined(words, "verifying.and")


def _or(words: Sequence[Words]) -> Words:
    return _joined(words, "verifying.or")


def _joined(words: Sequence[Words], key: str) -> Words:
    first, *rest = words
    for each in rest:
        first = Message(key, {"first": first, "second": each})
    return first


def submissions(kit: Kit, room: Path, words: Collection[str], tell: Callable[[Verdict], None]) -> Iterator[Proof]:
    """Judge the catalogue, or what has one of these words in its name; `tell` of each. One proof for each kind."""
    catalogue = kit.catalogue()
    verdicts = judge_all(kit, room, _wanted(kit, words), tell)
    for number in EXERCISES:
        mine = [each for each in catalogue.MISTAKES if each.exercise == number]
        too_few = [_too_few(number, len(mine))] if len(mine) < LEAST else []
        yield from _proof(say(f"verifying.mistakes-{number}"), mine, verdicts, too_few)
    yield from _proof(say("verifying.broken"), catalogue.BROKEN, verdicts)
    yield from _proof(say("verifying.hostile"), catalogue.HOSTILE, verdicts)
    yield from _proof(say("verifying.variants"), catalogue.VARIANTS, verdicts)


def total(kit: Kit, words: Collection[str]) -> int:
    """Return how many will be judged."""
    return len(_wanted(kit, words))


def _wanted(kit: Kit, words: Collection[str]) -> list[Mutant]:
    catalogue = kit.catalogue()
    # What takes longest goes first, so that in the end nobody waits for one alone.
    everything = (*catalogue.HOSTILE, *catalogue.MISTAKES, *catalogue.BROKEN, *catalogue.VARIANTS)
    return [each for each in everything if not words or any(word in each.name for word in words)]


def _proof(
    what: Words, mutants: Sequence[Mutant], verdicts: Mapping[str, Verdict], faults: Sequence[Fault] = ()
) -> Iterator[Proof]:
    judged = [verdicts[each.name] for each in mutants if each.name in verdicts]
    if judged:
        yield Proof(what, len(judged), [*faults, *(_fault(each) for each in judged if each.complaint)])


def _fault(verdict: Verdict) -> Fault:
    name = verdict.mutant.name
    return Fault(
        say("verifying.misjudged", name=name),
        _WHERE,
        verdict.expected(),
        verdict.actual(),
        say("verifying.see_mutant", name=name),
    )


def _too_few(number: int, count: int) -> Fault:
    what, remedy = say("verifying.too_few", number=number), say("verifying.write_more")
    return Fault(what, _WHERE, str(LEAST), str(count), remedy)


def judge_all(
    kit: Kit, room: Path, mutants: Sequence[Mutant], tell: Callable[[Verdict], None], jobs: int | None = None
) -> dict[str, Verdict]:
    """Judge submissions, several at once, `tell` of each as it is done, and return what became of each, by name.

    One more at once than there are cores: those that do not return keep none of them busy most of the time.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    base = Path(tempfile.mkdtemp(dir=room))
    held = [
        Held(Place(number, str(base / str(number)), "", 0, _LIMITS, DEFAULT_SEED), PROGRAM)
        for number in range(min(jobs or cores + 1, len(mutants)))
    ]
    told: queue.SimpleQueue[Verdict | BaseException] = queue.SimpleQueue()
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in mutants:
        waiting.put(mutant)
    for warden in held:
        threading.Thread(target=_judge_on, args=(kit, warden, base, waiting, told.put), daemon=True).start()
    verdicts: dict[str, Verdict] = {}
    try:
        while len(verdicts) < len(mutants):
            news = told.get()
            if isinstance(news, BaseException):
                raise news
            verdicts[news.mutant.name] = news
            tell(news)
    finally:
        for warden in held:
            warden.close()
    return verdicts


def _judge_on(
    kit: Kit,
    warden: Held,
    base: Path,
    waiting: "queue.SimpleQueue[Mutant]",
    tell: "Callable[[Verdict | BaseException], None]",
) -> None:
    """Have one after the other judged, in a thread of its own."""
    try:
        while not warden.is_closed:
            tell(_judged(kit, warden, base, waiting.get_nowait()))
    except queue.Empty:
        return
    except BaseException as error:  # in whose thread nobody would see it
        tell(error)


def _judged(kit: Kit, warden: Held, base: Path, mutant: Mutant) -> Verdict:
    room = Path(tempfile.mkdtemp(dir=base))
    try:
        kit.catalogue().write(mutant, room / "tree")
        said = list(warden.carry_out(Order(str(room))))
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return verdict(kit, mutant, said)


def verdict(kit: Kit, mutant: Mutant, said: Sequence[Said]) -> Verdict:
    """Return what became of a submission, by what was said of it."""
    checks: list[Json] = [dict(line.check) for line in said if line.check is not None]  # type: ignore[arg-type]
    left = [line.problem for line in said if line.kind == "left"]
    trouble = " ".join(line.problem or line.reason for line in said if line.kind in ("trouble", "end"))
    judged = kit.judging().Judged(0, "", trouble, {"checks": checks}, 0.0, left)
    wrong = {number: check for number, check in judged.checks.items() if check["status"] != State.PASSED}
    return Verdict(
        mutant,
        {number: str(check["status"]) for number, check in wrong.items()},
        {number: str(check["symptom"]) for number, check in wrong.items() if check["symptom"]},
        kit.complaints().complaint(mutant, judged),
        say("verifying.left", pids=" ".join(left)) if left else "" if len(checks) == len(CHECKS) else trouble,
    )
