"""`stream-without-store`: events go to the stream and nowhere else, and the stream does not last."""

from dataclasses import dataclass
from typing import Final

from rich.console import RenderableType

from selfcheck.experiments.drawing import Cell, bad, good, lane, legend, quoted
from selfcheck.experiments.experiment import Experiment, Ground, Pointer, Row, both, row
from selfcheck.experiments.onlooker import onlooker, reopened
from selfcheck.texts import say

CUT_AFTER: Final = 6
HELD_AT: Final = 12
"""Fragments that are written when the stream is lost."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of the scenario."""

    events: int  # of the run, its end included
    before: list[int]  # received before the cut
    after: list[int]  # and after it
    kinds: list[str]  # what came after it, by kind
    problem: str  # what the connection ended with, if that was an error
    reopened: str  # the reply for somebody who opens the page anew


def play(ground: Ground) -> Seen:
    """Cut a connection in the middle of a reply, lose the stream, and reconnect with the cursor."""
    stage = ground.stage
    stage.gate(0)
    session = stage.new_session()
    run = ground.open_run(session)
    with onlooker(ground.url, run) as before:
        stage.gate(HELD_AT)
        before.take(CUT_AFTER)
    stage.awaited_line("flushed", run_id=run, seq=HELD_AT - 1)
    stage.control(("vanish", [run]))
    with onlooker(ground.url, run, before.seqs[-1]) as after:
        stage.gate(None)
        after.rest()
    stage.awaited_line("run_moved", run_id=run, target="done")
    errors = [str(sighting.data["message"]) for sighting in after.seen if sighting.event.event == "error"]
    usage = stage.awaited_line("reply_complete", run_id=run)["usage"]
    assert isinstance(usage, dict), "a reply says what it has cost"
    written = int(str(usage["output_tokens"]))
    problem = errors[-1] if errors else ""
    return Seen(written + 1, before.seqs, after.seqs, after.kinds, problem, reopened(ground.url, session))


def rows(sides: tuple[Seen, Seen]) -> list[Row]:
    """Draw what was received before the cut and after it."""
    meaning = legend(
        (Cell.HERE, say("experiments_stream_without_store.before")),
        (Cell.SECOND, say("experiments_stream_without_store.after")),
        (Cell.ABSENT, say("experiments_stream_without_store.lost")),
    )
    return [
        row(say("experiments_stream_without_store.lane"), (lane(_cells(seen)) for seen in sides), meaning),
        row(say("experiments_stream_without_store.wire"), (_wire(seen) for seen in sides)),
        row(say("experiments_stream_without_store.reopened"), (quoted(seen.reopened) for seen in sides)),
    ]


def _cells(seen: Seen) -> list[Cell]:
    def cell(seq: int) -> Cell:
        if seq in seen.before:
            return Cell.HERE
        return Cell.SECOND if seq in seen.after else Cell.ABSENT

    return [cell(seq) for seq in range(seen.events)]


def _wire(seen: Seen) -> RenderableType:
    if not seen.problem:
        first, last = seen.after[0], seen.after[-1]
        return good(say("experiments_stream_without_store.went_on", first=first, last=last, kind=seen.kinds[-1]))
    return bad(f"{', '.join(seen.kinds)}: {seen.problem}")


EXPERIMENT = Experiment(
    "stream-without-store",
    lambda healthy, broken: rows(both(play, healthy, broken)),
    code=(
        Pointer("src/worker/writer.py", "RunWriter.event"),
        Pointer("src/gateway/feeds.py", "Feeds.begin"),
        Pointer("src/gateway/placing.py", "find_place"),
    ),
    tests=(
        Pointer("tests/unit/test_feed.py", "test_an_ended_run_is_replayed_to_its_end"),
        Pointer("tests/integration/test_resume.py", "test_what_is_received_is_exactly_the_log"),
    ),
    check=4,
    settings={"KODA_REORDER_WAIT": "500ms"},
)
