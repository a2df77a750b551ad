"""Cases from the field, with whole workers: on the memory adapters, and on Redis and PostgreSQL.

Nothing waits for a lease to run out: a test that needs that has the store shorten it. What has to happen is waited for,
on the run's stream or in the log.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import msgspec
import pytest

from gateway.bootstrap import build
from shared.adapters.clock import SystemClock
from shared.adapters.postgres import PostgresStore, drop_schema
from shared.adapters.redis import RedisBus
from shared.bootstrap import Ports
from shared.events import EventKind, reply_text
from shared.ports import Mark
from shared.run import RunStatus
from tests.contract import adapters
from tests.contract.adapters import PATIENCE_S, on_each_adapter
from tests.support.asking import ask
from tests.support.floor import AT_ONCE, MOMENT, SETTINGS, Floor, die, executor, floor_on, working
from tests.support.model_server import Exchange, serving, spoken
from tests.support.notes import noting
from tests.support.real import own_name, services_to_break
from tests.support.taps import Barrier, once, tap
from tests.support.workshop import RULES, Puppet, Speaker, cancelled, delta, done, first_of_each, rerun
from worker.models.endpoint import Endpoint
from worker.models.openai import OpenAIModel
from worker.models.port import Fragment, Piece, Request
from worker.signals import Signals


@on_each_adapter
async def test_a_cancel_while_the_owner_is_dead(ports: adapters.Ports) -> None:
    """W3: who takes the run over ends it cancelled, and the session is free for the next message."""
    floor, model = floor_on(ports), Puppet()
    first = await floor.accept("one")
    async with working(floor, model, "w1") as worker:
        await (await model.call(0)).say("a")
        await floor.told(first.run_id, until=0)
        await die(worker)
    assert await floor.ledger.cancel(first.run_id) is RunStatus.STREAMING
    following = await floor.accept("two")
    await ports.store.renew("w1", AT_ONCE)
    async with working(floor, Speaker("b"), "w2"):
        assert await floor.told(first.run_id) == [delta(first.run_id, 0, "a"), cancelled(first.run_id, 1)]
        assert (await floor.told(following.run_id))[-1] == done(following.run_id, 1)
    assert len(model.calls) == 1
    assert await floor.log(first.run_id) == [delta(first.run_id, 0, "a"), cancelled(first.run_id, 1)]


@on_each_adapter
async def test_a_crash_after_cancel_was_asked(ports: adapters.Ports) -> None:
    """W5: the owner dies on the way to the end; the next one ends the run and asks no model, and nothing revives it."""
    floor, model, barrier = floor_on(ports), Puppet(), Barrier()
    first = await floor.accept("one")
    async with working(floor, model, "w1") as worker:
        await model.call(0)
        tap(floor.ports.store, "finish", before=once(barrier))
        await floor.ledger.cancel(first.run_id)
        await barrier.reached()
        await die(worker)
    assert await floor.status(first.run_id) is RunStatus.RUNNING
    await ports.store.renew("w1", AT_ONCE)
    async with working(floor, model, "w2"):
        assert await floor.told(first.run_id) == [cancelled(first.run_id, 0)]
        following = await floor.accept("two")
        await (await model.call(1)).end()
        assert await floor.told(following.run_id) == [done(following.run_id, 0)]
    assert [call.texts for call in model.calls] == [["one"], ["two"]]
    assert await floor.status(first.run_id) is RunStatus.CANCELLED


@on_each_adapter
async def test_a_message_between_the_last_look_and_the_end(ports: adapters.Ports) -> None:
    """W6: it joined while the end was on its way and nobody told the worker; the same run answers it."""
    floor, model, barrier = floor_on(ports), Puppet(), Barrier()
    first = await floor.accept("one")
    tap(floor.ports.store, "finish", before=once(barrier))
    async with working(floor, model, "w1"):
        await (await model.call(0)).end()
        await barrier.reached()
        assert (await floor.accept("two", told=False)).merged
        barrier.let_go()
        second = await model.call(1)
        assert second.texts == ["one", "two"]
        await second.end()
        assert await floor.told(first.run_id) == [rerun(first.run_id, 0, "merge", 1), done(first.run_id, 1)]


@on_each_adapter
async def test_a_message_right_behind_the_end(ports: adapters.Ports) -> None:
    """W6: the end is written and its worker has not heard of it; a run of its own answers the message."""
    floor, model, barrier = floor_on(ports), Puppet(), Barrier()
    first = await floor.accept("one")
    tap(floor.ports.store, "finish", after=once(barrier))
    async with working(floor, model, "w1"):
        await (await model.call(0)).end()
        await barrier.reached()
        following = await floor.accept("two", told=False)
        assert (following.merged, following.run_id == first.run_id) == (False, False)
        barrier.let_go()
        second = await model.call(1)
        assert second.texts == ["two"]
        await second.end()
        assert await floor.told(following.run_id) == [done(following.run_id, 0)]


@on_each_adapter
async def test_twenty_equal_requests_at_once(ports: adapters.Ports) -> None:
    """W7: one run, one input, one call of the model; nineteen callers get the answer of the twentieth."""
    floor, model = floor_on(ports), Puppet()
    gateway, _ = build(floor.ports, RULES, floor.clock, SETTINGS)
    app = gateway.app()
    body = msgspec.json.encode({"session_id": "s", "text": "hello", "message_id": "m"})
    answers = await asyncio.gather(*(ask(app, "POST", "/chat", (), body) for _ in range(20)))
    assert {(answer.status, answer.body) for answer in answers} == {(202, answers[0].body)}
    assert sorted(answer.headers.get("idempotency-replayed", "") for answer in answers) == ["", *["true"] * 19]
    assert [accepted.message.text for accepted in await ports.store.inputs_of("s")] == ["hello"]
    (stored,) = await ports.store.runs_of("s")
    async with working(floor, model, "w1"):
        call = await model.call(0)
        await call.end()
        await floor.told(stored.run.id)
    assert [call.texts for call in model.calls] == [["hello"]]


def test_a_cancel_while_the_bus_is_broken() -> None:
    """W4: recorded durably, carried out by the worker's next renewal, and told on the stream when that is back."""
    services, name = services_to_break(), own_name()

    async def main() -> None:
        bus = await RedisBus.connect(services.redis_url, prefix=name)
        store = await PostgresStore.open(services.database_url, schema=name, clock=SystemClock())
        floor = Floor(Ports(store, bus.output, bus.queue, bus.marks, store, store), SystemClock())
        model, ended = Puppet(), Barrier()
        tap(store, "finish", after=ended)
        try:
            first = await floor.accept("one")
            async with working(floor, model, "w1"):
                call = await model.call(0)
                await call.say("a")
                await floor.told(first.run_id, until=0)
                services.redis.stop()
                assert await floor.ledger.cancel(first.run_id) is RunStatus.STREAMING
                await ended.reached()
                assert call.closed
                assert await floor.status(first.run_id) is RunStatus.CANCELLED
                ended.let_go()
                services.redis.start()
                told = [delta(first.run_id, 0, "a"), cancelled(first.run_id, 1)]
                assert await floor.told(first.run_id) == told
                assert await floor.log(first.run_id) == told
        finally:
            await store.close()
            await bus.close()
            await drop_schema(services.database_url, name)

    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))


@pytest.mark.parametrize("why", ["silence", "cancel"])
def test_the_request_behind_a_reply_is_aborted(why: str) -> None:
    """Whether a model was silent for too long or its user wanted it to stop: its server sees the client leave."""

    async def main() -> None:
        asked, left = asyncio.Event(), asyncio.Event()

        async def answer(exchange: Exchange) -> None:
            await exchange.begin()
            await exchange.say(spoken("a"))
            asked.set()
            await exchange.left()
            left.set()

        async with adapters.open_memory() as ports, serving(answer) as server:
            floor = floor_on(ports)
            settings = SETTINGS if why == "cancel" else replace(SETTINGS, next_piece_wait=MOMENT)
            environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "m"}
            async with OpenAIModel.open(Endpoint.from_environment(environment)) as model:
                first = await floor.accept("one")
                claim = await floor.ledger.claim("w1", SETTINGS.lease)
                assert claim is not None
                signals = Signals()
                execution = asyncio.create_task(executor(floor, model, settings).execute(claim, signals))
                await asked.wait()
                if why == "cancel":
                    await floor.told(first.run_id, until=0)
                    signals.add(frozenset({Mark.CANCEL}))
                await left.wait()
                await execution
            ended = RunStatus.CANCELLED if why == "cancel" else RunStatus.STREAMING
            assert await floor.status(first.run_id) is ended

    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))


class Blocking:
    """A model that holds up the event loop until another worker, in a loop of its own, has ended the run."""

    def __init__(self, other: "threading.Thread") -> None:
        self._other = other

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Say one thing; be held up; say one thing more."""
        yield Fragment("a")
        await asyncio.sleep(0)
        self._other.start()
        self._other.join(PATIENCE_S)
        yield Fragment("never to be seen")


def test_a_model_that_blocks_the_loop() -> None:
    """W9: its lease runs out unrenewed, another worker ends the run, and nothing more of the first one is told."""
    services, name = services_to_break(), own_name()

    @asynccontextmanager
    async def floors() -> AsyncIterator[Floor]:
        bus = await RedisBus.connect(services.redis_url, prefix=name)
        store = await PostgresStore.open(services.database_url, schema=name, clock=SystemClock())
        try:
            yield Floor(Ports(store, bus.output, bus.queue, bus.marks, store, store), SystemClock())
        finally:
            await store.close()
            await bus.close()

    async def elsewhere() -> None:
        async with floors() as floor, working(floor, Speaker("b"), "w2"):
            await floor.ports.store.renew("w1", AT_ONCE)
            (stored,) = await floor.ports.store.runs_of("s")
            await floor.told(stored.run.id)

    async def main() -> None:
        other = threading.Thread(target=lambda: asyncio.run(asyncio.wait_for(elsewhere(), PATIENCE_S)))
        with noting() as notes:
            async with floors() as floor:
                first = await floor.accept("one")
                claim = await floor.ledger.claim("w1", SETTINGS.lease)
                assert claim is not None
                await executor(floor, Blocking(other)).execute(claim, Signals())
                log = await floor.log(first.run_id)
                assert (reply_text(log), log[-1].kind) == ("b", EventKind.DONE)
                assert first_of_each(await floor.ports.output.entries(first.run_id)) == log
                stored = await floor.ports.store.run(first.run_id)
                assert stored is not None and (stored.run.status, stored.run.attempt) == (RunStatus.DONE, 2)
        assert [note["attempt"] for note in notes.of("run_lost")] == [1]
        await drop_schema(services.database_url, name)

    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))
