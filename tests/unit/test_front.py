"""The way of requests for streams past the framework: the same answers, nothing of it in between."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.support.asking import ask, calling
from tests.support.houses import as_sent, house, log
from tests.support.moved_loop import run, settle


def frames_of(task: "asyncio.Task[None]") -> list[str]:
    """Return the names of the coroutines that a task is in, the outermost first."""
    names: list[str] = []
    coroutine: object = task.get_coro()
    while coroutine is not None and hasattr(coroutine, "cr_code"):
        names.append(coroutine.cr_code.co_qualname)
        coroutine = getattr(coroutine, "cr_await", None)
    return names


def test_an_open_stream_holds_nothing_of_the_framework() -> None:
    """While a stream is open its task is in our own coroutines, and in few of them."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with calling(gateway.app, "GET", "/runs/r/events") as call:
            await call.started()
            await settle()
            (serving,) = [names for names in map(frames_of, asyncio.all_tasks()) if "Call.run" in names]
            assert serving == ["Call.run", "Front.__call__", "RunStream.__call__", "RunStream._send_all", "Chunks.next"]

    run(main())


def test_a_mounted_gateway_has_streams_too() -> None:
    """Below a path of somebody else's the framework leads to them."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(3))
        outer = Starlette(routes=[Mount("/api", app=gateway.app)])
        async with calling(outer, "GET", "/api/runs/r/events") as call:
            assert await call.events() == as_sent(log(3))

    run(main())


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
@pytest.mark.parametrize(
    "target", ["/runs/r/events", "/runs/x/events", "/runs//events", "/runs/r/events/", "/runs/a%2Fb/events"]
)
def test_both_ways_lead_to_the_same(method: str, target: str) -> None:
    """Whatever is asked, the answer is the one that the framework would have led to."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(3))
        direct = await ask(gateway.app, method, target)
        around = await ask(Starlette(routes=[Mount("/api", app=gateway.app)]), method, f"/api{target}")
        assert (direct.status, direct.body, direct.headers) == (around.status, around.body, around.headers)

    run(main())
