"""Two workers through any trouble: what may happen to them, as data, and what has to hold afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

from hypothesis import strategies as st

from shared.events import TERMINAL
from shared.ports import Mark
from shared.run import ENDED
from shared.settings import MERGE_WINDOW, Settings
from tests.support.moved_loop import now, pass_time
from tests.support.taps import once, refuse, tap
from tests.support.workshop import Worker, Workshop, open_workshop, store_away, working
from worker.models.port import Model

SESSIONS = ["s0", "s1"]
LOSABLE = [
    ("store", "claim"), ("store", "take_over"), ("store", "renew"), ("store", "release"), ("store", "move"),
    ("store", "append"), ("store", "finish"), ("output", "append"), ("output", "raise_fence"),
    ("queue", "take"), ("queue", "acknowledge"), ("queue", "reclaim"),
]  # fmt: skip

INSIDE = [
    ("store", "ask"), ("store", "question"), ("store", "expire"), ("store", "fork"), ("store", "forks_of"),
    ("store", "orphans"), ("store", "ask_cancel"), ("store", "messages_of"), ("store", "events"), ("marks", "read"),
    ("marks", "clear"),
]  # fmt: skip

Steps = list[tuple[str, object, object]]


def _any_of(
    *more: st.SearchStrategy[tuple[str, object, object]], calls: list[tuple[str, str]]
) -> st.SearchStrategy[Steps]:
    """Return stories in which these calls fail."""
    return st.lists(
        st.one_of(
            *more,
            st.tuples(st.just("say"), st.sampled_from(SESSIONS), st.booleans()),
            st.tuples(st.just("say"), st.sampled_from(SESSIONS), st.booleans()),
            st.tuples(st.just("pass"), st.sampled_from([0.0, 0.05, 0.3, 1.0, 4.0, 17.0]), st.none()),
            st.tuples(st.just("die"), st.integers(0, 1), st.none()),
            st.tuples(st.just("drain"), st.integers(0, 1), st.none()),
            st.tuples(st.just("bus away"), st.sampled_from([0.05, 2.0, 20.0]), st.none()),
            st.tuples(st.just("store away"), st.integers(0, 1), st.sampled_from([0.05, 2.0, 20.0])),
            st.tuples(st.just("lose"), st.integers(0, 1), st.sampled_from(calls)),
            st.tuples(st.just("refuse"), st.integers(0, 1), st.sampled_from(calls)),
            st.tuples(st.just("pause"), st.integers(0, 1), st.none()),
            st.tuples(st.just("late"), st.integers(0, 1), st.sampled_from(calls)),
            st.tuples(st.just("slow"), st.integers(0, 1), st.sampled_from(calls)),
            st.tuples(st.just("cancel"), st.sampled_from(SESSIONS), st.booleans()),
        ),
        max_size=14,
    )


STEPS = _any_of(calls=LOSABLE)
INSIDE_STEPS = _any_of(
    st.tuples(st.just("answer"), st.sampled_from(SESSIONS), st.booleans()),
    st.tuples(st.just("answer"), st.sampled_from(SESSIONS), st.booleans()),
    calls=LOSABLE + INSIDE,
)
"""Stories of runs that also ask and split off."""


class Story:
    """Two workers, and what happens to them."""

    def __init__(self, shop: Workshop, model: Model, stack: AsyncExitStack) -> None:
        self._shop = shop
        self._model = model
        self._stack = stack
        self._hired = 0
        self._workers: list[Worker] = []

    async def hire(self, place: int | None = None) -> None:
        """Have a new worker work, in the place of another."""
        self._hired += 1
        worker = await self._stack.enter_async_context(working(self._shop, self._model, f"w{self._hired}"))
        if place is None:
            self._workers.append(worker)
        else:
            self._workers[place] = worker

    async def step(self, do: str, what: object, more: object) -> None:
        """Let one thing happen. Numbers are places of workers, or seconds; pairs are calls."""
        match do, what, more:
            case "say", str(session_id), bool(told):
                await self._shop.accept("hello", session_id, told=told and not self._shop.bus.is_away)
            case "cancel", str(session_id), bool(told):
                latest = await self._shop.store.latest_run(session_id)
                if latest is not None and latest.run.status not in ENDED:
                    await self._shop.cancel(latest.run.id, told=told and not self._shop.bus.is_away)
            case "answer", str(session_id), bool(told):
                await self._answer(session_id, told=told and not self._shop.bus.is_away)
            case "pass", float(seconds), _:
                await pass_time(seconds)
            case "die", int(place), _:
                await self._workers[place].die()
                await self.hire(place)
            case "drain", int(place), _:
                await self._workers[place].drain()
                await self.hire(place)
            case "bus away", float(seconds), _:
                self._shop.bus.away(True)
                asyncio.get_running_loop().call_later(seconds, self._shop.bus.away, False)
            case "store away", int(place), float(seconds):
                store_away(self._workers[place].ports, True)
                asyncio.get_running_loop().call_later(seconds, store_away, self._workers[place].ports, False)
            case "lose", int(place), (str(port), str(call)):
                tap(getattr(self._workers[place].ports, port), call, after=once(refuse))
            case "refuse", int(place), (str(port), str(call)):
                tap(getattr(self._workers[place].ports, port), call, before=once(refuse))
            case "pause", int(place), _:
                until = now() + 22  # a lease and a sweep of somebody else's
                for port, call in LOSABLE:
                    tap(getattr(self._workers[place].ports, port), call, before=partial(_wait_until, until))
            case "late", int(place), (str(port), str(call)):
                tap(getattr(self._workers[place].ports, port), call, after=once(_longer_than_a_lease))
            case "slow", int(place), (str(port), str(call)):
                tap(getattr(self._workers[place].ports, port), call, before=once(_longer_than_a_lease))

    async def _answer(self, session_id: str, *, told: bool) -> None:
        """Answer whatever the session's newest run asks."""
        latest = await self._shop.store.latest_run(session_id)
        if latest is not None:
            for asked in await self._shop.store.questions_of(latest.run.id):
                await self._shop.store.answer(asked.id, session_id, f"to {asked.number}")
                if told:
                    await self._shop.ports.marks.set(latest.run.id, Mark.ANSWER, MERGE_WINDOW)

    def rests(self) -> bool:
        """Say whether no worker has a slot taken."""
        most = self._shop.settings.concurrency
        return all(worker.consumer._slots.free == most for worker in self._workers)


async def _wait_until(time: float) -> None:
    await asyncio.sleep(max(0.0, time - now()))


async def _longer_than_a_lease() -> None:
    await asyncio.sleep(17)


async def tell(
    steps: Steps,
    model: Model,
    holds: Callable[[Workshop, str], Awaitable[None]],
    settings: Settings | None = None,
) -> None:
    """Play a story, give everything time to end, and see that it has, and that each run `holds` what it should."""
    async with open_workshop(settings) as shop, AsyncExitStack() as stack:
        story = Story(shop, model, stack)
        await story.hire()
        await story.hire()
        for do, what, more in steps:
            await story.step(do, what, more)
        await pass_time(20)
        runs = [stored.run.id for session_id in SESSIONS for stored in await shop.store.runs_of(session_id)]
        for _ in range(120):
            if all([await shop.status(run_id) in ENDED for run_id in runs]):
                break
            await pass_time(5)
        await pass_time(45)  # a doorbell whose taker never heard of it rings again after a lease
        for _ in range(60):  # a sweep that is late has a slot, as often as the story has made it late
            if story.rests() and await shop.ports.queue.depth() == 0:
                break
            await pass_time(5)
        for run_id in runs:
            await tells_one_story(shop, run_id)
            await holds(shop, run_id)
        assert await shop.ports.queue.depth() == 0
        assert story.rests()
        for never in ("run_crashed", "work_crashed", "illegal_transition"):
            assert shop.notes.of(never) == []


async def tells_one_story(shop: Workshop, run_id: str) -> None:
    """Each seq has one text, the run one end, and the stream nothing that the store has not."""
    stored, log, stream = await shop.stored(run_id), await shop.log(run_id), await shop.stream(run_id)
    assert stored.run.status in ENDED
    assert [event.seq for event in log] == list(range(len(log)))
    assert {event.seq for event in log if event.kind in TERMINAL} == {len(log) - 1}
    assert log[-1].kind == stored.run.status.value
    assert set(stream) <= set(log)
