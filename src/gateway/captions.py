"""Captions: for each kind of frame on a session's line, the line for a person that stands in its `message`."""

from typing import Final

from shared.envelope import LONGEST_MESSAGE
from shared.events import EventKind, Json

OPENED: Final = "The line is open."
STARTED: Final = "A run begins."
DELTA: Final = "The reply goes on."
SNAPSHOT: Final = "The reply so far."
GAP: Final = "What was shown of this run is void."
PING: Final = "Are you there?"
PONG: Final = "Here."
COUNTED: Final = "Your answer counts."

_RERUN: Final = {
    "merge": "The reply begins anew: another message has joined.",
    "retry": "The reply begins anew: the model had failed.",
    "takeover": "The reply begins anew: its worker was lost.",
}


def caption(kind: EventKind, data: dict[str, Json]) -> str:
    """Return the line of an event of the log: its own, where it brings one."""
    own = data.get("message")
    return one_line(own) if isinstance(own, str) else one_line(_ours(kind, data))


def one_line(text: str) -> str:
    """Return a text as one line that is not too long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 1] + "…"


def _ours(kind: EventKind, data: dict[str, Json]) -> str:
    match kind:
        case EventKind.TOOL:
            return f"The model wants {data.get('name')} called."
        case EventKind.RERUN:
            return _RERUN.get(str(data.get("reason")), "The reply begins anew.")
        case EventKind.DONE:
            return "The run is done."
        case EventKind.FAILED:
            return f"The run has failed: {data.get('error')}"
        case EventKind.CANCELLED:
            return "The run was cancelled."
        case _:
            return str(kind)
