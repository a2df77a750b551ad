"""The recorder: what a check does and what it sees, in the check's own order.

Nothing in it depends on when something happened, only on what the check asked for and was given. So one seed gives one
record, on any machine; what a service says beside us is put in its place afterwards, by its causes (`timeline`).
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias

import msgspec

from client.sse import ServerEvent
from selfcheck.texts import Words, say
from shared.events import Json

QUOTED = 48  # characters of a message


class Lane(StrEnum):
    """Who does something."""

    CLIENT = "client"
    GATEWAY = "gateway"
    BUS = "bus"
    WORKER = "worker"
    STORE = "store"


class Step(msgspec.Struct, frozen=True):
    """One line of a timeline. `full` has the values that its words cut; `diverges`: from here on it is not as due."""

    lane: Lane
    words: Words
    diverges: bool = False
    full: str = ""


class Opened(msgspec.Struct, frozen=True):
    """A run was opened. `behind` is the run of its session that was not over then, "" when there was none."""

    run_id: str
    name: str
    behind: str


class Receipt(msgspec.Struct, frozen=True):
    """Events that one waiter received in one go, `to_the_end` or not.

    `due` is the seq that was to come first; None when nobody held the run back until its waiter was there. What comes
    twice then is a matter of who was faster, and no subject of the check.
    """

    waiter: str
    run_id: str
    name: str
    due: int | None
    seqs: tuple[int, ...]
    kinds: tuple[str, ...]
    to_the_end: bool


class Arrivals(msgspec.Struct, frozen=True):
    """In which order the bus delivered a run to the gateway."""

    run_id: str
    seqs: tuple[int, ...]


class Probed(msgspec.Struct, frozen=True):
    """An exercise was asked a table of cases."""

    exercise: int
    cases: int


Seen: TypeAlias = Step | Opened | Receipt | Arrivals | Probed

TERMINAL = frozenset({"done", "failed", "cancelled"})


class Recorder:
    """The record of one play. `parted` is whether the check itself saw that something does not hold."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.parted = False
        self._newest: dict[str, str] = {}  # by session: its newest run
        self._ended: set[str] = set()
        self._waiters = 0
        self._over: set[str] = set()  # waiters whose stream has ended
        self._held = False  # whether the model is held back
        self._loose: set[str] = set()  # runs that nobody holds back

    def said(self, session_id: str, text: str, run_id: str, name: str, merged: bool, merges: bool | None) -> None:
        """Note a message and its answer; `merges` is whether it has to be merged, None when that is not the point."""
        self._add(Lane.CLIENT, say("timeline.said", text=_quoted(text)))
        wrong = merges is not None and merged is not merges
        if wrong and merged:
            self._loose.add(run_id)  # where the worker comes upon this message is chance: the check does not expect it
        if merged:
            words = say("timeline.merged_wrongly" if wrong else "timeline.merged", run=name)
        else:
            words = say("timeline.opened_wrongly" if wrong else "timeline.opened", run=name)
        self._add(Lane.GATEWAY, words, diverges=wrong)
        previous = self._newest.get(session_id, "")
        if run_id != previous:
            self._newest[session_id] = run_id
            if not self._held:
                self._loose.add(run_id)
            self.seen.append(Opened(run_id, name, "" if previous in self._ended else previous))

    def watched(self, name: str, cursor: int | None) -> str:
        """Note that a waiter is attached, and return what it is called."""
        self._waiters += 1
        waiter = chr(ord("A") + (self._waiters - 1) % 26)
        if cursor is None:
            self._add(Lane.CLIENT, say("timeline.watched", run=name, waiter=waiter))
        else:
            self._add(Lane.CLIENT, say("timeline.resumed", run=name, waiter=waiter, cursor=cursor))
        return waiter

    def received(
        self, waiter: str, run_id: str, name: str, due: int, events: Sequence[ServerEvent], *, to_the_end: bool
    ) -> None:
        """Note what a waiter received; its first event was to be number `due`."""
        numbered = [(int(event.id), event.event) for event in events if event.has_id and _is_seq(event.id)]
        kinds = tuple(kind for _, kind in numbered)
        if kinds and kinds[-1] in TERMINAL:
            self._ended.add(run_id)
        if to_the_end or (kinds and kinds[-1] in TERMINAL):
            self._over.add(waiter)
        first = None if run_id in self._loose else due
        self.seen.append(Receipt(waiter, run_id, name, first, tuple(seq for seq, _ in numbered), kinds, to_the_end))

    def left(self, waiter: str) -> None:
        """Note that a waiter hangs up; whose stream has ended need not."""
        if waiter not in self._over:
            self._add(Lane.CLIENT, say("timeline.left", waiter=waiter))

    def stood(self, name: str, status: Json) -> None:
        """Note where a run stands."""
        self._add(Lane.STORE, say("timeline.stands", run=name, status=str(status)))

    def stored(self, name: str, seq: int) -> None:
        """Note up to where the store has a run."""
        self._add(Lane.STORE, say("timeline.stored", run=name, seq=seq))

    def counted(self, session_id: str, events: int) -> None:
        """Note how many events the store has, once there will be no more."""
        if self._newest.get(session_id) in self._ended:
            self._add(Lane.STORE, say("timeline.holds", count=events))

    def moved(self, control: str, arguments: Sequence[Json], answer: Json, name: str) -> None:
        """Note what the lab did. `name` is that of the run that is the first argument, if it is one."""
        first = arguments[0] if arguments else None
        if control == "gate":
            self._held = first is not None
        if control == "gate" and self._newest and first != 0:
            words = say("timeline.goes_on") if first is None else say("timeline.holds_at", count=str(first))
            self._add(Lane.WORKER, words)
        elif control == "advance":
            self._add(Lane.GATEWAY, say("timeline.advanced", seconds=f"{first:,}" if isinstance(first, int) else "?"))
        elif control == "shuffle" and first is not None:
            self._add(Lane.BUS, say("timeline.shuffles", seed=str(first)))
        elif control == "arrivals" and isinstance(answer, list):
            self.seen.append(Arrivals(str(first), tuple(seq for seq in answer if isinstance(seq, int))))
        elif control == "late_write":
            self._add(Lane.WORKER, say("timeline.wakes_late", run=name))
            refused = answer is not None
            words = say("timeline.write_refused") if refused else say("timeline.write_taken")
            self._add(Lane.WORKER, words, diverges=not refused)
        elif control == "probe" and isinstance(first, int) and isinstance(answer, list):
            self.seen.append(Probed(first, len(answer)))

    def _add(self, lane: Lane, words: Words, *, diverges: bool = False) -> None:
        self.seen.append(Step(lane, words, diverges))


def _is_seq(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def _quoted(text: str) -> str:
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"
