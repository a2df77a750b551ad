"""Readers: SSE connections on bare sockets, so that the reading costs little and hides nothing.

A frame ends with two line feeds, and nothing else on the wire does: header lines and the sizes of HTTP's chunks end in
CR LF. So frames are counted without being parsed; what is in them is looked at by `cuts.py` and `resuming.py`.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

from bench.delivering.children import Line

HEAD_END: Final = b"\r\n\r\n"
CONNECT_AT_ONCE: Final = 200  # a listener's queue is bounded; the crowd is to wait, not to be refused


@dataclass(frozen=True, slots=True)
class Arrival:
    """After this read, `frames` had come."""

    at_ns: int
    frames: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """What readers got: frames in all, how long it took from the first request, when the first reader got what."""

    frames: int
    seconds: float
    arrivals: Sequence[Arrival]


def request(run_id: str, cursor: int | None = None) -> bytes:
    """Return the request for a run's stream after a cursor."""
    header = "" if cursor is None else f"Last-Event-ID: {cursor}\r\n"
    return f"GET /runs/{run_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}\r\n".encode()


class Counting(asyncio.Protocol):
    """A connection on which one thing is asked for and frames are counted. `over` when `expected` of them have come."""

    def __init__(self, request: bytes, expected: int, *, timed: bool) -> None:
        self._request = request
        self._expected = expected
        self._timed = timed
        loop = asyncio.get_running_loop()
        self.attached: asyncio.Future[None] = loop.create_future()
        self.over: asyncio.Future[None] = loop.create_future()
        self.frames = 0
        self.arrivals: list[Arrival] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail, unless everything has come."""
        for future in (self.attached, self.over):
            if not future.done():
                future.set_exception(exc or ConnectionError(f"closed after {self.frames} of {self._expected} frames"))

    def leave(self) -> None:
        """Close the connection."""
        self._transport.abort()


class Reader(Counting):
    """One stream. `attached` when the head of the answer has come."""

    def __init__(self, run_id: str, expected: int, *, timed: bool = False) -> None:
        super().__init__(request(run_id), expected, timed=timed)
        self._carried = b""

    def data_received(self, data: bytes) -> None:
        """Count frames, behind the head of the answer."""
        data = self._carried + data
        if not self.attached.done():
            head, found, body = data.partition(HEAD_END)
            if not found:
                self._carried = data
                return
            assert head.startswith(b"HTTP/1.1 200 "), head
            self.attached.set_result(None)
            data = body
        self.frames += data.count(b"\n\n")
        self._carried = b"" if data.endswith(b"\n\n") else data[-1:]
        if self._timed:
            self.arrivals.append(Arrival(time.monotonic_ns(), self.frames))
        if self.frames >= self._expected and not self.over.done():
            self.over.set_result(None)


async def read(port: int, runs: Sequence[str], waiters: int, expected: int, line: Line) -> Crowd:
    """Read these runs with so many waiters each, and say "attached" when all are there."""
    began = time.monotonic()
    readers = await _attach(port, runs, waiters, expected)
    line.say("attached")
    await asyncio.gather(*(reader.over for reader in readers))
    took = time.monotonic() - began
    for reader in readers:
        reader.leave()
    return Crowd(sum(reader.frames for reader in readers), took, readers[0].arrivals)


async def hold(port: int, runs: Sequence[str], waiters: int, line: Line) -> Crowd:
    """Attach so many waiters to each run, say "attached", and hold them until told to leave."""
    readers = await _attach(port, runs, waiters, 1)
    line.say("attached")
    await line.told()
    for reader in readers:
        reader.over.cancel()
        reader.leave()
    return Crowd(0, 0, [])


async def _attach(port: int, runs: Sequence[str], waiters: int, expected: int) -> list[Reader]:
    loop = asyncio.get_running_loop()
    readers = [Reader(run, expected, timed=number == 0) for number in range(waiters) for run in runs]
    for start in range(0, len(readers), CONNECT_AT_ONCE):
        few = readers[start : start + CONNECT_AT_ONCE]
        await asyncio.gather(*(loop.create_connection(partial(_same, each), "127.0.0.1", port) for each in few))
        await asyncio.gather(*(reader.attached for reader in few))
    return readers


def _same(reader: Reader) -> Reader:
    return reader
