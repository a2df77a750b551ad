"""The trace of a message: from the request that brought it to the last line of its run."""

import asyncio
import io
import logging

import msgspec
import pytest
from starlette.requests import Request

from gateway.trace import trace_of
from shared import logs
from shared.events import Json
from tests.support.asking import ask
from tests.support.houses import house
from tests.support.moved_loop import settle
from tests.support.scenes import on
from tests.support.workshop import Puppet, Workshop, open_workshop, working
from worker.models.port import ModelFailed

in_a_workshop = on(open_workshop)

ID = "0af7651916cd43dd8448eb211c80319c"
OTHER = "4bf92f3577b34da6a3ce929d0e0e4736"


def traced(*headers: str) -> str:
    """Return the trace of a request with these headers `traceparent`."""
    pairs = [(b"traceparent", header.encode("latin-1")) for header in headers]
    return trace_of(Request({"type": "http", "headers": pairs}))


@pytest.mark.parametrize(
    "header",
    [f"00-{ID}-b7ad6b7169203331-01", f"00-{ID}-b7ad6b7169203331-00", f"cc-{ID}-b7ad6b7169203331-01-what-will-be"],
)
def test_a_trace_is_taken_from_the_request(header: str) -> None:
    """Sampled or not, and in a later version of the header too."""
    assert traced(header) == ID


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [""],
        [f"00-{ID}-b7ad6b7169203331-01"] * 2,
        [f"00-{ID}-b7ad6b7169203331-01-more"],
        [f"ff-{ID}-b7ad6b7169203331-01"],
        [f"cc-{ID}-b7ad6b7169203331-01more"],
        [f"00-{ID.upper()}-b7ad6b7169203331-01"],
        [f"00-{'0' * 32}-b7ad6b7169203331-01"],
        [f"cc-{'0' * 32}-b7ad6b7169203331-01"],
        [f"00-{ID}-{'0' * 16}-01"],
        [f"00-{ID}-b7ad6b7169203331"],
        [f"00-{ID}-b7ad6b7169203331-01\n"],
        [f"00-{ID[:-1]}٣-b7ad6b7169203331-01".encode().decode("latin-1")],
    ],
)
def test_a_trace_that_is_no_trace_is_replaced(headers: list[str]) -> None:
    """Nothing of it is kept: a new trace begins, each time another."""
    made = traced(*headers), traced(*headers)
    assert ID not in made and made[0] != made[1]
    assert all(len(trace) == 32 and set(trace) <= set("0123456789abcdef") for trace in made)


def test_a_message_keeps_its_trace() -> None:
    """Sent again under another one it has the first: it is the same message."""

    async def main() -> None:
        gateway = house()
        body = msgspec.json.encode({"session_id": "s", "text": "hello", "message_id": "m"})
        for trace in (ID, OTHER):
            header = (b"traceparent", f"00-{trace}-b7ad6b7169203331-01".encode())
            assert (await ask(gateway.app, "POST", "/chat", [header], body)).status == 202
        assert [accepted.message.trace for accepted in await gateway.store.inputs_of("s")] == [ID]

    asyncio.run(main())


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Have the log written somewhere, as JSON."""
    root, stream = logging.getLogger(logs.ROOT), io.StringIO()
    for name in ("handlers", "level", "propagate"):
        monkeypatch.setattr(root, name, getattr(root, name))
    logs.configure(json=True, stream=stream)
    return stream


@in_a_workshop
async def test_the_lines_of_a_run_carry_its_newest_trace(shop: Workshop, written: io.StringIO) -> None:
    """What the worker says of a reply has the trace of the message that it is the reply to, and no other line has."""
    model = Puppet()
    async with working(shop, model):
        await shop.ledger.accept("m1", "s", "u", "hello", trace=ID)
        await shop.ports.queue.put("s")
        await (await model.call(0)).say("a")
        await shop.ledger.accept("m2", "s", "u", "no, wait", trace=OTHER)
        await (await model.call(0)).end()
        await (await model.call(1)).fail(ModelFailed("refused", permanent=True))
        await shop.accept(session_id="t")
        await (await model.call(2)).end()
        await settle()
    lines: list[dict[str, Json]] = [msgspec.json.decode(line) for line in written.getvalue().splitlines()]
    told = [(line["event"], line.get("target"), line["trace"]) for line in lines if "trace" in line]
    assert told == [
        ("run_moved", "streaming", ID),
        ("reply_complete", None, ID),
        ("run_rerun", None, ID),
        ("model_failed", None, OTHER),
        ("run_moved", "failed", OTHER),
    ]
