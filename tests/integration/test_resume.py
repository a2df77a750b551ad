"""Cut and reconnect, anywhere and any number of times: what was received is the log, each event once and in order.

The gateway is asked byte for byte, so that headers arrive which no HTTP client would send.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from client.sse import ServerEvent
from shared.events import Event, decode_data, reply_text
from tests.support.asking import Headers, ask, calling
from tests.support.calm import calm
from tests.support.houses import SETTINGS, House, as_sent, delta, deltas, done, house, log, rerun
from tests.support.moved_loop import run, settle

PATH = "/runs/r/events"

NO_CURSORS = [
    b"-1",
    b"\xb2",
    "٣".encode(),
    b"1_000",
    b" 7 ",
    b"+7",
    b"7\n",
    b"7\r\n",
    b"1" * 19,
    b"9" * 25,
    b"9" * 5000,
    b"",
    b" ",
    b"null",
    b"0x5",
    b"5.0",
    b"5,6",
    b"\x00",
    b"\xff\xfe",
    "５".encode(),
]
"""What a header or a query may hold and is no cursor (R1, R2)."""


@dataclass(slots=True)
class Reader:
    """A front end that reconnects with the last id it has, and forgets nothing."""

    gateway: House
    cursor: str | None = None
    received: list[ServerEvent] = field(default_factory=list)
    over: bool = False
    connections: int = 0

    async def connect(self, most: int | None = None) -> None:
        """Connect once and read `most` events, or up to the end of the connection."""
        self.connections += 1
        headers: Headers = [] if self.cursor is None else [(b"last-event-id", self.cursor.encode())]
        async with calling(self.gateway.app, "GET", PATH, headers) as call:
            status = await call.started()
            assert status in (200, 204)
            if status == 204:
                self.over = True
                return
            await call.chunk() if most == 0 else None
            while (most is None or most > 0) and not self.over:
                event = await call.event()
                if event is None or event.event == "error":
                    return
                self.received.append(event)
                self.cursor = event.id if event.has_id else self.cursor
                self.over = event.event == "done"
                most = None if most is None else most - 1

    async def to_the_end(self) -> None:
        """Reconnect until the run has ended."""
        while not self.over:
            assert self.connections < 300, "the end comes into reach"
            await self.connect()

    def text(self) -> str:
        """Return the text that the front end shows."""
        text = ""
        for event in self.received:
            data = decode_data(event.data)
            match event.event:
                case "delta":
                    text += str(data["text"])
                case "snapshot":
                    text = str(data["text"])
                case "rerun":
                    text = ""
                case _:
                    pass
        return text


# --- what is no cursor ------------------------------------------------------------------------------------------------


def asked_with(value: bytes, where: str) -> tuple[str, Headers]:
    """Return target and headers of a request that has this value for a cursor."""
    if where == "header":
        return PATH, [(b"last-event-id", value)]
    return f"{PATH}?last_event_id={quote_from_bytes(value, safe='')}", []


@pytest.mark.parametrize("where", ["header", "query"])
@pytest.mark.parametrize("value", NO_CURSORS)
def test_what_is_no_cursor_begins_an_ended_run_at_its_beginning(value: bytes, where: str) -> None:
    """Anything but 1 to 18 ASCII digits is answered with 200 and the whole run, its end included (R1, R2)."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(4))
        async with calling(gateway.app, "GET", *asked_with(value, where)) as call:
            assert (await call.started(), await call.events()) == (200, as_sent(log(4)))

    run(main())


@pytest.mark.parametrize("where", ["header", "query"])
@pytest.mark.parametrize("value", NO_CURSORS)
def test_what_is_no_cursor_begins_a_live_run_at_its_beginning(value: bytes, where: str) -> None:
    """A live run too is sent from 0, and to its end (R1, R2)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.write(*deltas(0, 2))
        async with calling(gateway.app, "GET", *asked_with(value, where)) as call:
            await gateway.write(*log(4)[2:])
            assert (await call.started(), await call.events()) == (200, as_sent(log(4)))

    run(main())


@pytest.mark.parametrize(
    ("target", "headers", "first"),
    [
        (f"{PATH}?last_event_id=1", [], 2),
        (PATH, [(b"last-event-id", b"1")], 2),
        (PATH, [(b"last-event-id", b"0001")], 2),
        (f"{PATH}?last_event_id=1", [(b"last-event-id", b"0")], 1),
        (f"{PATH}?last_event_id=1", [(b"last-event-id", b"x")], 0),
        (f"{PATH}?last_event_id=1", [(b"last-event-id", b"")], 0),
        (f"{PATH}?last_event_id=1&last_event_id=0", [], 1),
        (f"{PATH}?last_event_id=", [], 0),
        (f"{PATH}?other=1", [], 0),
    ],
)
def test_the_header_wins_over_the_query(target: str, headers: Headers, first: int) -> None:
    """A cursor may stand in the query; one in the header wins over it, also when it is malformed or empty."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(4))
        async with calling(gateway.app, "GET", target, headers) as call:
            assert await call.events() == as_sent(log(4)[first:])

    run(main())


@calm
@given(st.binary(max_size=20), st.sampled_from(["header", "query"]))
def test_no_cursor_is_a_fault_of_ours(value: bytes, where: str) -> None:
    """Whatever bytes stand where a cursor may: the answer is a stream from somewhere in the run, or 204 at its end."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(4))
        target, headers = asked_with(value, where)
        answer = await ask(gateway.app, "GET", target, headers)
        assert (answer.status in (200, 204), answer.raised) == (True, None)

    run(main())


# --- every cut of one run ---------------------------------------------------------------------------------------------


LOG = [*deltas(0, 5), rerun(5), *deltas(6, 11), done(11)]


@pytest.mark.parametrize("cut", range(len(LOG)))
def test_a_live_run_goes_on_after_every_cut(cut: int) -> None:
    """Cut after any number of events, none included, the next connection begins with the one after them (R9)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        reader = Reader(gateway)
        await gateway.write(*LOG[: cut + 1])
        await reader.connect(cut)
        assert reader.received == as_sent(LOG[:cut])
        reconnected = asyncio.create_task(reader.to_the_end())
        await settle()
        assert reader.received == as_sent(LOG[: cut + 1])
        await gateway.write(*LOG[cut + 1 :]) if cut + 1 < len(LOG) else None
        await reconnected
        assert (reader.received, reader.connections) == (as_sent(LOG), 2)

    run(main())


@pytest.mark.parametrize("cut", range(len(LOG) + 1))
def test_an_ended_run_goes_on_after_every_cut(cut: int) -> None:
    """After the end too every cursor gets exactly what comes after it, and the last one 204 (R10)."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(LOG)
        reader = Reader(gateway)
        await reader.connect(cut)
        assert reader.received == as_sent(LOG[:cut])
        reader.over = False
        await reader.to_the_end()
        assert (reader.received, reader.connections) == (as_sent(LOG), 2)

    run(main())


@pytest.mark.parametrize("cut", range(len(LOG)))
def test_a_run_that_ends_while_nobody_watches_goes_on_after_every_cut(cut: int) -> None:
    """Cut while live, reconnected after the end and after the stream has vanished: nothing twice, nothing missing."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.publish(*LOG)
        await gateway.flush(*LOG[: cut // 2 + 1])
        reader = Reader(gateway)
        await reader.connect(cut)
        await gateway.end(LOG)
        gateway.bus.flush()
        await reader.to_the_end()
        assert reader.received == as_sent(LOG)

    run(main())


# --- any cuts of any run ----------------------------------------------------------------------------------------------


class Worker:
    """Writes a run: to the stream in any order, twice or not at all, to the store in batches, each when it likes."""

    def __init__(self, gateway: House, events: Sequence[Event], chance: random.Random) -> None:
        self._gateway = gateway
        self._events = events
        self._chance = chance

    async def write(self) -> None:
        """Write the whole run; some time passes in between."""
        chance, count = self._chance, len(self._events)
        arrivals = [event for event in self._events for _ in range(chance.choice([0, 1, 1, 1, 2]))]
        if chance.random() < 0.5:
            chance.shuffle(arrivals)
        flushed = 0
        while arrivals or flushed < count:
            if arrivals and (flushed == count or chance.random() < 0.7):
                few = chance.randint(1, 4)
                await self._gateway.publish(*arrivals[:few])
                del arrivals[:few]
            elif flushed < count:
                batch = self._events[flushed : flushed + chance.randint(1, 8)]
                flushed += len(batch)
                await (self._gateway.end if flushed == count else self._flush)(batch)
            await asyncio.sleep(chance.choice([0, 0, 0, 0.05, 0.3, 2.5]))

    async def _flush(self, events: Sequence[Event]) -> None:
        await self._gateway.flush(*events)


@asynccontextmanager
async def written(gateway: House, events: Sequence[Event], chance: random.Random, live: bool) -> AsyncIterator[None]:
    """Have a run written while the block lasts, or before it begins."""
    await gateway.streaming()
    writing = asyncio.create_task(Worker(gateway, events, chance).write())
    if not live:
        await writing
    yield
    await writing


def a_log(count: int, chance: random.Random) -> list[Event]:
    """Return a run of `count` events, with reruns and empty texts among them."""
    kinds = [chance.choice(["delta", "delta", "empty", "rerun"]) for _ in range(count - 1)]
    empty = '{"text":""}'
    events = [
        rerun(seq) if kind == "rerun" else replace(delta(seq), data=empty) if kind == "empty" else delta(seq)
        for seq, kind in enumerate(kinds)
    ]
    return [*events, done(count - 1)]


@calm
@given(st.integers(0, 2**32), st.integers(1, 40), st.booleans(), st.lists(st.integers(0, 12), max_size=12))
@example(0, 1, True, [0, 0, 0])
def test_what_is_received_is_exactly_the_log(seed: int, count: int, live: bool, cuts: list[int]) -> None:
    """Any cuts and reconnects of a run that is shuffled, repeated and lossy on the stream, live and ended.

    What came over all connections is the log: in order, nothing twice, nothing missing, no gap (R8, R9, O1, O2).
    """

    async def main() -> None:
        chance = random.Random(seed)
        events = a_log(count, chance)
        gateway = house()
        async with written(gateway, events, chance, live):
            reader = Reader(gateway)
            for cut in cuts:
                if not reader.over:
                    await reader.connect(cut)
            await reader.to_the_end()
        assert reader.received == as_sent(events)

    run(main())


@calm
@given(st.integers(0, 2**32), st.integers(1, 4), st.booleans())
def test_all_waiters_of_a_run_receive_it(seed: int, waiters: int, live: bool) -> None:
    """Waiters that come, are cut and return at times of their own all receive the whole log (O6)."""

    async def main() -> None:
        chance = random.Random(seed)
        events = a_log(20, chance)
        gateway = house()

        async def read(reader: Reader) -> None:
            while not reader.over:
                await asyncio.sleep(chance.choice([0, 0.1, 3]))
                await reader.connect(chance.choice([0, 1, 3, 7, None]))
                assert reader.connections < 300

        async with written(gateway, events, chance, live), asyncio.TaskGroup() as tasks:
            readers = [Reader(gateway) for _ in range(waiters)]
            for reader in readers:
                tasks.create_task(read(reader))
        assert [reader.received for reader in readers] == [as_sent(events)] * waiters

    run(main())


@calm
@given(st.integers(0, 2**32), st.lists(st.integers(0, 12), max_size=8), st.integers(1, 10), st.booleans())
def test_the_text_survives_snapshots(seed: int, cuts: list[int], cap: int, archived: bool) -> None:
    """With a small replay cap, and rows that become one text between two cuts, the reader ends with the text (R3)."""

    async def main() -> None:
        chance = random.Random(seed)
        events = a_log(30, chance)
        gateway = house(settings=replace(SETTINGS, replay_cap=cap))
        reader = Reader(gateway)
        async with written(gateway, events, chance, live=True):
            for cut in cuts:
                if not reader.over:
                    await reader.connect(cut)
        if archived:
            await gateway.store.archive("r", reply_text(events))
        await reader.to_the_end()
        assert (reader.text(), reader.received[-1]) == (reply_text(events), as_sent(events)[-1])

    run(main())
