"""The decisions of following a session's line over as many connections as it takes. No I/O: `follow_line.py` does that.

    ready, run_started, delta, delta, question …

What each connection asks for, what its frames are to whoever shows the session, what is sent in reply, and at its end
whether and when to connect again. A line has no end of its own: it outlives every run.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias
from urllib.parse import quote

from client.arrivals import Disconnected, Ended, Gap, Reconnected, RunEvent, RunOpened, SessionOpened
from client.following import Patience, backed_off, is_passing, retry_after
from client.line_frames import (
    Answered,
    LineFrame,
    Rejected,
    answer_frame,
    event_of,
    frame_of,
    position_of,
    ready_of,
    reply_of,
)
from shared.envelope import VERSION, CloseCode
from shared.errors import CallerError, Unavailable
from shared.settings import Settings

PING: Final = '{"type":"ping"}'
PONG: Final = '{"type":"pong"}'

_QUIET_PINGS: Final = 2
"""The server's pings that may be missing before it is asked whether it is there."""

LineArrival: TypeAlias = (
    SessionOpened | RunOpened | RunEvent | Gap | Disconnected | Reconnected | Answered | Rejected
)  # fmt: skip


class LineRefused(CallerError):
    """The gateway will not carry this line, for the reason that it gave. Coming back would not change it."""

    def __init__(self, session_id: str, answer: str, tries: int, cursor: str) -> None:
        self.session_id = session_id
        self.answer = answer
        self.tries = tries
        self.cursor = cursor
        super().__init__(
            f"the line of session {session_id!r} was refused with {answer}; asking again would change nothing"
        )


class LineLost(Unavailable):
    """The line cannot be had now. Follow it later from `cursor`; `last_error` says how the last connection ended."""

    def __init__(self, session_id: str, why: str, tries: int, cursor: str, last_error: str) -> None:
        self.session_id = session_id
        self.tries = tries
        self.cursor = cursor
        self.last_error = last_error
        position = f"the cursor is {cursor!r}" if cursor else "nothing was received"
        super().__init__(
            "gateway", f"gave up following session {session_id!r}: {why}; {position}; at last {last_error}"
        )


@dataclass(slots=True)
class _Answer:
    text: str
    times_sent: int = 0


class Line:
    """One session's line. Look at `cursor`, `tries`, `failures` and `last_error` at any time.

    For each connection its driver calls `begin`; then `refused` if the upgrade was, or `take` for each frame and
    `silence` when none came for `wait_s`; sends what `to_send` returns after each of these; and at its end calls
    `closed` or `broke`, hands on what `lost` returns, and waits for `next_pause`.

    Like a connection to a stream, one is a failure when it brought nothing: no event, and no ping either.
    """

    def __init__(
        self,
        session_id: str,
        cursor: str = "",
        patience: Patience | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Follow `session_id` from behind `cursor` (empty: from its beginning). `chance` gives numbers in [0, 1).

        Raises:
            ValueError: this is no cursor.
        """
        self.session_id = session_id
        self.cursor = cursor
        self.patience = patience or Patience()
        self.tries = 0
        self.failures = 0  # in a row
        self.last_error = ""
        self._chance = chance
        self._position = position_of(cursor)
        self._going_on = ""  # the run that is being carried, as far as is known
        self._interrupted = ""  # the run that was, when the connection broke
        self._answers: dict[str, _Answer] = {}  # not replied to yet; by question
        self._start()

    def _start(self) -> None:
        self._open = False
        self._progressed = False
        self._pinged = False
        self._refusal = ""
        self._floor = timedelta(0)
        self._cause: Exception | None = None
        self._outbox: list[str] = []
        settings = Settings()
        self._ping_every_s = settings.ping_every.total_seconds()
        self._pong_wait_s = settings.pong_wait.total_seconds()

    # one connection

    def begin(self) -> str:
        """Begin a connection; return what to ask for: path and query, behind the gateway's address."""
        self._start()
        self.tries += 1
        self.last_error = "the connection ended"
        cursor = f"&cursor={quote(self.cursor, safe='')}" if self.cursor else ""
        return f"/sessions/{quote(self.session_id, safe='')}/socket?v={VERSION}{cursor}"

    def refused(self, status: int, headers: Mapping[str, str]) -> None:
        """Note that the upgrade was answered with this. `headers` do not mind the case of names."""
        self.last_error = f"status {status}"
        if is_passing(status):
            self._floor = retry_after(headers)
        else:
            self._refusal = self.last_error

    @property
    def wait_s(self) -> float:
        """How long to wait for the next frame, in seconds."""
        return self._pong_wait_s if self._pinged else _QUIET_PINGS * self._ping_every_s

    def silence(self) -> bool:
        """Note that no frame came for `wait_s`; return whether to go on waiting: the server is asked once."""
        if self._pinged:
            self.last_error = f"nothing came for {self.wait_s:g} s after a ping"
            return False
        self._pinged = True
        self._outbox.append(PING)
        return True

    def take(self, text: str | bytes) -> list[LineArrival]:
        """Take a frame; return what it brings, in order. Types and kinds that are not known bring nothing.

        Raises:
            BadPayload: it is known and cannot be read, or is no frame at all. There is no use in going on.
        """
        frame = frame_of(text)
        self._pinged = False
        match frame.type:
            case "ready":
                return self._opened(frame)
            case "event":
                return self._event(frame)
            case "ping":
                self._progressed = True
                self._outbox.append(PONG)
            case "pong":
                self._progressed = True
            case "answered" | "error":
                return [self._replied(reply_of(frame))]
        return []

    def to_send(self) -> list[str]:
        """Return the frames that are to be sent now, once."""
        frames, self._outbox = self._outbox, []
        return frames

    def answer(self, question_id: str, text: str) -> None:
        """Answer a question. The frame is to be sent on this connection, and again on each until there is a reply.

        What became of it arrives as `Answered` or `Rejected`. A second answer to one question, while there is no reply
        to the first, takes its place.
        """
        self._answers[question_id] = _Answer(text)
        if self._open:
            self._send_answer(question_id)

    def _send_answer(self, question_id: str) -> None:
        answer = self._answers[question_id]
        answer.times_sent += 1
        self._outbox.append(answer_frame(question_id, answer.text))

    def _opened(self, frame: LineFrame) -> list[LineArrival]:
        ready = ready_of(frame)
        longest_s = self.patience.longest_wait.total_seconds()
        self._ping_every_s, self._pong_wait_s = min(ready.ping_every_s, longest_s), min(ready.pong_wait_s, longest_s)
        self._open = True
        for question_id in self._answers:
            self._send_answer(question_id)
        opened: list[LineArrival] = [SessionOpened(self.cursor)]
        if self._interrupted:
            opened.append(Reconnected(self._interrupted))
            self._interrupted = ""
        return opened

    def _event(self, frame: LineFrame) -> list[LineArrival]:
        event = event_of(frame)
        if event is None:
            return []
        is_new = event.position > self._position
        # These two replace what is shown. A gap says as well that the cursor was another history's.
        if not is_new and frame.kind not in ("gap", "snapshot"):
            return []
        self._progressed = self._progressed or is_new
        self.cursor, self._position = event.cursor, event.position
        ends = isinstance(event.arrival, RunEvent) and isinstance(event.arrival.change, Ended)
        self._going_on = "" if ends else event.run_id
        return [] if event.arrival is None else [event.arrival]

    def _replied(self, reply: Answered | Rejected) -> Answered | Rejected:
        """Match a reply with its answer.

        Replies come in the order of what was sent, so one that names no question is for the first. Whoever had to send
        again, and is told that its own text was there before, is the one who was first.
        """
        question_id = reply.question_id or next(iter(self._answers), "")
        ours = self._answers.pop(question_id, None)
        if isinstance(reply, Rejected):
            return Rejected(question_id, reply.code, reply.message)
        was_first = ours is not None and ours.times_sent > 1 and ours.text == reply.text
        return Answered(question_id, reply.counted or was_first, reply.text)

    # its end

    def closed(self, code: int, reason: str) -> None:
        """Note with which code and reason the server closed the connection."""
        self.last_error = f"close code {code}" + (f" ({reason})" if reason else "")
        if any(known == code and known.final for known in CloseCode):
            self._refusal = self.last_error

    def broke(self, error: Exception) -> None:
        """Note that an exception ended the connection, or kept it from coming about."""
        self.last_error = f"{type(error).__name__}: {error}"
        self._cause = error

    def lost(self) -> list[LineArrival]:
        """Return what the loss of the connection means to whoever shows the session."""
        self._open = False
        if self._interrupted or not self._going_on:
            return []
        self._interrupted = self._going_on
        return [Disconnected(self._going_on)]

    def next_pause(self) -> timedelta:
        """Close the account of this connection; return how long to wait before the next `begin`.

        Raises:
            LineRefused: the answer was final.
            LineLost: too many connections in a row brought nothing new.
        """
        if self._refusal:
            raise LineRefused(self.session_id, self._refusal, self.tries, self.cursor)
        self.failures = 0 if self._progressed else self.failures + 1
        if self.failures >= self.patience.failures:
            raise self._given_up(f"failures in a row: {self.failures}")
        if self._floor > self.patience.longest_wait:
            raise self._given_up(f"the server asks to wait for {self._floor}")
        return self._floor + self._chance() * backed_off(Settings().retry, self.failures, self.patience)

    def _given_up(self, why: str) -> LineLost:
        lost = LineLost(self.session_id, why, self.tries, self.cursor, self.last_error)
        lost.__cause__ = self._cause
        return lost
