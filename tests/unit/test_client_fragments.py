"""A text that grows by fragments: always the same text, and cheap to grow."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.fragments import Fragments
from tests.support.calm import calm


@calm
@given(st.lists(st.text(max_size=9), max_size=200))
def test_a_text_of_fragments_is_their_text(fragments: list[str]) -> None:
    """However it grew it is the same text, each state stays as it was, and it is empty only without a character."""
    states = [Fragments()]
    for fragment in fragments:
        states.append(states[-1].plus(fragment))
    for count, state in enumerate(states):
        text = "".join(fragments[:count])
        assert (str(state), bool(state), state) == (text, text != "", Fragments().plus(text))
        assert hash(state) == hash(Fragments().plus(text))
    assert Fragments().plus("a") != Fragments()
    assert Fragments().plus("a") != "a"


@pytest.mark.parametrize("lengths", [[1] * 5000, [3, 1, 4] * 1500, list(range(300, 0, -1)), list(range(300))])
def test_growing_copies_a_logarithmic_share(lengths: list[int]) -> None:
    """Over a whole reply a character is copied at most twice for each doubling of the text, not for each fragment."""
    text, copied = Fragments(), 0
    for length in lengths:
        grown = text.plus("x" * length)
        copied += sum(len(part) for part in grown.parts if not any(part is kept for kept in text.parts))
        text = grown
        assert len(text.parts) <= 1 + log2(max(len(str(text)), 1))
    assert copied <= 2 * sum(lengths) * log2(sum(lengths))
