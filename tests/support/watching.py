"""Waiters of a real gateway, and what is wrong with what they and the store hold in the end."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import httpx

from client.follow import afollow
from client.following import Following, GaveUp, Outcome, Patience
from client.sse import ServerEvent
from shared.bootstrap import Ports
from shared.events import TERMINAL, Event, EventKind, decode_data, reply_text
from shared.ledger import END_OF
from shared.ports import Store
from shared.run import ENDED
from tests.support.patience import PATIENCE_S

STUBBORN: Final = Patience(failures=100, longest_backoff=timedelta(seconds=1), idle=timedelta(seconds=4))
"""A client that does not give up for as long as a test lasts."""


WAITER: Final = "waiter"
"""The name of the tasks of all of them."""


class Waiter:
    """A client that follows one run to its end over as many connections as it takes, and keeps what it was given."""

    def __init__(self, client: httpx.AsyncClient, run_id: str) -> None:
        self.following = Following(run_id, patience=STUBBORN)
        self.events: list[ServerEvent] = []
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._follow(client), name=WAITER)

    async def _follow(self, client: httpx.AsyncClient) -> None:
        try:
            async with aclosing(afollow(client, self.following)) as events:
                async for event in events:
                    self.events.append(event)
                    self._changed.set()
        except GaveUp:
            pass  # its outcome says so
        finally:
            self._changed.set()

    @property
    def seen(self) -> int:
        """The seq of the newest event that it was given; -1 before the first."""
        return max((int(event.id) for event in self.events if event.has_id), default=-1)

    @property
    def over(self) -> bool:
        """Whether it follows no more."""
        return self._task.done()

    async def has(self, wanted: Callable[["Waiter"], bool]) -> None:
        """Return when this is true of it.

        Raises:
            AssertionError: it has stopped, or time is over.
        """
        async with asyncio.timeout(PATIENCE_S):
            while not wanted(self):
                assert not self.over, f"{self.following.outcome}: {self.following.last_error}"
                self._changed.clear()
                await self._changed.wait()

    async def reached(self, seq: int) -> None:
        """Return when it has an event with this seq or a later one."""
        await self.has(lambda waiter: waiter.seen >= seq)

    async def came_to(self, seq: int) -> None:
        """Return when it has an event with this seq or a later one, or follows no more."""
        async with asyncio.timeout(PATIENCE_S):
            while self.seen < seq and not self.over:
                self._changed.clear()
                await self._changed.wait()

    async def cut(self, client: httpx.AsyncClient) -> None:
        """Lose its connection and its process, and go on from what it has."""
        if not self.over:
            await self.stop()
            self._task = asyncio.create_task(self._follow(client), name=WAITER)

    async def ended(self) -> None:
        """Return when it follows no more.

        Raises:
            TimeoutError: it still does.
        """
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.shield(self._task)

    async def stop(self) -> None:
        """Leave, wherever it is."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def kinds(self) -> list[str]:
        """Return the kinds of the events that it was given, fragments aside."""
        return [event.event for event in self.events if event.event != EventKind.DELTA]


async def all_events(store: Store, run_id: str) -> list[Event]:
    """Read a run's whole log."""
    events: list[Event] = []
    while page := await store.events(run_id, len(events), 1000):
        events += page
    return events


@dataclass(slots=True)
class Verdict:
    """What is wrong, in words; nothing, if all three are empty."""

    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.duplicated or self.stuck)

    def add(self, other: "Verdict") -> None:
        """Take what is wrong elsewhere, too."""
        self.lost += other.lost
        self.duplicated += other.duplicated
        self.stuck += other.stuck


async def judged(ports: Ports, run_id: str, waiters: Sequence[Waiter], streamed: Iterable[Event] = ()) -> Verdict:
    """Compare what the store, the stream and every waiter hold of a run that should have ended: it has to be one story.

    The log is contiguous and ends as the status says. Each waiter was given all of it, in order, nothing twice. What is
    under one seq is the same wherever it is; `streamed` is what the stream held earlier.
    """
    verdict = Verdict()
    stored = await ports.store.run(run_id)
    log = await all_events(ports.store, run_id)
    if stored is None or stored.run.status not in ENDED:
        verdict.stuck.append(f"{run_id} is {stored and stored.run.status}")
    elif not log or log[-1].kind is not END_OF[stored.run.status]:
        verdict.lost.append(f"{run_id} is {stored.run.status}, and its log ends with {log[-1:]}")
    if [event.seq for event in log] != list(range(len(log))):
        verdict.lost.append(f"{run_id} has a log with the seqs {[event.seq for event in log]}")
    if any(event.kind in TERMINAL for event in log[:-1]):
        verdict.duplicated.append(f"{run_id} has ended more than once")
    for entry in {*streamed, *await ports.output.entries(run_id)}:
        if entry not in log[entry.seq : entry.seq + 1]:
            verdict.duplicated.append(f"the stream has {entry}, the store {log[entry.seq : entry.seq + 1]}")
    for number, waiter in enumerate(waiters):
        _compare(f"waiter {number} of {run_id}", waiter, log, verdict)
    return verdict


def _compare(who: str, waiter: Waiter, log: Sequence[Event], verdict: Verdict) -> None:
    if waiter.following.outcome not in {Outcome.ENDED, Outcome.NOTHING_LEFT}:
        verdict.stuck.append(f"{who} has {waiter.seen} of {len(log)}: {waiter.following.last_error}")
    elif waiter.seen != len(log) - 1:
        verdict.lost.append(f"{who} stopped at {waiter.seen} of {len(log)}")
    due = 0
    for given in waiter.events:
        if given.event == "gap":
            due = 0  # all it had is void: what comes next begins the story again
            continue
        seq = int(given.id)
        if given.event == "snapshot":
            if decode_data(given.data)["text"] != reply_text(list(log[: seq + 1])):
                verdict.duplicated.append(f"{who} has another text up to {seq}: {given.data}")
        elif seq != due:
            (verdict.lost if seq > due else verdict.duplicated).append(f"{who} was given {seq} for {due}")
        elif [(given.event, given.data)] != [(event.kind, event.data) for event in log[seq : seq + 1]]:
            verdict.duplicated.append(f"{who} has {given.event} {given.data} for {log[seq : seq + 1]}")
        due = seq + 1
