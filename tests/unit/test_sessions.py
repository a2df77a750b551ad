"""A session as a whole: its snapshot, and the pages after a cursor."""

import random
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import sessions
from gateway.sessions import BEGINNING, encode_cursor, parse_cursor
from shared.adapters.memory import MemoryStore
from shared.errors import InvalidField
from shared.events import Event, EventKind, Json, encode_data, reply_text
from shared.ports import StoredRun
from shared.run import RunStatus
from tests.support.calm import calm
from tests.support.houses import LEASE, House, delta, done, house, log, rerun
from tests.support.moved_loop import run


async def snapshot(store: MemoryStore, session_id: str = "s") -> dict[str, Json]:
    """Return a session's snapshot as it leaves: as JSON."""
    document: dict[str, Json] = msgspec.json.decode(msgspec.json.encode(await sessions.snapshot(store, session_id)))
    return document


async def page(store: MemoryStore, cursor: str | None, session_id: str = "s") -> dict[str, Json]:
    """Return a page as it leaves: as JSON."""
    document: dict[str, Json] = msgspec.json.decode(msgspec.json.encode(await sessions.page(store, session_id, cursor)))
    return document


def shown(event: Event) -> Json:
    """Return an event as a page has it."""
    data: Json = msgspec.json.decode(event.data)
    return {"run_id": event.run_id, "seq": event.seq, "kind": event.kind.value, "data": data}


class Reader:
    """A front end: takes a snapshot, then pages, and has the text of every run."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.cursor: str | None = None
        self.texts: dict[str, str] = {}
        self.ended: set[str] = set()

    async def begin(self) -> None:
        """Take the snapshot."""
        document = await snapshot(self._store)
        cursor, runs = document["cursor"], document["runs"]
        assert isinstance(cursor, str) and isinstance(runs, list)
        self.cursor = cursor
        for each in runs:
            assert isinstance(each, dict)
            self.texts[str(each["run_id"])] = str(each["text"])

    async def catch_up(self) -> None:
        """Read pages until there is no more."""
        more: Json = True
        while more:
            document = await page(self._store, self.cursor)
            events, cursor, more = document["events"], document["cursor"], document["more"]
            assert isinstance(events, list) and isinstance(cursor, str)
            self.cursor = cursor
            for event in events:
                assert isinstance(event, dict)
                self._apply(event)

    def _apply(self, event: dict[str, Json]) -> None:
        run_id, kind, data = str(event["run_id"]), event["kind"], event["data"]
        assert isinstance(data, dict)
        if kind == "delta":
            self.texts[run_id] = self.texts.get(run_id, "") + str(data["text"])
        elif kind == "snapshot":
            self.texts[run_id] = str(data["text"])
        elif kind == "rerun":
            self.texts[run_id] = ""
        else:
            self.ended.add(run_id)


# --- cursors ----------------------------------------------------------------------------------------------------------


@calm
@given(st.integers(0, 10**9 - 1), st.integers(0, 10**18 - 1))
def test_a_cursor_comes_back_as_the_position_it_was(ordinal: int, seq: int) -> None:
    """What is given out is read back to the same position."""
    assert parse_cursor(encode_cursor((ordinal, seq))) == (ordinal, seq)


@pytest.mark.parametrize("cursor", [None, "", encode_cursor(BEGINNING)])
def test_no_cursor_is_the_beginning(cursor: str | None) -> None:
    """No cursor, an empty one, and the one of an empty session mean the beginning."""
    assert parse_cursor(cursor) == BEGINNING


@pytest.mark.parametrize(
    "cursor",
    ["0", "-", "-1", "0--1", "٣-٣", "²-0", " 0-0", "0-0\n", "0-0 ", "1_0-0", "9" * 10 + "-0", "0-" + "9" * 19],
)
def test_a_cursor_that_was_never_given_out_is_refused(cursor: str) -> None:
    """Anything else is told: going on from it would skip or repeat in silence (R2)."""
    with pytest.raises(InvalidField) as refused:
        parse_cursor(cursor)
    assert refused.value.field == "cursor"


def test_there_is_a_place_before_a_runs_first_event() -> None:
    """`3-` is behind the word that run 3 is next: all before it has been read, and nothing of it."""
    assert parse_cursor("3-") == (3, -1)
    assert encode_cursor((3, -1)) == "3-"
    assert parse_cursor("0-") == BEGINNING


# --- snapshot and pages -----------------------------------------------------------------------------------------------


def test_an_unknown_session_is_empty() -> None:
    """A session needs no creation: one that nobody has written to is there and empty."""

    async def main() -> None:
        store = house().store
        assert await snapshot(store) == {"session_id": "s", "messages": [], "runs": [], "cursor": ""}
        assert await page(store, None) == {"events": [], "cursor": "", "more": False}

    run(main())


def test_a_snapshot_has_messages_runs_and_texts() -> None:
    """A snapshot has every message with its run, every run with its text, and the cursor that the texts reach to."""

    async def main() -> None:
        gateway = house()
        await gateway.ended([delta(0, "void"), rerun(1), delta(2, "a"), delta(3, "b"), done(4)])
        await gateway.streaming("q")
        await gateway.flush(delta(0, "c", "q"))
        at = [f"2026-01-01T00:00:00.00{n}000+00:00" for n in (1, 2)]
        assert await snapshot(gateway.store) == {
            "session_id": "s",
            "messages": [
                {"message_id": "m-r", "run_id": "r", "text": "hello", "created_at": at[0]},
                {"message_id": "m-q", "run_id": "q", "text": "hello", "created_at": at[1]},
            ],
            "runs": [
                {"run_id": "r", "status": "done", "text": "ab", "created_at": at[0], "questions": []},
                {"run_id": "q", "status": "streaming", "text": "c", "created_at": at[1], "questions": []},
            ],
            "cursor": "1-0",
        }

    run(main())


def test_a_page_goes_on_where_the_cursor_says() -> None:
    """A page has the events after its cursor, in the order of runs and seqs, data as it was written."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(3))
        await gateway.ended(log(2, "q"))
        events = [shown(event) for event in [*log(3), *log(2, "q")]]
        assert await page(gateway.store, None) == {"events": events, "cursor": "1-1", "more": False}
        assert await page(gateway.store, "0-1") == {"events": events[2:], "cursor": "1-1", "more": False}
        assert await page(gateway.store, "1-1") == {"events": [], "cursor": "1-1", "more": False}
        assert await page(gateway.store, "1-") == {"events": events[3:], "cursor": "1-1", "more": False}
        assert await page(gateway.store, "2-") == {"events": [], "cursor": "2-", "more": False}

    run(main())


def test_a_long_history_comes_in_pages() -> None:
    """A page holds 500 events and says that there is more; the pages together are the history."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(1201))
        events: list[Json] = []
        sizes: list[tuple[int, Json]] = []
        cursor: Json = None
        while not sizes or sizes[-1][1]:
            document = await page(gateway.store, None if cursor is None else str(cursor))
            assert isinstance(document["events"], list)
            cursor = document["cursor"]
            events += document["events"]
            sizes.append((len(document["events"]), document["more"]))
        assert sizes == [(500, True), (500, True), (201, False)]
        assert events == [shown(event) for event in log(1201)]

    run(main())


def test_history_waits_for_the_run_that_has_not_ended() -> None:
    """What a later run has already (it was cancelled while it waited) comes when the run before it has ended."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.flush(delta(0))
        await gateway.run("q")
        cancelled = Event("q", 0, EventKind.CANCELLED, encode_data({"reason": "user"}))
        await gateway.store.finish("q", 0, RunStatus.PENDING, RunStatus.CANCELLED, [cancelled], None, "cancel")
        reader = Reader(gateway.store)
        await reader.begin()
        await reader.catch_up()
        assert (reader.texts, reader.ended, reader.cursor) == ({"r": "0 ", "q": ""}, set(), "0-0")
        await gateway.end([delta(1), done(2)])
        await reader.catch_up()
        assert (reader.texts, reader.ended, reader.cursor) == ({"r": "0 1 ", "q": ""}, {"r", "q"}, "1-0")

    run(main())


def test_a_pending_run_has_no_text_yet() -> None:
    """A run that waits behind an active one is in the snapshot, and its text comes on later pages."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.flush(delta(0))
        await gateway.run("q")
        reader = Reader(gateway.store)
        await reader.begin()
        await gateway.end([done(1)])
        assert await gateway.store.claim("w", LEASE, "s") is not None
        await gateway.flush(delta(0, "later", "q"))
        await reader.catch_up()
        assert (reader.texts, reader.ended) == ({"r": "0 ", "q": "later"}, {"r"})

    run(main())


# --- archived runs ----------------------------------------------------------------------------------------------------


def test_an_archived_run_keeps_its_text_in_the_snapshot() -> None:
    """When the rows have become one text the snapshot is the same as before."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(4))
        before = await snapshot(gateway.store)
        assert await gateway.store.archive("r", reply_text(log(4)))
        assert await snapshot(gateway.store) == before

    run(main())


class ArchivingStore(MemoryStore):
    """Archives a run between a test's two looks at it."""

    archive_next: str | None = None

    async def runs_of(self, session_id: str) -> Sequence[StoredRun]:
        """Read the runs; then one is archived."""
        stored = await super().runs_of(session_id)
        if self.archive_next is not None:
            await self.archive(self.archive_next, reply_text(log(4)))
        return stored


def test_a_run_archived_under_the_snapshot_keeps_its_text() -> None:
    """A run whose rows become one text while the snapshot is made is in it with its text."""

    async def main() -> None:
        gateway = house(store=ArchivingStore)
        assert isinstance(gateway.store, ArchivingStore)
        await gateway.ended(log(4))
        before = await snapshot(gateway.store)
        gateway.store.archive_next = "r"
        assert await snapshot(gateway.store) == before

    run(main())


@pytest.mark.parametrize("cursor", [None, "0-0", "0-1"])
def test_a_page_of_an_archived_run_has_its_text(cursor: str | None) -> None:
    """A cursor inside rows that are gone gets the whole text in their place: never a silent skip (R3)."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(4))
        await gateway.ended(log(2, "q"))
        assert await gateway.store.archive("r", reply_text(log(4)))
        text: Json = {"run_id": "r", "seq": 2, "kind": "snapshot", "data": {"text": "0 1 2 "}}
        rest = [shown(event) for event in [done(3), *log(2, "q")]]
        assert await page(gateway.store, cursor) == {"events": [text, *rest], "cursor": "1-1", "more": False}

    run(main())


def test_a_page_behind_an_archived_run_does_not_repeat_it() -> None:
    """A cursor at the last fragment or the end of an archived run gets what comes after it and nothing else."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(4))
        await gateway.ended(log(2, "q"))
        assert await gateway.store.archive("r", reply_text(log(4)))
        rest = [shown(event) for event in [done(3), *log(2, "q")]]
        assert (await page(gateway.store, "0-2"))["events"] == rest
        assert (await page(gateway.store, "0-3"))["events"] == rest[1:]

    run(main())


# --- at any moment ----------------------------------------------------------------------------------------------------


class Session:
    """One session that lives at random, and what a reader must end up with."""

    def __init__(self, gateway: House, chance: random.Random) -> None:
        self.gateway = gateway
        self.logs: dict[str, list[Event]] = {}
        self._chance = chance
        self._runs = 0
        self._active: str | None = None
        self._waiting: list[str] = []

    async def step(self) -> None:
        """Do one thing that may happen now."""
        steps: list[Callable[[], Awaitable[None]]] = [self._open]
        if self._active is not None:
            steps += [self._write] * 6 + [self._end]
        elif self._waiting:
            steps += [self._claim] * 3
        if self._waiting:
            steps.append(self._cancel_waiting)
        if any(events and events[-1].kind is EventKind.DONE for events in self.logs.values()):
            steps.append(self._archive)
        await self._chance.choice(steps)()

    async def settle(self) -> None:
        """Bring everything to its end."""
        while self._active is not None or self._waiting:
            await (self._end() if self._active is not None else self._claim())

    async def _open(self) -> None:
        run_id = f"r{self._runs}"
        self._runs += 1
        self.logs[run_id] = []
        self._waiting.append(run_id)
        await self.gateway.run(run_id)

    async def _claim(self) -> None:
        self._active = self._waiting.pop(0)
        claim = await self.gateway.store.claim("w", LEASE, "s")
        assert claim is not None and claim.run.id == self._active
        await self.gateway.store.move(self._active, 1, RunStatus.RUNNING, RunStatus.STREAMING, "first fragment")

    async def _write(self) -> None:
        assert self._active is not None
        events = self.logs[self._active]
        seq = len(events)
        event = delta(seq, run_id=self._active) if self._chance.random() < 0.8 else rerun(seq, self._active)
        events.append(event)
        await self.gateway.flush(event)

    async def _end(self) -> None:
        assert self._active is not None
        events = self.logs[self._active]
        events.append(done(len(events), self._active))
        await self.gateway.end(events[-1:])
        self._active = None

    async def _cancel_waiting(self) -> None:
        run_id = self._waiting.pop(self._chance.randrange(len(self._waiting)))
        event = Event(run_id, 0, EventKind.CANCELLED, encode_data({"reason": "user"}))
        self.logs[run_id].append(event)
        await self.gateway.store.finish(run_id, 0, RunStatus.PENDING, RunStatus.CANCELLED, [event], None, "cancel")

    async def _archive(self) -> None:
        ended = [run_id for run_id, events in self.logs.items() if events and events[-1].kind is EventKind.DONE]
        run_id = self._chance.choice(ended)
        await self.gateway.store.archive(run_id, reply_text(self.logs[run_id]))


@calm
@given(st.integers(0, 2**32))
def test_snapshot_and_pages_are_the_whole_history(seed: int) -> None:
    """Whoever begins with a snapshot at any moment, and reads on whenever, ends with every run's text and every end."""

    async def main() -> None:
        chance = random.Random(seed)
        session = Session(house(), chance)
        readers: list[Reader] = [Reader(session.gateway.store)]
        for _ in range(40):
            await session.step()
            if chance.random() < 0.2:
                readers.append(Reader(session.gateway.store))
                await readers[-1].begin()
            if chance.random() < 0.3:
                await chance.choice(readers).catch_up()
        await session.settle()
        for reader in readers:
            await reader.catch_up()
            for run_id, events in session.logs.items():
                assert reader.texts.get(run_id, "") == reply_text(events), run_id
            assert reader.cursor == readers[0].cursor
        assert readers[0].ended == session.logs.keys()

    run(main())
