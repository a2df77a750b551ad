"""What happens while the tree is watched. Whoever learns of something posts it; one loop takes it, one by one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from selfcheck.results import CheckResult
from selfcheck.texts import Message
from shared.errors import Unavailable


class Playing(Protocol):
    """A round of checks on one state of the tree, in a thread of its own."""

    def cancel(self) -> None:
        """Have it come to its end at once. Its events may still come; nobody takes them."""
        ...

    def join(self) -> None:
        """Return when it has ended, and with it all that it started."""
        ...


@dataclass(frozen=True, slots=True)
class Saved:
    """Something may have been written."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something about the watching itself that whoever watches should know."""

    words: Message


@dataclass(frozen=True, slots=True)
class Pressed:
    """A key: the one character that it sends."""

    key: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A round has judged a check."""

    round: Playing
    result: CheckResult


@dataclass(frozen=True, slots=True)
class Over:
    """A round has come to its end.

    `fault` is why there was no service to go on with, if so; `error` a fault of ours. `prints` and `log` are what the
    tree and the services said.
    """

    round: Playing
    fault: Unavailable | None = None
    error: BaseException | None = None
    prints: Sequence[str] = ()
    log: bytes = b""


Event: TypeAlias = Saved | Noted | Pressed | Verdict | Over
Post: TypeAlias = Callable[[Event], None]
