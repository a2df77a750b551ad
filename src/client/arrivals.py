"""What arrives at a front end, as values: events of runs, answers of the gateway, and news of a connection."""

from dataclasses import dataclass
from typing import Final, TypeAlias

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
class Tool:
    """A tool as it stands: it replaces the one with its key. `arguments` and `result` are JSON texts.

    `message` is a line about it, or about its result, where the run says one. `ok` is False once it has failed.
    """

    key: str
    name: str
    arguments: str
    result: str | None  # None: it has not answered yet
    message: str = ""
    ok: bool = True


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """The tool with this key has answered. `result` is a JSON text, `message` is it in a line."""

    key: str
    name: str
    result: str
    message: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Thought:
    """What the run is about to do: it replaces what it was about to do before."""

    message: str  # a line
    text: str


@dataclass(frozen=True, slots=True)
class Fork:
    """A sub-run was split off: it replaces the one with its number. Its events are those of a run of its own."""

    sub_run_id: str
    number: int
    title: str


@dataclass(frozen=True, slots=True)
class Question:
    """The run waits for its user. The same id again is the same question."""

    question_id: str
    text: str
    default: str  # what the run goes on with if nobody answers
    expires_at: str  # ISO 8601 with offset


@dataclass(frozen=True, slots=True)
class Work:
    """What a run does besides replying, as it stands: each tool, sub-run and open question once, in their order."""

    tools: tuple[Tool, ...] = ()
    thought: Thought | None = None
    forks: tuple[Fork, ...] = ()
    questions: tuple[Question, ...] = ()


NO_WORK: Final = Work()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All so far, this event included, comes to this text and this work."""

    text: str
    work: Work = NO_WORK


@dataclass(frozen=True, slots=True)
class Answer:
    """What the run goes on with. `answered` is False when nobody did: `text` is the default then."""

    question_id: str
    text: str
    answered: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over. `message` says why, where there is something to say."""

    status: RunStatus
    message: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing that this client knows. It has its seq all the same, so what follows it is not held back for it."""


Change: TypeAlias = Append | Rerun | Snapshot | Tool | ToolEnded | Thought | Fork | Question | Answer | Ended | Unknown


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
    """The session has this run, as the answer to a message or its line says; a new one is the last one so far."""

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
    """A run as a session's snapshot has it: as far as `seq`, or, when it has `ended`, its whole text."""

    run_id: str
    text: str
    seq: int | None  # None: nothing is written yet, or there is nothing that could follow
    ended: RunStatus | None
    work: Work = NO_WORK


@dataclass(frozen=True, slots=True)
class SessionRead:
    """All runs that the session had when it was read, in the order in which they were opened."""

    runs: tuple[ReadRun, ...]


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The session's line is open, and stands at `cursor`. It shows nothing by itself."""

    cursor: str


RunArrival: TypeAlias = RunEvent | Gap | RunOpened | Disconnected | Reconnected
Arrival: TypeAlias = RunArrival | SessionRead | SessionOpened


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a session's events; ask with `cursor` for what comes after."""

    events: tuple[RunEvent, ...]
    cursor: str
    more: bool
