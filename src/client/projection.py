"""The projection: what of a session is to be seen, reduced from whatever arrives, in whatever order.

    session, effects = reduce(session, arrival)

Live and replayed events, pages and snapshots go through this one reducer. An event is known by `(run_id, seq)`, for
every run counts from 0. So any order, repetition and mixture of a session's events leads to the same projection, and a
broken connection, which is no event, interrupts the watching and not the run. (Where a session's line cuts a long text
in an event's data, what stands in a tool or a question is the text that came first.)

No I/O, no clock, and no value ever changes. An arrival costs its own size, and as many pointers as the session has runs
and the run has events held back (at most `HELD_LIMIT`), tools, sub-runs or open questions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from client.arrivals import Arrival, SessionOpened, SessionRead
from client.effects import StartSpinner, StopSpinner
from client.run_view import Effects, Phase, RunView, frozen, read_run, reduce_run


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as it is to be seen: its runs by id, in the order in which they were opened."""

    runs: Mapping[str, RunView] = field(default_factory=lambda: frozen({}))

    @property
    def current(self) -> RunView | None:
        """The first run that is not over, else the last one; None while there is none."""
        current = None
        for current in self.runs.values():
            if current.end is None:
                break
        return current

    @property
    def phase(self) -> Phase:
        """How its current run looks."""
        current = self.current
        return Phase.IDLE if current is None else current.phase


def reduce(session: SessionView, arrival: Arrival) -> tuple[SessionView, Effects]:
    """Return the session after an arrival, and what is to be done about it; the same session when nothing is.

    A run that was not known comes behind the others; reading the session puts all its runs in their order.
    """
    if isinstance(arrival, SessionRead):
        return _read(session, arrival)
    if isinstance(arrival, SessionOpened):
        return session, ()
    before = session.runs.get(arrival.run_id)
    after, effects = reduce_run(before or RunView(arrival.run_id), arrival)
    if after is before:
        return session, ()
    return SessionView(frozen({**session.runs, after.run_id: after})), _with_spinner(before, after, effects)


def _read(session: SessionView, read: SessionRead) -> tuple[SessionView, Effects]:
    runs: dict[str, RunView] = {}
    effects: Effects = ()
    for each in read.runs:
        before = session.runs.get(each.run_id)
        after, more = read_run(before or RunView(each.run_id), each)
        runs[each.run_id] = after
        effects += _with_spinner(before, after, more)
    runs |= {run_id: run for run_id, run in session.runs.items() if run_id not in runs}
    is_same = all(before is after for before, after in zip(session.runs.values(), runs.values(), strict=False))
    return session if is_same and len(runs) == len(session.runs) else SessionView(frozen(runs)), effects


def _with_spinner(before: RunView | None, after: RunView, effects: Effects) -> Effects:
    waited = before is not None and before.waiting
    if waited and not after.waiting:
        return (StopSpinner(after.run_id), *effects)
    if after.waiting and not waited:
        return (*effects, StartSpinner(after.run_id))
    return effects
