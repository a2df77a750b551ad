"""The consumer: takes doorbells from the queue, claims what they ring for, and keeps what was claimed.

A delivery says only "this session has work": a run that waits, or one that was given back. What there is to do, and
whether it is ours, the store says. So a doorbell that rings twice, too late or not at all costs nothing but time: the
sweep finds what nobody rang for.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Literal

from shared.errors import IllegalTransition, Unavailable
from shared.ledger import Ledger
from shared.logs import logger, note
from shared.ports import Claim, Delivery, Held, InputQueue, Mark, Resumed, Store
from shared.run import Run
from shared.settings import Settings
from worker.archivist import Archivist
from worker.executor import Executor
from worker.orphans import Orphans
from worker.patience import pause
from worker.signals import Signals
from worker.slots import Slot, Slots

log = logger("worker")

BLOCK = timedelta(seconds=2)  # how long one take waits: bounds what a cancelled one leaves behind
TAKE_AT_ONCE = 16  # a fair share: what one worker takes, its peers do not see
CLOSING = timedelta(seconds=2)  # how long a model may take to close before its run is given back all the same
SWEEP_AT_ONCE = 16  # sessions and doorbells looked at in one sweep; the next one continues


class Consumer:
    """One worker: executes up to `settings.concurrency` runs at once under the name `owner`."""

    def __init__(
        self, owner: str, ledger: Ledger, store: Store, queue: InputQueue, executor: Executor, archivist: Archivist,
        orphans: Orphans, settings: Settings,
    ) -> None:  # fmt: skip
        self._owner = owner
        self._ledger = ledger
        self._store = store
        self._queue = queue
        self._executor = executor
        self._bell = executor.bell
        self._archivist = archivist
        self._orphans = orphans
        self._settings = settings
        self._running: dict[str, _Running] = {}
        self._idle: set[Held] = set()  # held at the last renewal, and executed by nobody
        self._serving: set[asyncio.Task[None]] = set()
        self._slots = Slots(settings.concurrency)
        self._draining = asyncio.Event()

    async def run(self) -> None:
        """Work until `drain` or cancellation: take, sweep, archive and renew, each at its own pace."""
        taking = asyncio.create_task(self._take_forever())
        sweeping = asyncio.create_task(self._every(self._settings.sweep_every, self._sweep))
        archiving = asyncio.create_task(self._every(self._settings.sweep_every, self._archivist.sweep))
        releasing = asyncio.create_task(self._every(self._settings.sweep_every, self._orphans.sweep))
        renewing = asyncio.create_task(self._every(self._settings.renew_every, self._renew))
        drained = asyncio.create_task(self._draining.wait())
        tasks = (taking, sweeping, archiving, releasing, renewing, drained)
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # of the loops, only one that crashed is ever done
            await _stop(taking, sweeping, archiving, releasing)
            await self._finish_or_give_back()
        finally:
            await _stop(*tasks, *self._serving)
            await self._bell.close()

    def drain(self) -> None:
        """Take nothing new; let running runs finish within `settings.drain`, give back the rest; then `run` returns."""
        self._draining.set()

    # taking

    async def _take_forever(self) -> None:
        failures = 0
        while True:
            slot = await self._slots.take()  # what we cannot serve yet is left to our peers
            slot.give_up()
            free = self._slots.free  # that one at the least
            try:
                await self._answer(await self._queue.take(self._owner, min(free, TAKE_AT_ONCE), BLOCK))
                failures = 0
            except Unavailable as away:
                failures += 1
                await pause(failures, away, "take from the queue")

    async def _answer(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            await self._serve(delivery.session_id)
        await self._queue.acknowledge(deliveries)

    async def _serve(self, session_id: str) -> None:
        """Work off a session in a task of its own, as soon as there is a slot for it."""
        slot = await self._slots.take()
        self._start(self._work_off(session_id, slot), slot)

    def _start(self, work: "Coroutine[None, None, None]", slot: Slot) -> None:
        """Do the work in a task of its own, in a slot that was taken for it."""
        task = asyncio.create_task(work)
        self._serving.add(task)
        task.add_done_callback(partial(self._served, slot))

    def _served(self, slot: Slot, task: "asyncio.Task[None]") -> None:
        self._serving.discard(task)
        slot.retire()  # here, because a task that is cancelled before it begins gets to no `finally`
        if not task.cancelled() and (crash := task.exception()) is not None:
            log.error("work_crashed", exc_info=crash)

    async def _work_off(self, session_id: str, slot: Slot) -> None:
        """Execute the session's runs, one after the other, until there is none for us."""
        first = True
        while not self._draining.is_set():
            await slot.take()  # the run before may have lent it
            asked_at = _now()
            claim = await self._claim(session_id, given_back=first)
            if claim is None:
                return
            first = False  # nobody gives back what is not his, and what we give back rings anew
            await self._execute(claim, asked_at, slot)
        await self._bell.ring([session_id])  # what is left of it is another worker's

    async def _claim(self, session_id: str, *, given_back: bool) -> Claim | None:
        """Claim the session's oldest pending run, or else, if wanted, the active one that was given back."""
        lease = self._settings.lease
        try:
            claim = await self._ledger.claim(self._owner, lease, session_id)
            if claim is None and given_back:
                claim = await self._ledger.take_up(self._owner, lease, session_id)
            return claim
        except IllegalTransition:
            return None  # logged where it was refused; the run stays pending, the sweep tries again
        except Unavailable as away:
            note(log, "claim_failed", logging.WARNING, session_id=session_id, why=str(away))
            return None

    async def _execute(self, claim: Claim, asked_at: float, slot: Slot) -> None:
        task = asyncio.current_task()
        assert task is not None, "runs inside a task"
        run = claim.run
        if (former := self._running.get(run.id)) is not None:
            former.task.cancel()  # its lease ran out, and it was ourselves who took the run over
        running = self._running[run.id] = _Running(claim, Signals(self._until(asked_at)), task)
        try:
            await self._executor.execute(claim, running.signals, slot)
        except Exception:  # nobody foresaw it; `_renew` will find that nobody executes the run
            log.exception("run_crashed", extra={"fields": {"run_id": run.id, "attempt": run.attempt}})
        finally:
            if self._running.get(run.id) is running:
                del self._running[run.id]

    # keeping

    async def _renew(self) -> None:
        """Renew all leases in one statement; stop what is ours no more, and give back what nobody executes."""
        asked, asked_at = list(self._running.values()), _now()
        held = {run.run_id: run for run in await self._ledger.renew(self._owner, self._settings.lease)}
        for running in asked:
            lease = held.get(running.claim.run.id)
            if lease is None or lease.attempt != running.claim.run.attempt:
                await self._stop_if_lost(running)
                continue
            running.signals.ours_until = self._until(asked_at)
            if lease.cancel_asked:
                running.signals.add(frozenset({Mark.CANCEL}))
        # A claim whose answer was lost, or an execution that crashed: without us the lease would run out, with us it
        # never does. Twice in a row, because the answer to a claim may still be on its way.
        idle = {run for run in held.values() if not self._executes(run)}
        await self._give_back(idle & self._idle, counts=True)
        self._idle = idle

    def _executes(self, held: Held) -> bool:
        running = self._running.get(held.run_id)
        return running is not None and running.claim.run.attempt == held.attempt

    def _until(self, asked_at: float) -> float:
        """Return when a lease ends at the earliest: the store counted from a later moment than we asked in."""
        return asked_at + self._settings.lease.total_seconds()

    async def _stop_if_lost(self, running: "_Running") -> None:
        """Stop an execution whose lease was not renewed, unless it has just ended its run or given it back."""
        run = running.claim.run
        stored = await self._store.run(run.id)
        lost = stored is None or stored.run.attempt != run.attempt
        if lost and self._running.get(run.id) is running:
            note(log, "lease_lost", logging.WARNING, run_id=run.id, attempt=run.attempt)
            running.task.cancel()

    async def _give_back(self, runs: Iterable[Held], *, counts: bool) -> None:
        """Give runs back, free at once, and ring for them. They `count` unless all that is wrong is that we end."""
        given: list[str] = []
        try:
            for held in runs:
                stored = await self._store.run(held.run_id)
                if stored is not None and stored.run.attempt == held.attempt and await self._freed(stored.run, counts):
                    given.append(stored.run.session_id)
        finally:
            await self._bell.ring(given)

    async def _freed(self, run: Run, counts: bool) -> bool:
        if not counts:
            return await self._ledger.hand_over(run)
        return await self._ledger.give_back(run, timedelta(0), Resumed.TAKEOVER)

    async def _sweep(self) -> None:
        """Find what nobody rings for: runs never rung for, runs of dead owners, doorbells of dead consumers.

        The queue comes last: the other two can be found while the bus is away.
        """
        for session_id in await self._store.waiting_sessions(SWEEP_AT_ONCE):
            await self._serve(session_id)
        await self._take_over()
        await self._answer(await self._queue.reclaim(self._owner, self._settings.lease, SWEEP_AT_ONCE))

    async def _take_over(self) -> None:
        while True:
            slot = await self._slots.take()
            asked_at = _now()
            try:
                claim = await self._ledger.take_over(self._owner, self._settings.lease)
            except BaseException:
                slot.give_up()
                raise
            if claim is None:
                slot.give_up()
                return
            self._start(self._go_on(claim, asked_at, slot), slot)

    async def _go_on(self, claim: Claim, asked_at: float, slot: Slot) -> None:
        await self._execute(claim, asked_at, slot)
        await self._work_off(claim.run.session_id, slot)

    async def _every(self, period: timedelta, work: Callable[[], Awaitable[object]]) -> None:
        failures = 0
        while True:
            if not failures:
                await asyncio.sleep(period.total_seconds())
            try:
                await work()
                failures = 0
            except Unavailable as away:
                failures += 1
                await pause(failures, away, work.__name__.strip("_"))

    # ending

    async def _finish_or_give_back(self) -> None:
        note(log, "draining", runs=len(self._running))
        if self._serving:
            await asyncio.wait(self._serving, timeout=self._settings.drain.total_seconds())
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving, timeout=CLOSING.total_seconds())
        try:
            # The store is asked what we hold: a claim that was under way may have succeeded without our hearing of it.
            held = set(await self._ledger.renew(self._owner, self._settings.lease))
            await self._give_back(held & self._idle, counts=True)  # nobody executed them, and not because we end
            await self._give_back(held - self._idle, counts=False)
        except Unavailable as away:  # the leases will run out all the same
            note(log, "not_given_back", logging.WARNING, why=str(away))


@dataclass(frozen=True, slots=True)
class _Running:
    """A run that this worker executes, and how to reach it."""

    claim: Claim
    signals: Signals
    task: "asyncio.Task[None]"


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _stop(*tasks: "asyncio.Task[None] | asyncio.Task[Literal[True]]") -> None:
    """Cancel tasks and wait until they have cleaned up.

    Again, where one has not ended: libraries drop a cancellation now and then, and a loop would go on for ever.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CLOSING.total_seconds())
    await asyncio.gather(*tasks, return_exceptions=True)  # looks at what they raised
