"""The guard, which knows what has been handed to the orderer."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.guard import Guard
from tests.support.calm import calm


def test_what_comes_in_order_leaves_no_hole() -> None:
    """Events in order move the pointer and nothing else."""
    guard = Guard(5)
    for seq in (5, 6, 7):
        guard.saw(seq, float(seq))
    assert (guard.next_seq, guard.held, guard.hole_since) == (8, 0, None)


def test_a_hole_opens_with_the_first_event_beyond_it() -> None:
    """The time of the hole is that of the first event behind it; later ones and duplicates change nothing."""
    guard = Guard(0)
    for at, seq in enumerate((2, 3, 3, 2)):
        guard.saw(seq, float(at))
    assert (guard.next_seq, guard.held, guard.hole_since) == (0, 2, 0.0)


def test_a_filled_hole_is_forgotten() -> None:
    """When what was missing comes, nothing is held and no hole is open; duplicates from below open none."""
    guard = Guard(0)
    for at, seq in enumerate((1, 2, 0, 0, 1)):
        guard.saw(seq, float(at))
    assert (guard.next_seq, guard.held, guard.hole_since) == (3, 0, None)


def test_the_next_hole_gets_patience_of_its_own() -> None:
    """A hole that appears behind a filled one counts from the moment it came to be next."""
    guard = Guard(0)
    for at, seq in enumerate((1, 4, 0)):
        guard.saw(seq, float(at))
    assert (guard.next_seq, guard.held, guard.hole_since) == (2, 1, 2.0)


def test_guards_share_nothing() -> None:
    """Two guards hold what they saw themselves (O6)."""
    one, other = Guard(0), Guard(0)
    one.saw(3, 0.0)
    assert (one.held, other.held) == (1, 0)


@calm
@given(st.integers(0, 5), st.lists(st.integers(0, 12)))
def test_the_guard_agrees_with_a_set(start: int, seqs: list[int]) -> None:
    """Whatever comes: the pointer is the lowest seq that has not come, what is beyond it is held, and holds a hole."""
    guard = Guard(start)
    for at, seq in enumerate(seqs):
        guard.saw(seq, float(at))
    next_seq = next(seq for seq in range(start, 20) if seq not in seqs)
    held = len({seq for seq in seqs if seq > next_seq})
    assert (guard.next_seq, guard.held, guard.hole_since is not None) == (next_seq, held, held > 0)
