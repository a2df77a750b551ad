"""Histories of sessions as they travel, and what a reader ends up with: a fold over them that knows no projection."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st

from client.arrivals import RunEvent
from client.line_frames import event_of, frame_of
from client.projection import SessionView
from client.reading import from_page, from_stream
from client.sse import ServerEvent
from gateway.standing import standing_of
from shared.events import Event, EventKind, Json, encode_data


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

    def framed(self) -> RunEvent:
        """Return it as it arrives on the session's line."""
        place: dict[str, Json] = {"cursor": f"0-{self.seq}", "run_id": self.run_id, "seq": self.seq}
        frame: Json = {"v": 1, "type": "event", **place, "kind": self.kind, "message": "…", "data": self.data, "at": ""}
        event = event_of(frame_of(encode(frame)))
        assert event is not None
        assert isinstance(event.arrival, RunEvent)
        return event.arrival

    def arriving(self, way: str) -> RunEvent:
        """Return it as it arrives in one of `WAYS`."""
        return {"stream": self.streamed, "page": self.paged, "line": self.framed}[way]()


WAYS = ("stream", "page", "line")


def stored(log: Sequence[Logged]) -> list[Event]:
    """Return a log as a gateway has it; what is of a later version says nothing to this one."""
    known = set(EventKind)
    return [
        Event(event.run_id, event.seq, EventKind(event.kind), encode_data(event.data))
        if event.kind in known
        else Event(event.run_id, event.seq, EventKind.DELTA, encode_data({"text": ""}))
        for event in log
    ]


def snapshot_of(log: Sequence[Logged]) -> Logged:
    """Return the snapshot that a gateway sends in place of a log's beginning, which is not empty."""
    return Logged(log[-1].run_id, log[-1].seq, "snapshot", standing_of(stored(log)).data())


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
            case "tool" | "tool_started":
                key, result = str(event.data["key"]), event.data.get("result", ...)
                shown = None if result is ... else encode(result)
                tools[key] = (key, str(event.data["name"]), encode(event.data["arguments"]), shown)
            case "tool_ended":
                key, arguments = str(event.data["key"]), "null"
                if key in tools:
                    arguments = tools[key][2]
                tools[key] = (key, str(event.data["name"]), arguments, encode(event.data["result"]))
        phase = PHASES.get(event.kind, phase)
    if phase == "streaming" and worked(log)[2]:
        phase = "interrupted"
    return run_id, phase, text, tuple(tools.values())


Worked = tuple[str, tuple[tuple[int, str], ...], tuple[str, ...]]
"""What a reader has of a run besides: its thought, (number, sub-run) of its forks, the ids of its open questions."""


def worked(log: Sequence[Logged]) -> Worked:
    """Return what a reader has besides after a run's log, or the beginning of one."""
    since = max((n for n, event in enumerate(log) if event.kind == "rerun"), default=-1) + 1
    thought, forks, opened, ended = "", dict[int, str](), dict[str, None](), False
    for event in log[since:]:
        match event.kind:
            case "thinking":
                thought = str(event.data["text"])
            case "forked":
                number = event.data["number"]
                assert isinstance(number, int)
                forks[number] = str(event.data["run_id"])
            case "question":
                opened[str(event.data["question_id"])] = None
            case "answer":
                opened.pop(str(event.data["question_id"]), None)
        ended = event.kind in PHASES
    return thought, tuple(forks.items()), () if ended else tuple(opened)


def works(session: SessionView) -> list[Worked]:
    """Return what a reader has besides by the projection, in the order of the runs."""
    return [
        (
            run.thought.text if run.thought is not None else "",
            tuple((fork.number, fork.sub_run_id) for fork in run.forks.values()),
            tuple(run.questions),
        )
        for run in session.runs.values()
    ]


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

_UNTIL: dict[str, Json] = {"default": "no", "expires_at": "2026-01-01T00:02:00+00:00"}
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
_STARTED = st.builds(
    lambda key, arguments: ("tool_started", {"message": "looks", "key": key, "name": "look", "arguments": arguments}),
    st.sampled_from("kl"),
    _JSON,
)
_FINISHED = st.builds(
    lambda key, result, ok: ("tool_ended", {"message": "seen", "key": key, "name": "look", "result": result, "ok": ok}),
    st.sampled_from("kl"),
    _JSON,
    st.booleans(),
)
_THOUGHT = st.builds(lambda text: ("thinking", {"message": "thinks", "text": text}), st.sampled_from(["so", "or so"]))
_FORK = st.builds(
    lambda number, run_id: ("forked", {"message": "forks", "run_id": run_id, "number": number, "title": "part"}),
    st.integers(0, 1),
    st.sampled_from(["sub-1", "sub-2"]),
)
_QUESTION = st.builds(
    lambda question_id: ("question", {"message": "Yes?", "question_id": question_id, "question": "Yes?", **_UNTIL}),
    st.sampled_from("pq"),
)
_ANSWER = st.builds(
    lambda question_id, answered: (
        "answer",
        {"message": "yes", "question_id": question_id, "text": "yes", "answered": answered},
    ),
    st.sampled_from("pq"),
    st.booleans(),
)
_LATER = st.just(("thought", {"of": "a later version"}))
_END = st.sampled_from(
    [("done", {"usage": {}}), ("failed", {"error": "no answer"}), ("cancelled", {"reason": "by the user"})]
)


@st.composite
def logs(draw: st.DrawFn, run_id: str, *, most: int = 12, ended: bool | None = None) -> list[Logged]:
    """Draw a run's log, ended or not."""
    reply = st.one_of(_DELTA, _DELTA, _RERUN, _TOOL, _LATER)
    work = st.one_of(_STARTED, _FINISHED, _THOUGHT, _FORK, _QUESTION, _QUESTION, _ANSWER)
    entries = draw(st.lists(st.one_of(reply, work), max_size=most))
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
