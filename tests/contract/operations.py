"""Random operations on the ports, played one after the other, with answers that can be compared between adapters.

    answers = await play(ports, random_steps(seed=7, count=1000))

A step is three small values; what they mean depends on where the ports stand when it is played, so that most of a
random sequence does something. Two adapters that keep the contract stand at the same place after the same steps and
give the same answers. What is the service's own is normalised: a delivery's id is told by its number, the time of a
status change not at all.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from shared.errors import Fenced
from shared.events import Event, EventKind
from shared.ports import Accepted, Claim, Delivery, Mark, Message, Resumed, StoredRun
from shared.run import ENDED, Run, RunStatus
from tests.contract.adapters import Ports
from tests.contract.values import A_MOMENT, AN_HOUR, NOTHING, a_message, a_run, delta, deltas, reading

SESSIONS, MESSAGES, OWNERS = 4, 12, 2
LONG_AGO, FAR_AHEAD = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
STATUSES, REASONS, MARKS = tuple(RunStatus), tuple(Resumed), tuple(Mark)
ENDS = {
    RunStatus.DONE: EventKind.DONE,
    RunStatus.FAILED: EventKind.FAILED,
    RunStatus.CANCELLED: EventKind.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: its name, and two numbers below `LIMIT` that choose its arguments."""

    do: str
    run: int
    n: int


LIMIT = 60


@dataclass(slots=True)
class Player:
    """Plays steps on one set of ports, and remembers what later steps may refer to."""

    ports: Ports
    opened: int = 0
    deliveries: list[Delivery] = field(default_factory=list)

    async def play(self, step: Step) -> object:
        """Play one step and return its answer, normalised."""
        self.ports.clock.advance(A_MOMENT)
        try:
            return await OPERATIONS[step.do](self, step)
        except Fenced as refused:
            return "fenced", refused.run_id, refused.attempt

    async def run_id(self, step: Step) -> str:
        """Choose a run of the step's session: its first that has not ended mostly, else a late one, or an unknown."""
        runs = await self.ports.store.runs_of(_session(step))
        if not runs or step.run == 0:
            return "unknown"
        unended = [stored for stored in runs if stored.run.status not in ENDED]
        chosen = unended[:1] if unended and step.n % 4 else runs[-3:]
        return chosen[step.n // 4 % len(chosen)].run.id

    async def place(self, step: Step) -> tuple[str, int, RunStatus]:
        """Choose a run, an attempt and a status: the run's own mostly."""
        run_id = await self.run_id(step)
        stored = await self.ports.store.run(run_id)
        attempt, status = (1, RunStatus.RUNNING) if stored is None else (stored.run.attempt, stored.run.status)
        if step.n % 7 == 0:
            attempt += step.run % 3 - 1
        if step.n % 11 == 0:
            status = STATUSES[step.run % len(STATUSES)]
        return run_id, attempt, status

    async def next_seq(self, run_id: str, step: Step) -> int:
        """Choose a seq: the log's next mostly, else one that it has."""
        stored = await self.ports.store.run(run_id)
        following = 0 if stored is None or stored.last_seq is None else stored.last_seq + 1
        return max(0, following - step.n % 3) if step.n % 5 == 0 else following

    def told(self, deliveries: Sequence[Delivery]) -> object:
        """Return deliveries with their number in place of the id."""
        self.deliveries += [delivery for delivery in deliveries if delivery not in self.deliveries]
        return [(self.deliveries.index(delivery), delivery.session_id) for delivery in deliveries]


async def play(ports: Ports, steps: Sequence[Step]) -> list[object]:
    """Play steps on fresh ports and return the answer of each."""
    player = Player(ports)
    return [await player.play(step) for step in steps]


def random_steps(seed: int, count: int) -> list[Step]:
    """Return `count` steps; the same for the same seed."""
    chance = random.Random(seed)
    names, weights = list(WEIGHTS), list(WEIGHTS.values())
    return [
        Step(do, chance.randrange(LIMIT), chance.randrange(LIMIT)) for do in chance.choices(names, weights, k=count)
    ]


# --- Normal forms -----------------------------------------------------------------------------------------------------


def _timeless(run: Run) -> Run:
    return replace(run, updated_at=run.created_at)


def _stored(stored: StoredRun | None) -> StoredRun | None:
    return None if stored is None else replace(stored, run=_timeless(stored.run))


def _claim(claim: Claim | None) -> Claim | None:
    return None if claim is None else replace(claim, run=_timeless(claim.run))


# --- Accepting --------------------------------------------------------------------------------------------------------


def _message(player: Player, step: Step) -> Message:
    return a_message(player.ports, f"m{step.n % MESSAGES}-{player.opened // 4}", _session(step), f"text {step.n}")


def _session(step: Step) -> str:
    return f"s{step.run % SESSIONS}"


async def _open(player: Player, step: Step) -> Accepted:
    run = a_run(player.ports, f"r{player.opened}", _session(step))
    player.opened += 1
    return await player.ports.store.open_run(run, _message(player, step))


async def _join(player: Player, step: Step) -> Accepted | None:
    run_id = await player.run_id(step)
    stored = await player.ports.store.run(run_id)
    message = _message(player, step)
    session_id = message.session_id if stored is None else stored.run.session_id
    return await player.ports.store.join_run(run_id, replace(message, session_id=session_id))


async def _find(player: Player, step: Step) -> Accepted | None:
    return await player.ports.store.find_message(_session(step), _message(player, step).id)


# --- Executing --------------------------------------------------------------------------------------------------------


def _owner(step: Step) -> str:
    return f"w{step.run % OWNERS}"


def _span(step: Step) -> timedelta:
    return NOTHING if step.n % 3 == 0 else AN_HOUR


async def _claim_any(player: Player, step: Step) -> object:
    session_id = None if step.n % 2 else _session(step)
    return _claim(await player.ports.store.claim(_owner(step), _span(step), session_id))


async def _take_over(player: Player, step: Step) -> object:
    return _claim(await player.ports.store.take_over(_owner(step), _span(step)))


async def _renew(player: Player, step: Step) -> object:
    # Never for no time: leases that one statement ends are equal, and whose turn is next is then open.
    held = await player.ports.store.renew(_owner(step), AN_HOUR)
    return sorted(held, key=lambda lease: lease.run_id)


async def _release(player: Player, step: Step) -> object:
    run_id, attempt, _ = await player.place(step)
    return await player.ports.store.release(run_id, attempt, _span(step), REASONS[step.run % len(REASONS)])


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
    return _stored(await player.ports.store.ask_cancel(await player.run_id(step)))


# --- Reading and keeping house ----------------------------------------------------------------------------------------


async def _look_at_run(player: Player, step: Step) -> object:
    run_id, store = await player.run_id(step), player.ports.store
    audit = list(await player.ports.audit(run_id))
    # Why a claim moved a run is each adapter's own word.
    told = [replace(row, why="") if row.target is RunStatus.RUNNING else row for row in audit]
    return _stored(await store.run(run_id)), list(await store.messages_of(run_id)), told


async def _look_at_session(player: Player, step: Step) -> object:
    session_id, store = _session(step), player.ports.store
    runs = [_stored(stored) for stored in await store.runs_of(session_id)]
    return runs, _stored(await store.latest_run(session_id)), list(await store.inputs_of(session_id))


async def _events(player: Player, step: Step) -> object:
    return list(await player.ports.store.events(await player.run_id(step), step.n % 6, 1 + step.run % 9))


async def _session_events(player: Player, step: Step) -> object:
    page = await player.ports.store.session_events(_session(step), (step.n % 4, step.n % 5 - 1), 1 + step.run % 9)
    return list(page.events), page.cursor, page.more


async def _waiting(player: Player, step: Step) -> object:
    return list(await player.ports.store.waiting_sessions(1 + step.n % 3))


async def _archivable(player: Player, step: Step) -> object:
    return list(await player.ports.store.archivable(LONG_AGO if step.n % 5 == 0 else FAR_AHEAD, 1 + step.run % 4))


async def _archive(player: Player, step: Step) -> object:
    return await player.ports.store.archive(await player.run_id(step), f"text {step.n}")


# --- The bus ----------------------------------------------------------------------------------------------------------


async def _publish(player: Player, step: Step) -> object:
    run_id, attempt, _ = await player.place(step)
    return await player.ports.output.append([delta(run_id, step.n, f"{step.run}")] * (1 + step.n % 3), attempt)


async def _fence(player: Player, step: Step) -> None:
    run_id, attempt, _ = await player.place(step)
    await player.ports.output.raise_fence(run_id, attempt)


async def _entries(player: Player, step: Step) -> object:
    return list(await player.ports.output.entries(await player.run_id(step)))


async def _follow(player: Player, step: Step) -> object:
    run_id = await player.run_id(step)
    async with reading(player.ports, run_id) as reader:
        return list(await reader.holding(len(await player.ports.output.entries(run_id))))


async def _expire(player: Player, step: Step) -> None:
    await player.ports.output.expire(await player.run_id(step), _span(step))


async def _set_mark(player: Player, step: Step) -> None:
    await player.ports.marks.set(await player.run_id(step), MARKS[step.n % len(MARKS)], _span(step))


async def _clear_mark(player: Player, step: Step) -> None:
    await player.ports.marks.clear(await player.run_id(step), MARKS[step.n % len(MARKS)])


async def _read_marks(player: Player, step: Step) -> object:
    return await player.ports.marks.read(await player.run_id(step))


async def _put(player: Player, step: Step) -> None:
    await player.ports.queue.put(_session(step))


async def _take(player: Player, step: Step) -> object:
    return player.told(await player.ports.queue.take(_owner(step), 1 + step.n % 3, NOTHING))


async def _acknowledge(player: Player, step: Step) -> None:
    recent = player.deliveries[-4:]
    chosen = recent[step.run % 4 :] + recent[: step.n % 2]
    await player.ports.queue.acknowledge(chosen)


async def _reclaim(player: Player, step: Step) -> object:
    return player.told(await player.ports.queue.reclaim(_owner(step), _span(step), 1 + step.run % 3))


async def _depth(player: Player, step: Step) -> object:
    return await player.ports.queue.depth()


async def _flush(player: Player, step: Step) -> None:
    await player.ports.flush()


OPERATIONS: dict[str, Callable[[Player, Step], Awaitable[object]]] = {
    "open": _open,
    "join": _join,
    "find": _find,
    "claim": _claim_any,
    "take over": _take_over,
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
    "publish": _publish,
    "fence": _fence,
    "entries": _entries,
    "follow": _follow,
    "expire": _expire,
    "set mark": _set_mark,
    "clear mark": _clear_mark,
    "read marks": _read_marks,
    "put": _put,
    "take": _take,
    "acknowledge": _acknowledge,
    "reclaim": _reclaim,
    "depth": _depth,
    "flush": _flush,
}

OFTEN = {"open": 7, "claim": 6, "append": 8, "finish": 8, "publish": 8, "release": 8, "take over": 8}
OFTEN |= {"join": 6, "put": 8, "set mark": 8}
WEIGHTS = dict.fromkeys(OPERATIONS, 4) | OFTEN | {"ask cancel": 2, "flush": 1}
"""How often each operation comes: often enough that runs live a while, seldom enough that they end."""
