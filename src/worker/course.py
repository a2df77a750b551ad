"""A course of a run: one call of its model, and what the code inside it can reach without being told where it is.

A rerun begins another course. What an old one has left running may talk on, but is not heard any more.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Final, TypeVar

from shared.bootstrap import Ports
from shared.errors import Fenced
from shared.events import Json
from shared.ports import Claim, Clock, Mark, Message
from shared.settings import Settings
from worker.lane import Lane
from worker.patience import patiently
from worker.signals import Signals
from worker.silence import Silence
from worker.slots import Slot

T = TypeVar("T")


class NotInside(RuntimeError):
    """There is no run around the caller, or not any more."""


class Course:
    """What belongs to one course. Its questions and its sub-runs have numbers, in the order of the calls."""

    def __init__(
        self, claim: Claim, messages: Sequence[Message], lane: Lane, silence: Silence, signals: Signals, slot: Slot,
        ports: Ports, clock: Clock, settings: Settings,
    ) -> None:  # fmt: skip
        self.claim = claim
        self.messages = messages
        self.lane = lane
        self.silence = silence
        self.signals = signals
        self.ports = ports
        self.clock = clock
        self.settings = settings
        self.announcing = asyncio.Lock()  # so that what is announced comes in the order of the numbers
        self.asked = 0  # questions
        self.forked = 0  # sub-runs
        self._succeeded = 0
        self._spent: dict[str, int] = {}
        self._slot = slot
        self._aside = 0  # how many tasks wait for somebody else
        self._answered = asyncio.Event()

    def enter(self) -> None:
        """Put the running task, and all that it begins, inside."""
        _current.set(self)

    def check(self) -> None:
        """Return while the course goes on.

        Raises:
            NotInside: it is over, and the caller is a task that it left behind.
        """
        if self.lane.closed:
            raise NotInside("the run has ended, or has begun again, without this task")

    # waiting for others

    async def settle(self) -> None:
        """Take the slot again that the course before this one had lent."""
        with self.silence.paused():
            await self._slot.take()

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Wait for somebody else inside the block: the model is not silent meanwhile, and the slot is another run's."""
        with self.silence.paused():
            self._aside += 1
            self._slot.give_up()
            try:
                yield
            finally:
                self._aside -= 1
            if not self._aside:
                await self._slot.take()
            if self._aside:  # another task has gone aside while we waited for it
                self._slot.give_up()

    def tell_of_answer(self) -> None:
        """Wake whoever waits for an answer: there is one, to a question of this run."""
        self._answered.set()
        self._answered.clear()

    async def news(self, timeout_s: float) -> None:
        """Return when there may be an answer, at the latest after this time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._answered.wait()

    # being the owner

    async def owned(self, call: Callable[[], Awaitable[T]], purpose: str) -> T:
        """Make a call that is the run's owner's alone, patiently.

        Does not return when it was refused because the run shall stop: the caller will be cancelled.

        Raises:
            Fenced: the run is somebody else's.
        """
        try:
            return await patiently(call, purpose)
        except Fenced:
            await self.stopped()
            raise

    async def stopped(self) -> None:
        """Wait to be cancelled if the run's user has asked for it; return at once if not."""
        run = self.claim.run
        stored = await patiently(lambda: self.ports.store.run(run.id), "read the run")
        self.check()
        if stored is not None and stored.run.attempt == run.attempt and stored.cancel_asked:
            self.signals.add(frozenset({Mark.CANCEL}))
            await asyncio.Event().wait()

    # what sub-runs cost

    def count(self, ok: bool, usage: Mapping[str, int]) -> None:
        """Count one sub-run that has ended."""
        self._succeeded += ok
        for name, tokens in usage.items():
            self._spent[name] = self._spent.get(name, 0) + tokens

    def subtasks(self) -> dict[str, Json]:
        """Return what `done` says of the sub-runs: nothing when there was none."""
        if not self.forked:
            return {}
        failed = self.forked - self._succeeded
        return {"subtasks": {"count": self.forked, "failed": failed, "usage": {**self._spent}}}


_current: Final[ContextVar[Course | None]] = ContextVar("course", default=None)


def current() -> Course | None:
    """Return the course that the caller is inside of, None when it is in none."""
    return _current.get()


def here() -> Course:
    """Return the course that the caller is inside of.

    Raises:
        NotInside: it is in none, or in one that is over.
    """
    course = current()
    if course is None:
        raise NotInside("this needs a run: call it from a model's stream, or from a task that is begun there")
    course.check()
    return course
