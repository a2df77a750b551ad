"""The memory store beyond the contract: its clocks, outages, and transactions that break in the middle."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from shared.adapters.clock import MovedClock
from shared.adapters.memory import MemoryStore
from shared.adapters.memory.indexes import UniqueViolation
from shared.errors import Unavailable
from shared.events import Event, EventKind
from shared.forks import Fork, session_of
from shared.ports import Ending, Message, Resumed
from shared.run import Run, RunStatus

PENDING, RUNNING, STREAMING, DONE = RunStatus.PENDING, RunStatus.RUNNING, RunStatus.STREAMING, RunStatus.DONE
SECOND, AN_HOUR = timedelta(seconds=1), timedelta(hours=1)


@dataclass
class Lab:
    """A store whose two times are moved apart from each other."""

    now: float = 100.0

    def __post_init__(self) -> None:
        self.clock = MovedClock()
        self.store = MemoryStore(self.clock, lambda: self.now)

    async def open(self, run_id: str, message_id: str = "m", session_id: str = "s") -> None:
        """Open a run with one message."""
        now = self.clock.now()
        message = Message(message_id, session_id, "u", "hi", now)
        await self.store.open_run(Run(run_id, session_id, "u", PENDING, 0, now, now), message)

    async def fork(self, run_id: str, text: str) -> Fork:
        """Split the first sub-run off run r, which is at its first attempt."""
        now, session_id = self.clock.now(), session_of("r", run_id)
        run = Run(run_id, session_id, "u", PENDING, 0, now, now)
        return await self.store.fork("r", 1, 0, "title", run, Message("m", session_id, "u", text, now))

    async def start(self, run_id: str, lease: timedelta = 15 * SECOND) -> None:
        """Open a run and claim it."""
        await self.open(run_id)
        assert await self.store.claim("w", lease) is not None


class Torn(list[Event]):
    """Events of which only the first can be had: what comes behind it breaks."""

    def __iter__(self) -> Iterator[Event]:
        yield self[0]
        raise ZeroDivisionError


def delta(seq: int) -> Event:
    """Return a fragment of run r."""
    return Event("r", seq, EventKind.DELTA, "{}")


def test_a_lease_ends_at_its_time() -> None:
    """The run is its owner's until the lease is over and anybody's at that moment; renewing counts from then."""

    async def story(lab: Lab) -> None:
        await lab.start("r")
        lab.now += 14
        assert await lab.store.take_over("w2", SECOND) is None
        await lab.store.renew("w", 15 * SECOND)
        lab.now += 14
        assert await lab.store.take_over("w2", SECOND) is None
        lab.now += 1
        assert await lab.store.take_over("w2", SECOND) is not None

    asyncio.run(story(Lab()))


def test_a_moved_clock_ends_no_lease() -> None:
    """Leases are measured with the monotonic source: moving the clock for a rule about age costs nobody a run."""

    async def story(lab: Lab) -> None:
        await lab.start("r")
        lab.clock.advance(AN_HOUR)
        assert await lab.store.take_over("w2", SECOND) is None

    asyncio.run(story(Lab()))


def test_a_released_run_waits_for_its_time() -> None:
    """It can be taken over when the pause is over, not a moment before."""

    async def story(lab: Lab) -> None:
        await lab.start("r")
        await lab.store.release("r", 1, 2 * SECOND, Resumed.RETRY)
        lab.now += 1.9
        assert await lab.store.take_over("w2", SECOND) is None
        lab.now += 0.1
        claim = await lab.store.take_over("w2", SECOND)
        assert claim is not None and claim.resumed is Resumed.RETRY

    asyncio.run(story(Lab()))


def test_a_run_that_became_active_without_a_claim_is_nobodys() -> None:
    """It has no owner, so it can be taken over at once instead of staying active for good."""

    async def story(lab: Lab) -> None:
        await lab.open("r")
        assert await lab.store.move("r", 0, PENDING, RUNNING, "by hand")
        claim = await lab.store.take_over("w", SECOND)
        assert claim is not None and (claim.run.id, claim.run.attempt) == ("r", 1)

    asyncio.run(story(Lab()))


def test_status_changes_are_stamped_and_audited() -> None:
    """The run's `updated_at` and the audit rows carry the clock's time of each change."""

    async def story(lab: Lab) -> None:
        opened = lab.clock.now()
        await lab.open("r")
        lab.clock.advance(SECOND)
        await lab.store.claim("w", AN_HOUR)
        lab.clock.advance(SECOND)
        await lab.store.move("r", 1, RUNNING, STREAMING, "first fragment")
        lab.clock.advance(SECOND)
        await lab.store.finish("r", 1, STREAMING, DONE, [], None, "end")
        stored = await lab.store.run("r")
        assert stored is not None
        assert (stored.run.created_at, stored.run.updated_at) == (opened, opened + 3 * SECOND)
        assert [(row.source, row.target, row.at - opened, row.why) for row in lab.store.transitions("r")] == [
            (PENDING, RUNNING, 1 * SECOND, "claimed"),
            (RUNNING, STREAMING, 2 * SECOND, "first fragment"),
            (STREAMING, DONE, 3 * SECOND, "end"),
        ]

    asyncio.run(story(Lab()))


def test_an_end_that_breaks_in_the_middle_leaves_nothing() -> None:
    """Status, audit row and the first of the events are taken back; the run can still be ended, by its owner."""

    async def story(lab: Lab) -> None:
        await lab.start("r")
        before = await lab.store.run("r")
        with pytest.raises(ZeroDivisionError):
            await lab.store.finish("r", 1, RUNNING, DONE, Torn([delta(0), delta(1)]), 1, "end")
        assert await lab.store.run("r") == before
        assert await lab.store.events("r", 0, 10) == []
        assert len(lab.store.transitions("r")) == 1
        assert len(await lab.store.renew("w", SECOND)) == 1
        assert await lab.store.finish("r", 1, RUNNING, DONE, [delta(0)], 1, "end") is Ending.ENDED

    asyncio.run(story(Lab()))


def test_an_append_that_breaks_in_the_middle_leaves_nothing() -> None:
    """Not one row of the call is written, and the log goes on with the same seq (O4)."""

    async def story(lab: Lab) -> None:
        await lab.start("r")
        with pytest.raises(ZeroDivisionError):
            await lab.store.append("r", 1, Torn([delta(0), delta(1)]))
        assert await lab.store.events("r", 0, 10) == []
        await lab.store.append("r", 1, [delta(0)])
        assert await lab.store.events("r", 0, 10) == [delta(0)]

    asyncio.run(story(Lab()))


def test_a_run_id_that_is_taken_takes_the_message_back() -> None:
    """Opening a second run under one id fails as a whole: no message, no ordinal, nothing to claim."""

    async def story(lab: Lab) -> None:
        await lab.open("r", "m1")
        with pytest.raises(UniqueViolation):
            await lab.open("r", "m2", "s2")
        assert await lab.store.find_message("s2", "m2") is None
        assert (await lab.store.runs_of("s2"), await lab.store.waiting_sessions(10)) == ([], ["s"])

    asyncio.run(story(Lab()))


def test_a_sub_run_whose_id_is_taken_takes_everything_back() -> None:
    """Splitting off under the id of an ordinary run fails as a whole: the number stays with whom it was."""

    async def story(lab: Lab) -> None:
        await lab.start("r")
        await lab.open("taken", session_id="s2")
        forks = [await lab.fork("c", "first")]
        with pytest.raises(UniqueViolation):
            await lab.fork("taken", "second")
        assert (await lab.store.forks_of("r"), await lab.store.orphans(10)) == (forks, [])
        assert await lab.store.inputs_of(session_of("r", "taken")) == []
        assert await lab.store.waiting_sessions(10) == ["s2", session_of("r", "c")]

    asyncio.run(story(Lab()))


def test_an_outage_fails_calls_and_loses_nothing() -> None:
    """While the store is away calls raise Unavailable; afterwards everything is there."""

    async def story(lab: Lab) -> None:
        await lab.open("r")
        before = await lab.store.run("r")
        lab.store.away(True)
        calls: list[Callable[[], Awaitable[object]]] = [
            lab.store.ping,
            lambda: lab.store.run("r"),
            lambda: lab.store.claim("w", SECOND),
        ]
        for call in calls:
            with pytest.raises(Unavailable) as away:
                await call()
            assert away.value.service == "store"
        lab.store.away(False)
        await lab.store.ping()
        assert await lab.store.run("r") == before

    asyncio.run(story(Lab()))
