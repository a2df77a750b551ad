"""Exercises 1 and 4: the moves a run may make, and the run that takes one more message.

A rule here is given everything it needs and only answers: it reads no clock, no store and no socket. That is why it can
be asked ten thousand times in a test and why the gateway and the worker, which never meet, agree about every run.
"""

from collections.abc import Mapping
from datetime import datetime

from shared.errors import IllegalTransition
from shared.run import Run, RunStatus
from shared.settings import MERGE_WINDOW

TRANSITIONS: Mapping[RunStatus, frozenset[RunStatus]] = {
    # Claimed by a worker; stopped by the user before one came; given up before one could begin.
    RunStatus.PENDING: frozenset({RunStatus.RUNNING, RunStatus.CANCELLED, RunStatus.FAILED}),
    # The first fragment makes it streaming; a reply without one is done straight from here.
    RunStatus.RUNNING: frozenset({RunStatus.STREAMING, RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED}),
    # Not back to running, not even for a rerun: what was streamed stays in the log, and the seq goes on behind it.
    RunStatus.STREAMING: frozenset({RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED}),
    # Nothing leaves an end: the terminal event is out, the waiters have gone, the session may have its next run.
    RunStatus.DONE: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}
"""From each status, the statuses a run may move to. What is not listed is forbidden.

    pending ──► running ──► streaming ──► done
       │           │            │
       └───────────┴────────────┴───────► failed, cancelled

and running ──► done, for a reply without a single fragment.
"""


def transition(current: RunStatus, target: RunStatus) -> RunStatus:
    """Return `target` when a run may move there from `current`.

    Every write of a status asks here first, so what the table forbids cannot happen, whoever tries and however late.
    The status a run has already is a target like any other, and no row lists it.

    >>> transition(RunStatus.PENDING, RunStatus.RUNNING)
    <RunStatus.RUNNING: 'running'>
    >>> transition(RunStatus.DONE, RunStatus.STREAMING)
    Traceback (most recent call last):
        ...
    shared.errors.IllegalTransition: illegal transition: done → streaming

    Without it: a worker hangs for a minute, its run is finished meanwhile, it wakes and writes `streaming`. The run is
    alive again with nobody behind it: its waiters wait for ever, and its session can open no other.

    Raises:
        IllegalTransition: the table does not allow the move. The caller writes nothing and lets go of the run.
    """
    if target not in TRANSITIONS.get(current, ()):
        raise IllegalTransition(current, target)
    return target


def should_merge(previous: Run | None, now: datetime) -> bool:
    """Say whether a new message joins `previous`, the session's latest run, instead of opening a run of its own.

    It does when all three hold: there is such a run; a worker is at it (running or streaming); and it is younger than
    `MERGE_WINDOW`, strictly. `previous` is None when the session has no run. Both times are timezone-aware, and not
    always of the same zone; age is their difference.

    >>> from datetime import UTC, timedelta
    >>> noon = datetime(2025, 1, 1, 12, tzinfo=UTC)
    >>> run = Run("run-1", "session-1", "user-1", RunStatus.STREAMING, 1, created_at=noon, updated_at=noon)
    >>> should_merge(run, noon + timedelta(seconds=29))
    True
    >>> should_merge(run, noon + timedelta(seconds=30))
    False
    >>> should_merge(None, noon)
    False

    Without it: "change 100 dollars" and, a breath later, "sorry, euros" become two runs. The second answers half a
    question, and the first goes on with an answer that nobody wants any more. Merge too much, and a question of
    yesterday is answered into a reply that was read long ago.
    """
    return (
        previous is not None
        # Pending is not active: no worker has read its messages yet, there is nothing to correct and nobody to tell.
        and previous.status in (RunStatus.RUNNING, RunStatus.STREAMING)
        # Compared as durations: `.seconds` leaves out the days, and a run of yesterday would be young again.
        and now - previous.created_at < MERGE_WINDOW
    )
