"""What a front end has to do about something that arrived, as values: in order, and nothing besides.

Whoever carries out every effect has, at any moment, each run's text and tools as the projection has them.
"""

from dataclasses import dataclass
from typing import TypeAlias

from client.arrivals import Tool
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
    """Whatever the run shows, tools and an end included, is void: it shows this text.

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
class ShowEnd:
    """The run is over. What it shows stays; for one that failed, `message` is the error."""

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
    | ShowEnd
    | ShowInterrupted
    | ShowReconnected
    | Refetch
)
