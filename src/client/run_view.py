"""One run as it is to be seen, and what each arrival makes of it. `projection.py` does the same for a session.

Events are taken by seq when their turn comes. What is behind a hole is held until the hole is filled, what has been
taken already changes nothing, and nothing comes after the end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar

from client.arrivals import (
    NO_WORK,
    Answer,
    Append,
    Change,
    Disconnected,
    Ended,
    Fork,
    Gap,
    Question,
    ReadRun,
    Reconnected,
    Rerun,
    RunArrival,
    RunEvent,
    RunOpened,
    Snapshot,
    Thought,
    Tool,
    ToolEnded,
    Work,
)
from client.effects import (
    AppendText,
    Effect,
    Refetch,
    ReplaceText,
    ShowAnswer,
    ShowEnd,
    ShowFork,
    ShowInterrupted,
    ShowQuestion,
    ShowReconnected,
    ShowThought,
    ShowTool,
)
from client.fragments import Fragments
from shared.run import RunStatus
from shared.settings import Settings

HELD_LIMIT: Final = Settings().reorder_limit
"""Events of one run that are held behind a hole before it is to be filled by asking again, as the gateway does it."""

K = TypeVar("K")
V = TypeVar("V")

Effects = tuple[Effect, ...]
NO_TEXT: Final = Fragments()


class Phase(StrEnum):
    """How a run, or a session by its current run, looks to whoever watches."""

    IDLE = "idle"  # nothing has come
    STREAMING = "streaming"
    INTERRUPTED = "interrupted"  # it waits for its user, or it cannot be watched and goes on, for all one knows
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


_PHASE_OF: Final = {
    RunStatus.DONE: Phase.COMPLETED,
    RunStatus.FAILED: Phase.FAILED,
    RunStatus.CANCELLED: Phase.CANCELLED,
}


def frozen(mapping: dict[K, V]) -> Mapping[K, V]:
    """Return a view that cannot change, of a mapping that nobody else has."""
    return MappingProxyType(mapping)


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as it is to be seen.

    `tools` are by key, `forks` by number, `questions` (the open ones) by id, all in the order in which they first came.
    """

    run_id: str
    text: Fragments = NO_TEXT
    tools: Mapping[str, Tool] = field(default_factory=lambda: frozen({}))
    thought: Thought | None = None
    forks: Mapping[int, Fork] = field(default_factory=lambda: frozen({}))
    questions: Mapping[str, Question] = field(default_factory=lambda: frozen({}))
    end: Ended | None = None
    connected: bool = True
    next_seq: int = 0
    held: Mapping[int, RunEvent] = field(default_factory=lambda: frozen({}))

    @property
    def phase(self) -> Phase:
        """How it looks."""
        if self.end is not None:
            return _PHASE_OF[self.end.status]
        if self.questions or not self.connected:
            return Phase.INTERRUPTED
        return Phase.STREAMING if self.next_seq else Phase.IDLE

    @property
    def waiting(self) -> bool:
        """Whether there is nothing to show yet."""
        shows = self.text or self.tools or self.thought or self.forks or self.questions
        return self.end is None and not shows

    @property
    def cursor(self) -> int | None:
        """The last seq up to which nothing is missing, to ask with for what comes after; None: nothing is there."""
        return self.next_seq - 1 if self.next_seq else None


def reduce_run(run: RunView, arrival: RunArrival) -> tuple[RunView, Effects]:
    """Return the run after an arrival that concerns it, and what is to be done; the same run when nothing is."""
    match arrival:
        case RunEvent():
            return _take(run, arrival)
        case RunOpened():
            return run, ()
        case Gap(_, requested):
            return _forget(run, requested)
        case Disconnected() if run.connected and run.end is None:
            return replace(run, connected=False), (ShowInterrupted(run.run_id),)
        case Reconnected() if not run.connected and run.end is None:
            return replace(run, connected=True), (ShowReconnected(run.run_id),)
        case _:
            return run, ()


def _forget(run: RunView, requested: int) -> tuple[RunView, Effects]:
    """Void what was taken under a cursor that the run's history does not know: it is another history's.

    Whoever does not hold that cursor (any more) has nothing to forget; so a gap that comes twice voids nothing new.
    For a run that had ended, nobody lacks a connection: a lost one before that is forgotten, too.
    """
    if requested > max((run.next_seq - 1, *run.held)):
        return run, ()
    connected = run.connected or run.end is not None
    return RunView(run.run_id, connected=connected), (ReplaceText(run.run_id, "", "gap"),)


def read_run(run: RunView, read: ReadRun) -> tuple[RunView, Effects]:
    """Take a run as a snapshot of the session has it, unless more than that is known of it."""
    if run.end is None and read.ended is not None:
        whole, shown = _apply(run, RunEvent(run.run_id, run.next_seq, Snapshot(read.text)))
        over, end = _apply(whole, RunEvent(run.run_id, whole.next_seq, Ended(read.ended, "")))
        return replace(over, held=frozen({})), (*shown, *end)
    if read.seq is not None:
        return _take(run, RunEvent(run.run_id, read.seq, Snapshot(read.text, read.work)))
    return run, ()


def _take(run: RunView, event: RunEvent) -> tuple[RunView, Effects]:
    if run.end is not None or event.seq < run.next_seq:
        return run, ()
    if event.seq == run.next_seq or isinstance(event.change, Snapshot):
        return _apply_all(run, event)
    if event.seq in run.held or len(run.held) == HELD_LIMIT:
        return run, ()
    held = frozen({**run.held, event.seq: event})
    return replace(run, held=held), (Refetch(run.run_id, run.cursor),) if len(held) == HELD_LIMIT else ()


def _apply_all(run: RunView, event: RunEvent) -> tuple[RunView, Effects]:
    """Apply an event whose turn it is, and what was held back for it."""
    held = dict(run.held)
    effects: list[Effect] = []
    due: RunEvent | None = event
    while due is not None:
        run, more = _apply(run, due)
        effects += more
        due = held.pop(run.next_seq, None)
    left = {} if run.end is not None else {seq: later for seq, later in held.items() if seq > run.next_seq}
    return replace(run, held=frozen(left)), tuple(effects)


def _apply(run: RunView, event: RunEvent) -> tuple[RunView, Effects]:
    run_id, next_seq = run.run_id, event.seq + 1
    match event.change:
        case Append(text):
            appended: Effects = (AppendText(run_id, text),) if text else ()
            return replace(run, text=run.text.plus(text), next_seq=next_seq), appended
        case Snapshot(text, work):
            shown = (ReplaceText(run_id, text, "snapshot"), *_shown(run_id, work))
            return _replaced(run, text, next_seq, work), shown
        case Rerun(reason):
            return _replaced(run, "", next_seq), (ReplaceText(run_id, "", reason),)
        case Ended(status, message) as end:
            over = replace(run, questions=frozen({}), end=end, next_seq=next_seq)
            return over, (ShowEnd(run_id, status, message),)
        case change:
            after, effects = _work(run, change)
            return replace(after, next_seq=next_seq), effects


def _work(run: RunView, change: Change) -> tuple[RunView, Effects]:
    """Return the run after what it does besides replying."""
    run_id = run.run_id
    match change:
        case Tool(key) as tool:
            return replace(run, tools=frozen({**run.tools, key: tool})), (ShowTool(run_id, tool),)
        case ToolEnded(key) as end:
            tool = _answered(run.tools.get(key), end)
            return replace(run, tools=frozen({**run.tools, key: tool})), (ShowTool(run_id, tool),)
        case Thought() as thought:
            return replace(run, thought=thought), (ShowThought(run_id, thought),)
        case Fork(_, number) as fork:
            return replace(run, forks=frozen({**run.forks, number: fork})), (ShowFork(run_id, fork),)
        case Question(question_id) as question if question_id not in run.questions:
            questions = frozen({**run.questions, question_id: question})
            return replace(run, questions=questions), (ShowQuestion(run_id, question),)
        case Answer(question_id) as answer if question_id in run.questions:
            questions = frozen({each: other for each, other in run.questions.items() if each != question_id})
            return replace(run, questions=questions), (ShowAnswer(run_id, answer),)
        case _:
            return run, ()


def _answered(tool: Tool | None, end: ToolEnded) -> Tool:
    """Return a tool with its result; one whose start did not come has no arguments that are known."""
    arguments = "null" if tool is None else tool.arguments
    return Tool(end.key, end.name, arguments, end.result, end.message, end.ok)


def _shown(run_id: str, work: Work) -> Effects:
    return (
        *(ShowThought(run_id, thought) for thought in (work.thought,) if thought is not None),
        *(ShowTool(run_id, tool) for tool in work.tools),
        *(ShowFork(run_id, fork) for fork in work.forks),
        *(ShowQuestion(run_id, question) for question in work.questions),
    )


def _replaced(run: RunView, text: str, next_seq: int, work: Work = NO_WORK) -> RunView:
    """Return the run with this to show, and nothing left of what it showed but its place."""
    return RunView(
        run.run_id,
        NO_TEXT.plus(text),
        tools=frozen({tool.key: tool for tool in work.tools}),
        thought=work.thought,
        forks=frozen({fork.number: fork for fork in work.forks}),
        questions=frozen({question.question_id: question for question in work.questions}),
        connected=run.connected,
        next_seq=next_seq,
        held=run.held,
    )
