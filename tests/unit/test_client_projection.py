"""The projection: whatever arrives, in whatever order, a reader sees what the canonical history says."""

from collections.abc import Sequence
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client.arrivals import (
    Answer,
    Append,
    Arrival,
    Change,
    Disconnected,
    Ended,
    Fork,
    Gap,
    Question,
    ReadRun,
    Reconnected,
    Rerun,
    RunEvent,
    RunOpened,
    SessionOpened,
    SessionRead,
    Snapshot,
    Thought,
    Tool,
    ToolEnded,
    Unknown,
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
    StartSpinner,
    StopSpinner,
)
from client.fragments import Fragments
from client.projection import SessionView, reduce
from client.run_view import HELD_LIMIT, RunView
from shared.run import RunStatus
from tests.support.calm import calm
from tests.support.histories import (
    WAYS,
    Logged,
    Shown,
    deliveries,
    folded,
    logs,
    sessions,
    shown,
    snapshot_of,
    worked,
    works,
)


def said(seq: int, text: str, run_id: str = "r") -> RunEvent:
    """Return a fragment."""
    return RunEvent(run_id, seq, Append(text))


def over(seq: int, status: RunStatus = RunStatus.DONE, message: str = "", run_id: str = "r") -> RunEvent:
    """Return a run's last event."""
    return RunEvent(run_id, seq, Ended(status, message))


def after(arrivals: Sequence[Arrival], session: SessionView | None = None) -> tuple[SessionView, list[Effect]]:
    """Return the session after these, and all that was to be done on the way."""
    session = session or SessionView()
    effects: list[Effect] = []
    for arrival in arrivals:
        session, more = reduce(session, arrival)
        effects += more
    return session, effects


def run_after(arrivals: Sequence[Arrival]) -> RunView:
    """Return the run "r" after these."""
    return after(arrivals)[0].runs["r"]


# --- One run, as it should come ---------------------------------------------------------------------------------------


def test_a_run_that_comes_in_order() -> None:
    """A spinner until there is something to show, each fragment behind the last, and the end."""
    session, effects = after([RunOpened("r"), said(0, ""), said(1, "It "), said(2, "works"), over(3)])
    assert effects == [
        StartSpinner("r"),
        StopSpinner("r"),
        AppendText("r", "It "),
        AppendText("r", "works"),
        ShowEnd("r", RunStatus.DONE, ""),
    ]
    assert shown(session) == [("r", "completed", "It works", ())]


def test_a_rerun_voids_text_and_tools() -> None:
    """What was shown before a rerun is void, the reason is told, and until something comes there is a spinner again."""
    tool = Tool("k", "look", "{}", None)
    session, effects = after(
        [said(0, "refund"), RunEvent("r", 1, tool), RunEvent("r", 2, Rerun("merge")), said(3, "exchange")]
    )
    assert effects == [
        AppendText("r", "refund"),
        ShowTool("r", tool),
        ReplaceText("r", "", "merge"),
        StartSpinner("r"),
        StopSpinner("r"),
        AppendText("r", "exchange"),
    ]
    assert shown(session) == [("r", "streaming", "exchange", ())]


def test_a_tool_replaces_the_one_with_its_key() -> None:
    """A tool that answers takes the place of its own call; a tool alone is something to show."""
    called, other = Tool("k", "look", '{"at":1}', None), Tool("l", "look", "{}", None)
    answered = Tool("k", "look", '{"at":1}', "null")
    changes = (called, other, answered)
    session, effects = after([RunOpened("r"), *(RunEvent("r", seq, tool) for seq, tool in enumerate(changes))])
    assert effects == [StartSpinner("r"), StopSpinner("r"), *(ShowTool("r", tool) for tool in changes)]
    assert list(session.runs["r"].tools.values()) == [answered, other]


def test_a_run_that_fails_says_why_and_keeps_its_text() -> None:
    """The error is told with the end; what was shown stays."""
    session, effects = after([said(0, "half"), over(1, RunStatus.FAILED, "no answer")])
    assert effects[-1] == ShowEnd("r", RunStatus.FAILED, "no answer")
    assert shown(session) == [("r", "failed", "half", ())]


def test_a_run_that_ends_without_a_word_stops_its_spinner() -> None:
    """A pending run that is cancelled has one event, the end."""
    assert after([RunOpened("r"), over(0, RunStatus.CANCELLED, "by the user")])[1] == [
        StartSpinner("r"),
        StopSpinner("r"),
        ShowEnd("r", RunStatus.CANCELLED, "by the user"),
    ]


def test_a_kind_of_a_later_version_takes_its_turn() -> None:
    """What is not known shows nothing, and what comes behind it is not held back."""
    session, effects = after([said(0, "a"), RunEvent("r", 1, Unknown()), said(2, "b")])
    assert effects == [AppendText("r", "a"), AppendText("r", "b")]
    assert session.runs["r"].cursor == 2


# --- What a run does besides replying ---------------------------------------------------------------------------------

ASKED = Question("q", "Red or blue?", "red", "2026-01-01T00:02:00+00:00")
OTHER = Question("p", "And when?", "soon", "2026-01-01T00:02:00+00:00")


def asked(seq: int, question: Question = ASKED) -> RunEvent:
    """Return a question's event."""
    return RunEvent("r", seq, question)


def told(seq: int, question_id: str = "q", answered: bool = True) -> RunEvent:
    """Return an answer's event."""
    return RunEvent("r", seq, Answer(question_id, "blue", answered))


def test_a_tool_that_ends_keeps_its_arguments() -> None:
    """Its result takes its place beside what it was called with; one whose start never came has none."""
    started = Tool("k", "look", '{"at":1}', None, "looks")
    session, effects = after(
        [
            RunEvent("r", 0, started),
            RunEvent("r", 1, ToolEnded("k", "look", '"it"', "it", True)),
            RunEvent("r", 2, ToolEnded("l", "look", "null", "not there", False)),
        ]
    )
    ended = [Tool("k", "look", '{"at":1}', '"it"', "it", True), Tool("l", "look", "null", "null", "not there", False)]
    assert effects == [ShowTool("r", tool) for tool in (started, *ended)]
    assert list(session.runs["r"].tools.values()) == ended


def test_thoughts_and_sub_runs_are_something_to_show() -> None:
    """Of thoughts the last one stands, of the sub-runs each; a rerun voids both."""
    first, second = Thought("looks", "I look."), Thought("asks", "I ask.")
    forks = Fork("sub-1", 0, "the courier"), Fork("sub-2", 1, "the warehouse")
    changes: tuple[Change, ...] = (first, second, *forks)
    session, effects = after([RunOpened("r"), *(RunEvent("r", seq, change) for seq, change in enumerate(changes))])
    assert effects == [
        StartSpinner("r"),
        StopSpinner("r"),
        *(ShowThought("r", thought) for thought in (first, second)),
        *(ShowFork("r", fork) for fork in forks),
    ]
    assert works(session) == [("I ask.", ((0, "sub-1"), (1, "sub-2")), ())]
    session, effects = after([RunEvent("r", 4, Rerun("takeover"))], session)
    assert effects == [ReplaceText("r", "", "takeover"), StartSpinner("r")]
    assert works(session) == [("", (), ())]


def test_an_open_question_interrupts_a_run() -> None:
    """Until each is answered, or its time is out, the run waits; what was asked again in between is one question."""
    session, effects = after([said(0, "a"), asked(1), asked(2), asked(3, OTHER), told(4)])
    assert effects == [
        AppendText("r", "a"),
        ShowQuestion("r", ASKED),
        ShowQuestion("r", OTHER),
        ShowAnswer("r", Answer("q", "blue", True)),
    ]
    assert (session.phase.value, list(session.runs["r"].questions)) == ("interrupted", ["p"])
    session, effects = after([told(5, "p", answered=False), said(6, "b")], session)
    assert effects == [ShowAnswer("r", Answer("p", "blue", False)), AppendText("r", "b")]
    assert shown(session) == [("r", "streaming", "ab", ())]


def test_an_answer_to_what_is_not_asked_takes_its_turn() -> None:
    """Nothing is shown of it, and what comes behind it is not held back."""
    assert after([told(0), said(1, "a")])[1] == [StartSpinner("r"), StopSpinner("r"), AppendText("r", "a")]


def test_a_rerun_asks_again() -> None:
    """It voids an open question; what comes under its id after that is asked anew."""
    session, effects = after([asked(0), RunEvent("r", 1, Rerun("takeover"))])
    assert (session.phase.value, works(session)) == ("streaming", [("", (), ())])
    session, more = after([asked(2)], session)
    assert [*effects, *more] == [
        ShowQuestion("r", ASKED),
        ReplaceText("r", "", "takeover"),
        StartSpinner("r"),
        StopSpinner("r"),
        ShowQuestion("r", ASKED),
    ]
    assert session.phase.value == "interrupted"


@pytest.mark.parametrize(
    ("last", "phase"),
    [
        (over(1), "completed"),
        (over(1, RunStatus.CANCELLED), "cancelled"),
        (RunEvent("r", 1, Snapshot("all")), "streaming"),
        (Gap("r", 0), "idle"),
        (SessionRead((ReadRun("r", "all", 1, None),)), "streaming"),
        (SessionRead((ReadRun("r", "all", None, RunStatus.DONE),)), "completed"),
    ],
)
def test_what_ends_or_replaces_a_run_closes_its_questions(last: Arrival, phase: str) -> None:
    """Nobody is asked by a run that is over, nor by one whose snapshot says nothing of questions."""
    session, _ = after([asked(0), last])
    assert (session.phase.value, session.runs["r"].questions) == (phase, {})


WORK = Work(
    (Tool("k", "look", "{}", "1", "it"),), Thought("asks", "I ask."), (Fork("sub-1", 0, "part"),), (ASKED, OTHER)
)


@pytest.mark.parametrize(
    "snapshot", [RunEvent("r", 4, Snapshot("all", WORK)), SessionRead((ReadRun("r", "all", 4, None, WORK),))]
)
def test_a_snapshot_brings_what_is_asked(snapshot: Arrival) -> None:
    """Whoever comes in through one is asked, sees what else the run does, and is told of the answers behind it."""
    session, effects = after([snapshot, told(3), told(5)])
    assert effects == [
        ReplaceText("r", "all", "snapshot"),
        ShowThought("r", Thought("asks", "I ask.")),
        ShowTool("r", Tool("k", "look", "{}", "1", "it")),
        ShowFork("r", Fork("sub-1", 0, "part")),
        ShowQuestion("r", ASKED),
        ShowQuestion("r", OTHER),
        ShowAnswer("r", Answer("q", "blue", True)),
    ]
    assert (session.phase.value, works(session)) == ("interrupted", [("I ask.", ((0, "sub-1"),), ("p",))])
    assert reduce(session, snapshot) == (session, ())


def test_what_a_snapshot_asks_again_is_one_question() -> None:
    """Asked before, by it, and behind it: whoever upserts by id asks once, and one answer closes it."""
    session, effects = after([asked(0), RunEvent("r", 1, Snapshot("", Work(questions=(ASKED,)))), asked(2), told(3)])
    assert effects == [
        ShowQuestion("r", ASKED),
        ReplaceText("r", "", "snapshot"),
        ShowQuestion("r", ASKED),
        ShowAnswer("r", Answer("q", "blue", True)),
        StartSpinner("r"),
    ]
    assert works(session) == [("", (), ())]


def test_a_line_that_opens_shows_nothing() -> None:
    """It only says where the session stands."""
    session, _ = after([said(0, "a")])
    assert reduce(session, SessionOpened("0-0")) == (session, ())


# --- Phases -----------------------------------------------------------------------------------------------------------

IDLE: list[Arrival] = [RunOpened("r")]
STREAMING: list[Arrival] = [said(0, "a")]
INTERRUPTED: list[Arrival] = [said(0, "a"), Disconnected("r")]
ASKING: list[Arrival] = [asked(0)]
LOST_EARLY: list[Arrival] = [RunOpened("r"), Disconnected("r")]
COMPLETED: list[Arrival] = [said(0, "a"), over(1)]
FAILED: list[Arrival] = [said(0, "a"), over(1, RunStatus.FAILED)]
CANCELLED: list[Arrival] = [said(0, "a"), over(1, RunStatus.CANCELLED)]

ARRIVALS: list[Arrival] = [
    RunOpened("r"),
    Disconnected("r"),
    Reconnected("r"),
    said(0, "a"),
    said(1, "b"),
    over(1),
    over(1, RunStatus.FAILED),
    over(1, RunStatus.CANCELLED),
    RunEvent("r", 1, Rerun("retry")),
    RunEvent("r", 1, Snapshot("ab")),
    Gap("r", 0),
    Gap("r", 99),
]
OVER = ["completed"] * 10 + ["idle", "completed"]

TABLE = [
    (IDLE, ["idle", "interrupted", "idle", "streaming", *["idle"] * 5, "streaming", "idle", "idle"]),
    (
        STREAMING,
        [
            "streaming", "interrupted", "streaming", "streaming", "streaming", "completed", "failed", "cancelled",
            "streaming", "streaming", "idle", "streaming",
        ],
    ),
    (
        INTERRUPTED,
        [
            "interrupted", "interrupted", "streaming", "interrupted", "interrupted", "completed", "failed", "cancelled",
            *["interrupted"] * 4,
        ],
    ),
    (
        ASKING,
        [*["interrupted"] * 5, "completed", "failed", "cancelled", "streaming", "streaming", "idle", "interrupted"],
    ),
    (LOST_EARLY, ["interrupted", "interrupted", "idle", *["interrupted"] * 9]),
    (COMPLETED, OVER),
    (FAILED, [phase.replace("completed", "failed") for phase in OVER]),
    (CANCELLED, [phase.replace("completed", "cancelled") for phase in OVER]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "arrival", "phase"),
    [(before, arrival, phase) for before, phases in TABLE for arrival, phase in zip(ARRIVALS, phases, strict=True)],
)
def test_a_phase_follows_from_what_arrived(before: list[Arrival], arrival: Arrival, phase: str) -> None:
    """Every arrival in every phase: an end is for good, a broken connection fails nothing, a gap begins anew."""
    session, _ = after([*before, arrival])
    assert session.runs["r"].phase.value == phase
    assert session.phase.value == phase


def test_a_session_that_has_no_run_is_idle() -> None:
    """Before anything has arrived there is nothing to see."""
    assert (SessionView().phase.value, SessionView().current) == ("idle", None)


def test_the_current_run_is_the_first_that_is_not_over() -> None:
    """A run that waits behind another, even one that was cancelled while it waited, is not the current one."""
    opened: list[Arrival] = [RunOpened("a"), RunOpened("b"), RunOpened("c"), over(0, RunStatus.CANCELLED, run_id="b")]
    session, _ = after(opened)
    assert session.current == session.runs["a"]
    session, _ = after([over(0, run_id="a")], session)
    assert session.current == session.runs["c"]
    session, _ = after([over(0, RunStatus.FAILED, run_id="c")], session)
    assert (session.current, session.phase.value) == (session.runs["c"], "failed")


def test_a_broken_connection_fails_no_run() -> None:
    """The text stays, the interruption is told once, and events go on behind what there is."""
    session, effects = after(
        [said(0, "a"), Disconnected("r"), Disconnected("r"), said(1, "b"), Reconnected("r"), Reconnected("r"), over(2)]
    )
    assert effects == [
        AppendText("r", "a"),
        ShowInterrupted("r"),
        AppendText("r", "b"),
        ShowReconnected("r"),
        ShowEnd("r", RunStatus.DONE, ""),
    ]
    assert shown(session) == [("r", "completed", "ab", ())]


# --- Keys -------------------------------------------------------------------------------------------------------------


def test_a_seq_counts_within_its_run() -> None:
    """R11: a second run begins at 0 again, and none of its events is a duplicate of the first one's."""
    session, effects = after(
        [said(0, "one", "a"), over(1, run_id="a"), said(0, "two", "b"), said(0, "two", "b"), over(1, run_id="b")]
    )
    assert shown(session) == [("a", "completed", "one", ()), ("b", "completed", "two", ())]
    assert effects == [
        AppendText("a", "one"),
        ShowEnd("a", RunStatus.DONE, ""),
        AppendText("b", "two"),
        ShowEnd("b", RunStatus.DONE, ""),
    ]


def test_a_hole_in_one_run_holds_no_other_back() -> None:
    """R11: each run has an order of its own."""
    session, _ = after([said(1, "late", "a"), said(0, "b", "b")])
    assert shown(session) == [("a", "idle", "", ()), ("b", "streaming", "b", ())]


@pytest.mark.parametrize(
    "arrival",
    [
        RunOpened("r"),
        Reconnected("r"),
        said(0, "other"),
        said(3, "other"),
        RunEvent("r", 0, Rerun("merge")),
        RunEvent("r", 1, Snapshot("other")),
        Gap("r", 4),
        SessionRead((ReadRun("r", "other", 1, None),)),
        SessionRead((ReadRun("r", "", None, None),)),
        SessionRead(()),
    ],
)
def test_what_is_late_or_known_changes_nothing(arrival: Arrival) -> None:
    """The session is the very same, and nothing is to be done."""
    session, _ = after([said(0, "a"), said(1, "b"), said(3, "d")])
    same, effects = reduce(session, arrival)
    assert same is session
    assert effects == ()


def test_the_end_lets_go_of_what_was_held() -> None:
    """An end is a run's last event: what claims to come after it is dropped."""
    assert run_after([said(7, "?"), over(0)]) == RunView("r", end=Ended(RunStatus.DONE, ""), next_seq=1)


@pytest.mark.parametrize(
    "arrival",
    [
        said(2, "more"),
        over(2, RunStatus.FAILED, "no answer"),
        RunEvent("r", 5, Snapshot("other")),
        Disconnected("r"),
        Reconnected("r"),
        Gap("r", 2),
        SessionRead((ReadRun("r", "other", 7, None),)),
        SessionRead((ReadRun("r", "other", None, RunStatus.FAILED),)),
    ],
)
def test_nothing_comes_after_the_end(arrival: Arrival) -> None:
    """An end is final, and whatever else is said of the run is not."""
    session, _ = after([said(0, "a"), over(1)])
    same, effects = reduce(session, arrival)
    assert same is session
    assert effects == ()


# --- Order ------------------------------------------------------------------------------------------------------------


def test_what_is_behind_a_hole_waits_for_it() -> None:
    """O1: an end that overtakes the last fragments is shown after them."""
    session, effects = after([said(0, "a"), over(3), said(2, "c")])
    assert effects == [AppendText("r", "a")]
    assert session.runs["r"].cursor == 0
    session, filled = reduce(session, said(1, "b"))
    assert filled == (AppendText("r", "b"), AppendText("r", "c"), ShowEnd("r", RunStatus.DONE, ""))
    assert session.runs["r"].held == {}


@calm
@given(st.data(), sessions())
def test_any_order_leads_to_the_canonical_history(data: st.DataObject, history: dict[str, list[Logged]]) -> None:
    """R11: at any moment each run shows exactly its log as far as it has come without a hole, whoever brought it."""
    session, _ = after([RunOpened(run_id) for run_id in history])
    arrived: dict[str, set[int]] = {run_id: set() for run_id in history}
    for event in data.draw(deliveries(list(chain(*history.values())))):
        session, effects = reduce(session, event.arriving(data.draw(st.sampled_from(WAYS))))
        arrived[event.run_id].add(event.seq)
        come = {run_id: log[: _whole(arrived[run_id])] for run_id, log in history.items()}
        assert shown(session) == [folded(run_id, log) for run_id, log in come.items()]
        assert works(session) == [worked(log) for log in come.values()]
        assert not any(isinstance(effect, Refetch) for effect in effects)
    assert all(not run.held for run in session.runs.values())


def _whole(seqs: set[int]) -> int:
    """Return how many events there are before the first hole."""
    return next(n for n in range(len(seqs) + 1) if n not in seqs)


@calm
@given(st.data(), sessions())
def test_reading_the_session_puts_runs_in_their_order(data: st.DataObject, history: dict[str, list[Logged]]) -> None:
    """Events of runs that nobody had opened here come in any order; their places are known when the session is read."""
    events = data.draw(deliveries(list(chain(*history.values()))))
    when = data.draw(st.integers(0, len(events)))
    arrivals: list[Arrival] = [event.paged() for event in events]
    arrivals.insert(when, SessionRead(tuple(ReadRun(run_id, "", None, None) for run_id in history)))
    assert shown(after(arrivals)[0]) == [folded(run_id, log) for run_id, log in history.items()]


def test_a_run_that_was_opened_since_the_reading_comes_last() -> None:
    """A reading of the session that is older than a run's opening takes nothing away."""
    listed = tuple(ReadRun(run_id, "", None, None) for run_id in ("a", "b"))
    session, _ = after([RunOpened("c"), RunOpened("b"), SessionRead(listed)])
    assert list(session.runs) == ["a", "b", "c"]


# --- Bounds -----------------------------------------------------------------------------------------------------------


def test_what_a_run_holds_back_is_bounded() -> None:
    """When too much is held behind a hole, the front end is told once to ask again, and the rest is dropped."""
    session, effects = after([said(0, "a"), *(said(seq, "x") for seq in range(2, HELD_LIMIT + 12))])
    assert effects == [AppendText("r", "a"), Refetch("r", 0)]
    assert list(session.runs["r"].held) == list(range(2, HELD_LIMIT + 2))
    session, effects = after([said(seq, "x") for seq in range(1, HELD_LIMIT + 12)], session)
    assert session.runs["r"].text == Fragments().plus("a" + "x" * (HELD_LIMIT + 11))
    assert session.runs["r"].held == {}


def test_a_run_of_which_nothing_is_there_is_asked_for_from_its_start() -> None:
    """Without a cursor there is none to ask with."""
    assert after([said(seq, "x") for seq in range(1, HELD_LIMIT + 1)])[1] == [StartSpinner("r"), Refetch("r", None)]


@settings(calm, max_examples=30)
@given(st.data(), logs("r", most=400, ended=True))
def test_asking_again_brings_what_was_dropped(data: st.DataObject, log: list[Logged]) -> None:
    """Any order of a long run leads to the canonical history when every wish to ask again is met, also out of order."""
    coming = [event.streamed() for event in data.draw(st.permutations(log))]
    session = SessionView()
    while coming:
        session, effects = reduce(session, coming.pop(0))
        assert len(session.runs["r"].held) <= HELD_LIMIT
        for effect in effects:
            if isinstance(effect, Refetch):
                first = 0 if effect.cursor is None else effect.cursor + 1
                coming += [event.streamed() for event in log[first:]]
    assert shown(session) == [folded("r", log)]


# --- Snapshots and gaps -----------------------------------------------------------------------------------------------


def test_a_snapshot_stands_for_all_up_to_its_seq() -> None:
    """It replaces what is shown; what it covers is late from then on, what was held behind it has its turn."""
    tool = Tool("k", "look", "{}", None)
    behind = [said(4, "e"), said(3, "?"), said(7, "h")]
    session, effects = after([said(0, "a"), RunEvent("r", 1, tool), *behind, RunEvent("r", 3, Snapshot("abcd"))])
    assert effects == [
        AppendText("r", "a"),
        ShowTool("r", tool),
        ReplaceText("r", "abcd", "snapshot"),
        AppendText("r", "e"),
    ]
    assert shown(session) == [("r", "streaming", "abcde", ())]
    assert list(session.runs["r"].held) == [7]
    assert reduce(session, said(2, "c")) == (session, ())


def without_tools(run: Shown) -> tuple[str, str, str]:
    """Return what a reading of the session says of a run that has ended: nothing of its tools."""
    return run[:3]


@calm
@given(st.data(), logs("r", ended=True))
def test_a_snapshot_may_stand_for_any_beginning(data: st.DataObject, log: list[Logged]) -> None:
    """In any order, at any moment, a snapshot is as good as the events that it stands for, open questions included."""
    cuts = data.draw(st.lists(st.integers(0, len(log) - 1), min_size=1, max_size=3))
    snapshots = [snapshot_of(log[:cut]) for cut in cuts if cut]
    session, covered = after([RunOpened("r")])[0], set[int]()
    for event in data.draw(deliveries([*snapshots, *log[min(cuts) :]])):
        session, _ = reduce(session, event.arriving(data.draw(st.sampled_from(WAYS))))
        covered |= {*range(event.seq + 1)} if event.kind == "snapshot" else {event.seq}
        come = log[: _whole(covered)]
        assert (shown(session), works(session)) == ([folded("r", come)], [worked(come)])
    assert session.phase.value == folded("r", log)[1]


@calm
@given(st.data(), sessions())
def test_a_reading_of_the_session_may_come_at_any_moment(data: st.DataObject, history: dict[str, list[Logged]]) -> None:
    """The session as it was at some event, and the events behind it, in any order and with others again before it."""
    events = list(chain(*history.values()))
    cut = data.draw(st.integers(0, len(events)))
    read = read_at(history, cut)
    again = data.draw(st.integers(0, cut))
    arrivals: list[Arrival] = [event.paged() for event in data.draw(deliveries(events[again:]))]
    arrivals.insert(data.draw(st.integers(0, len(arrivals))), read)
    session, _ = after(arrivals)
    for run, had, work in zip(read.runs, shown(session), works(session), strict=True):
        whole = folded(run.run_id, history[run.run_id])
        if run.ended is None:
            assert (had, work) == (whole, worked(history[run.run_id]))
        assert without_tools(had) == without_tools(whole)


def read_at(history: dict[str, list[Logged]], cut: int) -> SessionRead:
    """Return the session as it is read when it has this many events."""
    runs: list[ReadRun] = []
    for run_id, log in history.items():
        part = log[:cut]
        cut = max(cut - len(log), 0)
        _, phase, text, _ = folded(run_id, part)
        ended = {"completed": RunStatus.DONE, "failed": RunStatus.FAILED, "cancelled": RunStatus.CANCELLED}.get(phase)
        runs.append(
            ReadRun(run_id, text, None, ended)
            if ended or not part
            else ReadRun(run_id, text, len(part) - 1, None, work_of(part))
        )
    return SessionRead(tuple(runs))


def work_of(part: Sequence[Logged]) -> Work:
    """Return what a snapshot in place of these says beside the text."""
    change = snapshot_of(part).streamed().change
    assert isinstance(change, Snapshot)
    return change.work


def test_a_session_that_is_read_shows_its_runs() -> None:
    """Ended runs are whole, the one in progress goes on behind its seq, and one that waits has its place."""
    read = SessionRead(
        (
            ReadRun("a", "whole", None, RunStatus.FAILED),
            ReadRun("b", "half", 4, None),
            ReadRun("c", "", None, None),
        )
    )
    session, effects = after([read, said(0, "late", "a"), said(5, "more", "b")])
    assert effects == [
        ReplaceText("a", "whole", "snapshot"),
        ShowEnd("a", RunStatus.FAILED, ""),
        ReplaceText("b", "half", "snapshot"),
        StartSpinner("c"),
        AppendText("b", "more"),
    ]
    assert shown(session) == [("a", "failed", "whole", ()), ("b", "streaming", "halfmore", ()), ("c", "idle", "", ())]


def test_a_reading_that_knows_more_overtakes_what_is_held() -> None:
    """A run that has ended, as the session says, waits for nothing any more."""
    run = run_after([said(0, "a"), said(9, "?"), SessionRead((ReadRun("r", "abc", None, RunStatus.DONE),))])
    assert (str(run.text), run.phase.value, run.held) == ("abc", "completed", {})


def test_a_gap_voids_the_text_of_another_history() -> None:
    """R4: what came under a cursor that the run does not know is void, held or not; its own history begins anew."""
    session, effects = after([said(0, "old"), said(1, "er"), said(9, "?"), Gap("r", 9)])
    assert effects[2:] == [ReplaceText("r", "", "gap"), StartSpinner("r")]
    assert session.runs["r"] == RunView("r")
    session, effects = after([RunEvent("r", 3, Snapshot("new")), Gap("r", 9), said(4, "er"), over(5)], session)
    assert shown(session) == [("r", "completed", "newer", ())]


def test_a_gap_keeps_a_run_in_its_place() -> None:
    """Runs do not change their order because one of them begins anew, and an interrupted one stays interrupted."""
    session, _ = after([said(0, "x", "a"), said(0, "y", "b"), Disconnected("a"), Gap("a", 0)])
    assert shown(session) == [("a", "interrupted", "", ()), ("b", "streaming", "y", ())]


@calm
@given(st.data(), logs("r"), logs("r", ended=True))
def test_after_a_gap_the_history_is_the_new_one(data: st.DataObject, old: list[Logged], new: list[Logged]) -> None:
    """R4: whatever had come of the old history, the new one in any order leads to itself."""
    session, _ = after([RunOpened("r"), *(event.streamed() for event in data.draw(deliveries(old)))])
    reach = max((event.seq for event in old), default=None)
    arrivals: list[Arrival] = [event.streamed() for event in data.draw(deliveries(new))]
    session, _ = after(arrivals if reach is None else [Gap("r", reach), *arrivals], session)
    assert shown(session) == [folded("r", new)]


# --- Effects ----------------------------------------------------------------------------------------------------------


class Screen:
    """A front end that knows nothing but effects."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.tools: dict[str, dict[str, Tool]] = {}
        self.spinning: set[str] = set()
        self.thoughts: dict[str, Thought] = {}
        self.forks: dict[str, dict[int, Fork]] = {}
        self.asking: dict[str, dict[str, Question]] = {}
        self.lost: set[str] = set()
        self.ends: dict[str, RunStatus] = {}

    def carry_out(self, effect: Effect) -> None:
        """Do what is to be done."""
        run_id = effect.run_id
        match effect:
            case StartSpinner():
                assert run_id not in self.spinning
                self.spinning.add(run_id)
            case StopSpinner():
                self.spinning.remove(run_id)
            case AppendText(_, text):
                self.texts[run_id] = self.texts.get(run_id, "") + text
            case ReplaceText(_, text):
                self.texts[run_id] = text
                self.tools.pop(run_id, None)
                self.thoughts.pop(run_id, None)
                self.forks.pop(run_id, None)
                self.asking.pop(run_id, None)
                self.ends.pop(run_id, None)
            case ShowTool(_, tool):
                self.tools.setdefault(run_id, {})[tool.key] = tool
            case ShowThought(_, thought):
                self.thoughts[run_id] = thought
            case ShowFork(_, fork):
                self.forks.setdefault(run_id, {})[fork.number] = fork
            case ShowQuestion(_, question):
                assert question.question_id not in self.asking.setdefault(run_id, {})
                self.asking[run_id][question.question_id] = question
            case ShowAnswer(_, answer):
                del self.asking[run_id][answer.question_id]
            case ShowEnd(_, status):
                assert run_id not in self.ends
                self.asking.pop(run_id, None)
                self.ends[run_id] = status
                self.lost.discard(run_id)
            case ShowInterrupted():
                self.lost.add(run_id)
            case ShowReconnected():
                self.lost.remove(run_id)
            case Refetch():
                pass


@calm
@given(st.data(), sessions())
def test_effects_are_all_that_a_front_end_needs(data: st.DataObject, history: dict[str, list[Logged]]) -> None:
    """Whoever carries out the effects and looks at nothing else has what the projection has, after every arrival."""
    events = list(chain(*history.values()))
    others = st.sampled_from(
        [each(run_id) for run_id in history for each in (RunOpened, Disconnected, Reconnected)]
        + [Gap(run_id, cursor) for run_id in history for cursor in (0, 3)]
        + [read_at(history, cut) for cut in range(len(events) + 1)]
    )
    snapshots = [snapshot_of(log[:cut]) for log in history.values() for cut in range(1, len(log))]
    arrivals: list[Arrival] = [event.streamed() for event in data.draw(deliveries([*events, *snapshots]))]
    for other in data.draw(st.lists(others, max_size=6)):
        arrivals.insert(data.draw(st.integers(0, len(arrivals))), other)
    session, screen = SessionView(), Screen()
    for arrival in arrivals:
        session, effects = reduce(session, arrival)
        for effect in effects:
            screen.carry_out(effect)
        for run in session.runs.values():
            assert screen.texts.get(run.run_id, "") == str(run.text)
            assert screen.tools.get(run.run_id, {}) == run.tools
            assert (run.run_id in screen.spinning) == run.waiting
            assert screen.ends.get(run.run_id) == (run.end and run.end.status)
            assert screen.thoughts.get(run.run_id) == run.thought
            assert screen.forks.get(run.run_id, {}) == run.forks
            assert screen.asking.get(run.run_id, {}) == run.questions
            interrupted = run.run_id in screen.lost or bool(screen.asking.get(run.run_id))
            assert interrupted == (run.phase.value == "interrupted")


def test_a_state_stays_as_it_was() -> None:
    """Reducing leaves the session that it was given unchanged: an earlier state can be shown again."""
    first, _ = after([said(0, "a"), said(2, "c"), RunEvent("r", 3, Tool("k", "look", "{}", None))])
    before = shown(first)
    reduce(first, said(1, "b"))
    reduce(first, Gap("r", 3))
    assert shown(first) == before
    assert list(first.runs["r"].held) == [2, 3]
