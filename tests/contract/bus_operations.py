"""Random operations on a bus. A delivery is told by its number, for its id is the service's own."""

from shared.ports import Mark
from tests.contract.player import Operation, Player, Step, owner_of, session_of, span_of
from tests.contract.values import NOTHING, delta, reading

MARKS = tuple(Mark)


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
    await player.ports.output.expire(await player.run_id(step), span_of(step))


async def _set_mark(player: Player, step: Step) -> None:
    await player.ports.marks.set(await player.run_id(step), MARKS[step.n % len(MARKS)], span_of(step))


async def _clear_mark(player: Player, step: Step) -> None:
    await player.ports.marks.clear(await player.run_id(step), MARKS[step.n % len(MARKS)])


async def _read_marks(player: Player, step: Step) -> object:
    return await player.ports.marks.read(await player.run_id(step))


async def _put(player: Player, step: Step) -> None:
    await player.ports.queue.put(session_of(step))


async def _take(player: Player, step: Step) -> object:
    return player.told(await player.ports.queue.take(owner_of(step), 1 + step.n % 3, NOTHING))


async def _acknowledge(player: Player, step: Step) -> None:
    recent = player.deliveries[-4:]
    chosen = recent[step.run % 4 :] + recent[: step.n % 2]
    await player.ports.queue.acknowledge(chosen)


async def _reclaim(player: Player, step: Step) -> object:
    return player.told(await player.ports.queue.reclaim(owner_of(step), span_of(step), 1 + step.run % 3))


async def _depth(player: Player, step: Step) -> object:
    return await player.ports.queue.depth()


async def _flush(player: Player, step: Step) -> None:
    await player.ports.flush()


BUS_OPERATIONS: dict[str, Operation] = {
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
