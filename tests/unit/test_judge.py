"""Whose fault it is: attribution on services that are made up, with trees that are real."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from selfcheck import judge as judging
from selfcheck.checks.check import Check, ProbeRaised
from selfcheck.judge import Judge
from selfcheck.playing import diagnosis
from selfcheck.playing.once import play
from selfcheck.playing.stage import Broken, Stage
from selfcheck.playing.watcher import Gone, Silent
from selfcheck.processes.held import Service
from selfcheck.results import CheckResult, State
from selfcheck.spec import BOTH, ServiceSpec
from selfcheck.texts import english
from shared.errors import Unavailable
from shared.events import Json
from tests.support.judging import SOLUTION, tree_with

OWN = {1: 1, 2: 2, 3: None, 4: 3, 5: 4, 6: 4}
Line = dict[str, Json]


@dataclass
class Log:
    """A log that says nothing."""

    prints: list[str] = field(default_factory=list)
    refusals: list[Line] = field(default_factory=list)

    def tail(self) -> bytes:
        """Return what it has said."""
        return b""

    def all(self, *events: str) -> list[Line]:
        """Return the lines of an event."""
        return self.refusals if "not_started" in events else []


@dataclass
class FakeService:
    """A service as the judge sees it; a play decides what becomes of it."""

    spec: ServiceSpec
    fault: Line | None = None
    hung_at: str | None = None
    stopped: bool = False
    exit_code: int | None = None
    refusals_expected: bool = False
    tree_faults: list[Line] = field(default_factory=list)
    loads: bool = True
    log: Log = field(default_factory=Log)
    stops: int = 0

    def url(self, role: str) -> str:
        """Return an address where nobody listens."""
        return "http://127.0.0.1:9"

    def loaded(self) -> bool:
        """Whether the tree was executed."""
        return self.loads

    def faults(self) -> list[Line]:
        """What did not load."""
        return self.tree_faults

    def settle(self) -> None:
        """Be as it is."""

    def why_not_started(self) -> Unavailable:
        """Return what it said."""
        return Unavailable("bus", str(self.log.refusals[0]["problem"]))

    def stop(self) -> None:
        """End."""
        self.stops += 1
        self.exit_code = -9


@dataclass
class House:
    """All services of one test, and what is wrong: exercise by exercise, and which checks need which."""

    wrong: dict[int, Callable[[FakeService], None]]
    needs: dict[int, set[int]]
    prepare: Callable[[FakeService], None] = lambda service: None
    services: list[FakeService] = field(default_factory=list)
    played: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    diagnosed: list[int] = field(default_factory=list)
    diagnosing: Callable[[FakeService], None] = lambda service: None

    def diagnose(self, exercise: int, service: FakeService, seed: int) -> str:
        """Note that an exercise was asked for its symptom."""
        assert service.exit_code is None
        self.diagnosed.append(exercise)
        self.diagnosing(service)
        return f"symptom-{exercise}"

    def start(self, spec: ServiceSpec) -> FakeService:
        """Start a service."""
        service = FakeService(spec)
        self.prepare(service)
        self.services.append(service)
        return service

    def checks(self) -> tuple[Check, ...]:
        """Return six checks, each of which meets the exercises that it needs, in order."""

        def play_of(number: int) -> Callable[[Stage], None]:
            def play(stage: Stage) -> None:
                service: object = stage._service
                assert isinstance(service, FakeService)
                self.played.append((number, service.spec.replaced))
                for exercise in sorted(self.needs[number]):
                    if exercise in self.wrong and exercise not in service.spec.replaced:
                        self.wrong[exercise](service)

            return play

        return tuple(Check(number, f"check {number}", own, play_of(number)) for number, own in OWN.items())


def judged(
    house: House, tree: Path, monkeypatch: pytest.MonkeyPatch, only: int | None = None
) -> dict[int, CheckResult]:
    """Judge a tree in a house."""
    monkeypatch.setattr(judging, "start", house.start)
    monkeypatch.setattr(judging, "CHECKS", house.checks())
    monkeypatch.setattr(Stage, "hear", lambda stage: None)
    monkeypatch.setattr(diagnosis, "diagnose", house.diagnose)
    spec = ServiceSpec(str(tree), str(SOLUTION), (), "token", BOTH, {})
    judge = Judge(spec, None, seed=7)
    try:
        results = {result.id: result for result in judge.judge(only)}
    finally:
        judge.close()
    assert [service for service in house.services if not service.stops] == [], "every service is ended"
    return results


def states(results: dict[int, CheckResult]) -> dict[int, tuple[str, list[int]]]:
    """Return state and blockers of the checks that did not pass."""
    return {n: (str(r.status), [*r.blocked_by]) for n, r in results.items() if r.status is not State.PASSED}


def broken(_: FakeService) -> None:
    """Show a wrong answer."""
    raise Broken("the rule", "given", "expected", "actual")


def blamed(line: Line) -> Callable[[FakeService], None]:
    """Have the service say a line that blames an exercise, and end."""

    def play(service: FakeService) -> None:
        service.fault = line
        service.exit_code = -9
        raise Gone

    return play


def hanging(place: str) -> Callable[[FakeService], None]:
    """Have the service stand still at a place."""

    def play(service: FakeService) -> None:
        service.hung_at = place
        raise Gone

    return play


NEEDS = {1: {1}, 2: {2}, 3: {2}, 4: {2, 3}, 5: {4}, 6: {4}}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return a tree in which nothing is the starter's."""
    return tree_with(tmp_path / "written", (1, 2, 3, 4))


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """Return a tree in which everything is the starter's."""
    return tree_with(tmp_path / "fresh", ())


@pytest.fixture(autouse=True)
def _in_the_trees_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


def test_a_right_tree_is_played_once(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six plays on one service, and no trial."""
    house = House({}, NEEDS)
    assert states(judged(house, written, monkeypatch)) == {}
    assert house.played == [(number, ()) for number in OWN]
    assert len(house.services) == 1


def test_the_exercise_of_a_check_fails_and_what_it_is_in_the_way_of_is_blocked(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict on a check is about its own exercise; the others are tried with the solution's."""
    house = House({2: broken}, NEEDS)
    assert states(judged(house, written, monkeypatch)) == {
        2: ("failed", []), 3: ("blocked", [2]), 4: ("blocked", [2]),
    }  # fmt: skip


def test_one_that_was_found_wrong_before_is_tried_first(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then one trial tells all."""
    house = House({2: broken}, NEEDS)
    judged(house, written, monkeypatch)
    assert [play for play in house.played if play[0] == 4] == [(4, ()), (4, (2,))]


def test_a_check_whose_own_exercise_is_wrong_too_fails(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as it shows with the others taken from the solution."""
    house = House({2: broken, 3: lambda _: _raise(Broken("rule of 3", "", "", ""))}, NEEDS)
    results = judged(house, written, monkeypatch)
    assert states(results)[4] == ("failed", [])
    assert results[4].finding.broken_rule == "rule of 3"


def test_two_in_the_way_are_both_named(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No smaller set makes the check pass, and no other exercise is named."""
    needs = {**NEEDS, 5: {1, 2, 4}}
    house = House({1: broken, 2: broken, 3: broken}, needs)
    assert states(judged(house, written, monkeypatch, only=5)) == {5: ("blocked", [1, 2])}


def test_what_stands_in_the_way_once_is_suspected_the_next_time(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also before its own check has had its turn."""
    needs = {number: {4} for number in OWN}
    house = House({4: broken}, needs)
    results = judged(house, written, monkeypatch)
    assert states(results) == {
        **{number: ("blocked", [4]) for number in (1, 2, 3, 4)}, 5: ("failed", []), 6: ("failed", []),
    }  # fmt: skip
    assert [play for play in house.played if play[0] == 2] == [(2, ()), (2, (4,))]


RAISED: Line = {"event": "exercise_raised", "exercise": 4, "where": "", "raised": "KeyError", "message": "'x'"}
STRAYED: Line = {"event": "exercise_strayed", "exercise": 4, "given": "g", "expected": "e", "actual": "a"}
REFUSED: Line = {"event": "illegal_transition", "source": "pending", "target": "running"}


@pytest.mark.parametrize(
    ("line", "exercise", "state", "actual"),
    [
        (RAISED, 4, "crashed", "KeyError: 'x'"),
        (STRAYED, 4, "failed", "a"),
        (REFUSED, 1, "failed", "it was refused"),
    ],
)
def test_the_one_that_the_service_blames_is_tried_first(
    line: Line, exercise: int, state: str, actual: str, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One trial is enough for a check that it blocks, and its own check says what it did."""
    house = House({exercise: blamed(line)}, {number: {1, 4} for number in OWN})
    results = judged(house, written, monkeypatch)
    own = [number for number, each in OWN.items() if each == exercise]
    assert states(results) == {number: (state, []) if number in own else ("blocked", [exercise]) for number in OWN}
    assert {english(results[number].finding.actual) for number in own} == {actual}
    assert [play for play in house.played if play[0] == 3] == [(3, ()), (3, (exercise,))]


def test_what_the_service_says_goes_before_what_it_looks_like(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the answer or the line is read first, an exercise that raised has crashed."""

    def play(service: FakeService) -> None:
        service.fault = {**RAISED, "exercise": 2}
        broken(service)

    results = judged(House({2: play}, NEEDS), written, monkeypatch)
    assert states(results)[2] == ("crashed", [])
    assert results[2].finding.actual == "KeyError: 'x'"


def test_a_loop_in_the_exercise_of_the_check_needs_no_trial(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The place is enough; for the checks of others it says whom to try."""
    lines = (written / "lifecycle.py").read_text("utf-8").split("\n")
    place = f"{written / 'lifecycle.py'}:{len(lines) - 2}"  # should_merge is the last thing in it
    house = House({4: hanging(place)}, {number: {4} for number in OWN})
    results = judged(house, written, monkeypatch)
    assert states(results) == {
        **{number: ("blocked", [4]) for number in (1, 2, 3, 4)}, 5: ("hung", []), 6: ("hung", []),
    }  # fmt: skip
    assert results[5].where == f"written/lifecycle.py:{len(lines) - 2}"
    assert [play for play in house.played if play[0] in (3, 5)] == [(3, ()), (3, (4,)), (5, ())]


def test_a_process_that_stopped_itself_hangs(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot say where, so the exercise is opened at its beginning."""

    def stop(service: FakeService) -> None:
        service.stopped = True
        raise Gone

    house = House({2: stop}, NEEDS)
    results = judged(house, written, monkeypatch)
    assert states(results) == {2: ("hung", []), 3: ("blocked", [2]), 4: ("blocked", [2])}
    assert results[2].where.startswith("written/delivery.py:")


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "state", "actual"),
    [
        (Silent("event 3 of run-1"), "failed", "it did not come"),
        (Gone(), "crashed", "it ended with exit code -6"),
        (ProbeRaised("f(x)", "KeyError", "'x'", ""), "crashed", "KeyError: 'x'"),
        (ValueError("nonsense"), "failed", "ValueError: nonsense"),
    ],
)
def test_what_the_service_does_is_told_in_its_words(
    error: Exception, state: str, actual: str, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silence, an end, an exception in a probe and an answer that is none: each has its state and its sentence."""

    def play(service: FakeService) -> None:
        service.exit_code = -6 if isinstance(error, Gone) else None
        raise error

    results = judged(House({1: play}, NEEDS), written, monkeypatch)
    assert states(results) == {1: (state, [])}
    assert english(results[1].finding.actual) == actual


def test_a_service_that_has_ended_is_not_played_on(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check after one that ended it gets a fresh one; the check after one that only failed does not."""
    ended = House({1: blamed(REFUSED)}, NEEDS)
    judged(ended, written, monkeypatch)
    failed = House({1: broken}, NEEDS)
    judged(failed, written, monkeypatch)
    assert [len(house.services) for house in (ended, failed)] == [3, 2]  # a trial each


def test_the_starter_is_to_do_and_nothing_is_tried(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that nobody has written is no fault, and needs no trial."""
    house = House(dict.fromkeys((1, 2, 3, 4), broken), {1: {1}, 2: {2}, 3: set(), 4: {3}, 5: {4}, 6: set()})
    assert states(judged(house, fresh, monkeypatch)) == {number: ("todo", []) for number in (1, 2, 4, 5)}
    assert house.played == [(number, ()) for number in OWN]


def test_what_is_to_do_is_told_without_what_is_wrong_elsewhere(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash of another exercise is no description of what has to be written here."""
    house = House({1: blamed({**RAISED, "exercise": 1}), 2: broken}, {number: {1, 2} for number in OWN})
    results = judged(house, fresh, monkeypatch)
    assert (str(results[2].status), results[2].finding.broken_rule) == ("todo", "the rule")


def test_exercises_that_do_not_load_are_crashed_and_the_others_judged(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when nobody has written them yet: what does not load is not merely to be done."""
    line: Line = {
        "exercises": [1, 4],
        "file": "fresh/lifecycle.py",
        "line": 3,
        "problem": "raises",
        "expected": "a file",
    }
    house = House({2: broken}, NEEDS, lambda service: service.tree_faults.append(line))
    results = judged(house, fresh, monkeypatch)
    crashed: dict[int, tuple[str, list[int]]] = dict.fromkeys((1, 5, 6), ("crashed", []))
    assert states(results) == {**crashed, 2: ("todo", []), 3: ("blocked", [2]), 4: ("todo", [])}
    assert {results[number].where for number in (1, 5, 6)} == {"fresh/lifecycle.py:3"}


def test_a_failure_of_the_surroundings_is_nobodys(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is away in the middle of a check accuses no exercise, and is not tried again."""
    house = House({1: lambda _: _raise(Unavailable("store", "it does not answer"))}, NEEDS)
    results = judged(house, written, monkeypatch)
    assert states(results) == {1: ("environment", [])}
    assert results[1].finding.actual == "it does not answer"
    assert [play for play in house.played if play[0] == 1] == [(1, ())]


def test_a_service_that_cannot_open_its_doors_ends_the_judging(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has loaded the tree, and then refuses to start: that is the surroundings, and no check is played on."""

    def refuse(service: FakeService) -> None:
        service.log.refusals.append({"event": "not_started", "problem": "nobody listens"})
        service.exit_code = 3
        raise Gone

    house = House({2: refuse}, NEEDS)
    with pytest.raises(Unavailable, match="nobody listens"):
        judged(house, written, monkeypatch)
    assert house.played == [(1, ()), (2, ())]
    assert [service.stops > 0 for service in house.services] == [True]


def test_a_check_without_an_exercise_that_fails_with_the_solution_blames_the_surroundings(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the tree is left in that trial."""
    house = House({5: broken}, {**NEEDS, 3: {5}})
    assert states(judged(house, written, monkeypatch)) == {3: ("environment", [])}


def symptoms(results: dict[int, CheckResult]) -> dict[int, str]:
    """Return the symptoms there are."""
    return {number: result.symptom for number, result in results.items() if result.symptom}


def test_what_is_wrong_by_itself_is_asked_for_its_symptom_once(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both checks of an exercise have the answer; what is blocked, and who passes, is asked nothing."""
    house = House({2: broken, 4: broken}, {1: set(), 2: {2}, 3: {2}, 4: set(), 5: {4}, 6: {4}})
    results = judged(house, written, monkeypatch)
    assert states(results) == {2: ("failed", []), 3: ("blocked", [2]), 5: ("failed", []), 6: ("failed", [])}
    assert symptoms(results) == {2: "symptom-2", 5: "symptom-4", 6: "symptom-4"}
    assert house.diagnosed == [2, 4]


def test_what_is_to_do_has_no_symptom(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has made a mistake there yet."""
    house = House(dict.fromkeys((1, 2, 3, 4), broken), {1: {1}, 2: {2}, 3: set(), 4: {3}, 5: {4}, 6: set()})
    assert symptoms(judged(house, fresh, monkeypatch)) == {}
    assert house.diagnosed == []


def test_what_does_not_return_is_not_asked(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That it does not return is the symptom, as long as somebody can say where."""

    def hang(service: FakeService) -> None:
        service.hung_at = f"{written}/delivery.py:9"
        raise Gone

    def stop(service: FakeService) -> None:
        service.stopped = True
        raise Gone

    for deed, found in ((hang, {2: "does-not-return"}), (stop, {})):
        house = House({2: deed}, {**NEEDS, 3: set(), 4: set()})
        results = judged(house, written, monkeypatch)
        assert (states(results)[2][0], symptoms(results), house.diagnosed) == ("hung", found, [])


def test_a_service_that_is_ended_by_the_question_is_not_played_on(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next check gets a fresh one."""
    house = House({1: broken}, NEEDS, diagnosing=FakeService.stop)
    assert symptoms(judged(house, written, monkeypatch)) == {1: "symptom-1"}
    assert len(house.services) == 3  # the first, a trial, and the fresh one


def test_a_diagnosis_that_finds_nobody_has_no_name() -> None:
    """A service that does not answer is ended; that it stands still in a tree is a symptom all the same."""
    service = FakeService(ServiceSpec("tree", str(SOLUTION), (), "token", BOTH, {}))
    assert (diagnosis.diagnose(1, cast("Service", service), 7), service.stops) == ("", 1)
    service.hung_at = "delivery.py:9"
    assert diagnosis.diagnose(2, cast("Service", service), 7) == "does-not-return"


@pytest.mark.parametrize("sees_it", [True, False])
def test_evidence_does_not_tell_how_far_one_came_in_what_the_service_broke_off(
    sees_it: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was over before stays; whether a reader saw the end of a stream, or that nobody was there, is chance."""
    service = FakeService(ServiceSpec("tree", str(SOLUTION), (), "token", BOTH, {}))
    monkeypatch.setattr(Stage, "hear", lambda stage: None)

    def play_check(stage: Stage) -> None:
        stage.evidence["probe"] = "all right"
        stage.new_session()
        service.fault, service.exit_code = {**RAISED, "exercise": 2}, -9
        if sees_it:
            stage.evidence["delivered"] = []
            raise Broken("the rule", "given", "expected", "actual")
        raise Gone

    outcome = play(Check(2, "check 2", 2, play_check), cast("Service", service), 7)
    assert (outcome.state, outcome.accused, outcome.evidence) == (State.CRASHED, 2, {"probe": "all right"})
