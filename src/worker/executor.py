"""The executor: one claimed run, from its first fragment to its end.

A pump moves fragments from the model to the writer; beside it waits whatever can interrupt it. A rerun is the same loop
once more with all messages; the end is an offer that the store refuses while a message is unread.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum, auto

from shared.backoff import delay
from shared.bootstrap import Ports
from shared.errors import LostOwnership, Unavailable
from shared.events import Json
from shared.ledger import Ledger
from shared.logs import carrying, logger, note
from shared.ports import Claim, Clock, Ending, Mark, Message, Resumed
from shared.run import RunStatus
from shared.settings import Settings
from shared.text import clean
from worker.bell import Bell
from worker.course import Course
from worker.lane import Lane
from worker.models.port import Model, ModelFailed
from worker.orphans import Orphans
from worker.patience import patiently
from worker.pump import pump
from worker.signals import Signals
from worker.silence import Silence
from worker.slots import Slot
from worker.stopping import stop
from worker.writer import RunWriter

log = logger("worker")


class Reply(Enum):
    """How one call of the model came out."""

    COMPLETE = auto()
    OUTDATED = auto()  # the run has more messages than this call was given
    CANCELLED = auto()


class Executor:
    """Executes claimed runs. Holds no state of a run; executions overlap.

    `bell` rings for what it gives back to be tried again. Whoever has runs executed closes it at the end.
    """

    def __init__(self, ledger: Ledger, ports: Ports, clock: Clock, model: Model, settings: Settings) -> None:
        self._ledger = ledger
        self._ports = ports
        self._store = ports.store
        self._marks = ports.marks
        self._clock = clock
        self._model = model
        self._settings = settings
        self.bell = Bell(ports.queue)
        self._orphans = Orphans(ports.forks, ledger, ports.marks)

    async def execute(self, claim: Claim, signals: Signals, slot: Slot | None = None) -> None:
        """Bring a claimed run to its end, or give it back. Returns also when the run was lost to another worker.

        While the run waits for others it lends its `slot`; it may be without one when this returns. Cancelling the task
        leaves the run as it stands: claimed, to be given back or taken over.
        """
        try:
            async with RunWriter.open(
                claim, self._ledger, self._store, self._ports.output, signals, self._settings
            ) as writer:
                await self._attempt(claim, writer, signals, Slot() if slot is None else slot)
        except* LostOwnership as lost:
            for reason in lost.exceptions:
                note(log, "run_lost", logging.WARNING, run_id=claim.run.id, attempt=claim.run.attempt, why=str(reason))

    async def _attempt(self, claim: Claim, writer: RunWriter, signals: Signals, slot: Slot) -> None:
        if claim.resumed is None:
            messages = await self._messages(claim)
        elif await self._ends_here(claim, writer):
            return
        else:
            messages = await self._rerun(claim, writer, str(claim.resumed))
        await self._reply_until_read(claim, messages, writer, signals, slot)

    async def _ends_here(self, claim: Claim, writer: RunWriter) -> bool:
        """End a run that is not to be tried again: its cancel was asked, or it is out of attempts."""
        stored = await patiently(lambda: self._store.run(claim.run.id), "read the run")
        if stored is not None and stored.cancel_asked:
            await self._cancel(writer)
            return True
        if claim.tries > self._settings.max_attempts:
            error = f"gave up after {self._settings.max_attempts} attempts"
            await writer.end(RunStatus.FAILED, {"error": error}, None, error)
            return True
        return False

    async def _reply_until_read(
        self, claim: Claim, messages: Sequence[Message], writer: RunWriter, signals: Signals, slot: Slot
    ) -> None:
        ends_at = asyncio.get_running_loop().time() + self._settings.max_attempt_age.total_seconds()
        while True:
            # What a message leads to is told under its trace: the newest one's, for it is why there is this reply.
            with carrying(trace=messages[-1].trace):
                silence = Silence(self._settings, ends_at)
                course = Course(
                    claim, messages, Lane(writer), silence, signals, slot, self._ports, self._clock, self._settings
                )
                ended = await self._ends_with(course, writer)
                if course.forked:
                    await self._release_orphans()
                if ended:
                    return
                ends_at = silence.ends_at
                messages = await self._rerun(claim, writer, "merge")

    async def _ends_with(self, course: Course, writer: RunWriter) -> bool:
        """Reply to the messages and end the run, or give it back. False: there is a message that was not read."""
        end: dict[str, Json] = {"usage": {}}
        claim, inputs_read = course.claim, len(course.messages)
        try:
            outcome = await self._reply(course, writer, end)
        except ModelFailed as failure:
            return await self._fail(claim, writer, failure, inputs_read)
        if outcome is Reply.CANCELLED:
            await self._cancel(writer)
            return True
        if outcome is Reply.OUTDATED:
            return False
        # Said also of a reply that a message voids now: its tokens have been spent.
        note(log, "reply_complete", run_id=claim.run.id, attempt=claim.run.attempt, usage=end["usage"])
        end |= course.subtasks()
        return await writer.end(RunStatus.DONE, end, inputs_read, "reply complete") is Ending.ENDED

    async def _reply(self, course: Course, writer: RunWriter, end: dict[str, Json]) -> Reply:
        """Call the model once and write what it says, until it has said all or a signal makes it pointless.

        What it says of its end goes into `end`, the data of `done`.

        Raises:
            ModelFailed: it failed, or was waited for too long. Its request is aborted.
        """
        pumping = asyncio.create_task(pump(self._model, course, writer, end))
        try:
            while not pumping.done():
                seen = await self._wait(course, pumping, writer)
                if Mark.CANCEL in seen:
                    return Reply.CANCELLED
                if Mark.RERUN in seen and await self._outdated(course):
                    return Reply.OUTDATED
                if Mark.ANSWER in seen:
                    await self._clear(course, Mark.ANSWER)
                    course.tell_of_answer()
                if not pumping.done():
                    course.silence.check()
            await pumping
            return Reply.COMPLETE
        finally:
            await stop(pumping)
            await course.lane.close()

    async def _wait(self, course: Course, pumping: "asyncio.Task[None]", writer: RunWriter) -> frozenset[Mark]:
        """Wait for the pump's end or a signal; while the model is silent, look at the marks now and then.

        While it speaks there is no need to: every append answers them.

        Raises:
            LostOwnership: the last that was written was refused, and the model may be silent for long after it.
        """
        seq, signals = writer.next_seq, course.signals
        signalled = asyncio.create_task(signals.wait())
        try:
            timeout_s = min(self._settings.look_every.total_seconds(), course.silence.left_s)
            done, _ = await asyncio.wait((pumping, signalled), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await stop(signalled)
        if not done and writer.next_seq == seq:
            signals.add(await self._look(course.claim))
        writer.check()
        return signals.take()

    async def _look(self, claim: Claim) -> frozenset[Mark]:
        """Read the marks. None while the bus is away: what they say is in the store too, and is found there."""
        try:
            return await self._marks.read(claim.run.id)
        except Unavailable:
            return frozenset()

    async def _outdated(self, course: Course) -> bool:
        """Whether the mark is true. Cleared first: a message that comes after the reading sets it again."""
        await self._clear(course, Mark.RERUN)
        return len(await self._messages(course.claim)) > len(course.messages)

    async def _clear(self, course: Course, mark: Mark) -> None:
        with suppress(Unavailable):  # a mark that stays is looked into once more, and the run does not wait for the bus
            await self._marks.clear(course.claim.run.id, mark)

    async def _messages(self, claim: Claim) -> Sequence[Message]:
        return await patiently(lambda: self._store.messages_of(claim.run.id), "read the messages")

    async def _rerun(self, claim: Claim, writer: RunWriter, reason: str) -> Sequence[Message]:
        """Void the text so far and return all messages; what is written next is the reply to these."""
        seq = await writer.rerun(reason)
        messages = await self._messages(claim)
        note(
            log, "run_rerun", run_id=claim.run.id, reason=reason,
            seq=seq, attempt=claim.run.attempt, messages=len(messages),
        )  # fmt: skip
        return messages

    async def _release_orphans(self) -> None:
        """Have sub-runs that nobody waits for any more stopped now: a sweep would do it, but later."""
        with suppress(Unavailable):
            await self._orphans.sweep()

    async def _cancel(self, writer: RunWriter) -> None:
        await writer.end(RunStatus.CANCELLED, {"reason": "cancelled by the user"}, None, "cancelled by the user")

    async def _fail(self, claim: Claim, writer: RunWriter, failure: ModelFailed, inputs_read: int) -> bool:
        """End the run, or give it back to be tried again after a pause.

        False: the run would have failed, but there is a message that the model was not given.
        """
        attempt, problem = claim.run.attempt, clean(failure.problem)
        note(log, "model_failed", logging.WARNING, run_id=claim.run.id, attempt=attempt, why=problem)
        if failure.permanent or claim.tries >= self._settings.max_attempts:
            ending = await writer.end(RunStatus.FAILED, {"error": problem}, inputs_read, problem)
            return ending is Ending.ENDED
        await writer.drain()
        after = delay(claim.tries, self._settings.backoff_cap)
        if await patiently(lambda: self._ledger.give_back(claim.run, after, Resumed.RETRY), "give the run back"):
            self.bell.ring_after(claim.run.session_id, after)
        return True
