"""Runs and messages for tests of the store."""

from shared.adapters.clock import SystemClock
from shared.events import Event, EventKind, encode_data
from shared.ports import Message
from shared.run import Run, RunStatus


def a_run(run_id: str, session_id: str = "s") -> Run:
    """Return a run to be opened now."""
    now = SystemClock().now()
    return Run(run_id, session_id, "u", RunStatus.PENDING, 0, now, now)


def a_message(message_id: str, session_id: str = "s") -> Message:
    """Return a message sent now."""
    return Message(message_id, session_id, "u", f"the text of {message_id}", SystemClock().now())


def a_delta(run_id: str, seq: int) -> Event:
    """Return a fragment."""
    return Event(run_id, seq, EventKind.DELTA, encode_data({"text": f"{seq} "}))


def a_done(run_id: str, seq: int) -> Event:
    """Return a terminal event."""
    return Event(run_id, seq, EventKind.DONE, encode_data({"usage": {}}))
