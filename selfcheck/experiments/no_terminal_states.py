"""`no-terminal-states`: the transition table lets a run leave its end."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from rich.console import RenderableType

from selfcheck.experiments.drawing import bad, good
from selfcheck.experiments.experiment import Experiment, Ground, Pointer, Row, both, row
from selfcheck.experiments.onlooker import onlooker
from selfcheck.playing.watcher import PATIENCE_S
from selfcheck.texts import say

RETURNS: Final = 4
"""How often the waiter comes back: as a browser does, until it is told that there is nothing more."""
IN_VAIN_S: Final = 0.5
"""How long a run is watched that, as we know, nobody can claim."""
PAST_THE_WINDOW_S: Final = 31.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of the scenario."""

    moves: list[str]  # the statuses that the run went through
    refusal: str | None  # what the late worker was told
    status: str  # of the run in the end
    returns: list[list[str]]  # of a waiter that comes back: what came each time, until it was told to stop
    stopped: bool  # whether it was: 204
    next_status: str  # of the session's next run
    other_status: str  # of a run in another session, opened after it


def play(ground: Ground) -> Seen:
    """Let a run end, wake its worker too late, come back as a waiter, and send the next message."""
    stage = ground.stage
    stage.gate(None)
    stage.expect_refusals()
    session = stage.new_session()
    run = ground.open_run(session)
    with onlooker(ground.url, run) as waiter:
        waiter.rest()
    (refusal,) = stage.control(("late_write", [run]))
    returns, stopped = _come_back(ground, run, waiter.seqs[-1])
    stage.control(("advance", [PAST_THE_WINDOW_S]))  # or the message would join the run
    following = ground.open_run(session)
    other = ground.open_run()
    # The other was sent later, so when it has ended a worker has had its chance to claim the one before it.
    for each, patience_s in ((other, PATIENCE_S), (following, IN_VAIN_S if ground.broken else PATIENCE_S)):
        with onlooker(ground.url, each, patience_s=patience_s) as watched:
            watched.rest()
    stage.hear()
    moves = [line for line in stage.log.all("run_moved") if line["run_id"] == run]
    return Seen(
        [str(moves[0]["source"]), *(str(line["target"]) for line in moves)],
        None if refusal is None else str(refusal),
        str(stage.standing(run)["status"]), returns, stopped,
        str(stage.standing(following)["status"]), str(stage.standing(other)["status"]),
    )  # fmt: skip


def _come_back(ground: Ground, run: str, cursor: int) -> tuple[list[list[str]], bool]:
    returns: list[list[str]] = []
    for _ in range(RETURNS):
        with onlooker(ground.url, run, cursor) as again:
            if again.status == HTTPStatus.NO_CONTENT:
                return returns, True
            again.rest()
            cursor = max([cursor, *again.seqs])
            returns.append(again.kinds)
    return returns, False


def rows(sides: tuple[Seen, Seen]) -> list[Row]:
    """Show what the run went through, and what that did to those around it."""
    return [
        row(say("experiments_no_terminal_states.moves"), (_moves(seen) for seen in sides)),
        row(say("experiments_no_terminal_states.worker"), (_worker(seen) for seen in sides)),
        row(say("experiments_no_terminal_states.waiter"), (_waiter(seen) for seen in sides)),
        row(say("experiments_no_terminal_states.next"), (_next(seen) for seen in sides)),
    ]


def _moves(seen: Seen) -> RenderableType:
    said = " → ".join(seen.moves)
    return good(said) if seen.status == "done" else bad(said)


def _worker(seen: Seen) -> RenderableType:
    if seen.refusal is not None:
        return good(seen.refusal)
    return bad(say("experiments_no_terminal_states.written", status=seen.status))


def _waiter(seen: Seen) -> RenderableType:
    if seen.stopped:
        return good(say("experiments_no_terminal_states.nothing_more"))
    kinds = " | ".join(", ".join(kinds) for kinds in seen.returns)
    return bad(say("experiments_no_terminal_states.again", times=RETURNS, kinds=kinds))


def _next(seen: Seen) -> RenderableType:
    told = say("experiments_no_terminal_states.statuses", status=seen.next_status, other=seen.other_status)
    return good(told) if seen.next_status == "done" else bad(told)


EXPERIMENT = Experiment(
    "no-terminal-states",
    lambda healthy, broken: rows(both(play, healthy, broken)),
    code=(
        Pointer("solution/lifecycle.py", "transition"),
        Pointer("src/shared/ledger.py", "Ledger.begin_streaming"),
        Pointer("src/shared/run.py", "RunStatus"),
    ),
    tests=(
        Pointer("tests/unit/test_ledger.py", "test_nothing_but_the_table_keeps_an_ended_run_ended"),
        Pointer("tests/unit/test_writer.py", "test_an_owner_that_wakes_after_the_end_is_refused_by_the_table"),
    ),
    check=1,
)
