"""Readers: sockets of a session on bare connections, so that the reading costs little and hides nothing.

Frames are walked from head to head, and what is in them is not looked at, but for pings, which are answered. So a
socket costs its reader about as much as a stream does in `bench/delivering/readers.py`, and the measures take either.
"""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from bench.delivering.children import Line
from bench.delivering.readers import CONNECT_AT_ONCE, HEAD_END, Arrival, Counting, Crowd

READY: Final = 1  # frames of a line with no run yet
STARTED: Final = 2  # and of one that has come to its run

_TEXT: Final = 0x81  # in one piece; the gateway sends no others
_CLOSE: Final = 0x88
_PING: Final = b'{"v":1,"type":"ping",'
_PONG: Final = b'{"type":"pong"}'
PONG: Final = bytes((_TEXT, 0x80 | len(_PONG), 0, 0, 0, 0)) + _PONG
"""A client has to mask what it sends; a mask of zeros is one too."""


def request(session_id: str, cursor: str = "") -> bytes:
    """Return the request for a session's socket, behind a cursor."""
    return (
        f"GET /sessions/{session_id}/socket?v=1&cursor={cursor} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ).encode()


class Frames:
    """The texts of one connection, out of its frames (RFC 6455, section 5.2), however the bytes come."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes and return the texts that are complete by them.

        Raises:
            ConnectionError: the gateway closes; what is said is its code and reason.
        """
        if self._rest:
            data = self._rest + data
        texts: list[bytes] = []
        at, end = 0, len(data)
        while end - at >= 2:
            begin, size = at + 2, data[at + 1]
            if size >= 126:
                begin += 2 if size == 126 else 8
                size = int.from_bytes(data[at + 2 : begin])
            if begin + size > end:
                break
            text = data[begin : begin + size]
            if data[at] != _TEXT:
                assert data[at] == _CLOSE, data[at]
                raise ConnectionError(f"closed with {int.from_bytes(text[:2])} {text[2:].decode()}")
            texts.append(text)
            at = begin + size
        self._rest = data[at:]
        return texts


class Reader(Counting):
    """One socket. `attached` when `before` frames have come; those behind them count."""

    def __init__(self, session_id: str, before: int, expected: int, *, timed: bool = False) -> None:
        super().__init__(request(session_id), expected, timed=timed)
        self._head: bytes | None = b""
        self._texts = Frames()
        self.frames = -before

    def data_received(self, data: bytes) -> None:
        """Count frames, behind the head of the answer."""
        if self._head is not None:
            head, found, data = (self._head + data).partition(HEAD_END)
            if not found:
                self._head = head
                return
            assert head.startswith(b"HTTP/1.1 101 "), head
            self._head = None
        self._count(self._texts.feed(data))

    def _count(self, texts: Sequence[bytes]) -> None:
        self.frames += len(texts)
        for text in texts:
            if text.startswith(_PING):
                self.frames -= 1
                self._transport.write(PONG)
        if self._timed and self.frames > 0:
            self.arrivals.append(Arrival(time.monotonic_ns(), self.frames))
        if self.frames >= 0 and not self.attached.done():
            self.attached.set_result(None)
        if self.frames >= self._expected and not self.over.done():
            self.over.set_result(None)


async def read(port: int, runs: Sequence[str], waiters: int, expected: int, line: Line) -> Crowd:
    """Read the sessions of these runs with so many sockets each, and say "attached" when all have come to the run."""
    began = time.monotonic()
    sessions = [f"s-{run}" for run in runs]
    readers = await _attach(port, sessions * waiters, STARTED, expected)
    line.say("attached")
    await asyncio.gather(*(reader.over for reader in readers))
    took = time.monotonic() - began
    for reader in readers:
        reader.leave()
    return Crowd(sum(reader.frames for reader in readers), took, readers[0].arrivals)


async def hold(port: int, runs: Sequence[str], waiters: int, line: Line) -> Crowd:
    """Attach so many sockets to the session of each run, say "attached", and hold them until told to leave."""
    return await _hold(port, [f"s-{run}" for run in runs] * waiters, STARTED, line)


async def hold_silent(port: int, runs: Sequence[str], waiters: int, line: Line) -> Crowd:
    """Hold as many sockets, each on a session of its own that has no run."""
    return await _hold(port, [f"silent-{run}-{number}" for run in runs for number in range(waiters)], READY, line)


async def _hold(port: int, sessions: Sequence[str], before: int, line: Line) -> Crowd:
    readers = await _attach(port, sessions, before, 1)
    line.say("attached")
    await line.told()
    for reader in readers:
        reader.over.cancel()
        reader.leave()
    return Crowd(0, 0, [])


async def _attach(port: int, sessions: Sequence[str], before: int, expected: int) -> list[Reader]:
    loop = asyncio.get_running_loop()
    readers = [Reader(session, before, expected, timed=number == 0) for number, session in enumerate(sessions)]
    for start in range(0, len(readers), CONNECT_AT_ONCE):
        few = readers[start : start + CONNECT_AT_ONCE]
        await asyncio.gather(*(loop.create_connection(partial(_same, each), "127.0.0.1", port) for each in few))
        await asyncio.gather(*(reader.attached for reader in few))
    return readers


def _same(reader: Reader) -> Reader:
    return reader
