"""Readers that are cut at random and resume with the last id they have: what is lost, what comes twice.

A cut is a connection that is reset in the middle of whatever was under way, a frame or the head of an answer included.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from bench.delivering.children import Line
from bench.delivering.readers import request
from client.sse import EventStreamParser, ServerEvent

PAUSE_S: Final = 0.02  # at most, before a reader comes back
LATE_S: Final = 1.0  # at most, after which a reader comes that is not there from the start
BYTES: Final = 10  # read before a cut, for each event of the run, on average: about a fifth of it
AWAY: Final = 503
"""A server that is overrun says so; its clients come back."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What readers got altogether: how often they resumed, events that never came, and such as came again or late."""

    resumes: int
    lost: int
    twice: int


class Body:
    """The bytes of one answer, out of HTTP's chunks, as events. Like a client's, it does not wait for a chunk's end."""

    def __init__(self) -> None:
        self.status = 0
        self._raw = b""
        self._left = 0  # of the chunk that has begun
        self._parser = EventStreamParser()

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Take bytes as they come and return the events that are complete by them."""
        self._raw += data
        if not self.status:
            head, found, rest = self._raw.partition(b"\r\n\r\n")
            if not found:
                return []
            self.status, self._raw = int(head[9:12]), rest
        events: list[ServerEvent] = []
        while self.status == 200 and self._raw and (self._left or self._begin_chunk()):
            part, self._raw = self._raw[: self._left], self._raw[self._left :]
            self._left -= len(part)
            events += self._parser.feed(part)
        return events

    def _begin_chunk(self) -> bool:
        """Whether another chunk begins, and it is not the empty one at the end."""
        size, found, rest = self._raw.removeprefix(b"\r\n").partition(b"\r\n")
        if found:
            self._left, self._raw = int(size, 16), rest
        return self._left > 0


class CutReader:
    """One front end: it reads, is cut, comes back, until it has the last event."""

    def __init__(self, port: int, run_id: str, count: int, chance: random.Random) -> None:
        self._port = port
        self._run_id = run_id
        self._count = count
        self._chance = chance
        self.seqs: list[int] = []
        self.connections = 0

    async def read(self, after_s: float) -> None:
        """Come, and read to the end however often it is cut."""
        await asyncio.sleep(after_s)
        while not self._has_all():
            await self._connect(round(self._chance.expovariate(1 / (BYTES * self._count))))
            await asyncio.sleep(self._chance.uniform(0, PAUSE_S))

    def _has_all(self) -> bool:
        return bool(self.seqs) and self.seqs[-1] == self._count - 1

    async def _connect(self, most: int) -> None:
        self.connections += 1
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(request(self._run_id, self.seqs[-1] if self.seqs else None))
            body = Body()
            while most > 0 and (data := await reader.read(min(most, 65536))):
                most -= len(data)
                self.seqs += [int(event.id) for event in body.feed(data)]
                assert body.status in (0, 200, AWAY), body.status
                if body.status == AWAY or self._has_all():
                    return
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    def tally(self) -> Tally:
        """Compare what came with the log."""
        highest, twice = -1, 0
        for seq in self.seqs:
            twice += seq <= highest
            highest = max(seq, highest)
        return Tally(self.connections - 1, self._count - len({*self.seqs}), twice)


async def read_cut(port: int, runs: Sequence[str], waiters: int, count: int, seed: int, line: Line) -> Tally:
    """Read each run with so many readers, every other of which comes late."""
    chance = random.Random(seed)
    readers = [CutReader(port, run, count, chance) for run in runs for _ in range(waiters)]
    line.say("attached")
    await asyncio.gather(
        *(reader.read(chance.uniform(0, LATE_S) * (number % 2)) for number, reader in enumerate(readers))
    )
    return total([reader.tally() for reader in readers])


def total(tallies: Sequence[Tally]) -> Tally:
    """Add tallies up."""
    return Tally(
        sum(each.resumes for each in tallies), sum(each.lost for each in tallies), sum(each.twice for each in tallies)
    )


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a reader got that resumed once: how long it took from its request on, and whether every byte was right."""

    seconds: float
    exact: bool


async def resume(port: int, run_id: str, cursor: int, expected: bytes, line: Line) -> Resumed:
    """Resume once, after `cursor`, and read until all expected frames have come."""
    line.say("attached")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begun = time.monotonic()
    writer.write(request(run_id, cursor))
    got = bytearray()
    await reader.readuntil(b"\r\n\r\n")
    while len(got) < len(expected):
        size = int(await reader.readline(), 16)
        got += await reader.readexactly(size)
        await reader.readline()
    seconds = time.monotonic() - begun
    writer.transport.abort()
    return Resumed(seconds, bytes(got).removeprefix(b"retry: 1000\n") == expected)
