"""The response that carries a feed: what it owes its client, and what a client can do to it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import pytest

from shared.adapters.memory import MemoryOutputStream, MemoryStore
from shared.events import Event
from tests.support.asking import ask, calling
from tests.support.houses import SETTINGS, House, as_sent, delta, deltas, done, house, log
from tests.support.moved_loop import now, pass_time, run, settle


async def waiters(gateway: House) -> str:
    """Return how many streams are open, as the metrics tell it."""
    text = (await ask(gateway.app, "GET", "/metrics")).body.decode()
    return next(line.split()[1] for line in text.splitlines() if line.startswith("koda_waiters "))


class CountedOutput(MemoryOutputStream):
    """Counts who follows."""

    following = 0

    async def follow(self, run_id: str) -> AsyncGenerator[Sequence[Event]]:
        """Follow, and be counted."""
        self.following += 1
        try:
            async for events in super().follow(run_id):
                yield events
        finally:
            self.following -= 1


async def nothing_left(gateway: House) -> bool:
    """Whether nothing of any waiter is left: no open stream, no read of the bus."""
    await settle()
    assert isinstance(gateway.output, CountedOutput)
    return (await waiters(gateway), gateway.output.following) == ("0", 0)


def test_the_head_of_a_stream() -> None:
    """A stream is announced as one that nobody may cache, hold back or transform."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events") as call:
            assert await call.started() == 200
            assert call.headers == {
                "content-type": "text/event-stream; charset=utf-8",
                "cache-control": "no-cache, no-transform",
                "connection": "keep-alive",
                "x-accel-buffering": "no",
            }

    run(main())


def test_a_stream_has_an_end() -> None:
    """When the run has ended the body is complete, and nothing of the waiter is left."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events") as call:
            await settle()
            assert await waiters(gateway) == "1"
            await gateway.publish(*log(3))
            assert await call.events() == as_sent(log(3))
            await settle()
            assert (call.over, call.raised, call.sent[-1]) == (True, None, {"type": "http.response.body", "body": b""})
            assert await nothing_left(gateway)

    run(main())


def test_frames_that_are_ready_together_are_one_piece() -> None:
    """What arrives at once is sent at once: one message for the server, one write for the socket."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events") as call:
            await settle()
            await gateway.publish(*deltas(0, 100))
            await settle()
            assert len(call.sent) == 3

    run(main())


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_client_that_leaves_leaves_nothing_behind(after: int) -> None:
    """Whether it has read everything or nothing, a client that is gone costs no slot and no read."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events", takes=after) as call:
            await gateway.publish(*deltas(0, 3))
            await settle()
            call.leave()
            await settle()
            assert (call.over, call.raised, await nothing_left(gateway), now() < 1) == (True, None, True, True)

    run(main())


class HangingStore(MemoryStore):
    """Never gives a page."""

    async def events(self, run_id: str, start: int, limit: int) -> Sequence[Event]:
        """Wait for ever."""
        await asyncio.Event().wait()
        raise AssertionError


def test_a_client_that_leaves_during_the_replay_leaves_nothing_behind() -> None:
    """A client is seen leaving also before its first byte, however long the store takes."""

    async def main() -> None:
        gateway = house(output=CountedOutput, store=HangingStore)
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events") as call:
            await settle()
            assert await waiters(gateway) == "1"
            call.leave()
            await settle()
            assert (call.over, call.raised, await nothing_left(gateway)) == (True, None, True)

    run(main())


@pytest.mark.parametrize("takes", [0, 1, 2, 3])
def test_a_client_that_never_reads_is_dropped(takes: int) -> None:
    """Whichever piece it does not take, it is dropped after 10 s, and a reader of the same run notices nothing (C4)."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        await gateway.streaming()
        async with (
            calling(gateway.app, "GET", "/runs/r/events", takes=takes) as deaf,
            calling(gateway.app, "GET", "/runs/r/events") as reader,
        ):
            await settle()
            await gateway.publish(*deltas(0, 3))
            assert await reader.events(3) == as_sent(deltas(0, 3))
            await gateway.publish(done(3))
            assert await reader.events() == as_sent([done(3)])
            assert now() < 0.1
            await pass_time(9.9)
            assert (deaf.over, await waiters(gateway)) == (False, "1")
            await pass_time(0.2)
            assert (deaf.over, deaf.raised, len(deaf.sent)) == (True, None, takes)
            assert await nothing_left(gateway)

    run(main())


def test_a_client_that_does_not_take_the_end_is_dropped() -> None:
    """The end of the body is no exception: a client that takes everything but that is dropped too (C4)."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        await gateway.ended(log(3))
        async with calling(gateway.app, "GET", "/runs/r/events", takes=2) as deaf:
            await pass_time(10.1)
            assert (deaf.over, deaf.raised, await nothing_left(gateway)) == (True, None, True)

    run(main())


def test_what_a_deaf_client_costs_is_bounded() -> None:
    """While a client takes nothing, events pile up in the run's one channel and not once more for it (C4)."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, send_timeout=SETTINGS.max_connection_age))
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events", takes=2) as deaf:
            await settle()
            await gateway.publish(delta(0))
            await settle()
            await gateway.publish(*deltas(1, 1000))
            await settle()
            deaf.take_all()
            await settle()
            # What was on its way, then all that came meanwhile.
            assert [message["body"].count(b"\n\n") for message in deaf.sent[2:]] == [1, 999]

    run(main())


def test_a_server_that_says_the_client_is_gone_is_believed() -> None:
    """An OSError from the server's `send`, which the ASGI specification allows, ends the stream without a crash."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        await gateway.streaming()

        async def receive() -> dict[str, object]:
            await asyncio.Event().wait()
            raise AssertionError

        async def send(_: object) -> None:
            raise OSError("gone")

        async with calling(gateway.app, "GET", "/runs/r/events") as scope_of:
            scope = dict(scope_of.scope)
        await gateway.app(scope, receive, send)
        assert await nothing_left(gateway)

    run(main())


def test_a_head_request_answers_as_a_get_would() -> None:
    """HEAD has the status and the headers of GET, 204 at the end included, no body, and leaves nothing open."""

    async def main() -> None:
        gateway = house(output=CountedOutput)
        await gateway.streaming()
        await gateway.write(delta(0))
        head = await ask(gateway.app, "HEAD", "/runs/r/events")
        async with calling(gateway.app, "GET", "/runs/r/events") as get:
            assert (head.status, head.headers, head.body) == (await get.started(), get.headers, b"")
        await gateway.end([done(1)])
        assert (await ask(gateway.app, "HEAD", "/runs/r/events", [(b"last-event-id", b"1")])).status == 204
        assert (await ask(gateway.app, "HEAD", "/runs/x/events")).status == 404
        assert await nothing_left(gateway)

    run(main())
