"""One waiter's side of a stream: resting, sending, and a client that is gone."""

import asyncio
from collections.abc import Callable

import pytest
from starlette.types import Message, Receive, Send

from gateway.waiter import ABORT, Waiter
from tests.support.moved_loop import now, pass_time, run, settle

TIMEOUT_S = 10.0


async def stays() -> Message:
    """Be a client that stays."""
    await asyncio.Event().wait()
    raise AssertionError


async def takes(_: Message) -> None:
    """Be a client that takes everything."""


async def takes_nothing(_: Message) -> None:
    """Be a client that takes nothing."""
    await asyncio.Event().wait()


def waiter(receive: Receive = stays, send: Send = takes, abort: Callable[[], None] | None = None) -> Waiter:
    """Return the waiter of a request; with `abort`, one of our own server's."""
    scope = {"type": "http"} if abort is None else {"type": "http", "state": {ABORT: abort}}
    return Waiter(scope, receive, send, TIMEOUT_S)


def test_a_rest_ends_when_it_is_time() -> None:
    """A waiter that nobody wakes looks up when it has said it would, at the latest."""

    async def main() -> None:
        with waiter() as one:
            for until in (3.0, 3.5, 42.0, 43.0):
                while now() < until:
                    one.look()
                    await one.rest(until)
                assert now() == pytest.approx(until, abs=0.002)

    run(main())


def test_a_rest_ends_with_a_wake_up() -> None:
    """Being woken ends a rest at once, however often it happens."""

    async def main() -> None:
        with waiter() as one:
            resting = one.rest(5)
            await settle()
            assert not resting.done()
            one.wake()
            one.wake()
            await resting
            assert now() < 0.1

    run(main())


def test_a_wake_up_is_not_lost() -> None:
    """Being woken while awake, after the last look, ends the next rest before it begins; a look settles it."""

    async def main() -> None:
        with waiter() as one:
            one.wake()
            await one.rest(5)
            assert now() < 0.1
            one.wake()
            one.look()
            await one.rest(5)
            assert now() == pytest.approx(5, abs=0.002)

    run(main())


def test_a_client_that_leaves_ends_the_block() -> None:
    """Whatever is waited for in the block, it is left when the client is gone, without an exception."""

    async def main() -> None:
        left = asyncio.Event()
        messages: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Message:
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def serve() -> str:
            with waiter(receive) as one:
                await asyncio.Event().wait()
            return f"served on, stalled: {one.stalled}"

        serving = asyncio.create_task(serve())
        await settle()
        left.set()
        assert (await serving, now() < 0.1) == ("served on, stalled: False", True)

    run(main())


@pytest.mark.parametrize("awake_s", [0.0, 2.0])
def test_a_client_that_takes_nothing_ends_the_block(awake_s: float) -> None:
    """10 s after the beginning of a send that does not end the connection is aborted, once, and the block left (C4)."""

    async def main() -> None:
        aborted: list[float] = []
        left = asyncio.Event()

        def abort() -> None:
            aborted.append(now())
            left.set()  # what was aborted is disconnected

        async def receive() -> Message:
            await left.wait()
            return {"type": "http.disconnect"}

        with waiter(receive, takes_nothing, abort) as one:
            await one.rest(7)
            await asyncio.sleep(awake_s)
            await one.send({"type": "http.response.body"})
        assert one.stalled
        await pass_time(100)
        assert aborted == pytest.approx([17 + awake_s], abs=0.002)

    run(main())


def test_a_slow_client_is_not_a_stalled_one() -> None:
    """However long it takes altogether, a client that takes each piece in time is served."""

    async def main() -> None:
        async def takes_its_time(_: Message) -> None:
            await asyncio.sleep(0.9 * TIMEOUT_S)

        with waiter(send=takes_its_time) as one:
            for _ in range(20):
                await one.send({"type": "http.response.body"})
        assert not one.stalled
        assert now() == pytest.approx(180)

    run(main())


@pytest.mark.parametrize("leaves", [False, True])
def test_a_cancellation_from_outside_stays_one(leaves: bool) -> None:
    """A server that cancels a request is not taken for a client that left, also when the client leaves just then."""

    async def main() -> None:
        left = asyncio.Event()

        async def receive() -> Message:
            await left.wait()
            return {"type": "http.disconnect"}

        async def serve() -> None:
            with waiter(receive):
                await asyncio.Event().wait()

        serving = asyncio.create_task(serve())
        await settle()
        if leaves:
            left.set()
            await asyncio.sleep(0)
        serving.cancel()
        await settle()
        assert serving.cancelled()

    run(main())


def test_a_block_that_ends_leaves_nothing_behind() -> None:
    """No task and no timer outlives the block, and what it raised comes out."""

    async def main() -> None:
        with pytest.raises(ZeroDivisionError), waiter(abort=lambda: pytest.fail("nobody stalled")) as one:
            await one.send({"type": "http.response.start"})
            raise ZeroDivisionError
        await settle()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await pass_time(100)

    run(main())
