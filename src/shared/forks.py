"""Forks: the sub-runs that a run splits off, and how the store keeps them.

A sub-run is a run like any other: pending, claimed by a worker, with a log, a lease and attempts of its own. Only its
session is nobody's: it has one to itself, under a name that no user can give one, so it stands in no conversation's
history and in nobody's way. What it is for is known by its number, the how-manieth of its parent's present course it
is, so that a worker that begins the parent again finds what was forked before it, and does not do it twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from shared.ports import Message, StoredRun
from shared.run import Run

SEPARATOR: Final = "\x1f"
"""Stands in the session id of every sub-run, and in that of no user: those are without control characters."""


def session_of(parent_id: str, run_id: str) -> str:
    """Return the session that a sub-run has to itself."""
    return f"{parent_id}{SEPARATOR}{run_id}"


def is_sub_run(run: Run) -> bool:
    """Say whether a run was split off another."""
    return SEPARATOR in run.session_id


@dataclass(frozen=True, slots=True)
class Fork:
    """A sub-run as its parent has it. `stored.run.id` is its id."""

    parent_id: str
    number: int  # 0, 1, 2 … in the parent's present course
    title: str
    stored: StoredRun


class Forks(Protocol):
    """The sub-runs of all runs. Each call is one transaction; all may raise `Unavailable`.

    `Store.archive` of a sub-run or of its parent drops the fork when the other one has ended too.
    """

    async def fork(self, parent_id: str, attempt: int, number: int, title: str, run: Run, message: Message) -> Fork:
        """Open a pending sub-run with its one message, or find what was opened: return the fork with this number.

        One whose message has the same text stands as it is, whatever became of it. One that has another text gives its
        number to this one and becomes an orphan. Forking with the id of a sub-run that is there already returns that
        fork. `run` is pending with attempt 0; its session and the message's are `session_of(parent_id, run.id)`.

        Raises:
            Fenced: the parent is not active with this attempt, or its cancel was asked. Nothing was written.
        """
        ...

    async def forks_of(self, parent_id: str) -> Sequence[Fork]:
        """Return the forks of a run's present course by number, each as it stands."""
        ...

    async def orphans(self, limit: int) -> Sequence[str]:
        """Return sub-runs that nobody waits for any more, have not ended, and were not asked to stop, oldest first.

        Their parent has ended or was asked to stop, or their number is another's by now.
        """
        ...
