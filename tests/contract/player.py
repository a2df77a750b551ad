"""The player of random operations: what a step's two numbers mean where the ports stand."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from shared.ports import Delivery
from shared.run import ENDED, RunStatus
from tests.contract.adapters import Ports
from tests.contract.values import AN_HOUR, NOTHING

LIMIT = 60
"""Both numbers of a step are below this."""

SESSIONS, OWNERS = 4, 2
STATUSES = tuple(RunStatus)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: its name, and two numbers below `LIMIT` that choose its arguments."""

    do: str
    run: int
    n: int


@dataclass(slots=True)
class Player:
    """Plays steps on one set of ports, and remembers what later steps may refer to."""

    ports: Ports
    opened: int = 0
    deliveries: list[Delivery] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    sub_runs: list[str] = field(default_factory=list)

    async def run_id(self, step: Step) -> str:
        """Choose a run of the step's session: its first that has not ended mostly, else a late one, or an unknown.

        Now and then it is a sub-run: those are in sessions that no step names.
        """
        if self.sub_runs and step.n % 9 == 8:
            return self.sub_runs[-4:][step.run % 4 % len(self.sub_runs[-4:])]
        runs = await self.ports.store.runs_of(session_of(step))
        if not runs or step.run == 0:
            return "unknown"
        unended = [stored for stored in runs if stored.run.status not in ENDED]
        chosen = unended[:1] if unended and step.n % 4 else runs[-3:]
        return chosen[step.n // 4 % len(chosen)].run.id

    async def place(self, step: Step) -> tuple[str, int, RunStatus]:
        """Choose a run, an attempt and a status: the run's own mostly."""
        run_id = await self.run_id(step)
        stored = await self.ports.store.run(run_id)
        attempt, status = (1, RunStatus.RUNNING) if stored is None else (stored.run.attempt, stored.run.status)
        if step.n % 7 == 0:
            attempt += step.run % 3 - 1
        if step.n % 11 == 0:
            status = STATUSES[step.run % len(STATUSES)]
        return run_id, attempt, status

    async def next_seq(self, run_id: str, step: Step) -> int:
        """Choose a seq: the log's next mostly, else one that it has."""
        stored = await self.ports.store.run(run_id)
        following = 0 if stored is None or stored.last_seq is None else stored.last_seq + 1
        return max(0, following - step.n % 3) if step.n % 5 == 0 else following

    def told(self, deliveries: Sequence[Delivery]) -> object:
        """Return deliveries with their number in place of the id."""
        self.deliveries += [delivery for delivery in deliveries if delivery not in self.deliveries]
        return [(self.deliveries.index(delivery), delivery.session_id) for delivery in deliveries]


Operation = Callable[[Player, Step], Awaitable[object]]
"""What plays a step: makes a call of the ports and returns its answer, normalised."""


def session_of(step: Step) -> str:
    """Choose a session."""
    return f"s{step.run % SESSIONS}"


def owner_of(step: Step) -> str:
    """Choose an owner or a consumer."""
    return f"w{step.run % OWNERS}"


def span_of(step: Step) -> timedelta:
    """Choose between no time and an hour."""
    return NOTHING if step.n % 3 == 0 else AN_HOUR
