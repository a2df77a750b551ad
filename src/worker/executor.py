"""The executor: one claimed run, from its first fragment to its end.

A pump moves fragments from the model to the writer; beside it waits whatever can interrupt it. A rerun is the same loop
once more with all messages; the end is an offer that the store refuses while a message is unread.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing, suppress
from enum import Enum, auto

from shared.backoff import delay
from shared.errors import KodaError, LostOwnership, Unavailable
from shared.events import Json
from shared.ledger import Ledger
from shared.logs import carrying, logger, note
from shared.ports import Claim, Ending, Mark, Marks, Message, OutputStream, Resumed, Store
from shared.run import RunStatus
from shared.settings import Settings
from shared.text import clean
from worker.models.port import Finished, FinishReason, Fragment, Model, ModelFailed, Request, ToolCall, Usage
from worker.patience import patiently
from worker.signals import Signals
from worker.silence import Silence
from worker.writer import RunWriter

log = logger("worker")


class Reply(Enum):
    """How one call of the model came out."""

    COMPLETE = auto()
    OUTDATED = auto()  # the run has more messages than this call was given
    CANCELLED = auto()


class Executor:
    """Executes claimed runs. Holds no state of a run; executions overlap."""

    def __init__(
        self, ledger: Ledger, store: Store, output: OutputStream, marks: Marks, model: Model, settings: Settings
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._output = output
        self._marks = marks
        self._model = model
        self._settings = settings

    async def execute(self, claim: Claim, signals: Signals) -> None:
        """Bring a claimed run to its end, or give it back. Returns also when the run was lost to another worker.

        Cancelling the task leaves the run as it stands: claimed, to be given back or taken over.
        """
        try:
            async with RunWriter.open(
                claim, self._ledger, self._store, self._output, signals, self._settings
            ) as writer:
                await self._attempt(claim, writer, signals)
        except* LostOwnership as lost:
            for reason in lost.exceptions:
                note(log, "run_lost", logging.WARNING, run_id=claim.run.id, attempt=claim.run.attempt, why=str(reason))

    async def _attempt(self, claim: Claim, writer: RunWriter, signals: Signals) -> None:
        if claim.resumed is None:
            messages = await self._messages(claim)
        elif await self._ends_here(claim, writer):
            return
        else:
            messages = await self._rerun(claim, writer, str(claim.resumed))
        await self._reply_until_read(claim, messages, writer, signals)

    async def _ends_here(self, claim: Claim, writer: RunWriter) -> bool:
        """End a run that is not to be tried again: its cancel was asked, or it is out of attempts."""
        stored = await patiently(lambda: self._store.run(claim.run.id), "read the run")
        if stored is not None and stored.cancel_asked:
            await self._cancel(writer)
            return True
        if claim.run.attempt > self._settings.max_attempts:
            error = f"gave up after {self._settings.max_attempts} attempts"
            await writer.end(RunStatus.FAILED, {"error": error}, None, error)
            return True
        return False

    async def _reply_until_read(
        self, claim: Claim, messages: Sequence[Message], writer: RunWriter, signals: Signals
    ) -> None:
        ends_at = asyncio.get_running_loop().time() + self._settings.max_attempt_age.total_seconds()
        while True:
            # What a message leads to is told under its trace: the newest one's, for it is why there is this reply.
            with carrying(trace=messages[-1].trace):
                silence = Silence(self._settings, ends_at)
                if await self._ends_with(claim, messages, writer, signals, silence):
                    return
                messages = await self._rerun(claim, writer, "merge")

    async def _ends_with(
        self, claim: Claim, messages: Sequence[Message], writer: RunWriter, signals: Signals, silence: Silence
    ) -> bool:
        """Reply to these messages and end the run, or give it back. False: there is a message that was not read."""
        end: dict[str, Json] = {"usage": {}}
        try:
            outcome = await self._reply(claim, messages, writer, signals, silence, end)
        except ModelFailed as failure:
            return await self._fail(claim, writer, failure, len(messages))
        if outcome is Reply.CANCELLED:
            await self._cancel(writer)
            return True
        if outcome is Reply.OUTDATED:
            return False
        # Said also of a reply that a message voids now: its tokens have been spent.
        note(log, "reply_complete", run_id=claim.run.id, attempt=claim.run.attempt, usage=end["usage"])
        return await writer.end(RunStatus.DONE, end, len(messages), "reply complete") is Ending.ENDED

    async def _reply(
        self,
        claim: Claim,
        messages: Sequence[Message],
        writer: RunWriter,
        signals: Signals,
        silence: Silence,
        end: dict[str, Json],
    ) -> Reply:
        """Call the model once and write what it says, until it has said all or a signal makes it pointless.

        What it says of its end goes into `end`, the data of `done`.

        Raises:
            ModelFailed: it failed, or was waited for too long. Its request is aborted.
        """
        request = Request(claim.run.id, claim.run.attempt, messages)
        pump = asyncio.create_task(self._pump(request, writer, silence, end))
        try:
            while not pump.done():
                seen = await self._wait(claim, pump, writer, signals, silence)
                if Mark.CANCEL in seen:
                    return Reply.CANCELLED
                if Mark.RERUN in seen and await self._outdated(claim, messages):
                    return Reply.OUTDATED
                if not pump.done():
                    silence.check()
            await pump
            return Reply.COMPLETE
        finally:
            await _stop(pump)

    async def _pump(self, request: Request, writer: RunWriter, silence: Silence, end: dict[str, Json]) -> None:
        try:
            async with aclosing(self._model.stream(request)) as pieces:
                silence.listen()
                async for piece in pieces:
                    silence.heard()
                    match piece:
                        case Fragment(text):
                            await writer.fragment(text)
                        case ToolCall(key, name, arguments):
                            await writer.tool(key, name, arguments)
                        case Finished(reason) if reason is not FinishReason.STOP:
                            end["finish_reason"] = reason.value
                        case Usage(input_tokens, output_tokens):
                            end["usage"] = {"input_tokens": input_tokens, "output_tokens": output_tokens}
                    silence.listen()
        except (ModelFailed, KodaError):
            raise
        except (Exception, asyncio.CancelledError) as crash:
            pump = asyncio.current_task()
            if pump is not None and pump.cancelling():
                raise
            # A fault in a model's adapter is that model's failure: the run is tried again, not left to its lease. So is
            # a cancellation that nobody here asked for.
            log.exception("model_crashed", extra={"fields": {"run_id": request.run_id}})
            # The log has all of it; what a waiter is told may end up anywhere, so it is no more than the kind.
            raise ModelFailed(f"the model's adapter crashed: {type(crash).__name__}") from crash

    async def _wait(
        self, claim: Claim, pump: "asyncio.Task[None]", writer: RunWriter, signals: Signals, silence: Silence
    ) -> frozenset[Mark]:
        """Wait for the pump's end or a signal; while the model is silent, look at the marks now and then.

        While it speaks there is no need to: every append answers them.

        Raises:
            LostOwnership: the last that was written was refused, and the model may be silent for long after it.
        """
        seq = writer.next_seq
        signalled = asyncio.create_task(signals.wait())
        try:
            timeout_s = min(self._settings.look_every.total_seconds(), silence.left_s)
            done, _ = await asyncio.wait((pump, signalled), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _stop(signalled)
        if not done and writer.next_seq == seq:
            signals.add(await self._look(claim))
        writer.check()
        return signals.take()

    async def _look(self, claim: Claim) -> frozenset[Mark]:
        """Read the marks. None while the bus is away: what they say is in the store too, and is found there."""
        try:
            return await self._marks.read(claim.run.id)
        except Unavailable:
            return frozenset()

    async def _outdated(self, claim: Claim, messages: Sequence[Message]) -> bool:
        """Whether the mark is true. Cleared first: a message that comes after the reading sets it again."""
        with suppress(Unavailable):  # a mark that stays is looked into once more, and the run does not wait for the bus
            await self._marks.clear(claim.run.id, Mark.RERUN)
        return len(await self._messages(claim)) > len(messages)

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

    async def _cancel(self, writer: RunWriter) -> None:
        await writer.end(RunStatus.CANCELLED, {"reason": "cancelled by the user"}, None, "cancelled by the user")

    async def _fail(self, claim: Claim, writer: RunWriter, failure: ModelFailed, inputs_read: int) -> bool:
        """End the run, or give it back to be tried again after a pause.

        False: the run would have failed, but there is a message that the model was not given.
        """
        attempt, problem = claim.run.attempt, clean(failure.problem)
        note(log, "model_failed", logging.WARNING, run_id=claim.run.id, attempt=attempt, why=problem)
        if failure.permanent or attempt >= self._settings.max_attempts:
            ending = await writer.end(RunStatus.FAILED, {"error": problem}, inputs_read, problem)
            return ending is Ending.ENDED
        await writer.drain()
        after = delay(attempt, self._settings.backoff_cap)
        await patiently(lambda: self._ledger.give_back(claim.run, after, Resumed.RETRY), "give the run back")
        return True


async def _stop(task: "asyncio.Task[None]") -> None:
    """Cancel a task of ours and wait until it has cleaned up; what it raised was seen or is moot.

    Who is cancelled meanwhile hurries the task and still waits: a model that is closing must not be left behind.
    """
    task.cancel()
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as again:
            cancelled = again
            task.cancel()
    if not task.cancelled():
        task.exception()
    if cancelled is not None:
        raise cancelled
