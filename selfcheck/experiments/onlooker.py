"""An onlooker: one waiter's connection, with the moment at which each event came, and with patience for silence."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum, auto

import httpx
import msgspec

from client.follow import Stream, open_stream
from client.sse import ServerEvent
from selfcheck.playing.watcher import PATIENCE_S, Gone, Silent
from selfcheck.texts import say
from shared.events import Json


class Left(Enum):
    """How a connection is left."""

    ENDED = auto()  # the server closed it
    SILENT = auto()  # nothing came for as long as the onlooker waits


@dataclass(frozen=True, slots=True)
class Sighting:
    """An event, and when it came: seconds of the monotonic clock."""

    at_s: float
    event: ServerEvent

    @property
    def data(self) -> Mapping[str, Json]:
        """What the event says."""
        decoded: dict[str, Json] = msgspec.json.decode(self.event.data)
        return decoded


@dataclass(slots=True)
class Onlooker:
    """One connection to a run. Reads no further than it is asked to."""

    _stream: Stream
    seen: list[Sighting] = field(default_factory=list)

    @property
    def status(self) -> int:
        """What the request was answered with: 200, or 204 when there is nothing more to come."""
        return self._stream.status

    def take(self, count: int) -> None:
        """Read so many events more.

        Raises:
            Silent: they do not come.
        """
        for _ in range(count):
            if self._read() is not None:
                raise Silent(say("experiments.event"))

    def rest(self) -> Left:
        """Read until there is no more, and say how that was."""
        while (left := self._read()) is None:
            pass
        return left

    def _read(self) -> Left | None:
        try:
            event = next(self._stream.events, None)
        except httpx.TimeoutException:
            return Left.SILENT
        except httpx.TransportError as broken:
            raise Gone from broken
        if event is None:
            return Left.ENDED
        self.seen.append(Sighting(time.monotonic(), event))
        return None

    @property
    def kinds(self) -> list[str]:
        """What came, by kind."""
        return [sighting.event.event for sighting in self.seen]

    @property
    def seqs(self) -> list[int]:
        """The numbers of what came."""
        return [int(sighting.event.id) for sighting in self.seen if sighting.event.has_id]

    @property
    def text(self) -> str:
        """The reply as a reader has it."""
        return text_of(self.seen)


def text_of(seen: list[Sighting]) -> str:
    """Return the text that a reader has after these events."""
    parts: list[str] = []
    for sighting in seen:
        if sighting.event.event in {"rerun", "snapshot"}:
            parts.clear()
        if sighting.event.event in {"delta", "snapshot"}:
            parts.append(str(sighting.data["text"]))
    return "".join(parts)


@contextmanager
def onlooker(url: str, run_id: str, cursor: int | None = None, patience_s: float = PATIENCE_S) -> Iterator[Onlooker]:
    """Open a waiter of a run at a gateway; when the block is entered it is attached.

    Raises:
        Gone: the gateway is not there.
    """
    with ExitStack() as stack:
        client = stack.enter_context(_client(url))
        try:
            stream = stack.enter_context(open_stream(client, run_id, cursor, idle=timedelta(seconds=patience_s)))
        except httpx.TransportError as broken:
            raise Gone from broken
        yield Onlooker(stream)


def reopened(url: str, session_id: str) -> str:
    """Return the text of a session's first reply as it is for somebody who opens the page anew.

    Raises:
        Gone: the gateway is not there.
    """
    with _client(url) as client:
        try:
            body = client.get(f"/sessions/{session_id}").content
        except httpx.TransportError as broken:
            raise Gone from broken
    return msgspec.json.decode(body, type=_Session).runs[0].text


class _Run(msgspec.Struct):
    text: str


class _Session(msgspec.Struct):
    runs: list[_Run]


def _client(url: str) -> httpx.Client:
    # A proxy has no business between us, and it is plain HTTP.
    return httpx.Client(base_url=url, trust_env=False, transport=httpx.HTTPTransport(verify=False, retries=0))
