"""Text that every part of the system can hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text import SurrogateJoiner, clean
from tests.support.calm import calm

HIGH, LOW = "\ud83d", "\ude42"  # together: 🙂
BAD = "\ufffd"

# Short texts of what is dangerous and a little that is not: with all of Unicode, no two halves would ever meet.
FRAGMENTS = st.text(st.sampled_from(["a", "é", "🙂", "\x00", HIGH, LOW, BAD]), max_size=6)
ANYTHING = st.text(st.characters(codec=None))


def _by_utf16(text: str) -> str:
    """Say what `clean` answers in another way: a UTF-16 decoder joins pairs and replaces what is alone."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace").replace("\x00", BAD)


@pytest.mark.parametrize(
    ("raw", "held"),
    [
        ("", ""),
        ("plain", "plain"),
        ("a\x00b", f"a{BAD}b"),
        ("\x00", BAD),
        (HIGH, BAD),
        (LOW, BAD),
        (HIGH + LOW, "🙂"),
        (LOW + HIGH, BAD + BAD),
        (HIGH + HIGH + LOW, BAD + "🙂"),
        (f"é{HIGH}\x00{LOW}", f"é{BAD}{BAD}{BAD}"),
        ("🙂 \u2028\x85\r\n\x7f", "🙂 \u2028\x85\r\n\x7f"),
    ],
)
def test_what_cannot_be_held_is_replaced(raw: str, held: str) -> None:
    """C3: NUL and lone surrogates become U+FFFD, pairs their character, everything else stays."""
    assert clean(raw) == held


@calm
@given(st.one_of(ANYTHING, FRAGMENTS))
def test_cleaned_text_can_be_encoded_and_stored(text: str) -> None:
    """C3: whatever comes, what is left is UTF-8 without NUL, the same as a UTF-16 decoder sees, and stays so."""
    cleaned = clean(text)
    assert cleaned == _by_utf16(text)
    assert b"\x00" not in cleaned.encode()
    assert clean(cleaned) == cleaned


def test_an_emoji_in_two_fragments_is_joined() -> None:
    """C3: the first half waits for the second, in the fragment that brings it."""
    joiner = SurrogateJoiner()
    assert [joiner.feed(f"so {HIGH}"), joiner.feed(f"{LOW}!"), joiner.flush()] == ["so ", "🙂!", ""]


@pytest.mark.parametrize(
    ("high", "low"), [("\ud800", "\udc00"), ("\ud800", "\udfff"), ("\udbff", "\udc00"), ("\udbff", "\udfff")]
)
def test_the_first_and_last_halves_are_joined_too(high: str, low: str) -> None:
    """C3: from U+10000 to U+10FFFF, every character above the basic plane has two halves."""
    joiner = SurrogateJoiner()
    whole = (high + low).encode("utf-16", "surrogatepass").decode("utf-16")
    assert [joiner.feed(high), joiner.feed(low), joiner.flush()] == ["", whole, ""]


def test_a_half_waits_through_empty_fragments() -> None:
    """C3: a fragment without text neither completes nor gives up what is held."""
    joiner = SurrogateJoiner()
    assert [joiner.feed(HIGH), joiner.feed(""), joiner.feed(LOW)] == ["", "", "🙂"]


def test_a_half_that_stays_alone_is_replaced() -> None:
    """C3: when text comes instead of the other half, or nothing at all, U+FFFD stands in its place."""
    joiner = SurrogateJoiner()
    assert [joiner.feed(HIGH), joiner.feed("x"), joiner.feed(HIGH), joiner.feed(HIGH)] == ["", f"{BAD}x", "", BAD]
    assert [joiner.flush(), joiner.flush()] == [BAD, ""]


@calm
@given(st.lists(FRAGMENTS))
def test_how_a_text_is_cut_changes_nothing(fragments: list[str]) -> None:
    """C3: the joined fragments are the cleaned text, wherever it was cut, and nothing but one half is held back."""
    joiner = SurrogateJoiner()
    whole = ""
    for number, fragment in enumerate(fragments, start=1):
        whole += joiner.feed(fragment)
        so_far = clean("".join(fragments[:number]))
        assert whole in (so_far, so_far[:-1])
    assert whole + joiner.flush() == clean("".join(fragments))
