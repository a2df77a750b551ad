"""The loop of `watch`: takes what happens, one by one, and decides what is to be played.

A save is believed when nothing more has been written for a moment. Then the tree is read; what counts is compared with
what was judged last, and a round begins with the checks of the exercises that differ. A round is cancelled by the next
save that changes anything. A verdict is shown only when the files are still those that the round began with.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from queue import Empty
from typing import Protocol

from selfcheck.checks import CHECKS
from selfcheck.play import MOST_PRINTS, finding_of
from selfcheck.recognising import explained
from selfcheck.reporting import runs
from selfcheck.reporting.feedback import all_of
from selfcheck.reporting.sheet import Sheet
from selfcheck.results import CheckResult, Finding, State
from selfcheck.texts import Message, say
from selfcheck.watch.board import Board, Row
from selfcheck.watch.events import Event, Noted, Over, Playing, Pressed, Saved, Verdict
from selfcheck.watch.reading import Essence, Reading, changed, read, stamps
from selfcheck.watch.screen import Screen

SETTLE_S = 0.03  # nothing more is written for so long: a save of one file, or of both at once, is over
GRACE_S = 0.3  # a file that is empty or absent has so long to come back
END_KEYS = frozenset({"q", "Q", "\x04", ""})  # Ctrl-D, and a terminal that is gone
AGAIN_KEYS = frozenset({"\r", "\n"})


class Inbox(Protocol):
    """Where events come from."""

    def get(self, *, timeout: float | None) -> Event:
        """Return the next event, waiting for it; raise `Empty` when none comes in so many seconds (None: for ever)."""
        ...


Begin = Callable[[Sequence[int]], Playing]


class Loop:
    """Watches one tree. `begin` starts a round that plays these checks in this order; `rested` is called after each."""

    def __init__(
        self, tree: Path, new_sheet: Callable[[], Sheet], inbox: Inbox, begin: Begin, screen: Screen,
        rested: Callable[[], None] = lambda: None, clock: Callable[[], datetime] = datetime.now,
    ) -> None:  # fmt: skip
        self._tree = tree
        self._new_sheet = new_sheet
        self._inbox = inbox
        self._begin = begin
        self._screen = screen
        self._rested = rested
        self._clock = clock
        self._sheet = new_sheet()
        self._board = Board({check.id: Row(check) for check in self._sheet.left()}, self._sheet.report())
        self._wait_s: float | None = None  # a save is being waited out
        self._patient = False  # a file was empty, and has had its grace
        self._reading = read(tree)
        self._judged: dict[str, Essence] = {}  # what the newest round began with
        self._whole = False  # all checks that there are have been, or are being, played on that
        self._round: Playing | None = None
        self._leaving: list[Playing] = []  # rounds that were cancelled and have not ended
        self._held: list[Verdict | Over] = []  # until it is known whether they are still true

    def run(self) -> None:
        """Judge everything, and again at each save, until a key ends it or an exception does."""
        self._screen.begin(self._board)
        try:
            self._play((), say("watch.first"))
            while self._turn():
                pass
        finally:
            self._cancel()
            for each in self._leaving:
                each.join()

    def _turn(self) -> bool:
        try:
            event = self._inbox.get(timeout=self._wait_s)
        except Empty:
            self._settle()
            return True
        match event:
            case Saved():
                self._wait_s, self._patient = SETTLE_S, False
            case Noted(words):
                self._board.note = words
                self._screen.news(self._board)
            case Pressed(key) if key in END_KEYS:
                return False
            case Pressed(key) if key in AGAIN_KEYS:
                self._cancel()
                self._reading = read(self._tree)
                self._play((), say("watch.asked"))
            case Verdict() | Over():
                self._hear(event)
            case _:
                pass
        return True

    # a save

    def _settle(self) -> None:
        self._wait_s = None
        now = read(self._tree)
        if now.unfinished and not self._patient:
            self._patient, self._wait_s = True, GRACE_S
            return
        self._patient = False
        before, self._reading = self._reading, now
        self._consider(before, now)
        held, self._held = self._held, []
        for event in held:
            self._hear(event)

    def _consider(self, before: Reading, now: Reading) -> None:
        exercises = changed(self._judged, now.essences)
        self._board.faults = [*now.faults.values()]
        if now.faults:
            self._consider_broken(before, now, exercises)
        elif exercises or not self._whole:
            self._play(_own(exercises), _named(exercises))
        elif now.stamps != before.stamps:
            self._tell(say("watch.nothing"))

    def _consider_broken(self, before: Reading, now: Reading, exercises: frozenset[int]) -> None:
        """Tell what cannot be read. What can is played alone: all the rest would be judged with something missing."""
        if exercises:
            self._play(_own(exercises), say("watch.partly", numbers=all_of(sorted(exercises))), whole=False)
        elif now.faults != before.faults:
            self._cancel()
            self._whole = False
            for row in self._board.rows.values():
                row.due = False
            self._tell(say("watch.broken"))

    def _tell(self, words: Message) -> None:
        self._board.news, self._board.news_at = words, self._clock()
        self._screen.news(self._board)

    # a round

    def _play(self, first: Iterable[int], words: Message, *, whole: bool = True) -> None:
        """Begin a round with these checks. What the round before it did not come to is next, then what is left."""
        rows = self._board.rows
        rest = [number for number in rows if rows[number].due] + [*rows] if whole else []
        order = [number for number in dict.fromkeys([*first, *rest]) if number in rows]
        self._cancel()
        self._whole = whole
        self._judged = {**({} if whole else self._judged), **self._reading.essences}
        self._board.faults, self._board.fault = [*self._reading.faults.values()], ""
        self._sheet = self._new_sheet()
        for number, row in rows.items():
            row.due = number in order
        self._tell(words)
        if order:
            self._round = self._begin(order)

    def _cancel(self) -> None:
        if self._round is not None:
            self._round.cancel()
            self._leaving.append(self._round)
            self._round = None

    def _hear(self, event: Verdict | Over) -> None:
        """Take what a round says, unless the tree may be another one by now: then it is looked at first."""
        if isinstance(event, Over) and event.round in self._leaving:
            self._leaving.remove(event.round)
        if event.round is not self._round:
            return
        if self._wait_s is not None or stamps(self._tree) != self._reading.stamps:
            self._held.append(event)
            self._wait_s = SETTLE_S if self._wait_s is None else self._wait_s
        elif isinstance(event, Verdict):
            self._take(event.result)
        else:
            self._end(event)

    def _take(self, result: CheckResult) -> None:
        self._sheet.take(result)
        self._board.around = self._sheet.around()
        row = self._board.rows[result.id]
        row.take(result, self._clock(), result.id in self._board.around.passed_before)
        self._screen.verdict(self._board, row)

    def _end(self, over: Over) -> None:
        self._round = None
        if over.error is not None:
            raise over.error
        if over.fault is not None:
            self._whole = False  # whatever is saved next is a reason to try again
            self._board.fault = explained(over.fault)
            self._take_environment(finding_of(over.fault))
        self._sheet.prints, self._sheet.log = [*over.prints], over.log
        self._keep()
        self._board.around, self._board.printed = self._sheet.around(), self._sheet.prints[-MOST_PRINTS:]
        self._screen.over(self._board)
        self._rested()

    def _keep(self) -> None:
        """Leave the run's folder, and remember how each check came out, as `run` does."""
        done = self._sheet.report()
        if len(done.checks) == done.total:
            self._sheet.keep()
        else:
            runs.remember(self._tree, done)

    def _take_environment(self, finding: Finding) -> None:
        for row in self._board.rows.values():
            if row.due:
                check = row.check
                self._take(CheckResult(check.id, check.name, check.exercise, State.ENVIRONMENT, finding))


def _own(exercises: frozenset[int]) -> list[int]:
    """Return the checks that are about these exercises."""
    return [check.id for check in CHECKS if check.exercise in exercises]


def _named(exercises: frozenset[int]) -> Message:
    return say("watch.saved", numbers=all_of(sorted(exercises))) if exercises else say("watch.rest")
