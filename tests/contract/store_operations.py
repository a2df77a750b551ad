"""Random operations on a store. What is the store's own, the time of a status change, is left out of the answers."""

from dataclasses import replace
from datetime import UTC, datetime

from shared.events import Event, EventKind
from shared.ports import Accepted, Claim, Message, Resumed, StoredRun
from shared.run import Run, RunStatus
from tests.contract.player import Operation, Player, Step, owner_of, session_of, span_of
from tests.contract.values import AN_HOUR, a_message, a_run, deltas

MESSAGES = 12
LONG_AGO, FAR_AHEAD = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
REASONS = tuple(Resumed)
ENDS = {
    RunStatus.DONE: EventKind.DONE,
    RunStatus.FAILED: EventKind.FAILED,
    RunStatus.CANCELLED: EventKind.CANCELLED,
}


# --- Accepting --------------------------------------------------------------------------------------------------------


def _message(player: Player, step: Step) -> Message:
    return a_message(player.ports, f"m{step.n % MESSAGES}-{player.opened // 4}", session_of(step), f"text {step.n}")


async def _open(player: Player, step: Step) -> Accepted:
    run = a_run(player.ports, f"r{player.opened}", session_of(step))
    player.opened += 1
    return await player.ports.store.open_run(run, _message(player, step))


async def _join(player: Player, step: Step) -> Accepted | None:
    run_id = await player.run_id(step)
    stored = await player.ports.store.run(run_id)
    message = _message(player, step)
    session_id = message.session_id if stored is None else stored.run.session_id
    return await player.ports.store.join_run(run_id, replace(message, session_id=session_id))


async def _find(player: Player, step: Step) -> Accepted | None:
    return await player.ports.store.find_message(session_of(step), _message(player, step).id)


# --- Executing --------------------------------------------------------------------------------------------------------


async def _claim_any(player: Player, step: Step) -> object:
    session_id = None if step.n % 2 else session_of(step)
    return _claim(await player.ports.store.claim(owner_of(step), span_of(step), session_id))


async def _take_over(player: Player, step: Step) -> object:
    return _claim(await player.ports.store.take_over(owner_of(step), span_of(step)))


async def _take_up(player: Player, step: Step) -> object:
    if step.n % 4:  # mostly right behind its being given back, or there would hardly ever be one
        await _release(player, step)
    return _claim(await player.ports.store.take_up(owner_of(step), span_of(step), session_of(step)))


async def _renew(player: Player, step: Step) -> object:
    # Never for no time: leases that one statement ends are equal, and whose turn is next is then open.
    held = await player.ports.store.renew(owner_of(step), AN_HOUR)
    return sorted(held, key=lambda lease: lease.run_id)


async def _release(player: Player, step: Step) -> object:
    run_id, attempt, _ = await player.place(step)
    why = REASONS[step.run % len(REASONS)]
    return await player.ports.store.release(run_id, attempt, span_of(step), why, counts=step.n % 2 == 0)


async def _move(player: Player, step: Step) -> object:
    run_id, attempt, status = await player.place(step)
    target = RunStatus.STREAMING if step.n % 6 else RunStatus.FAILED
    # A pending run becomes active by a claim, which gives it a lease; the other way is not in the contract.
    source = RunStatus.RUNNING if status is RunStatus.PENDING and target is RunStatus.STREAMING else status
    return await player.ports.store.move(run_id, attempt, source, target, f"step {step.n}")


async def _append(player: Player, step: Step) -> None:
    run_id, attempt, _ = await player.place(step)
    start = await player.next_seq(run_id, step)
    await player.ports.store.append(run_id, attempt, deltas(run_id, start, start + 1 + step.n % 4))


async def _finish(player: Player, step: Step) -> object:
    run_id, attempt, source = await player.place(step)
    stored = await player.ports.store.run(run_id)
    if source is RunStatus.PENDING and stored is not None and not stored.cancel_asked and step.n % 4:
        source = RunStatus.RUNNING  # a miss, so that not all runs end before anybody claims them
    target = list(ENDS)[step.n % len(ENDS)]
    start = await player.next_seq(run_id, step)
    last = [*deltas(run_id, start, start + step.n % 2), Event(run_id, start + step.n % 2, ENDS[target], "{}")]
    inputs_read = None if step.n % 4 == 0 else len(await player.ports.store.messages_of(run_id)) - (step.n % 4 == 1)
    return await player.ports.store.finish(run_id, attempt, source, target, last, inputs_read, f"step {step.n}")


async def _ask_cancel(player: Player, step: Step) -> object:
    return without_times(await player.ports.store.ask_cancel(await player.run_id(step)))


# --- Reading and keeping house ----------------------------------------------------------------------------------------


async def _look_at_run(player: Player, step: Step) -> object:
    run_id, store = await player.run_id(step), player.ports.store
    audit = list(await player.ports.audit(run_id))
    # Why a claim moved a run is each adapter's own word.
    told = [replace(row, why="") if row.target is RunStatus.RUNNING else row for row in audit]
    return without_times(await store.run(run_id)), list(await store.messages_of(run_id)), told


async def _look_at_session(player: Player, step: Step) -> object:
    session_id, store = session_of(step), player.ports.store
    runs = [without_times(stored) for stored in await store.runs_of(session_id)]
    return runs, without_times(await store.latest_run(session_id)), list(await store.inputs_of(session_id))


async def _events(player: Player, step: Step) -> object:
    return list(await player.ports.store.events(await player.run_id(step), step.n % 6, 1 + step.run % 9))


async def _session_events(player: Player, step: Step) -> object:
    page = await player.ports.store.session_events(session_of(step), (step.n % 4, step.n % 5 - 1), 1 + step.run % 9)
    return list(page.events), page.cursor, page.more


async def _waiting(player: Player, step: Step) -> object:
    return list(await player.ports.store.waiting_sessions(1 + step.n % 3))


async def _archivable(player: Player, step: Step) -> object:
    return list(await player.ports.store.archivable(LONG_AGO if step.n % 5 == 0 else FAR_AHEAD, 1 + step.run % 4))


async def _archive(player: Player, step: Step) -> object:
    return await player.ports.store.archive(await player.run_id(step), f"text {step.n}")


def _timeless(run: Run) -> Run:
    return replace(run, updated_at=run.created_at)


def without_times(stored: StoredRun | None) -> StoredRun | None:
    """Return what the store tells of a run, without the time of its last status change."""
    return None if stored is None else replace(stored, run=_timeless(stored.run))


def _claim(claim: Claim | None) -> Claim | None:
    return None if claim is None else replace(claim, run=_timeless(claim.run))


STORE_OPERATIONS: dict[str, Operation] = {
    "open": _open,
    "join": _join,
    "find": _find,
    "claim": _claim_any,
    "take over": _take_over,
    "take up": _take_up,
    "renew": _renew,
    "release": _release,
    "move": _move,
    "append": _append,
    "finish": _finish,
    "ask cancel": _ask_cancel,
    "run": _look_at_run,
    "session": _look_at_session,
    "events": _events,
    "session events": _session_events,
    "waiting": _waiting,
    "archivable": _archivable,
    "archive": _archive,
}
