"""The monitor: how the code inside a run says what it is about to do, without being told which run it is in.

    report(EventKind.THINKING, "I look at the order", {"text": "The user writes of a lamp, so …"})

The run is carried by a context variable (`worker/course.py`), which tasks inherit, and threads that are started with
`asyncio.to_thread` or a copied context. A report is an event of the run like any other, but it does not move the run to
streaming: that says that the reply has begun, and asks the store, which a report must never wait for.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from shared.events import EventKind, Json, encode_data
from shared.logs import logger, note
from shared.text import clean
from worker.bounded import bounded
from worker.course import current

log = logger("worker")

MOST_MESSAGE: Final = 200  # characters: a line for a person

MEMBERS: Final[Mapping[EventKind, Mapping[str, type]]] = {
    EventKind.THINKING: {"text": str},
    EventKind.TOOL_STARTED: {"key": str, "name": str, "arguments": dict},
    EventKind.TOOL_ENDED: {"key": str, "name": str, "result": object, "ok": bool},
}
"""What can be reported, and what the data of it has at the least. All other kinds are for the run itself to write."""


def report(kind: EventKind, message: str, data: Mapping[str, Json]) -> None:
    """Report what the run does, at once and from anywhere inside it. Never raises and never waits.

    `message` is a line for a person, cut at 200 characters; `data` has what `MEMBERS` asks for and is copied, cleaned
    and cut (`max_report`). What cannot be reported (no run, a run that has ended, no JSON) is a line in the log. What
    was reported before a piece of the reply was given stands before it.
    """
    try:
        course = current()
        if course is None:
            return _dropped(kind, "nobody listens: this is not inside a run")
        course.lane.put(kind, encode_data(_checked(kind, message, data, course.settings.max_report)))
    except Exception as fault:
        _dropped(kind, f"{type(fault).__name__}: {fault}"[:MOST_MESSAGE])


def line(message: str) -> str:
    """Return a message as the one line that every event of these kinds begins with."""
    text = clean(" ".join(message[: 10 * MOST_MESSAGE].split()))
    return text if len(text) <= MOST_MESSAGE else f"{text[: MOST_MESSAGE - 1]}…"


def _checked(kind: EventKind, message: str, data: Mapping[str, Json], most: int) -> dict[str, Json]:
    members = MEMBERS.get(kind)
    if members is None:
        raise TypeError("such events are not for reporting")
    for name, wanted in members.items():
        if not isinstance(data[name], wanted):
            raise TypeError(f"{name} is not {wanted.__name__}")
    return {"message": line(message), **bounded({k: v for k, v in data.items() if k != "message"}, most)}


def _dropped(kind: object, why: str) -> None:
    with suppress(Exception):  # a log that fails, too, is not the run's trouble
        note(log, "report_dropped", logging.WARNING, kind=f"{kind}", why=clean(why))
