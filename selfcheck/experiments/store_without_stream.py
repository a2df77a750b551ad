"""`store-without-stream`: waiters get their events from the store alone, by asking it again and again."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from rich.console import Group
from rich.text import Text

from selfcheck.experiments.drawing import WIDTH, Cell, bar, lane, legend
from selfcheck.experiments.experiment import Experiment, Ground, Pointer, Row, both, row
from selfcheck.experiments.onlooker import onlooker
from selfcheck.texts import say

TURNS: Final = 3
SLOT_S: Final = 0.025
"""What a column of the time line stands for."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply, measured: seconds after the message was sent at which each fragment came."""

    fragments_s: Sequence[float]

    @property
    def first_s(self) -> float:
        """The time to the first token."""
        return self.fragments_s[0]

    @property
    def pause_s(self) -> float:
        """The longest time from one token to the next."""
        return max(self.pauses_s)

    @property
    def pauses_s(self) -> Sequence[float]:
        """All times from one token to the next."""
        return [later - sooner for sooner, later in pairwise(self.fragments_s)]


def play(ground: Ground) -> Sequence[Turn]:
    """Ask a few times, one after the other, and measure."""
    return [_turn(ground) for _ in range(TURNS)]


def _turn(ground: Ground) -> Turn:
    began = time.monotonic()
    run = ground.open_run()
    with onlooker(ground.url, run) as waiter:
        waiter.rest()
    return Turn([sighting.at_s - began for sighting in waiter.seen if sighting.event.event == "delta"])


def rows(sides: tuple[Sequence[Turn], Sequence[Turn]]) -> list[Row]:
    """Draw how long one waits, and when."""
    first = [median(turn.first_s for turn in turns) for turns in sides]
    pause = [median(turn.pause_s for turn in turns) for turns in sides]
    meaning = legend((Cell.HERE, say("experiments_store_without_stream.slot", ms=round(SLOT_S * 1000))))
    return [
        row(
            say("experiments_store_without_stream.first", turns=TURNS, ratio=_ratio(first)),
            (_bar(value, first) for value in first),
        ),
        row(
            say("experiments_store_without_stream.pause", turns=TURNS, ratio=_ratio(pause)),
            (Group(_bar(value, pause), _typical(turns)) for value, turns in zip(pause, sides, strict=True)),
        ),
        row(
            say("experiments_store_without_stream.line"),
            (lane(_slots(turns[0])) for turns in sides),
            meaning,
        ),
    ]


def _ratio(pair: Sequence[float]) -> str:
    return f"{pair[1] / pair[0]:.1f}"


def _bar(value: float, pair: Sequence[float]) -> Text:
    return bar(value, max(pair), f"{value * 1000:.0f} ms")


def _typical(turns: Sequence[Turn]) -> str:
    ms = median(pause for turn in turns for pause in turn.pauses_s) * 1000
    return str(say("experiments_store_without_stream.typical", ms=f"{ms:.1f}"))


def _slots(turn: Turn) -> list[Cell]:
    filled = {int(at_s / SLOT_S) for at_s in turn.fragments_s}
    return [Cell.HERE if slot in filled else Cell.ABSENT for slot in range(min(max(filled) + 1, 2 * WIDTH))]


EXPERIMENT = Experiment(
    "store-without-stream",
    lambda healthy, broken: rows(both(play, healthy, broken)),
    code=(
        Pointer("src/worker/writer.py", "RunWriter.event"),
        Pointer("src/worker/outbox.py", "Outbox"),
        Pointer("src/gateway/hub.py", "Hub.join"),
    ),
    tests=(Pointer("tests/unit/test_writer.py", "test_a_fragment_is_on_the_stream_at_once_and_soon_in_the_store"),),
    settings={"KODA_FRAGMENT_PACE": "20ms", "KODA_FLUSH_EVERY": "200ms"},
)
