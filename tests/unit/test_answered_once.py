"""A message sent at any moment of a run's life is answered exactly once: by the run it joined or by one of its own."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator
from datetime import timedelta

from shared.bootstrap import Ports
from shared.events import reply_text
from shared.run import ENDED, RunStatus
from tests.support.moved_loop import pass_time, run
from tests.support.taps import tap
from tests.support.workshop import Workshop, open_workshop, with_settings, working
from worker.models.port import Fragment, ModelFailed, Piece, Request

MOMENTS = 1000
CALLS = [
    ("store", "claim"), ("store", "messages_of"), ("store", "move"), ("store", "append"), ("store", "finish"),
    ("store", "run"), ("store", "release"), ("store", "take_over"), ("output", "append"), ("marks", "read"),
    ("marks", "clear"), ("queue", "take"), ("queue", "acknowledge"),
]  # fmt: skip


class Echo:
    """A model that says every message it was given, each in a fragment, and fails now and then."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Say them."""
        for message in request.messages:
            await asyncio.sleep(self._chance.choice([0, 0.01, 0.1]))
            if request.attempt == 1 and self._chance.random() < 0.05:
                raise ModelFailed("moody")
            yield Fragment(f"{message.text} ")


def slow(ports: Ports, chance: random.Random) -> None:
    """Have every call take its time before and after it is carried out, so that there are moments between them."""

    async def a_while() -> None:
        await asyncio.sleep(chance.choice([0, 0.001, 0.01, 0.03]))

    for port, call in CALLS:
        tap(getattr(ports, port), call, before=a_while, after=a_while)


async def life(seed: int) -> Counter[str]:
    """Play one life of a run into which messages come, and return what became of them."""
    chance = random.Random(seed)
    async with open_workshop() as shop:
        with_settings(shop, look_every=timedelta(milliseconds=50), flush_every=timedelta(milliseconds=20))
        door = shop.door()
        slow(door, chance)
        async with working(shop, Echo(chance), ports=door):
            became: Counter[str] = Counter()
            await shop.accept("m1")
            for number in range(2, 2 + chance.choice([1, 1, 2])):
                await asyncio.sleep(chance.uniform(0, 0.45))
                before = await shop.store.latest_run("s")
                assert before is not None
                accepted = await shop.accept(f"m{number}", told=chance.random() < 0.7)
                became[f"{before.run.status}, {'joined' if accepted.merged else 'opened'}"] += 1
            while not all(stored.run.status in ENDED for stored in await shop.store.runs_of("s")):
                await pass_time(1)
        became["started again"] += sum(note["reason"] == "merge" for note in shop.notes.of("run_rerun"))
        await answered_once(shop)
        return became


async def answered_once(shop: Workshop) -> None:
    """Every message is in one run, and is said once in what a reader of that run ends up with."""
    runs = await shop.store.runs_of("s")
    assert {stored.run.status for stored in runs} == {RunStatus.DONE}
    said = [text for stored in runs for text in reply_text(await shop.log(stored.run.id)).split()]
    inputs = await shop.store.inputs_of("s")
    assert said == [accepted.message.text for accepted in inputs]
    for stored in runs:
        mine = [accepted.message.text for accepted in inputs if accepted.run_id == stored.run.id]
        assert reply_text(await shop.log(stored.run.id)).split() == mine


def test_a_message_at_any_moment_is_answered_once() -> None:
    """W6: a thousand lives, and every kind of moment among them."""
    became: Counter[str] = Counter()
    for seed in range(MOMENTS):
        became += run(life(seed))
    opened = {"pending, opened", "done, opened"}
    joined = {"running, joined", "streaming, joined"}
    assert {moment for moment, times in became.items() if times > 20} == opened | joined | {"started again"}
    assert sum(became[moment] for moment in opened | joined) >= MOMENTS
