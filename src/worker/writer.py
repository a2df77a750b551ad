"""The writer: the only one who gives out a run's seqs, and the two ways that every event leaves by.

At once to the output stream, where the waiters are; in batches to the store, which is the truth. Both are fenced by the
attempt. An event that a waiter has seen is never given up: it stays in the outbox until the store has it, and if this
process dies with it, the next owner copies it from the stream (`open`).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from math import inf

from shared.errors import Unavailable
from shared.events import Event, EventKind, Json, decode_data, encode_data
from shared.ledger import END_OF, Ledger
from shared.logs import logger, note
from shared.ports import Claim, Ending, OutputStream, Store
from shared.run import RunStatus
from shared.settings import Settings
from shared.text import SurrogateJoiner
from worker.outbox import Outbox
from worker.patience import patiently
from worker.signals import Signals

log = logger("worker")

MOST_UNSENT = 256  # beyond this the model waits for the store: memory per run stays bounded while a service is away


class RunWriter:
    """Writes one run's events under one attempt. Calls do not overlap; make it with `open`."""

    def __init__(
        self, claim: Claim, first_seq: int, ledger: Ledger, store: Store, output: OutputStream,
        signals: Signals, settings: Settings,
    ) -> None:  # fmt: skip
        self.next_seq = first_seq
        self._run_id = claim.run.id
        self._attempt = claim.run.attempt
        self._streaming = claim.run.status is RunStatus.STREAMING
        self._ledger = ledger
        self._store = store
        self._output = output
        self._signals = signals
        self._settings = settings
        self._joiner = SurrogateJoiner()
        self._bus_failed = False  # since it last took something
        self._to_stream = Outbox(self._publish, linger=timedelta(0), size=1)
        self._to_store = Outbox(self._flush, linger=settings.flush_every, size=settings.flush_rows)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, claim: Claim, ledger: Ledger, store: Store, output: OutputStream, signals: Signals, settings: Settings
    ) -> AsyncIterator["RunWriter"]:
        """Open the writer of a claimed run; on leaving, whatever has not arrived is dropped (`drain` first).

        For a run that goes on from somebody else, this raises the fence and copies what is only on the stream.

        Raises:
            LostOwnership: the run is somebody else's already.
        """
        first_seq = await _salvage(claim, store, output) if claim.resumed else 0
        writer = cls(claim, first_seq, ledger, store, output, signals, settings)
        async with writer.sending():
            yield writer

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Send what is written while the block lasts. Errors of the block come out in a group."""
        async with asyncio.TaskGroup() as tasks:
            senders = [tasks.create_task(box.run()) for box in (self._to_stream, self._to_store)]
            try:
                yield
            finally:
                for sender in senders:
                    sender.cancel()

    def check(self) -> None:
        """Return while everything written was taken, as far as is known.

        Raises:
            LostOwnership: the run is not ours any more.
        """
        self._to_stream.check()
        self._to_store.check()

    async def fragment(self, text: str) -> None:
        """Write a piece of the reply; the first one moves the run to streaming.

        The half of a split emoji is kept until its other half comes.

        Raises:
            LostOwnership: the run is not ours (any more), or has ended. Nothing was written.
        """
        joined = self._joiner.feed(text)
        if joined or not text:
            await self._delta(joined)

    async def tool(self, key: str, name: str, arguments: str) -> None:
        """Write that the model wants a tool called; like a first fragment, it moves the run to streaming.

        `arguments` is the text of a JSON object, `name` and `key` are texts that can be held.

        Raises:
            LostOwnership: as for a fragment.
        """
        await self._flush_joiner()
        await self._begin_streaming()
        call: dict[str, Json] = {"key": key, "name": name, "arguments": decode_data(arguments)}
        await self.event(EventKind.TOOL, call)

    async def rerun(self, reason: str) -> int:
        """Write that all so far is void, texts and tools, and return the seq of that event."""
        self._joiner = SurrogateJoiner()
        return await self.event(EventKind.RERUN, {"reason": reason, "attempt": self._attempt})

    async def event(self, kind: EventKind, data: dict[str, Json]) -> int:
        """Write an event that does not end the run, and return its seq.

        It is on its way when this returns; `drain` waits until it has arrived.
        """
        return await self.encoded(kind, encode_data(data))

    async def encoded(self, kind: EventKind, data: str) -> int:
        """Write an event whose data is encoded already, and return its seq."""
        if self._to_store.waiting >= MOST_UNSENT:
            await self._to_store.drain()
        event = Event(self._run_id, self.next_seq, kind, data)
        self._to_stream.put(event)
        self._to_store.put(event)
        self.next_seq += 1
        return event.seq

    async def drain(self) -> None:
        """Return when the store has everything that was written."""
        await self._to_store.drain()

    async def end(self, target: RunStatus, data: dict[str, Json], inputs_read: int | None, why: str) -> Ending:
        """End the run: its status and its last events in one transaction, then the terminal one to the stream.

        UNREAD: there are more messages than `inputs_read`; the run has not ended and no seq was used.

        Raises:
            LostOwnership: somebody else owns or has ended it.
        """
        await self._flush_joiner()
        async with self._to_store.held() as unsent:
            terminal = Event(self._run_id, self.next_seq, END_OF[target], encode_data(data))
            last = [*unsent, terminal]
            ending = await self._finish(target, last, inputs_read, why)
            if ending is Ending.ENDED:
                self._to_store.arrived(len(unsent))
                self.next_seq += 1
        if ending is Ending.ENDED:
            await self._say_goodbye(terminal)
        return ending

    async def _finish(self, target: RunStatus, last: Sequence[Event], inputs_read: int | None, why: str) -> Ending:
        asked_before = False

        async def finish() -> Ending:
            nonlocal asked_before
            # An earlier try may have been carried out although its answer was lost.
            if asked_before and list(await self._store.events(self._run_id, last[-1].seq, 1)) == [last[-1]]:
                return Ending.ENDED
            asked_before = True
            return await self._ledger.finish(self._run_id, self._attempt, target, last, inputs_read, why)

        return await patiently(finish, "end the run")

    async def _say_goodbye(self, terminal: Event) -> None:
        """Send the terminal event to the stream, trying for a lease: the store has it, so waiters will see it."""
        self._signals.ours_until = inf  # the store has all that is sent now: it is true whoever says it
        try:
            async with asyncio.timeout(self._settings.lease.total_seconds()):
                self._to_stream.put(terminal)
                await self._to_stream.drain()
                await self._output.expire(self._run_id, self._settings.out_stream_ttl)
        except (TimeoutError, Unavailable):
            note(log, "goodbye_not_sent", run_id=self._run_id, seq=terminal.seq)

    async def _delta(self, text: str) -> None:
        await self._begin_streaming()
        await self.event(EventKind.DELTA, {"text": text})

    async def _begin_streaming(self) -> None:
        if not self._streaming:
            await patiently(lambda: self._ledger.begin_streaming(self._run_id, self._attempt), "begin streaming")
            self._streaming = True

    async def _flush_joiner(self) -> None:
        rest = self._joiner.flush()
        if rest:
            await self._delta(rest)

    async def _publish(self, events: Sequence[Event]) -> None:
        """Send to the stream; after a failure, with all before them that the store has not got yet.

        The bus may have come back empty, and waiters have seen what it had: until the store has it, the stream is to
        hold it for whoever comes after us.

        Raises:
            Unavailable: the bus is away; or our lease has run out, and it is not known yet whether we have it still.
                Then the fence may be up, but that, too, is something that the bus may have lost.
        """
        if asyncio.get_running_loop().time() >= self._signals.ours_until:
            raise Unavailable("store", "it has not renewed our lease in time")
        if self._bus_failed:
            events = [*self._to_store.before(events[0].seq), *events]
        try:
            marks = await self._output.append(events, self._attempt)
        except Unavailable:
            self._bus_failed = True
            self._to_store.hurry()  # by now we may be the only ones who have it
            raise
        self._bus_failed = False
        self._signals.add(marks)

    async def _flush(self, events: Sequence[Event]) -> None:
        await self._store.append(self._run_id, self._attempt, events)


async def _salvage(claim: Claim, store: Store, output: OutputStream) -> int:
    """Take the run over from its last owner: fence it off, copy to the store what is only on the stream.

    Returns the next seq. Waits for as long as the bus or the store is away: what only the stream has, waiters may have
    seen, and a seq that was seen must not be given to another text.
    """
    run_id, attempt = claim.run.id, claim.run.attempt

    async def salvage() -> int:
        await output.raise_fence(run_id, attempt)
        stored = await store.run(run_id)
        first = 0 if stored is None or stored.last_seq is None else stored.last_seq + 1
        missing = _contiguous(run_id, attempt, first, await output.entries(run_id))
        if missing:
            await store.append(run_id, attempt, missing)
            note(log, "events_salvaged", run_id=run_id, attempt=attempt, seq=first, count=len(missing))
        return first + len(missing)

    return await patiently(salvage, "take the run over")


def _contiguous(run_id: str, attempt: int, start: int, entries: Sequence[Event]) -> list[Event]:
    """Return the events from `start` to the last entry, one for each seq.

    A seq that neither the store nor the stream has was lost with both (bus emptied, then the owner killed before its
    next flush). A waiter may have seen it, so it is not given out again: it becomes one more `rerun`, which says what
    is true of it, that the text so far is void.
    """
    by_seq = {event.seq: event for event in reversed(entries) if event.seq >= start}
    lost = encode_data({"reason": "takeover", "attempt": attempt})
    return [
        by_seq.get(seq) or Event(run_id, seq, EventKind.RERUN, lost)
        for seq in range(start, max(by_seq, default=-1) + 1)
    ]
