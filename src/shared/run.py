"""The run: one execution of a session's messages, and the states it moves through.

Which moves are legal is not written here: that is exercise 1 (`lifecycle.TRANSITIONS`), injected as
`Exercises.transition`.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class RunStatus(StrEnum):
    """Where a run stands. A `StrEnum`: comparing with the plain word is right."""

    PENDING = "pending"  # accepted and stored, no worker yet
    RUNNING = "running"  # claimed by a worker, nothing of its reply written yet
    STREAMING = "streaming"  # at least one fragment or tool call is out
    DONE = "done"
    FAILED = "failed"  # retries exhausted
    CANCELLED = "cancelled"  # by the user


ACTIVE = frozenset({RunStatus.RUNNING, RunStatus.STREAMING})
"""The statuses in which a worker owns the run. A session has at most one such run."""

ENDED = frozenset({RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED})
"""The statuses that nothing leaves. An ended run's log is complete: its last event is terminal."""


@dataclass(frozen=True, slots=True)
class Run:
    """One execution, as it stood when it was read.

    `attempt` counts the claims and is also the fencing token: a write that carries an older one is refused.
    Both times are timezone-aware; `created_at` is the gateway's clock at the moment the run was opened.
    """

    id: str
    session_id: str
    user_id: str
    status: RunStatus
    attempt: int
    created_at: datetime
    updated_at: datetime
