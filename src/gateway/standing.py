"""What stands of a run after some of its events: the reply, and beside it what is neither void nor over.

A snapshot says it in place of the events, to a client that will not see them. It is reduced from these very events and
from nothing else, not from where questions and sub-runs are kept: so it has all that stands at its seq, nothing that
an event behind it has yet to say, and nothing that no event will ever take back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.events import Event, EventKind, Json, decode_data, reply_text
from shared.shortening import shortened

MOST_TOOLS: Final = 100
"""Tools in one snapshot, the newest: events are sent in chunks and at a client's pace, a snapshot is one piece."""

Data = dict[str, Json]

_TOOL: Final = ("key", "name", "arguments", "message", "result", "ok")
_THOUGHT: Final = ("message", "text")
_FORK: Final = ("run_id", "number", "title")
_QUESTION: Final = ("question_id", "question", "default", "expires_at")


@dataclass(frozen=True, slots=True)
class Standing:
    """The text, and the work beside it: `tools`, `thinking`, `forks` and open `questions`, each only if there is any.

    Of rows that have become one text, the text is all that is left.
    """

    text: str
    work: Data = field(default_factory=dict)

    def data(self) -> Data:
        """Return it as the data of a snapshot."""
        return {"text": self.text, **self.work}


def standing_of(events: Sequence[Event]) -> Standing:
    """Reduce a run's events, in order from its first, to what stands of them. Long texts of tools are cut."""
    work = _Work()
    for event in events:
        if event.kind is EventKind.RERUN:
            work = _Work()
        elif event.kind is not EventKind.DELTA:
            work.take(event.kind, decode_data(event.data))
    return Standing(reply_text(list(events)), work.data())


class _Work:
    """What a run does besides replying, since it last began."""

    def __init__(self) -> None:
        self._tools: dict[str, Data] = {}
        self._thinking: Data = {}
        self._forks: dict[str, Data] = {}
        self._questions: dict[str, Data] = {}

    def take(self, kind: EventKind, data: Data) -> None:
        match kind:
            case EventKind.TOOL | EventKind.TOOL_STARTED:
                self._tools[str(data["key"])] = _picked(data, _TOOL)
            case EventKind.TOOL_ENDED:
                key = str(data["key"])
                self._tools[key] = {"arguments": None, **self._tools.get(key, {}), **_picked(data, _TOOL)}
            case EventKind.THINKING:
                self._thinking = _picked(data, _THOUGHT)
            case EventKind.FORKED:
                self._forks[str(data["number"])] = _picked(data, _FORK)
            case EventKind.QUESTION:
                self._questions.setdefault(str(data["question_id"]), _picked(data, _QUESTION))
            case EventKind.ANSWER:
                self._questions.pop(str(data["question_id"]), None)
            case EventKind.DONE | EventKind.FAILED | EventKind.CANCELLED:
                self._questions = {}
            case _:
                pass

    def data(self) -> Data:
        work: Data = {
            "tools": [shortened(tool) for tool in list(self._tools.values())[-MOST_TOOLS:]],
            "thinking": self._thinking,
            "forks": [*self._forks.values()],
            "questions": [*self._questions.values()],
        }
        return {name: each for name, each in work.items() if each}


def _picked(data: Data, names: Sequence[str]) -> Data:
    return {name: data[name] for name in names if name in data}
