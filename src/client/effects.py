"""What a front end has to do about something that arrived, as values: in order, and nothing besides.

Whoever carries out every effect has, at any moment, of each run what the projection has: text, tools, thought, sub-runs
and open questions.
"""

from dataclasses import dataclass
from typing import TypeAlias

from client.arrivals import Answer, Fork, Question, Thought, Tool
from shared.run import RunStatus


@dataclass(frozen=True, slots=True)
class StartSpinner:
    """The run has nothing to show (any more), and is not over."""

    run_id: str


@dataclass(frozen=True, slots=True)
class StopSpinner:
    """The run has something to show, or is over."""

    run_id: str


@dataclass(frozen=True, slots=True)
class AppendText:
    """This text goes behind what the run shows."""

    run_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Whatever the run shows, its tools, questions and end included, is void: it shows this text.

    `why` is a rerun's reason, or else the kind of what arrived.
    """

    run_id: str
    text: str
    why: str  # "merge", "retry", "takeover", "snapshot", "gap"


@dataclass(frozen=True, slots=True)
class ShowTool:
    """The run has this tool, in the place of the one with its key."""

    run_id: str
    tool: Tool


@dataclass(frozen=True, slots=True)
class ShowThought:
    """The run is about to do this, in the place of what it was about to do."""

    run_id: str
    thought: Thought


@dataclass(frozen=True, slots=True)
class ShowFork:
    """The run has this sub-run, in the place of the one with its number."""

    run_id: str
    fork: Fork


@dataclass(frozen=True, slots=True)
class ShowQuestion:
    """The run asks this, and waits."""

    run_id: str
    question: Question


@dataclass(frozen=True, slots=True)
class ShowAnswer:
    """The run does not ask this any more: it goes on with the answer."""

    run_id: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class ShowEnd:
    """The run is over, and asks nothing any more. What it shows stays; for one that failed, `message` is the error."""

    run_id: str
    status: RunStatus
    message: str


@dataclass(frozen=True, slots=True)
class ShowInterrupted:
    """The run cannot be watched at the moment. What it shows stays."""

    run_id: str


@dataclass(frozen=True, slots=True)
class ShowReconnected:
    """The run is being watched again."""

    run_id: str


@dataclass(frozen=True, slots=True)
class Refetch:
    """Ask for the run's events after this cursor (None: all): too much is held behind a hole, the rest is dropped."""

    run_id: str
    cursor: int | None


Effect: TypeAlias = (
    StartSpinner
    | StopSpinner
    | AppendText
    | ReplaceText
    | ShowTool
    | ShowThought
    | ShowFork
    | ShowQuestion
    | ShowAnswer
    | ShowEnd
    | ShowInterrupted
    | ShowReconnected
    | Refetch
)
