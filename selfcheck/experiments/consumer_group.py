"""`consumer-group`: the output stream is shared out between its readers instead of broadcast to them."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from selfcheck.experiments.drawing import Cell, bad, good, lane, legend, quoted
from selfcheck.experiments.experiment import Experiment, Ground, Pointer, Row, both, row
from selfcheck.experiments.onlooker import Onlooker, onlooker, text_of
from selfcheck.texts import say

GUARD_S: Final = 1.0
"""How long the guard lets a hole be open here: what comes later than that, it has fetched from the store."""
EARLY_S: Final = 0.01


@dataclass(frozen=True, slots=True)
class Waiter:
    """One of the two waiters: the bus gave its gateway `given`, and `seen` came to it, `in_time` or later."""

    given: list[int]
    in_time: list[int]
    seen: list[int]
    text: str  # on the screen before the guard helped
    last_after_s: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of the scenario: a run of so many events, watched by two."""

    events: int
    backfills: int  # how often a gateway had to fetch from the store what did not come
    waiters: tuple[Waiter, Waiter]


def play(ground: Ground) -> Seen:
    """Watch a run at two gateways, from before its first event to its end."""
    stage = ground.stage
    stage.gate(0)
    session = stage.new_session()
    run = ground.open_run(session)
    with onlooker(ground.url, run) as a, onlooker(ground.second, run) as b, ThreadPoolExecutor(2) as pool:
        began = time.monotonic()
        stage.gate(None)
        for reading in [pool.submit(each.rest) for each in (a, b)]:
            reading.result()
    stage.hear()
    backfills = len(stage.log.all("backfilled"))
    given = stage.control(("arrivals", [run]), ("arrivals_second", [run]))
    # Where nothing was fetched nothing was late, however slow the machine.
    until = began + GUARD_S - EARLY_S if backfills else inf
    first, second = (_waiter(each, seqs, began, until) for each, seqs in zip((a, b), map(_numbers, given), strict=True))
    return Seen(len(stage.history(session)), backfills, (first, second))


def _numbers(answer: object) -> list[int]:
    assert isinstance(answer, list), "arrivals are a list"
    return [int(seq) for seq in answer]


def _waiter(each: Onlooker, given: list[int], began: float, until: float) -> Waiter:
    in_time = [sighting for sighting in each.seen if sighting.at_s < until]
    last_after_s = each.seen[-1].at_s - began if each.seen else 0.0
    return Waiter(given, [int(one.event.id) for one in in_time], each.seqs, text_of(in_time), last_after_s)


def rows(sides: tuple[Seen, Seen]) -> list[Row]:
    """Draw what each waiter was given and what was on its screen."""
    ends = [max(waiter.last_after_s for waiter in seen.waiters) for seen in sides]
    told = [say("experiments_consumer_group.after", seconds=f"{end:.2f}") for end in ends]
    return [
        row(say("experiments_consumer_group.given", name="A"), (_given(seen, 0) for seen in sides)),
        row(say("experiments_consumer_group.given", name="B"), (_given(seen, 1) for seen in sides)),
        row(say("experiments_consumer_group.screen", name="A"), (_screen(seen, 0) for seen in sides)),
        row(say("experiments_consumer_group.screen", name="B"), (_screen(seen, 1) for seen in sides), _legend()),
        row(say("experiments_consumer_group.last"), (good(told[0]), bad(told[1]))),
    ]


def _given(seen: Seen, at: int) -> RenderableType:
    given = set(seen.waiters[at].given)
    cells = [Cell.HERE if seq in given else Cell.ABSENT for seq in range(seen.events)]
    return Group(lane(cells), str(say("experiments_consumer_group.count", given=len(given), events=seen.events)))


def _screen(seen: Seen, at: int) -> RenderableType:
    waiter = seen.waiters[at]

    def cell(seq: int) -> Cell:
        if seq in waiter.in_time:
            return Cell.HERE
        return Cell.LATE if seq in waiter.seen else Cell.ABSENT

    return Group(lane(cell(seq) for seq in range(seen.events)), quoted(waiter.text))


def _legend() -> Text:
    return legend(
        (Cell.HERE, say("experiments_consumer_group.here")),
        (Cell.LATE, say("experiments_consumer_group.late")),
        (Cell.ABSENT, say("experiments_consumer_group.absent")),
    )


EXPERIMENT = Experiment(
    "consumer-group",
    lambda healthy, broken: rows(both(play, healthy, broken)),
    code=(
        Pointer("src/shared/ports.py", "OutputStream.follow"),
        Pointer("src/shared/adapters/redis/lanes.py", "Lanes"),
        Pointer("src/gateway/hub.py", "Channel.since"),
    ),
    tests=(Pointer("tests/contract/test_following.py", "test_all_readers_get_everything"),),
    check=3,
    settings={"KODA_REORDER_WAIT": f"{GUARD_S:g}s"},
)
