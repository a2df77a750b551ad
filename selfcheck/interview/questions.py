"""The questions: how many points each has, where the code embodies its answer, and what shows it.

The words are in the catalogue, areas `interview_core` and `interview_around`: `NAME.question`, `NAME.think`,
`NAME.point-1` …, `NAME.follow-1` ….
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from selfcheck.texts import Message


@dataclass(frozen=True, slots=True)
class Code:
    """A place in `src/` to read: the file, and what is defined there."""

    file: str
    name: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `checks` and `experiments` are those that show what it is about."""

    name: str
    area: str
    points: int
    follow_ups: int
    code: tuple[Code, ...]
    checks: tuple[int, ...]
    experiments: tuple[str, ...] = ()

    @property
    def asked(self) -> Message:
        """The question itself."""
        return self._text("question")

    @property
    def approach(self) -> Message:
        """How to think about it."""
        return self._text("think")

    @property
    def key_points(self) -> Sequence[Message]:
        """What a good answer has in it."""
        return [self._text(f"point-{number}") for number in range(1, self.points + 1)]

    @property
    def further(self) -> Sequence[Message]:
        """What is likely to be asked next."""
        return [self._text(f"follow-{number}") for number in range(1, self.follow_ups + 1)]

    def _text(self, part: str) -> Message:
        return Message(f"{self.area}.{self.name}.{part}")


QUESTIONS: Final = (
    Question(
        "state-machine", "interview_core", 6, 3,
        (Code("src/shared/ledger.py", "finish"), Code("src/shared/run.py", "RunStatus")),
        (1,), ("no-terminal-states",),
    ),
    Question(
        "waiters", "interview_core", 6, 3,
        (Code("src/gateway/hub.py", "Hub"), Code("src/gateway/feed.py", "Feed")),
        (2, 3), ("consumer-group", "unbounded-buffer"),
    ),
    Question(
        "merging", "interview_core", 6, 3,
        (Code("src/shared/ledger.py", "accept"), Code("src/worker/executor.py", "_rerun")),
        (5, 6), ("seq-reset",),
    ),
    Question(
        "exactly-once", "interview_core", 6, 3,
        (Code("src/gateway/feeds.py", "begin"), Code("src/client/following.py", "Following")),
        (4,), ("stream-without-store",),
    ),
    Question(
        "sse-or-websocket", "interview_around", 5, 3,
        (
            Code("src/gateway/stream.py", "Streams"), Code("src/gateway/line.py", "Line"),
            Code("src/gateway/app.py", "Gateway"),
        ),
        (4,), ("store-without-stream",),
    ),
    Question(
        "disconnects", "interview_around", 6, 3,
        (Code("src/gateway/waiter.py", "Waiter"), Code("src/gateway/server.py", "shutdown")),
        (4,),
    ),
    Question(
        "cut-off", "interview_around", 6, 3,
        (Code("src/worker/writer.py", "_salvage"), Code("src/worker/executor.py", "_fail")),
        (1, 5), ("seq-reset",),
    ),
    Question(
        "without-eventsource", "interview_around", 6, 3,
        (Code("src/shared/sse.py", "EventStreamParser"), Code("src/client/following.py", "Following")),
        (4,),
    ),
)  # fmt: skip
"""All questions, the lesson's own first."""
