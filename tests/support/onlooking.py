"""Onlookers of a session: each follows its line at one gateway after the other, and keeps what it was told.

onlooker = Onlooker(lambda: addresses, "s")
asked = await onlooker.told("question")
await onlooker.answer(asked, "the lamp")
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from websockets.exceptions import WebSocketException

from shared.events import TERMINAL, Event, EventKind, Json, decode_data, reply_text
from shared.ports import StoredRun
from tests.support.dialling import Caller, dialling
from tests.support.lines import Frame
from tests.support.patience import PATIENCE_S, lapse
from tests.support.watching import WAITER

AGAIN_S: Final = 0.05
COME_BACK: Final = {1001, 1006, 1011, 1012, 4408}
"""The codes (and 1006, no close at all) behind which a client comes back with its cursor."""


class Onlooker:
    """A client of a session's line that comes back with its cursor for as long as it may.

    `frames` is what it holds of the session: a `gap` voids what it had of that run. `replies` are those to its answers.
    `bases` are the base URLs of the gateways that are there now.
    """

    def __init__(self, bases: Callable[[], Sequence[str]], session_id: str, turn: int = 0, cursor: str = "") -> None:
        self.frames: list[Frame] = []
        self.replies: list[Frame] = []
        self.connections = 0
        self.refused: int | None = None  # the code behind which it does not come back
        self.cursor = cursor
        self._bases = bases
        self._session_id = session_id
        self._turn = turn
        self._caller: Caller | None = None
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._follow(), name=WAITER)

    async def _follow(self) -> None:
        while self.refused is None:
            with suppress(OSError, WebSocketException, TimeoutError):
                await self._connect()
            self._caller = None
            await lapse(AGAIN_S)
        self._changed.set()

    async def _connect(self) -> None:
        bases = self._bases()
        if not bases:
            return
        self._turn += 1
        async with dialling(bases[self._turn % len(bases)], self._session_id, True, cursor=self.cursor) as caller:
            self.connections += 1
            self._caller = caller
            try:
                while True:
                    self._take(await caller.frame())
            finally:
                close = caller.connection.close_code
                if close is not None and close not in COME_BACK:
                    self.refused = close

    def _take(self, frame: Frame) -> None:
        if frame["type"] == "event":
            if frame["kind"] in ("gap", "snapshot"):
                self.frames = [kept for kept in self.frames if kept["run_id"] != frame["run_id"] or kept["seq"] is None]
            if frame["kind"] != "gap":
                self.frames.append(frame)
        elif frame["type"] in ("answered", "error"):
            self.replies.append(frame)
        if frame["cursor"] is not None:
            self.cursor = str(frame["cursor"])
        self._changed.set()

    # what it does

    async def has(self, wanted: Callable[["Onlooker"], bool], what: str = "") -> None:
        """Return when this is true of it.

        Raises:
            AssertionError: it may not come back, or time is over.
        """
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not wanted(self):
                    assert not self._task.done(), f"it was closed with {self.refused}, waiting for {what}"
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"waited for {what or wanted}; has {self.kinds()}, {self.connections=}") from None

    async def told(self, kind: str, nth: int = 1) -> Frame:
        """Return the nth frame of a kind, waiting for it."""
        await self.has(lambda self: len(self.of(kind)) >= nth, f"{kind} {nth}")
        return self.of(kind)[nth - 1]

    async def told_ends(self, count: int) -> None:
        """Return when it has the end of so many runs."""
        await self.has(lambda self: sum(frame["kind"] in TERMINAL for frame in self.frames) >= count, f"{count} ends")

    async def replied(self, nth: int = 1) -> Frame:
        """Return the nth reply to what it said."""
        await self.has(lambda self: len(self.replies) >= nth, f"reply {nth}")
        return self.replies[nth - 1]

    async def answer(self, asked: Frame, text: str) -> None:
        """Answer a question on the line, on whichever connection there is."""
        await self.has(lambda self: self._caller is not None, "a connection")
        assert self._caller is not None
        await self._caller.say({"type": "answer", "question_id": question_of(asked), "text": text})

    def cut(self) -> None:
        """Lose the connection, without a word."""
        if self._caller is not None:
            self._caller.connection.transport.abort()

    async def stop(self) -> None:
        """Leave."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # what it has

    def of(self, kind: str) -> list[Frame]:
        """Return its frames of a kind."""
        return [frame for frame in self.frames if frame["kind"] == kind]

    def kinds(self) -> list[str]:
        """Return the kinds of its frames, fragments aside."""
        return [str(frame["kind"]) for frame in self.frames if frame["kind"] != "delta"]

    def faults(self, runs: Sequence[tuple[StoredRun, Sequence[Event]]]) -> list[str]:
        """Compare what it has with the session's runs and their logs; return what is wrong, in words."""
        faults: list[str] = []
        begun = [frame["run_id"] for frame in self.frames if frame["kind"] == "run_started"]
        if begun != [stored.run.id for stored, _ in runs]:
            faults.append(f"it was told that {begun} began")
        for stored, log in runs:
            faults += _compare([frame for frame in self.frames if frame["run_id"] == stored.run.id][1:], log)
        return faults


def _compare(frames: Sequence[Frame], log: Sequence[Event]) -> list[str]:
    faults, due = [], 0
    for frame in frames:
        seq, data = frame["seq"], frame["data"]
        assert isinstance(seq, int) and isinstance(data, dict)
        if frame["kind"] == "snapshot":
            if data["text"] != reply_text(list(log[: seq + 1])):
                faults.append(f"a snapshot up to {seq} says {data}")
        elif seq != due:
            faults.append(f"{seq} came for {due}")
        elif [(frame["kind"], data)] != [(event.kind, decode_data(event.data)) for event in log[seq : seq + 1]]:
            faults.append(f"{frame['kind']} {data} came for {log[seq : seq + 1]}")
        due = seq + 1
    return faults if due == len(log) else [*faults, f"it has {due} of {len(log)}"]


def question_of(asked: Frame) -> str:
    """Return the id of the question that a frame asks."""
    data: Json = asked["data"]
    assert asked["kind"] == EventKind.QUESTION and isinstance(data, dict)
    return str(data["question_id"])
