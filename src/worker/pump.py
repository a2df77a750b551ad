"""The pump: moves what a model says to the run's log, inside the run.

The model's code runs in the pump's task: it, and every task that it begins, is inside the course (`worker/course.py`).
"""

import asyncio
from contextlib import aclosing

from shared.errors import KodaError
from shared.events import Json
from shared.logs import logger
from worker.course import Course
from worker.models.port import Finished, FinishReason, Fragment, Model, ModelFailed, Piece, Request, ToolCall, Usage
from worker.writer import RunWriter

log = logger("worker")


async def pump(model: Model, course: Course, writer: RunWriter, end: dict[str, Json]) -> None:
    """Call the model once and write what it says. What it says of its end goes into `end`, the data of `done`.

    Raises:
        ModelFailed: it failed, or its adapter did.
        LostOwnership: the run is somebody else's.
    """
    run = course.claim.run
    course.enter()
    await course.settle()
    try:
        await _read(model, Request(run.id, run.attempt, course.messages), course, writer, end)
    except (ModelFailed, KodaError):
        raise
    except (Exception, asyncio.CancelledError) as crash:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # A fault in a model's adapter is that model's failure: the run is tried again, not left to its lease. So is
        # a cancellation that nobody here asked for.
        log.exception("model_crashed", extra={"fields": {"run_id": run.id}})
        # The log has all of it; what a waiter is told may end up anywhere, so it is no more than the kind.
        raise ModelFailed(f"the model's adapter crashed: {type(crash).__name__}") from crash


async def _read(model: Model, request: Request, course: Course, writer: RunWriter, end: dict[str, Json]) -> None:
    silence, lane = course.silence, course.lane
    async with aclosing(model.stream(request)) as pieces:
        silence.listen()
        async for piece in pieces:
            silence.heard()
            async with lane:
                await _write(piece, writer, end)
            silence.listen()


async def _write(piece: Piece, writer: RunWriter, end: dict[str, Json]) -> None:
    match piece:
        case Fragment(text):
            await writer.fragment(text)
        case ToolCall(key, name, arguments):
            await writer.tool(key, name, arguments)
        case Finished(reason) if reason is not FinishReason.STOP:
            end["finish_reason"] = reason.value
        case Usage(input_tokens, output_tokens):
            end["usage"] = {"input_tokens": input_tokens, "output_tokens": output_tokens}
