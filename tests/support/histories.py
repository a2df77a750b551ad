"""Histories of sessions as they travel, and what a reader ends up with: a fold over them that knows no projection."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st

from client.arrivals import RunEvent
from client.projection import SessionView
from client.reading import from_page, from_stream
from client.sse import ServerEvent
from shared.events import Json


@dataclass(frozen=True, slots=True)
class Logged:
    """An event of a run's log."""

    run_id: str
    seq: int
    kind: str
    data: dict[str, Json]

    def streamed(self) -> RunEvent:
        """Return it as it arrives on the run's stream."""
        event = from_stream(self.run_id, ServerEvent(self.kind, encode(self.data), str(self.seq), True))
        assert isinstance(event, RunEvent)
        return event

    def paged(self) -> RunEvent:
        """Return it as it arrives on a page of the session's events."""
        entry: Json = {"run_id": self.run_id, "seq": self.seq, "kind": self.kind, "data": self.data}
        (event,) = from_page(encode({"events": [entry], "cursor": "0-0", "more": False}).encode()).events
        return event


def encode(document: Json) -> str:
    """Return a document as JSON."""
    return msgspec.json.encode(document).decode()


Shown = tuple[str, str, str, tuple[tuple[str, str, str, str | None], ...]]
"""A run as a reader has it: id, phase, text, and (key, name, arguments, result) of its tools."""

PHASES = {"done": "completed", "failed": "failed", "cancelled": "cancelled"}


def folded(run_id: str, log: Sequence[Logged]) -> Shown:
    """Return what a reader has after a run's log, or the beginning of one: sorted, complete, each event once."""
    assert [event.seq for event in log] == list(range(len(log)))
    phase, text = "streaming" if log else "idle", ""
    tools: dict[str, tuple[str, str, str, str | None]] = {}
    for event in log:
        match event.kind:
            case "delta":
                text += str(event.data["text"])
            case "rerun":
                text = ""
                tools = {}
            case "tool":
                key, result = str(event.data["key"]), event.data.get("result", ...)
                shown = None if result is ... else encode(result)
                tools[key] = (key, str(event.data["name"]), encode(event.data["arguments"]), shown)
        phase = PHASES.get(event.kind, phase)
    return run_id, phase, text, tuple(tools.values())


def shown(session: SessionView) -> list[Shown]:
    """Return what a reader has by the projection, in the order of the runs."""
    return [
        (
            run.run_id,
            run.phase.value,
            str(run.text),
            tuple((tool.key, tool.name, tool.arguments, tool.result) for tool in run.tools.values()),
        )
        for run in session.runs.values()
    ]


# --- Strategies -------------------------------------------------------------------------------------------------------

_TEXTS = st.sampled_from(["", "a", " b", "取", "🙂", "\n", "long " * 9])
_JSON: st.SearchStrategy[Json] = st.sampled_from([None, True, 0, "x", [1], {"k": None}])
_DELTA = st.builds(lambda text: ("delta", {"text": text}), _TEXTS)
_RERUN = st.builds(lambda why: ("rerun", {"reason": why, "attempt": 2}), st.sampled_from(["merge", "retry"]))
_TOOL = st.builds(
    lambda key, arguments, result: ("tool", {"key": key, "name": "look", "arguments": arguments, **result}),
    st.sampled_from("kl"),
    _JSON,
    st.one_of(st.just({}), st.builds(lambda value: {"result": value}, _JSON)),
)
_LATER = st.just(("thought", {"of": "a later version"}))
_END = st.sampled_from(
    [("done", {"usage": {}}), ("failed", {"error": "no answer"}), ("cancelled", {"reason": "by the user"})]
)


@st.composite
def logs(draw: st.DrawFn, run_id: str, *, most: int = 12, ended: bool | None = None) -> list[Logged]:
    """Draw a run's log, ended or not."""
    entries = draw(st.lists(st.one_of(_DELTA, _DELTA, _RERUN, _TOOL, _LATER), max_size=most))
    if draw(st.booleans()) if ended is None else ended:
        entries.append(draw(_END))
    return [Logged(run_id, seq, kind, dict(data)) for seq, (kind, data) in enumerate(entries)]


@st.composite
def sessions(draw: st.DrawFn) -> dict[str, list[Logged]]:
    """Draw the logs of a session's runs, by id and in their order; all but the last have ended."""
    count = draw(st.integers(1, 3))
    return {f"run-{n}": draw(logs(f"run-{n}", ended=True if n < count else None)) for n in range(1, count + 1)}


@st.composite
def deliveries(draw: st.DrawFn, events: Sequence[Logged]) -> list[Logged]:
    """Draw an order in which all events come, some of them more than once."""
    again = draw(st.lists(st.sampled_from(events), max_size=len(events))) if events else []
    return draw(st.permutations([*events, *again]))
