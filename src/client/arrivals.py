"""What arrives at a front end, as values: events of runs, answers of the gateway, and news of a connection."""

from dataclasses import dataclass
from typing import TypeAlias

from shared.run import RunStatus

# --- What an event changes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Append:
    """A fragment: this text goes behind what there is."""

    text: str


@dataclass(frozen=True, slots=True)
class Rerun:
    """All so far is void."""

    reason: str  # "merge", "retry", "takeover", or what a later gateway calls it


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All so far, this event included, comes to this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it stands: it replaces the one with its key. `arguments` and `result` are JSON texts."""

    key: str
    name: str
    arguments: str
    result: str | None  # None: it has not answered yet


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over. `message` says why, where there is something to say."""

    status: RunStatus
    message: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing that this client knows. It has its seq all the same, so what follows it is not held back for it."""


Change: TypeAlias = Append | Rerun | Snapshot | Tool | Ended | Unknown


# --- What arrives -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunEvent:
    """An event of a run's log, live or replayed. A snapshot has the seq of the last event that it stands for."""

    run_id: str
    seq: int
    change: Change


@dataclass(frozen=True, slots=True)
class Gap:
    """The cursor `requested` is not in the run's history as the gateway has it."""

    run_id: str
    requested: int


@dataclass(frozen=True, slots=True)
class RunOpened:
    """The session has this run, as the answer to a message says; when it is new, it is the last one so far."""

    run_id: str


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection that watched the run broke. The run goes on, for all one knows."""

    run_id: str


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The run is being watched again."""

    run_id: str


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run as a session's snapshot has it: `text` reaches up to `seq`, or is whole when the run has `ended`."""

    run_id: str
    text: str
    seq: int | None  # None: nothing is written yet, or there is nothing that could follow
    ended: RunStatus | None


@dataclass(frozen=True, slots=True)
class SessionRead:
    """All runs that the session had when it was read, in the order in which they were opened."""

    runs: tuple[ReadRun, ...]


RunArrival: TypeAlias = RunEvent | Gap | RunOpened | Disconnected | Reconnected
Arrival: TypeAlias = RunArrival | SessionRead


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a session's events; ask with `cursor` for what comes after."""

    events: tuple[RunEvent, ...]
    cursor: str
    more: bool
