"""The worker's composition root."""

import asyncio
import os
import socket
from datetime import timedelta

from shared.bootstrap import Ports
from shared.events import reply_text
from shared.settings import Settings
from tests.support.moved_loop import settle
from tests.support.scenes import on
from tests.support.workshop import RULES, Speaker, Workshop, done, open_workshop
from worker.bootstrap import build, new_owner

in_a_workshop = on(open_workshop)


async def executed(shop: Workshop, ports: Ports, settings: Settings, model: Speaker | None) -> str:
    """Have a worker that is built for it execute one run, and return the run's id."""
    accepted = await shop.accept()
    consumer = build(ports, RULES, settings, model)
    running = asyncio.create_task(consumer.run())
    await settle()
    consumer.drain()
    await running
    return accepted.run_id


@in_a_workshop
async def test_a_worker_is_built_with_the_scripted_model(shop: Workshop) -> None:
    """Without a model of somebody's own the lab's answers, at the pace that the settings give."""
    run_id = await executed(shop, shop.ports, Settings(fragment_pace=timedelta(0)), None)
    assert "refund" in reply_text(await shop.log(run_id))


@in_a_workshop
async def test_a_worker_is_built_with_a_model_of_ones_own(shop: Workshop) -> None:
    """Whatever has a `stream` can answer."""
    run_id = await executed(shop, shop.ports, Settings(), Speaker())
    assert await shop.log(run_id) == [done(run_id, 0)]


def test_no_two_workers_have_one_name() -> None:
    """A name leads to the process, and is never given out again."""
    names = [new_owner() for _ in range(3)]
    assert len(set(names)) == 3
    assert all(name.startswith(f"{socket.gethostname()}-{os.getpid()}-") for name in names)
