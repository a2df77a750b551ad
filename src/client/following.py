"""The decisions of following one run to its end, over as many connections as it takes. No I/O: `follow.py` does that.

For each connection: what to ask with, whether the answer is a stream, which of its events to hand on, and at its end
whether and when to connect again.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from client.sse import EventStreamParser, ServerEvent
from shared.errors import CallerError, Unavailable
from shared.events import TERMINAL
from shared.settings import Settings

IDLE: Final = 3 * Settings().heartbeat
"""Silence after which a connection counts as broken: three heartbeats that did not come."""

_SEQ: Final = re.compile(r"[0-9]{1,18}")
_NOT_NOW: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
_MOST_DOUBLINGS: Final = 16  # of a second, most of a day: no sensible limit lies above, and the power stays small


class Outcome(StrEnum):
    """Why a following is over."""

    ENDED = "ended"  # the run's last event came
    NOTHING_LEFT = "nothing left"  # 204: the run has ended, and the cursor is at its last event
    REFUSED = "refused"  # `StreamRefused` was raised
    GAVE_UP = "gave up"  # `GaveUp` was raised


class StreamRefused(CallerError):
    """The gateway gave an `answer` that asking again will not change."""

    def __init__(self, run_id: str, answer: str, tries: int, cursor: int | None) -> None:
        self.run_id = run_id
        self.answer = answer
        self.tries = tries
        self.cursor = cursor
        super().__init__(f"the stream of run {run_id!r} was refused with {answer}; asking again would change nothing")


class GaveUp(Unavailable):
    """The run may go on, but its stream cannot be had now. Follow it later from `cursor` (None: from its start).

    `tries` counts all connections; `last_error` says how the last one ended. If that was an exception, it is the cause.
    """

    def __init__(self, run_id: str, why: str, tries: int, cursor: int | None, last_error: str) -> None:
        self.run_id = run_id
        self.tries = tries
        self.cursor = cursor
        self.last_error = last_error
        position = "nothing was received" if cursor is None else f"event {cursor} was the last received"
        super().__init__("gateway", f"gave up following run {run_id!r}: {why}; {position}; at last {last_error}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a following keeps trying. The pause after failure n is random, up to the server's `retry` · 2ⁿ⁻¹."""

    failures: int = 8  # connections in a row without progress; together some 45 s, which outlasts a deploy
    longest_backoff: timedelta = timedelta(seconds=30)
    longest_wait: timedelta = timedelta(minutes=5)  # a server that asks for a longer one is not waited for
    idle: timedelta = IDLE


class Following:
    """One run as it is followed. Look at `cursor`, `outcome`, `tries`, `failures` and `last_error` at any time.

    Its driver calls `begin`, `answered`, `feed` for each chunk, `broke` if an exception ended the connection, and while
    `outcome` is None, `next_pause`. Given to a driver again after an interruption, it goes on where it was.

    A connection is a failure when it brought nothing new: no event beyond the cursor it asked with, and no heartbeat
    either, which shows that the server has the run and the run has nothing to say.
    """

    def __init__(
        self,
        run_id: str,
        cursor: int | None = None,
        patience: Patience | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Follow `run_id` after the event `cursor` (None: from its start). `chance` gives numbers in [0, 1)."""
        self.run_id = run_id
        self.cursor = cursor
        self.patience = patience or Patience()
        self.outcome: Outcome | None = None  # None: it is not over
        self.tries = 0
        self.failures = 0  # in a row
        self.last_error = ""
        self._chance = chance
        self._retry = Settings().retry
        self._start()

    def _start(self) -> None:
        self.leaving = False  # True: nothing more is wanted of this connection
        self._parser = EventStreamParser()
        self._asked = -1 if self.cursor is None else self.cursor
        self._progressed = False
        self._floor = timedelta(0)
        self._cause: Exception | None = None

    def begin(self) -> dict[str, str]:
        """Begin a connection; return the headers to ask with."""
        self._start()
        self.tries += 1
        self.last_error = "the stream ended before the run did"
        return request_headers(self.cursor)

    def answered(self, status: int, headers: Mapping[str, str]) -> bool:
        """Take the head of the answer; return whether its body is to be fed. `headers` do not mind the case of names.

        Raises:
            StreamRefused: the answer is final.
        """
        if status == HTTPStatus.NO_CONTENT:
            self.outcome = Outcome.NOTHING_LEFT
            return False
        if is_event_stream(status, headers):
            return True
        self.last_error = f"status {status} and content type {headers.get('content-type', 'none')}"
        if not is_passing(status):
            self.outcome = Outcome.REFUSED
            raise StreamRefused(self.run_id, self.last_error, self.tries, self.cursor)
        self._floor = retry_after(headers)
        return False

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yield the events that this chunk completes and that are to be handed on; the cursor moves with each."""
        for event in self._parser.feed(chunk):
            if self._accept(event):
                yield event
            if self.leaving:
                return

    def _accept(self, event: ServerEvent) -> bool:
        if event.event == "error":
            self.last_error = f"the server's error {event.data}"
            self.leaving = True
            return False
        if event.event in TERMINAL:
            self.outcome = Outcome.ENDED
            self.leaving = True
        if event.event == "gap":
            # The cursor counts another history's events. Kept, it would fit again once this one has as many.
            self.cursor = None
        if not event.has_id or _SEQ.fullmatch(event.id) is None:
            return True
        return self._move_to(int(event.id), replaces=event.event == "snapshot")

    def _move_to(self, seq: int, *, replaces: bool) -> bool:
        if self.cursor is not None and seq <= self.cursor and not replaces:
            return False
        self.cursor = seq
        self._progressed = self._progressed or seq > self._asked
        return True

    def broke(self, error: Exception) -> None:
        """Note that an exception ended the connection, or kept it from coming about."""
        self.last_error = f"{type(error).__name__}: {error}"
        self._cause = error

    def next_pause(self) -> timedelta:
        """Close the account of this connection; return how long to wait before the next `begin`.

        Raises:
            GaveUp: there is to be no next one.
        """
        patience = self.patience
        self.failures = 0 if self._progressed or self._parser.comments else self.failures + 1
        if self._parser.retry is not None:
            self._retry = self._parser.retry
        if self.failures >= patience.failures:
            self._give_up(f"failures in a row: {self.failures}")
        if self._floor > patience.longest_wait:
            self._give_up(f"the server asks to wait for {self._floor}")
        return self._floor + self._chance() * backed_off(self._retry, self.failures, patience)

    def _give_up(self, why: str) -> None:
        self.outcome = Outcome.GAVE_UP
        raise GaveUp(self.run_id, why, self.tries, self.cursor, self.last_error) from self._cause


def backed_off(retry: timedelta, failures: int, patience: Patience) -> timedelta:
    """Return the longest pause after this many failures in a row; chance takes a share of it."""
    first = min(retry, patience.longest_wait)
    doubled = first * (1 << min(max(failures - 1, 0), _MOST_DOUBLINGS))
    return min(doubled, max(first, patience.longest_backoff))


def request_headers(cursor: int | None) -> dict[str, str]:
    """Return the headers that ask for a stream after the event `cursor`."""
    headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
    return headers if cursor is None else headers | {"Last-Event-ID": str(cursor)}


def is_event_stream(status: int, headers: Mapping[str, str]) -> bool:
    """Tell whether an answer with this head is a stream of events (WHATWG HTML §9.2.2)."""
    essence = headers.get("content-type", "").partition(";")[0].strip().lower()
    return status == HTTPStatus.OK and essence == "text/event-stream"


def is_passing(status: int) -> bool:
    """Tell whether an answer with this status may be another one later (RFC 9110, section 15; RFC 8470)."""
    return status in _NOT_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def retry_after(headers: Mapping[str, str]) -> timedelta:
    """Read `Retry-After` (RFC 9110 §10.2.3); what cannot be read asks for nothing.

    A date is measured by the answer's own `Date`, so neither clock has to be right.
    """
    value = headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return timedelta(seconds=int(value)) if len(value) < 10 else timedelta.max
    try:
        return max(parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", "")), timedelta(0))
    except (TypeError, ValueError):  # TypeError: only one of the two has a time zone
        return timedelta(0)
