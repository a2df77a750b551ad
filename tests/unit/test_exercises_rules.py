"""The four rules as the solution writes them, against tables and oracles written apart from it."""

import doctest
import itertools
import random
import sys
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import IllegalTransition
from shared.exercises import Orderer, load
from shared.run import ACTIVE, Run, RunStatus
from tests.support.calm import calm
from tests.tracing import lines_run

SOLUTION = Path(__file__).resolve().parents[2] / "solution"
RULES = load(SOLUTION, SOLUTION).exercises


# --- The texts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [RULES.transition, RULES.should_merge, RULES.resume_from, RULES.SeqOrderer])
def test_the_examples_in_the_docstrings_are_true(rule: object) -> None:
    """Each rule's docstring has examples, and the solution answers what they say."""
    names = vars(sys.modules[rule.__module__])
    (name,) = (name for name, value in names.items() if value is rule)
    tests = doctest.DocTestFinder(recurse=False).find(rule, name, module=False, globs=names)
    results = [doctest.DocTestRunner(verbose=False).run(test) for test in tests]
    assert sum(result.attempted for result in results) >= 2
    assert sum(result.failed for result in results) == 0


# --- 1: the transition table ------------------------------------------------------------------------------------------

MOVES = """
              pending running streaming done failed cancelled
    pending      -       x        -       -     x       x
    running      -       -        x       x     x       x
    streaming    -       -        -       x     x       x
    done         -       -        -       -     -       -
    failed       -       -        -       -     -       -
    cancelled    -       -        -       -     -       -
"""


def _moves() -> dict[tuple[str, str], bool]:
    head, *rows = (line.split() for line in MOVES.strip().splitlines())
    return {(row[0], target): cell == "x" for row in rows for target, cell in zip(head, row[1:], strict=True)}


@pytest.mark.parametrize(("current", "target"), list(itertools.product(RunStatus, RunStatus)))
def test_all_36_moves_are_answered_as_the_matrix_says(current: RunStatus, target: RunStatus) -> None:
    """An allowed move answers its target; every other is refused and names both ends."""
    if _moves()[current, target]:
        assert RULES.transition(current, target) is target
    else:
        with pytest.raises(IllegalTransition) as refused:
            RULES.transition(current, target)
        assert (refused.value.current, refused.value.target) == (current, target)
        assert isinstance(refused.value, ValueError)


@calm
@given(st.lists(st.sampled_from(RunStatus)))
def test_no_series_of_moves_leaves_an_end_or_goes_back(targets: list[RunStatus]) -> None:
    """Whatever is tried, in whatever order, a run goes forward and stays where it ended."""
    order = list(RunStatus)
    walked = [RunStatus.PENDING]
    for target in targets:
        try:
            walked.append(RULES.transition(walked[-1], target))
        except IllegalTransition:
            continue
    steps = [order.index(status) for status in walked]
    assert steps == sorted(set(steps))
    assert sum(step >= order.index(RunStatus.DONE) for step in steps) <= 1


# --- 2: the orderer ---------------------------------------------------------------------------------------------------


def ordered(arrivals: list[tuple[int, str]], start: int = 0) -> list[tuple[int, str]]:
    """Return what the solution delivers for these arrivals."""
    delivered: list[tuple[int, str]] = []
    orderer: Orderer[str] = RULES.SeqOrderer(start, lambda seq, item: delivered.append((seq, item)))
    for seq, item in arrivals:
        orderer.offer(seq, item)
    return delivered


def contiguous(arrived: set[int], start: int) -> list[int]:
    """The oracle, which knows no buffer: the numbers from `start` up to the first that has not arrived."""
    return list(itertools.takewhile(arrived.__contains__, itertools.count(start)))


@calm
@given(
    st.integers(0, 8).flatmap(
        lambda start: st.tuples(st.just(start), st.lists(st.integers(0, 16), max_size=60)),
    )
)
def test_after_every_arrival_exactly_the_contiguous_run_is_out(case: tuple[int, list[int]]) -> None:
    """At no moment is anything late, early, twice or lost: duplicates, gaps and old numbers included."""
    start, arrivals = case
    delivered: list[tuple[int, str]] = []
    orderer: Orderer[str] = RULES.SeqOrderer(start, lambda seq, item: delivered.append((seq, item)))
    arrived: set[int] = set()
    for seq in arrivals:
        orderer.offer(seq, f"item {seq}")
        arrived.add(seq)
        assert delivered == [(due, f"item {due}") for due in contiguous(arrived, start)]


@calm
@given(st.permutations(range(40)), st.data())
def test_any_permutation_with_copies_comes_out_in_order(numbers: list[int], data: st.DataObject) -> None:
    """However the bus shuffles and re-delivers, the reader gets 0, 1, 2 … each once."""
    copies = data.draw(st.lists(st.sampled_from(numbers)))
    arrivals = numbers + copies
    random.Random(data.draw(st.integers())).shuffle(arrivals)
    assert ordered([(seq, str(seq)) for seq in arrivals]) == [(seq, str(seq)) for seq in range(40)]


@pytest.mark.parametrize(
    ("start", "arrivals", "delivered"),
    [
        (0, [], []),
        (0, [(0, "a"), (1, "b")], [(0, "a"), (1, "b")]),
        (0, [(1, "b")], []),
        (0, [(1, "b"), (0, "a")], [(0, "a"), (1, "b")]),
        (0, [(2, "c"), (0, "a"), (1, "b")], [(0, "a"), (1, "b"), (2, "c")]),
        (0, [(2, "c"), (0, "a")], [(0, "a")]),
        (0, [(0, ""), (1, "b")], [(0, ""), (1, "b")]),
        (0, [(1, ""), (0, "a"), (2, "c")], [(0, "a"), (1, ""), (2, "c")]),
        (0, [(0, "a"), (0, "a"), (1, "b")], [(0, "a"), (1, "b")]),
        (0, [(1, "b"), (1, "b"), (0, "a"), (1, "b")], [(0, "a"), (1, "b")]),
        (6, [(5, "old"), (6, "new")], [(6, "new")]),
        (6, [(7, "b"), (0, "old"), (6, "a")], [(6, "a"), (7, "b")]),
        (0, [(-1, "odd"), (0, "a")], [(0, "a")]),
        (10**17, [(10**17 + 1, "b"), (10**17, "a")], [(10**17, "a"), (10**17 + 1, "b")]),
    ],
)
def test_arrivals_and_what_is_delivered(
    start: int, arrivals: list[tuple[int, str]], delivered: list[tuple[int, str]]
) -> None:
    """Drop below the pointer, hold on a gap, deliver the whole run when it closes; empty texts count (O1, O3)."""
    assert ordered(arrivals, start) == delivered


@pytest.mark.parametrize("item", ["", 0, False, [], {}, 0.0])
def test_an_item_that_is_false_is_an_item(item: object) -> None:
    """Held or due, an empty item is delivered like any other (O3)."""
    delivered: list[object] = []
    orderer: Orderer[object] = RULES.SeqOrderer(0, lambda seq, given: delivered.append(given))
    orderer.offer(1, item)
    orderer.offer(0, item)
    assert delivered == [item, item]


def test_items_are_neither_compared_nor_hashed() -> None:
    """Only numbers have an order: items of any kind pass through untouched."""

    class Stubborn:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        __lt__ = __gt__ = __eq__

        def __bool__(self) -> bool:
            raise AssertionError("asked for its truth")

    items = [Stubborn() for _ in range(3)]
    delivered: list[int] = []
    orderer: Orderer[Stubborn] = RULES.SeqOrderer(0, lambda seq, item: delivered.append(id(item)))
    for seq in (2, 2, 1, 0):
        orderer.offer(seq, items[seq])
    assert delivered == [id(item) for item in items]


def test_ten_thousand_items_reversed_cost_a_few_lines_each() -> None:
    """No recursion, no quadratic cost and no limit of its own: twice the items are twice the work."""

    def reverse(size: int) -> None:
        arrivals = [(seq, "x") for seq in reversed(range(size))]
        assert [seq for seq, _ in ordered(arrivals)] == list(range(size))

    thousand, ten_thousand = (lines_run(SOLUTION, partial(reverse, size)) for size in (1_000, 10_000))
    assert 1_000 <= thousand <= 10_000
    assert ten_thousand <= 10.1 * thousand


def test_an_emit_that_offers_more_keeps_the_order() -> None:
    """`emit` may offer in its turn: numbers still go out in order and once."""
    delivered: list[int] = []
    orderer: Orderer[str]

    def emit(seq: int, item: str) -> None:
        delivered.append(seq)
        if seq < 5:
            orderer.offer(seq + 1, item)
            orderer.offer(seq, item)

    orderer = RULES.SeqOrderer(0, emit)
    orderer.offer(2, "held")
    orderer.offer(0, "first")
    assert delivered == [0, 1, 2, 3, 4, 5]


def test_an_emit_that_raises_costs_one_item_and_no_order() -> None:
    """The error reaches the caller of `offer`; afterwards the orderer goes on behind the number that failed."""
    delivered: list[int] = []

    def emit(seq: int, item: str) -> None:
        if item == "bad":
            raise ConnectionError(seq)
        delivered.append(seq)

    orderer: Orderer[str] = RULES.SeqOrderer(0, emit)
    orderer.offer(1, "bad")
    orderer.offer(2, "c")
    with pytest.raises(ConnectionError):
        orderer.offer(0, "a")
    orderer.offer(1, "bad")
    orderer.offer(3, "d")
    assert delivered == [0, 2, 3]


def test_two_orderers_do_not_meet() -> None:
    """Interleaved, each delivers its own items, whatever the other holds (O6)."""
    delivered: dict[str, list[str]] = {"left": [], "right": []}
    left: Orderer[str] = RULES.SeqOrderer(0, lambda seq, item: delivered["left"].append(item))
    right: Orderer[str] = RULES.SeqOrderer(1, lambda seq, item: delivered["right"].append(item))
    for orderer, seq, item in [(left, 1, "L1"), (right, 2, "R2"), (right, 1, "R1"), (left, 0, "L0"), (right, 3, "R3")]:
        orderer.offer(seq, item)
    assert delivered == {"left": ["L0", "L1"], "right": ["R1", "R2", "R3"]}


def test_a_hole_is_never_jumped() -> None:
    """However many items wait behind it, a missing number stays missed; filling it is somebody else's task (O2)."""
    assert ordered([(seq, "x") for seq in range(1, 5_000)]) == []


# --- 3: resume arithmetic ---------------------------------------------------------------------------------------------

CURSORS = [
    (None, 0),
    ("", 0),
    ("0", 1),
    ("5", 6),
    ("41", 42),
    ("007", 8),
    ("0" * 18, 1),
    ("9" * 18, 10**18),
    ("1" + "0" * 17, 10**17 + 1),
    ("0" * 18 + "5", 0),
    ("9" * 19, 0),
    (str(2**63 - 1), 0),
    ("1" * 25, 0),
    ("9" * 5000, 0),
    ("-1", 0),
    ("-0", 0),
    ("+7", 0),
    (" 7", 0),
    ("7 ", 0),
    (" 7 ", 0),
    ("7\n", 0),
    ("\t7", 0),
    ("7\x00", 0),
    ("1_000", 0),
    ("1,000", 0),
    ("3.0", 0),
    ("1e3", 0),
    ("0x10", 0),
    ("five", 0),
    ("run-1:5", 0),
    ("NaN", 0),
    ("²", 0),
    ("5²", 0),
    ("٣", 0),
    ("5٣", 0),
    ("\uff17", 0),  # the wide 7 of East Asian keyboards
    ("Ⅷ", 0),
    ("½", 0),
    ("\udcb2", 0),
    (b"\xb2".decode("latin-1"), 0),
]


@pytest.mark.parametrize(("header", "number"), CURSORS)
def test_a_cursor_and_the_number_that_is_next(header: str | None, number: int) -> None:
    """1 to 18 ASCII digits give the next number; all else means the beginning, and nothing raises (R1, R2, R9)."""
    answer = RULES.resume_from(header)
    assert (type(answer), answer) == (int, number)


@calm
@given(st.text() | st.text(alphabet="0123456789٣²_ +-\n", max_size=20))
def test_no_text_makes_it_raise(header: str) -> None:
    """The oracle spells the rule out character by character: a cursor is digits of ours, neither none nor too many."""
    is_cursor = 1 <= len(header) <= 18 and set(header) <= set("0123456789")
    assert RULES.resume_from(header) == (int(header) + 1 if is_cursor else 0)


# --- 4: merge criteria ------------------------------------------------------------------------------------------------

NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))
LINE_ISLANDS = timezone(timedelta(hours=14))
SAMOA = timezone(timedelta(hours=-11))
TICK = timedelta(microseconds=1)


def run_of(status: RunStatus, created_at: datetime = NOON, updated_at: datetime = NOON) -> Run:
    """Return a session's latest run."""
    return Run("run-1", "session-1", "user-1", status, 1, created_at, updated_at)


def test_without_a_previous_run_nothing_merges() -> None:
    """The first message of a session opens a run; the answer is False, not something false."""
    assert RULES.should_merge(None, NOON) is False


@pytest.mark.parametrize("status", list(RunStatus))
def test_only_an_active_run_takes_a_message(status: RunStatus) -> None:
    """At age zero the status alone decides: running and streaming, not pending, not ended."""
    assert RULES.should_merge(run_of(status), NOON) is (status in ACTIVE)


@pytest.mark.parametrize("status", sorted(ACTIVE))
@pytest.mark.parametrize(
    ("age", "merges"),
    [
        (timedelta(0), True),
        (timedelta(seconds=1), True),
        (timedelta(seconds=29), True),
        (timedelta(seconds=30) - TICK, True),
        (timedelta(seconds=30), False),
        (timedelta(seconds=30) + TICK, False),
        (timedelta(seconds=31), False),
        (timedelta(minutes=1), False),
        (timedelta(days=1), False),
        (timedelta(days=1, seconds=1), False),
        (timedelta(days=365), False),
    ],
)
@pytest.mark.parametrize("zone", [UTC, INDIA, LINE_ISLANDS, SAMOA])
def test_an_active_run_takes_a_message_until_it_is_30_s_old(
    status: RunStatus, age: timedelta, merges: bool, zone: timezone
) -> None:
    """Strictly younger than 30 s, to the microsecond, in whatever zone the two times are written."""
    assert RULES.should_merge(run_of(status), (NOON + age).astimezone(zone)) is merges
    assert RULES.should_merge(run_of(status, NOON.astimezone(zone)), NOON + age) is merges


def test_age_counts_from_the_run_s_creation() -> None:
    """A long run that has just written something is as old as ever."""
    later = NOON + timedelta(seconds=40)
    assert RULES.should_merge(run_of(RunStatus.STREAMING, NOON, updated_at=later), later) is False


def test_age_does_not_stop_at_midnight() -> None:
    """A second before the year ends and a second after it began are two seconds apart."""
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    run = run_of(RunStatus.RUNNING, midnight - timedelta(seconds=1))
    assert RULES.should_merge(run, midnight + timedelta(seconds=1)) is True
