"""The archivist, on the memory store and a clock that is moved."""

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import timedelta

import pytest

from shared.adapters.clock import MovedClock
from shared.adapters.memory import MemoryStore
from shared.events import Event, EventKind, encode_data
from shared.run import RunStatus
from shared.settings import Settings
from tests.support.patience import PATIENCE_S
from tests.support.runs import a_delta, a_done, a_message, a_run
from worker.archivist import Archivist

LEASE = timedelta(minutes=1)


def play(scene: Coroutine[None, None, None]) -> None:
    """Play a scene to its end."""
    asyncio.run(asyncio.wait_for(scene, PATIENCE_S))


async def end_a_run(store: MemoryStore, run_id: str, events: list[Event]) -> None:
    """Put an ended run with these events, the last of which is terminal, into the store."""
    await store.open_run(a_run(run_id, run_id), a_message(run_id, run_id))
    await store.claim("w", LEASE, run_id)
    await store.finish(run_id, 1, RunStatus.RUNNING, RunStatus.DONE, events, None, "end")


def test_old_runs_become_one_text() -> None:
    """After the retention a run's rows are its text, as a reader has it, and the terminal event."""

    async def scene() -> None:
        clock = MovedClock()
        store, settings = MemoryStore(clock), Settings()
        archivist = Archivist(store, clock, settings)
        rerun = Event("r", 1, EventKind.RERUN, encode_data({"reason": "merge", "attempt": 1}))
        events = [a_delta("r", 0), rerun, a_delta("r", 2), a_delta("r", 3), a_done("r", 4)]
        await end_a_run(store, "r", events)
        clock.advance(settings.retention)
        assert await archivist.sweep() == 0
        assert list(await store.events("r", 0, 10)) == events
        clock.advance(timedelta(microseconds=1))
        assert await archivist.sweep() == 1
        stored = await store.run("r")
        assert stored is not None
        assert (stored.archived_text, stored.last_seq) == ("2 3 ", 4)
        assert list(await store.events("r", 0, 10)) == events[-1:]
        assert await archivist.sweep() == 0

    play(scene())


def test_a_retention_may_be_longer_than_there_are_years() -> None:
    """Whoever wants to keep everything sets the largest duration there is; nothing is archived, and nothing fails."""

    async def scene() -> None:
        clock = MovedClock()
        store = MemoryStore(clock)
        await end_a_run(store, "r", [a_delta("r", 0), a_done("r", 1)])
        settings = Settings.from_environment({"KODA_RETENTION": "999999999h"})
        assert await Archivist(store, clock, settings).sweep() == 0

    play(scene())


class Puzzled(MemoryStore):
    """Cannot read the rows of the run `odd`."""

    async def events(self, run_id: str, start: int, limit: int) -> Sequence[Event]:
        """Read others."""
        if run_id == "odd":
            raise ValueError("'novel' is not a valid EventKind")
        return await super().events(run_id, start, limit)


def test_a_run_that_cannot_be_read_keeps_its_rows(caplog: pytest.LogCaptureFixture) -> None:
    """It is said, the others are archived, and the worker goes on: it is one run's past, and nobody waits for it."""

    async def scene() -> None:
        clock = MovedClock()
        store, settings = Puzzled(clock), Settings()
        for run_id in ("odd", "r"):
            await end_a_run(store, run_id, [a_delta(run_id, 0), a_done(run_id, 1)])
        clock.advance(settings.retention + timedelta(seconds=1))
        assert await Archivist(store, clock, settings).sweep() == 1
        assert await store.archivable(clock.now(), 9) == ["odd"]

    play(scene())
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == ["run_not_archived"]


def test_two_archivists_archive_a_run_once() -> None:
    """Sweeps of several processes at once: each run is archived by one of them, and its text is whole."""

    async def scene() -> None:
        clock = MovedClock()
        store, settings = MemoryStore(clock), Settings()
        for number in range(20):
            run_id = f"r{number}"
            await end_a_run(store, run_id, [a_delta(run_id, 0), a_done(run_id, 1)])
        clock.advance(settings.retention * 2)
        archivists = [Archivist(store, clock, settings) for _ in range(10)]
        counts = [await asyncio.gather(*(each.sweep() for each in archivists)) for _ in range(3)]
        assert sum(map(sum, counts)) == 20
        texts = [stored.archived_text for n in range(20) if (stored := await store.run(f"r{n}")) is not None]
        assert texts == ["0 "] * 20

    play(scene())


def test_a_long_run_is_read_in_pages() -> None:
    """A run of more events than a page loses none of them."""

    async def scene() -> None:
        clock = MovedClock()
        store = MemoryStore(clock)
        await end_a_run(store, "r", [*(a_delta("r", seq) for seq in range(2500)), a_done("r", 2500)])
        clock.advance(Settings().retention * 2)
        await Archivist(store, clock, Settings()).sweep()
        stored = await store.run("r")
        assert stored is not None
        assert stored.archived_text == "".join(f"{seq} " for seq in range(2500))

    play(scene())
