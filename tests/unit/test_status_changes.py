"""What `docs/status-changes.md` says of crashes: that its tests are there, and the crashes that no other test plays."""

import ast
import re
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from shared.run import RunStatus
from solution.lifecycle import TRANSITIONS
from tests.support.moved_loop import pass_time, settle
from tests.support.scenes import on
from tests.support.taps import Barrier, tap
from tests.support.workshop import Puppet, Workshop, delta, done, open_workshop, rerun, with_settings, working

in_a_workshop = on(open_workshop)

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "status-changes.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith(("|--", "| change"))
]

# --- The page ---------------------------------------------------------------------------------------------------------


@cache
def names_of(file: str) -> frozenset[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]}"[:60])
def test_every_step_names_a_test_that_is_there(row: list[str]) -> None:
    """Each row has its six cells, and the last one names nothing but tests of ours."""
    assert len(row) == 6 and all(row)
    named = re.findall(r"`(tests/\w+/test_\w+\.py)::(test_\w+)`", row[5])
    assert ", ".join(f"`{file}::{name}`" for file, name in named) == row[5]
    assert [name for file, name in named if name not in names_of(file)] == []


def test_every_change_of_status_has_its_rows() -> None:
    """The page has all moves of the table, how a run begins, and no other."""
    changes = re.findall(r"`(\w+)` → `(\w+)`", "; ".join(row[0] for row in ROWS))
    allowed = {(source.value, target.value) for source, targets in TRANSITIONS.items() for target in targets}
    assert set(changes) == allowed
    assert "→ `pending`" in [row[0] for row in ROWS]


# --- Crashes that are played here -------------------------------------------------------------------------------------


@in_a_workshop
async def test_a_run_whose_owner_died_at_its_first_fragment_begins_with_a_rerun(shop: Workshop) -> None:
    """W1: it streams and has no event; seq 0 says that there is nothing to keep, and the reply follows."""
    model, barrier = Puppet(), Barrier()
    async with working(shop, model, "w1") as first:
        tap(first.ports.store, "move", after=barrier)
        claimed = await shop.accept()
        await (await model.call(0)).say("a")
        await barrier.reached()
        await first.die()
    run_id = claimed.run_id
    assert (await shop.status(run_id), await shop.stream(run_id)) == (RunStatus.STREAMING, [])
    async with working(shop, model, "w2"):
        second = await model.call(1)
        await second.say("b")
        await second.end()
    assert await shop.log(run_id) == [rerun(run_id, 0, "takeover", 2), delta(run_id, 1, "b"), done(run_id, 2)]


@in_a_workshop
async def test_a_session_goes_on_although_its_worker_died_at_the_end_of_a_run(shop: Workshop) -> None:
    """The run has ended, the next one has no doorbell of its own any more, and a sweep finds it."""
    with_settings(shop, first_piece_wait=timedelta(minutes=1))
    model, barrier = Puppet(), Barrier()
    async with working(shop, model, "w1") as first:
        tap(first.ports.output, "expire", before=barrier)
        ended = await shop.accept("one")
        call = await model.call(0)
        await pass_time(31)
        waiting = await shop.accept("two")
        await settle()
        assert await shop.ports.queue.depth() == 0
        await call.end()
        await barrier.reached()
        await first.die()
    assert [await shop.status(run_id) for run_id in (ended.run_id, waiting.run_id)] == ["done", "pending"]
    async with working(shop, model, "w2"):
        assert (await model.call(1)).texts == ["two"]


@in_a_workshop
async def test_a_message_whose_rerun_never_began_is_answered_by_the_next_owner(shop: Workshop) -> None:
    """W6: the end was refused for it, and then its owner died: who takes the run over has it among all messages."""
    model, barrier = Puppet(), Barrier()
    async with working(shop, model, "w1") as first:
        tap(first.ports.store, "finish", after=barrier)
        claimed = await shop.accept("one")
        call = await model.call(0)
        await shop.accept("two", told=False)
        await call.end()
        await barrier.reached()
        await first.die()
    async with working(shop, model, "w2"):
        second = await model.call(1)
        assert second.texts == ["one", "two"]
        await second.end()
    run_id = claimed.run_id
    assert await shop.log(run_id) == [rerun(run_id, 0, "takeover", 2), done(run_id, 1)]
