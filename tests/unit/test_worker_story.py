"""Two workers through any trouble: whatever dies, goes away or is lost, every run ends and tells one story."""

import asyncio
import random
from collections.abc import AsyncGenerator

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.events import reply_text
from shared.run import RunStatus
from tests.support.calm import calm
from tests.support.moved_loop import run
from tests.support.story import STEPS, tell
from tests.support.workshop import Workshop
from worker.models.port import Fragment, ModelFailed, Request, Usage


class Moody:
    """A model that says how many messages it was given, at a pace of its own, and fails now and then."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    async def stream(self, request: Request) -> AsyncGenerator[Fragment | Usage]:
        """Say it."""
        chance = self._chance
        for _ in range(chance.randrange(5)):
            await asyncio.sleep(chance.choice([0, 0, 0.04, 0.5, 3]))
            if chance.random() < 0.05:
                raise ModelFailed("moody", permanent=chance.random() < 0.3)
            yield Fragment(f"{len(request.messages)} ")
        yield Usage(1, 1)


async def answers_all(shop: Workshop, run_id: str) -> None:
    """Check that a reply that is done is one to all messages of its run."""
    stored = await shop.stored(run_id)
    if stored.run.status is RunStatus.DONE:
        assert set(reply_text(await shop.log(run_id)).split()) <= {str(stored.inputs)}


@settings(calm, max_examples=12)
@given(STEPS, st.integers(0, 2**32))
def test_every_run_ends_and_tells_one_story(steps: list[tuple[str, object, object]], seed: int) -> None:
    """O5, W1 to W6: each seq has one text, each run one end, and a reply that is done answers all its messages."""
    run(tell(steps, Moody(seed), answers_all))
