"""The watcher: one waiter of a run, as a check has it; and what it means when nothing comes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

import httpx
import msgspec

from client.follow import Stream
from client.sse import ServerEvent
from selfcheck.texts import Words, english, say

PATIENCE_S = 5.0  # for anything that takes milliseconds; a loaded machine may need a second, or stand still for two
MOST_EVENTS = 1_000  # of one stream; a run of ours has fifty
LONGEST_REPLY = 1_000  # characters; ours has three hundred


class Silent(Exception):
    """Something that was waited for did not come. `awaited` says what."""

    def __init__(self, awaited: Words) -> None:
        self.awaited = awaited
        super().__init__(f"waited {PATIENCE_S:g} s for {english(awaited)}")


class Gone(Exception):
    """The service ended, or was ended, under the check; `Service` knows why."""


@contextmanager
def guarded(awaited: Words) -> Iterator[None]:
    """Turn what can go wrong with a connection into what it means here."""
    try:
        yield
    except httpx.TimeoutException as silence:
        raise Silent(awaited) from silence
    except httpx.TransportError as broken:
        raise Gone from broken


@dataclass(slots=True)
class Watcher:
    """One waiter. Reads its stream no further than it is asked to."""

    name: str  # of its run, for reports
    _stream: Stream
    _note: Callable[[Sequence[ServerEvent], bool], None]  # called with what was read, and whether it was all
    events: list[ServerEvent] = field(default_factory=list)

    def take(self, count: int) -> list[ServerEvent]:
        """Read so many events more and return them.

        Raises:
            Silent: the stream ended first, or nothing more came.
        """
        taken: list[ServerEvent] = []
        awaited = say("playing.event", seq=len(self.events), run=self.name)
        with guarded(awaited):
            while len(taken) < count:
                event = next(self._stream.events, None)
                if event is None:
                    raise Silent(awaited)
                taken.append(event)
        self._note(taken, False)
        self.events += taken
        return taken

    def rest(self) -> list[ServerEvent]:
        """Read to the end of the stream and return what came; of a flood, as much as shows that it is one."""
        taken: list[ServerEvent] = []
        with guarded(say("playing.end", run=self.name)):
            taken.extend(islice(self._stream.events, MOST_EVENTS))
        self._note(taken, True)
        self.events += taken
        return taken

    @property
    def seqs(self) -> list[int]:
        """The seqs of all events so far, as received."""
        return [int(event.id) for event in self.events if event.has_id]

    @property
    def reply(self) -> str:
        """The text as a reader has it after all events so far, as far as a person would read it."""
        parts: list[str] = []
        for event in self.events:
            if event.event == "rerun":
                parts.clear()
            elif event.event in {"delta", "snapshot"}:
                if event.event == "snapshot":
                    parts.clear()
                parts.append(str(msgspec.json.decode(event.data)["text"]))
        return "".join(parts)[:LONGEST_REPLY]

    @property
    def ended_with(self) -> str:
        """The kind of the last event, "" when there was none."""
        return self.events[-1].event if self.events else ""
