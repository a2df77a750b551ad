"""Reading from the store for all who want the same at the same time.

After a deploy, or when a run gets interesting, many clients ask for one run at once. What the store says to one of them
is then said to all of them: rows are read once and encoded once.
"""

import asyncio
import sys
from bisect import bisect_left
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from gateway.frames import Frame, frame
from gateway.standing import Standing, standing_of
from shared.errors import Unavailable
from shared.events import TERMINAL, Event
from shared.ports import OutputStream, Store, StoredRun

PAGE: Final = 1000
"""Rows read from the store at once."""

KEPT_S: Final = 1.0
"""How long what was read is at hand: never more, therefore, than the store can say in that time."""


class Turns:
    """One at a time does what all want done; who waited while another began it and ended it need not do it again.

    So what a caller gets was begun after it came, however many come at once.
    """

    __slots__ = ("_begun", "_ended", "_fault", "_lock")

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._begun = 0
        self._ended = 0  # the newest that came to its end; one that was cancelled does not
        self._fault: Unavailable | None = None

    async def take(self, do: Callable[[], Awaitable[None]]) -> None:
        """Return when `do` was carried out, by this caller or for it.

        Raises:
            Unavailable: `do` has raised it.
        """
        seen = self._begun
        async with self._lock:
            if self._ended <= seen:
                await self._carry_out(do)
            if self._fault is not None:
                raise self._fault

    async def _carry_out(self, do: Callable[[], Awaitable[None]]) -> None:
        self._begun += 1
        fault = None
        try:
            await do()
        except Unavailable as away:
            fault = away
        self._ended, self._fault = self._begun, fault


class Reading:
    """What the store says of one run. Calls may overlap; each may raise `Unavailable`."""

    __slots__ = (
        "_frames", "_log", "_run", "_run_id", "_standing", "_standings", "_store", "_stored", "_stream", "_streamed",
        "_wanted",
    )  # fmt: skip

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._run, self._log, self._standings, self._stream = Turns(), Turns(), Turns(), Turns()
        self._stored: StoredRun | None = None
        self._frames: list[Frame] = []
        self._wanted = sys.maxsize  # the lowest seq that anybody has asked for
        self._standing = (-1, Standing(""))
        self._streamed = -1

    async def run(self) -> StoredRun | None:
        """Return the run as it stands; None when there is none."""
        await self._run.take(self._read_run)
        return self._stored

    async def glance(self) -> StoredRun | None:
        """Return the run as it stood when somebody last asked, at most `KEPT_S` ago."""
        return self._stored or await self.run()

    async def frames(self, start: int) -> Sequence[Frame]:
        """Return the events from seq `start` on, in order. Rows that have become one text are not among them."""
        self._wanted = min(start, self._wanted)
        if not self._whole():
            await self._log.take(self._read_on)
        first = bisect_left(self._frames, start, key=_seq)
        return self._frames[first:]

    async def standing(self) -> tuple[int, Standing]:
        """Return the seq of the newest event so far, -1 while there is none, and what stands of all up to it.

        The terminal event is always sent as itself, so its seq is never that; but a run that has ended asks nothing.
        """
        await self._standings.take(self._read_standing)
        return self._standing

    async def streamed(self, output: OutputStream) -> int:
        """Return the newest seq that the run's stream holds, -1 while there is none. It is read as a whole for that."""
        await self._stream.take(partial(self._read_stream, output))
        return self._streamed

    async def _read_run(self) -> None:
        self._stored = await self._store.run(self._run_id)

    def _whole(self) -> bool:
        """Whether all that anybody has asked for is there, and the end with it, after which nothing comes."""
        frames = self._frames
        return bool(frames) and frames[0].seq <= self._wanted and frames[-1].terminal

    async def _read_on(self) -> None:
        if self._whole():
            return
        # An event never changes once it is written, so what was read is read for good.
        if self._frames and self._frames[0].seq > self._wanted:
            self._frames = []
        start = self._frames[-1].seq + 1 if self._frames else self._wanted
        async for page in self._pages(start):
            self._frames += map(frame, page)

    async def _read_standing(self) -> None:
        events = [event async for page in self._pages(0) for event in page]
        last_seq = next((event.seq for event in reversed(events) if event.kind not in TERMINAL), -1)
        self._standing = (last_seq, standing_of(events))

    async def _read_stream(self, output: OutputStream) -> None:
        self._streamed = max((event.seq for event in await output.entries(self._run_id)), default=-1)

    async def _pages(self, start: int) -> AsyncIterator[Sequence[Event]]:
        while page := await self._store.events(self._run_id, start, PAGE):
            yield page
            if len(page) < PAGE:
                return
            start = page[-1].seq + 1


class Readings:
    """The readings that are at hand, one per run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._at_hand: dict[str, Reading] = {}

    def of(self, run_id: str) -> Reading:
        """Return the reading of a run; do not keep it."""
        reading = self._at_hand.get(run_id)
        if reading is None:
            reading = self._at_hand[run_id] = Reading(self._store, run_id)
            asyncio.get_running_loop().call_later(KEPT_S, self._at_hand.pop, run_id)
        return reading


def _seq(frame: Frame) -> int:
    return frame.seq
