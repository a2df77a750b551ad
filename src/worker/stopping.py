"""Stopping a task: asking it to end is half of it, the other half is waiting until it has."""

import asyncio


async def stop(task: "asyncio.Task[None]") -> None:
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
