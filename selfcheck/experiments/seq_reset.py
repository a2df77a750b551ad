"""`seq-reset`: the rerun of a run begins again at number 0."""

from dataclasses import dataclass
from typing import Final

from rich.text import Text

from selfcheck.experiments.drawing import Cell, lane, legend, quoted
from selfcheck.experiments.experiment import CORRECTION, Experiment, Ground, Pointer, Row, both, row
from selfcheck.experiments.onlooker import onlooker, reopened
from selfcheck.texts import say

HELD_AT: Final = 8
"""Fragments of the first reply that are out when the correction comes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of the scenario."""

    written: list[int]  # the numbers on the stream, in the order of writing
    received: list[int]  # what the waiter got of them
    reruns: int  # of which the waiter was told
    text: str  # on its screen
    stored: str  # for somebody who opens the page anew


def play(ground: Ground) -> Seen:
    """Correct a message while it is being answered, as check 5 does."""
    stage = ground.stage
    stage.gate(0)
    session = stage.new_session()
    run = ground.open_run(session)
    with onlooker(ground.url, run) as waiter:
        stage.gate(HELD_AT)
        waiter.take(HELD_AT)
        stage.say(session, CORRECTION)
        stage.gate(HELD_AT + 1)  # writing one fragment more brings the mark back
        stage.awaited_line("run_rerun", run_id=run)
        stage.gate(None)
        waiter.rest()
        (written,) = stage.control(("arrivals", [run]))
    assert isinstance(written, list), "arrivals are a list"
    numbers = [int(str(seq)) for seq in written]
    reruns = waiter.kinds.count("rerun")
    return Seen(numbers, waiter.seqs, reruns, waiter.text, reopened(ground.url, session))


def rows(sides: tuple[Seen, Seen]) -> list[Row]:
    """Draw what became of what was written."""
    meaning = legend((Cell.HERE, say("experiments_seq_reset.here")), (Cell.DROPPED, say("experiments_seq_reset.drop")))
    return [
        row(say("experiments_seq_reset.numbers"), (Text(_numbers(seen.written)) for seen in sides)),
        row(say("experiments_seq_reset.first"), (lane(_first(seen)) for seen in sides)),
        row(say("experiments_seq_reset.second"), (lane(_second(seen)) for seen in sides), meaning),
        row(say("experiments_seq_reset.screen"), (quoted(seen.text) for seen in sides)),
        row(say("experiments_seq_reset.store"), (quoted(seen.stored) for seen in sides)),
    ]


def dropped(seen: Seen) -> list[int]:
    """Return the places, in the order of writing, of what was taken for a copy of an earlier event."""
    return [at for at, seq in enumerate(seen.written) if seq in seen.written[:at]]


def _numbers(written: list[int]) -> str:
    around = written[HELD_AT - 1 : HELD_AT + 5]
    return f"0 1 2 .. {' '.join(map(str, around))} .. {written[-1]}"


def _first(seen: Seen) -> list[Cell]:
    return _cells(seen)[: HELD_AT + 1]


def _second(seen: Seen) -> list[Cell]:
    return _cells(seen)[HELD_AT + 1 :]


def _cells(seen: Seen) -> list[Cell]:
    lost = set(dropped(seen))
    return [Cell.DROPPED if at in lost else Cell.HERE for at in range(len(seen.written))]


EXPERIMENT = Experiment(
    "seq-reset",
    lambda healthy, broken: rows(both(play, healthy, broken)),
    code=(
        Pointer("src/worker/writer.py", "RunWriter.rerun"),
        Pointer("solution/delivery.py", "SeqOrderer.offer"),
        Pointer("src/shared/events.py", "Event"),
    ),
    tests=(Pointer("tests/unit/test_executor.py", "test_a_message_that_joins_starts_the_reply_again"),),
    check=5,
)
