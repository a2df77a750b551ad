"""`unbounded-buffer`: nobody outside the orderer minds how much it holds, and for how long."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Group

from selfcheck.experiments.drawing import bad, bar, good
from selfcheck.experiments.experiment import Experiment, Ground, Pointer, Row, both, row
from selfcheck.experiments.onlooker import onlooker
from selfcheck.experiments.places import LONG_REPLY, LOST_SEQ
from selfcheck.playing.watcher import PATIENCE_S, Silent
from selfcheck.texts import say
from shared.events import Json

STEPS: Final = (40, 100, 500, 1000, LONG_REPLY)
"""Fragments that are written when it is looked at what is held; the first is fewer than the guard lets be held."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What is held, and what the waiter has, when so many fragments are written."""

    written: int
    held: int
    bytes: int
    received: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of the scenario: `most` is the largest number that was ever held."""

    samples: Sequence[Sample]
    most: int


def play(ground: Ground) -> Seen:
    """Lose one event on the way to the waiter, write on, and look at what is held."""
    stage = ground.stage
    stage.gate(0)
    run = ground.open_run()
    samples: list[Sample] = []
    most = 0
    with onlooker(ground.url, run) as waiter:
        for written in STEPS:
            stage.gate(written)
            held = _held(ground, written - 1)
            due = LOST_SEQ if ground.broken or written == STEPS[0] else written
            waiter.take(due - len(waiter.seen))
            held = _held(ground, written - 1)
            samples.append(Sample(written, _count(held, "held"), _count(held, "bytes"), len(waiter.seen)))
            most = _count(held, "most")
    return Seen(samples, most)


def _held(ground: Ground, seq: int) -> dict[str, Json]:
    """Say what the orderer holds when it has been offered this number."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        (held,) = ground.stage.control(("held", []))
        assert isinstance(held, dict), "it is said as an object"
        if _count(held, "offered") >= seq:
            return held
    raise Silent(say("experiments.offered", seq=seq))


def _count(held: dict[str, Json], name: str) -> int:
    value = held[name]
    assert isinstance(value, int), "it is counted"
    return value


def rows(sides: tuple[Seen, Seen]) -> list[Row]:
    """Draw how what is held grows."""
    largest = max(sample.held for seen in sides for sample in seen.samples)
    area = "experiments_unbounded_buffer"
    received = [say(f"{area}.received", received=seen.samples[-1].received, written=LONG_REPLY) for seen in sides]
    most = [say(f"{area}.most", held=seen.most, kib=f"{_most_bytes(seen) / 1024:.0f}") for seen in sides]
    return [
        row(say("experiments_unbounded_buffer.held"), (_bars(seen, largest) for seen in sides)),
        row(say("experiments_unbounded_buffer.peak"), (good(most[0]), bad(most[1]))),
        row(say("experiments_unbounded_buffer.waiter"), (good(received[0]), bad(received[1]))),
    ]


def _bars(seen: Seen, largest: int) -> Group:
    return Group(*(bar(each.held, largest, f"{each.held} / {each.written}") for each in seen.samples))


def _most_bytes(seen: Seen) -> int:
    return max(sample.bytes for sample in seen.samples)


EXPERIMENT = Experiment(
    "unbounded-buffer",
    lambda healthy, broken: rows(both(play, healthy, broken)),
    code=(
        Pointer("src/gateway/guard.py", "Guard"),
        Pointer("src/gateway/feed.py", "Feed._mend"),
        Pointer("src/shared/settings.py", "Settings"),
    ),
    tests=(
        Pointer("tests/unit/test_feed.py", "test_too_many_held_events_fill_the_hole_from_the_store"),
        Pointer("tests/unit/test_feed.py", "test_a_hole_that_nothing_fills_ends_the_connection"),
    ),
    broken_settings={"KODA_REORDER_LIMIT": "1000000000", "KODA_REORDER_WAIT": "24h"},
)
