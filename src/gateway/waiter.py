"""One waiter's side: it rests until there is something to look at, sends, and notices that nobody reads.

A gateway has thousands of these and most of them are silent, so what each costs counts: one task (the request's), one
more that waits for the client to leave, and one timer for everything that has a time. The timer is not moved when
something comes to be due later, only when it comes to be due earlier; it rings at least once per `send_timeout`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final

from starlette.types import Message, Receive, Scope, Send

EARLY_S: Final = 0.001
"""A loop may call a timer this much too early."""

ABORT: Final = "gateway.abort"
"""Where a server of ours (`server.py`) puts into a request's `state` what closes its connection at once, unsent bytes
and all. Without it, a connection that nobody reads from would be flushed for ever."""


class Waiter:
    """A connection that is being served by the current task. Use it as a context manager.

    When the client has left, or takes nothing for `send_timeout_s`, the task is cancelled, and the block is left
    without an exception; `stalled` then tells which.
    """

    __slots__ = (
        "_abort", "_gone", "_leaving", "_loop", "_receive", "_rest", "_send", "_send_timeout_s", "_sending_since",
        "_task", "_timer", "_woken", "now", "stalled",
    )  # fmt: skip

    def __init__(self, scope: Scope, receive: Receive, send: Send, send_timeout_s: float) -> None:
        self._abort: Callable[[], None] | None = scope.get("state", {}).get(ABORT)
        self._receive = receive
        self._send = send
        self._send_timeout_s = send_timeout_s
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time
        self._sending_since: float | None = None
        self._rest: asyncio.Future[None] | None = None
        self._woken = False
        self._gone = False
        self.stalled = False

    def __enter__(self) -> "Waiter":
        task = asyncio.current_task()
        assert task is not None, "a request is served by a task"
        self._task = task
        self._timer = self._loop.call_later(self._send_timeout_s, self._ring)
        self._leaving = self._loop.create_task(self._until_left())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._timer.cancel()
        self._leaving.cancel()
        ours = self._gone and isinstance(error, asyncio.CancelledError)
        return ours and self._task.uncancel() == 0

    # out

    def send(self, message: Message) -> Awaitable[None]:
        """Send one message, and say `sent` when that is done.

        A server waits, before it takes a message, until its client has taken most of the one before. It may raise
        OSError when it has lost the client.
        """
        self._sending_since = self.now()
        return self._send(message)

    def sent(self) -> float:
        """Say that what was sent is on its way; return the time."""
        self._sending_since = None
        return self.now()

    # in between

    def wake(self) -> None:
        """Let `rest` end: now, or at once when it is called next."""
        self._woken = True
        if self._rest is not None and not self._rest.done():
            self._rest.set_result(None)

    def look(self) -> None:
        """Say that all is looked at that `wake` has been called for so far."""
        self._woken = False

    def rest(self, until: float) -> "asyncio.Future[None]":
        """Wait to be woken, or for `until` (the loop's time). It may end for nothing: look, and rest on."""
        self._rest = self._loop.create_future()
        if self._woken:
            self._rest.set_result(None)
        elif until < self._timer.when():
            self._ring_at(until)
        return self._rest

    # the end

    def _ring(self) -> None:
        now, since = self.now(), self._sending_since
        if since is None:
            self._ring_at(now + self._send_timeout_s)
            self.wake()
        elif now < since + self._send_timeout_s - EARLY_S:
            self._ring_at(since + self._send_timeout_s)
        else:
            self.stalled = True
            if self._abort is not None:
                self._abort()
            self._end()

    def _ring_at(self, at: float) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_at(at, self._ring)

    async def hear(self, message: Message) -> None:
        """Take what the client has sent, before its next is asked for. A stream has no use for it."""

    async def _until_left(self) -> None:
        while not (message := await self._receive())["type"].endswith(".disconnect"):
            await self.hear(message)
        self._end()

    def _end(self) -> None:
        if not self._gone:
            self._gone = True
            self._task.cancel()
