"""The loop of `watch`, with events that are made up and files that are real."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from queue import Empty

import pytest

from selfcheck import early
from selfcheck.checks import CHECKS
from selfcheck.reporting.runs import passed_before
from selfcheck.reporting.sheet import Sheet
from selfcheck.results import CheckResult, State
from selfcheck.texts import english, say
from selfcheck.watch.board import Board, Row
from selfcheck.watch.events import Event, Noted, Over, Pressed, Saved, Verdict
from selfcheck.watch.loop import GRACE_S, SETTLE_S, Loop
from shared.errors import Unavailable
from tests.support.judging import SOLUTION, STARTER, tree_with

NOON = datetime(2026, 1, 1, 12)
SAVED = Saved()
WHOLE = [1, 2, 3, 4, 5, 6]


@dataclass(eq=False)
class FakeRound:
    """A round that ends when it is told to."""

    order: Sequence[int]
    cancelled: bool = False
    joined: bool = False

    def cancel(self) -> None:
        """Note it."""
        self.cancelled = True

    def join(self) -> None:
        """Note it."""
        assert self.cancelled
        self.joined = True


@dataclass
class Heard:
    """A screen that keeps what it is shown, as one would read it."""

    lines: list[str] = field(default_factory=list)

    def begin(self, board: Board) -> None:
        """Show nothing."""

    def news(self, board: Board) -> None:
        """Show the news."""
        faults = [f"{fault.where.rpartition('/')[2]} {fault.problem}" for fault in board.faults]
        self.lines.append("; ".join([english(board.news), *faults, *([english(board.note)] if board.note else [])]))

    def verdict(self, board: Board, row: Row) -> None:
        """Show a verdict."""
        assert row.result is not None
        assert row.at == NOON
        change = f" ({english(row.change)})" if row.change is not None else ""
        self.lines.append(f"{row.check.id} {row.result.status}{change}")

    def over(self, board: Board) -> None:
        """Show the score."""
        self.lines.append(english(board.score().plain.strip()))


class House:
    """A tree, the loop that watches it, and what is to happen, one after the other; then somebody ends it."""

    def __init__(self, tree: Path, only: int | None = None) -> None:
        self.tree = tree
        self.rounds: list[FakeRound] = []
        self.waits: list[float | None] = []
        self.rests = 0
        self.screen = Heard()
        self._options = early.Options(str(tree), only)
        self._saves = 0
        self._script: list[Callable[[], Event | None]] = []

    def then(self, *steps: Callable[[], Event | None] | Event) -> None:
        """Have something happen: an event, or a deed that may give one. Without one, nothing happens for a while."""
        for step in steps:
            self._script.append((lambda event: lambda: event)(step) if not callable(step) else step)

    def save(self, file: str, text: str) -> Callable[[], Event]:
        """Write a file, and have it announced."""

        def deed() -> Event:
            (self.tree / file).write_text(text, "utf-8")
            self._saves += 1  # a time of its own, also where the clock of the file system is a coarse one
            os.utime(self.tree / file, (self._saves, self._saves))
            return SAVED

        return deed

    def verdict(self, number: int, state: State = State.PASSED) -> Callable[[], Event]:
        """Have the newest round judge a check."""
        check = CHECKS[number - 1]
        result = CheckResult(number, check.name, check.exercise, state)
        return lambda: Verdict(self.rounds[-1], result)

    def over(self, at: int = -1, fault: Unavailable | None = None) -> Callable[[], Event]:
        """Have a round end."""
        return lambda: Over(self.rounds[at], fault)

    def all_pass(self) -> None:
        """Have the newest round judge all checks, and end."""
        self.then(*(self.verdict(number) for number in WHOLE), self.over())

    def run(self) -> list[str]:
        """Watch until everything has happened, and return what was shown."""
        self._script.append(lambda: Pressed("q"))
        Loop(
            self.tree, lambda: Sheet(self._options, "mock"), self, self._begin, self.screen, self._rest, lambda: NOON
        ).run()
        return self.screen.lines

    def get(self, *, timeout: float | None) -> Event:
        """Return what happens next."""
        self.waits.append(timeout)
        event = self._script.pop(0)()
        if event is None:
            raise Empty
        return event

    def _begin(self, order: Sequence[int]) -> FakeRound:
        self.rounds.append(FakeRound([*order]))
        return self.rounds[-1]

    def _rest(self) -> None:
        self.rests += 1


def quiet() -> None:
    """Nothing happens."""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A house whose tree is the starter's."""
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "home"))
    return House(tree_with(tmp_path / "tree", []))


def text_of(*solved: int, file: str, tmp_path: Path) -> str:
    """Return the text of a file with some exercises written."""
    return (tree_with(tmp_path / "donor", solved) / file).read_text("utf-8")


FIRST = "every check is played; after that, at each save"
ALL_PASS = [*(f"{number} passed" for number in WHOLE), "6 of 6 pass"]


def test_at_first_everything_is_judged(house: House) -> None:
    """In the order of the lesson; then the next services are got ready, and nothing is waited for."""
    house.all_pass()
    assert house.run() == [FIRST, *ALL_PASS]
    assert [each.order for each in house.rounds] == [WHOLE]
    assert (house.rests, set(house.waits)) == (1, {None})


@pytest.mark.parametrize(
    ("number", "file", "order"),
    [
        (1, "lifecycle.py", [1, 2, 3, 4, 5, 6]),
        (2, "delivery.py", [2, 1, 3, 4, 5, 6]),
        (3, "delivery.py", [4, 1, 2, 3, 5, 6]),
        (4, "lifecycle.py", [5, 6, 1, 2, 3, 4]),
    ],
)
def test_what_a_save_affects_is_played_first(
    number: int, file: str, order: list[int], house: House, tmp_path: Path
) -> None:
    """The checks that are about the exercise, then the rest."""
    house.all_pass()
    house.then(house.save(file, text_of(number, file=file, tmp_path=tmp_path)), quiet)
    house.run()
    assert [each.order for each in house.rounds] == [WHOLE, order]


def test_a_comment_is_said_to_change_nothing(house: House) -> None:
    """And nothing is played."""
    house.all_pass()
    house.then(house.save("lifecycle.py", f"# a comment\n{(STARTER / 'lifecycle.py').read_text('utf-8')}"), quiet)
    assert house.run()[-1] == "saved: nothing changed that counts, so nothing is played"
    assert len(house.rounds) == 1


def test_what_was_written_beside_the_files_is_passed_over(house: House) -> None:
    """An editor's own file is announced, too."""
    house.all_pass()
    house.then(house.save(".lifecycle.py.swp", "anything"), quiet)
    assert house.run() == [FIRST, *ALL_PASS]


def test_two_files_that_are_saved_at_once_are_one_run(house: House) -> None:
    """Each announcement puts the reading off."""
    house.all_pass()
    for file in ("lifecycle.py", "delivery.py"):
        house.then(house.save(file, (SOLUTION / file).read_text("utf-8")), SAVED)
    house.then(quiet)
    assert house.run()[-1] == "saved: exercises 1, 2, 3 and 4 changed"
    assert [each.order for each in house.rounds] == [WHOLE, [1, 2, 4, 5, 6, 3]]
    assert house.waits[7:] == [None, SETTLE_S, SETTLE_S, SETTLE_S, SETTLE_S, None]


def test_a_save_in_the_middle_of_a_run_starts_over(house: House, tmp_path: Path) -> None:
    """With what is newest, then what was due first before, then the rest. Nobody hears the old round any more."""
    text = text_of(2, file="delivery.py", tmp_path=tmp_path)
    house.then(house.save("delivery.py", text), quiet, house.verdict(2))
    house.then(house.save("lifecycle.py", (SOLUTION / "lifecycle.py").read_text("utf-8")), quiet)
    house.then(lambda: Verdict(house.rounds[1], CheckResult(3, "", None, State.FAILED)), house.over(1))
    house.then(house.verdict(1), house.over(0))
    assert house.run() == [
        FIRST, "saved: exercise 2 changed", "2 passed", "saved: exercises 1 and 4 changed", "1 passed",
    ]  # fmt: skip
    assert [each.order for each in house.rounds] == [WHOLE, [2, 1, 3, 4, 5, 6], [1, 5, 6, 3, 4, 2]]
    assert [(each.cancelled, each.joined) for each in house.rounds] == [(True, False), (True, False), (True, True)]


def test_a_verdict_that_comes_after_a_save_is_looked_at_again(house: House, tmp_path: Path) -> None:
    """Nothing has announced the save yet; but the files are not those that the round began with."""
    text = text_of(2, file="delivery.py", tmp_path=tmp_path)

    def late() -> Event:
        house.save("delivery.py", text)()
        return house.verdict(2, State.FAILED)()

    house.then(late, quiet)
    assert house.run() == [FIRST, "saved: exercise 2 changed"]
    assert [each.cancelled for each in house.rounds] == [True, True]


def test_a_comment_in_the_middle_of_a_run_leaves_it_going(house: House) -> None:
    """What was judged meanwhile is shown, with its end."""
    text = f"# a comment\n{(STARTER / 'lifecycle.py').read_text('utf-8')}"
    house.then(house.verdict(1), house.save("lifecycle.py", text))
    house.then(*(house.verdict(number) for number in WHOLE[1:]), house.over(), quiet)
    shown = house.run()
    assert shown == [FIRST, "1 passed", "saved: nothing changed that counts, so nothing is played", *ALL_PASS[1:]]
    assert len(house.rounds) == 1


def test_a_file_that_does_not_parse_is_told_and_the_verdicts_stay(house: House) -> None:
    """Mended, it is as it was; but nobody knows what would have become of the round that was cancelled."""
    text = (STARTER / "lifecycle.py").read_text("utf-8")
    house.all_pass()
    house.then(house.save("lifecycle.py", f"{text}def f(:\n"), quiet, SAVED, quiet)
    house.then(house.save("lifecycle.py", text), quiet)
    broken = f"lifecycle.py:{text.count(chr(10)) + 1} is not Python: invalid syntax"
    assert house.run() == [
        FIRST,
        *ALL_PASS,
        f"saved: nothing is played until this is mended; the verdicts are those of before; {broken}",
        "saved: every check is played again",
    ]
    assert [each.order for each in house.rounds] == [WHOLE, WHOLE]


def test_beside_a_broken_file_the_other_is_judged_alone(house: House, tmp_path: Path) -> None:
    """Only its own checks: the rest is played when everything can be read."""
    lifecycle = (STARTER / "lifecycle.py").read_text("utf-8")
    house.all_pass()
    house.then(house.save("lifecycle.py", "def f(:"), quiet)
    house.then(house.save("delivery.py", text_of(3, file="delivery.py", tmp_path=tmp_path)), quiet)
    house.then(house.verdict(4, State.FAILED), house.over(), house.save("lifecycle.py", lifecycle), quiet)
    shown = house.run()[-4:]
    assert shown == [
        "saved: exercise 3 changed; the other checks wait until all files can be read; "
        "lifecycle.py:1 is not Python: invalid syntax",
        "4 failed (regression)",
        "5 of 6 pass",
        "saved: every check is played again",
    ]
    assert [each.order for each in house.rounds] == [WHOLE, [4], WHOLE]
    assert passed_before(house.tree, "mock") == {1, 2, 3, 5, 6}


def test_a_file_that_is_missing_for_a_moment_is_waited_for(house: House) -> None:
    """Some editors delete and write: what comes back within the grace was never away."""
    text = (STARTER / "lifecycle.py").read_text("utf-8")

    def delete() -> Event:
        (house.tree / "lifecycle.py").unlink()
        return SAVED

    house.all_pass()
    house.then(delete, quiet, house.save("lifecycle.py", ""), quiet, house.save("lifecycle.py", text), quiet)
    assert house.run()[-1] == "saved: nothing changed that counts, so nothing is played"


def test_a_folder_that_is_gone_is_told_after_the_grace(house: House) -> None:
    """When it is back, everything is judged."""
    away = house.tree.with_name("away")

    def go() -> Event:
        house.tree.rename(away)
        return SAVED

    def come() -> Event:
        away.rename(house.tree)
        return SAVED

    house.all_pass()
    house.then(go, quiet, quiet, come, quiet)
    assert [line.partition(";")[0] for line in house.run()[-2:]] == [
        "saved: nothing is played until this is mended",
        "saved: every check is played again",
    ]
    assert house.waits[-6:] == [None, SETTLE_S, GRACE_S, None, SETTLE_S, None]


def test_changes_are_named(house: House) -> None:
    """Beside each verdict: what has become green, and what was."""
    house.then(*(house.verdict(number, State.TODO if number < 3 else State.PASSED) for number in WHOLE), house.over())
    house.then(Pressed("\r"), house.verdict(1), house.verdict(2, State.FAILED), house.verdict(3, State.FAILED))
    assert house.run()[-4:] == [
        "every check is played again",
        "1 passed (newly green)",
        "2 failed",
        "3 failed (regression)",
    ]


def test_what_passed_in_an_earlier_run_can_regress(house: House) -> None:
    """As in `run`: results are remembered, by either for the other."""
    house.all_pass()
    house.run()
    again = House(house.tree)
    again.then(again.verdict(1, State.FAILED))
    assert again.run() == [FIRST, "1 failed (regression)"]


def test_one_check_alone_is_all_there_is(house: House, tmp_path: Path) -> None:
    """With --only, whatever is saved: another exercise may have been what blocked it."""
    alone = House(house.tree, only=4)
    alone.then(alone.verdict(4), alone.over())
    alone.then(alone.save("delivery.py", text_of(2, file="delivery.py", tmp_path=tmp_path)), quiet)
    assert alone.run() == [FIRST, "4 passed", "1 of 1 pass", "saved: exercise 2 changed"]
    assert [each.order for each in alone.rounds] == [[4], [4]]


def test_a_service_that_cannot_be_had_is_nobodys_fault(house: House) -> None:
    """What is left says so; any save is a reason to try again."""
    house.then(house.verdict(1), house.over(fault=Unavailable("service", "it did not start: no room")), SAVED, quiet)
    shown = house.run()
    assert shown[1:7] == ["1 passed", *(f"{number} environment" for number in WHOLE[1:])]
    assert shown[-1] == "saved: every check is played again"


def test_how_the_tree_is_watched_is_said(house: House) -> None:
    """When that is not as well as it could be."""
    house.then(Noted(say("watch.no_library")))
    note = "watchfiles is not installed: the files are looked at five times a second instead"
    assert house.run() == [FIRST, f"{FIRST}; {note}"]


def test_a_fault_of_ours_ends_it(house: House) -> None:
    """It is not taken for a verdict."""
    house.then(lambda: Over(house.rounds[0], error=ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        house.run()
