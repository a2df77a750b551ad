"""Front ends that keep all they are sent: of a session's socket, or of a run's stream, cut or not, and always back.

Each is compared with the log in the end, event by event: over all its connections it has each one once, in order.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast

import msgspec

from bench.delivering import readers as streams
from bench.delivering import writing
from bench.delivering.children import Line
from bench.delivering.cuts import AWAY, Body
from bench.delivering.readers import CONNECT_AT_ONCE, HEAD_END
from bench.socketing.readers import PONG, Frames, request

PAUSE_S: Final = 0.05  # at most, before a front end comes back that was cut off or sent away


@dataclass(frozen=True, slots=True)
class Had:
    """An event as it came. `seq` is -1 where the line says that the run is next."""

    seq: int
    kind: str
    data: bytes


class Talk(Protocol):
    """One connection's side of the wire."""

    @property
    def let_in(self) -> bool:
        """Whether the answer is yes."""
        ...

    @property
    def away(self) -> bool:
        """Whether the answer is that there is no room now."""
        ...

    def feed(self, data: bytes) -> tuple[Sequence[Had], bytes]:
        """Take bytes; return the events that are complete by them, and what is to be sent back."""
        ...


class StreamTalk:
    """A run's stream."""

    def __init__(self) -> None:
        self._body = Body()

    @property
    def let_in(self) -> bool:
        """Whether the head of the answer is a stream's."""
        return self._body.status == 200

    @property
    def away(self) -> bool:
        """Whether it says that there is no room."""
        return self._body.status == AWAY

    def feed(self, data: bytes) -> tuple[Sequence[Had], bytes]:
        """Take bytes."""
        return [Had(int(each.id), each.event, each.data.encode()) for each in self._body.feed(data)], b""


class _Frame(msgspec.Struct):
    type: str
    kind: str
    seq: int | None
    data: msgspec.Raw


_frame: Final = msgspec.json.Decoder(_Frame).decode


class SocketTalk:
    """A session's socket."""

    def __init__(self) -> None:
        self._head: bytes | None = b""
        self._texts = Frames()
        self.let_in = False
        self.away = False

    def feed(self, data: bytes) -> tuple[Sequence[Had], bytes]:
        """Take bytes."""
        if self._head is not None:
            head, found, data = (self._head + data).partition(HEAD_END)
            if not found:
                self._head = head
                return [], b""
            self._head, status = None, int(head[9:12])
            self.away = status == AWAY
            assert status in (101, AWAY), head
        had, back = list[Had](), b""
        for frame in map(_frame, () if self.away else self._texts.feed(data)):
            self.let_in = True  # that it is ready comes first
            if frame.type == "event":
                had.append(Had(-1 if frame.seq is None else frame.seq, frame.kind, bytes(frame.data)))
            elif frame.type == "ping":
                back += PONG
        return had, back


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the two ways to watch a run that is its session's first."""

    name: str
    talk: Callable[[], Talk]
    ask: Callable[[str, int | None], bytes]  # for the run, after the newest seq that has come
    before: Sequence[Had]  # what comes before the log; its data is not compared


def _ask_socket(run_id: str, seq: int | None) -> bytes:
    return request(f"s-{run_id}", "" if seq is None else "0-" if seq < 0 else f"0-{seq}")


STREAM: Final = Kind("stream", StreamTalk, streams.request, ())
SOCKET: Final = Kind("socket", SocketTalk, _ask_socket, (Had(-1, "run_started", b""),))
KINDS: Final = {kind.name: kind for kind in (STREAM, SOCKET)}


def expected(kind: Kind, run_id: str, count: int) -> list[Had]:
    """Return what a front end has to have in the end."""
    return [
        *kind.before,
        *(Had(each.seq, each.kind.value, each.data.encode()) for each in writing.events(run_id, count)),
    ]


class Front:
    """One front end. It comes back, with its cursor, until it has the run's last event."""

    def __init__(self, port: int, kind: Kind, run_id: str, count: int) -> None:
        self._port = port
        self._kind = kind
        self._run_id = run_id
        self._count = count
        self._connection: _Connection | None = None
        self._coming: asyncio.Task[None] | None = None
        self.had: list[Had] = []
        self.connections = 0
        self.half, self.over = asyncio.Event(), asyncio.Event()  # how much of the run has come

    async def attach(self) -> None:
        """Connect, again and again if need be, until let in."""
        loop = asyncio.get_running_loop()
        while True:
            self.connections += 1
            seq = self.had[-1].seq if self.had else None
            connection = _Connection(self, self._kind.talk(), self._kind.ask(self._run_id, seq), loop)
            self._connection = connection
            await loop.create_connection(lambda held=connection: held, "127.0.0.1", self._port)  # type: ignore[misc]
            if await connection.let_in:
                return
            await asyncio.sleep(random.uniform(0, PAUSE_S))

    def cut(self) -> None:
        """Reset the connection, in the middle of whatever is under way."""
        assert self._connection is not None
        self._connection.transport.abort()
        self._connection = None

    def take(self, connection: "_Connection", had: Sequence[Had]) -> None:
        """Take events, unless they come on a connection that was cut."""
        if connection is self._connection:
            self.had += had
            if 2 * len(self.had) >= self._count:
                self.half.set()
            if self.had and self.had[-1].seq == self._count - 1:
                self.over.set()

    def left(self, connection: "_Connection") -> None:
        """Come back after a connection that the server has ended too early."""
        if connection is self._connection and not self.over.is_set():
            self._coming = asyncio.create_task(self.attach())

    def faults(self) -> tuple[int, int]:
        """Return how many events never came, and how many came again, late or otherwise than they were written."""
        wanted = expected(self._kind, self._run_id, self._count)
        had = [Had(each.seq, each.kind, b"") if each.kind == "run_started" else each for each in self.had]
        lost = len({*wanted} - {*had})
        return lost, 0 if had == wanted else max(1, len(had) - (len(wanted) - lost))


class _Connection(asyncio.Protocol):
    def __init__(self, front: Front, talk: Talk, asking: bytes, loop: asyncio.AbstractEventLoop) -> None:
        self._front = front
        self._talk = talk
        self._asking = asking
        self.let_in: asyncio.Future[bool] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(self._asking)

    def data_received(self, data: bytes) -> None:
        had, back = self._talk.feed(data)
        self._front.take(self, had)
        if back:
            self.transport.write(back)
        if self._talk.away:
            self.transport.abort()
        elif self._talk.let_in and not self.let_in.done():
            self.let_in.set_result(True)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.let_in.done():
            self.let_in.set_result(False)
        elif self.let_in.result():
            self._front.left(self)


@dataclass(frozen=True, slots=True)
class Followed:
    """What front ends got altogether. `away_s`: from the cut of all until the last was let in again."""

    connections: int
    events: int
    lost: int
    twice: int
    away_s: float


async def follow(port: int, kind: str, runs: Sequence[str], count: int, storm: bool, line: Line) -> Followed:
    """Follow these runs to their ends. In a storm, all are cut at once in the middle, and all come back at once."""
    fronts = [Front(port, KINDS[kind], run, count) for run in runs]
    for start in range(0, len(fronts), CONNECT_AT_ONCE):
        await asyncio.gather(*(front.attach() for front in fronts[start : start + CONNECT_AT_ONCE]))
    line.say("attached")
    away_s = 0.0
    if storm:
        await asyncio.gather(*(front.half.wait() for front in fronts))
        began = time.monotonic()
        for front in fronts:
            front.cut()
        await asyncio.gather(*(front.attach() for front in fronts))
        away_s = time.monotonic() - began
    await asyncio.gather(*(front.over.wait() for front in fronts))
    line.say("over")
    faults = [front.faults() for front in fronts]
    lost, twice = sum(lost for lost, _ in faults), sum(twice for _, twice in faults)
    await line.told()
    for front in fronts:
        front.cut()
    return Followed(sum(front.connections for front in fronts), count * len(fronts), lost, twice, away_s)
