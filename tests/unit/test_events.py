"""Events: payloads on one line, and the text that a reader ends up with."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.events import Event, EventKind, Json, decode_data, encode_data, reply_text
from tests.support.calm import calm

BREAKS = "\n \r \r\n \x0b \x0c \x1c \x1d \x1e \x85 \u2028 \u2029"

HOLDABLE = st.text(st.one_of(st.sampled_from(BREAKS), st.characters(codec="utf-8")))
DOCUMENTS = st.dictionaries(
    HOLDABLE,
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), HOLDABLE),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(HOLDABLE, inner, max_size=3)),
        max_leaves=6,
    ),
    max_size=4,
)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("wa", '{"text":"wa"}'),
        ("", '{"text":""}'),
        ("a\rb\r\nc\n", r'{"text":"a\rb\r\nc\n"}'),
        ("\x85\u2028\u2029", r'{"text":"\u0085\u2028\u2029"}'),
        ("\x00\x0b\x1e", r'{"text":"\u0000\u000b\u001e"}'),
        ("取消 🙂", '{"text":"取消 🙂"}'),
        ('"\\u2028"', r'{"text":"\"\\u2028\""}'),
    ],
)
def test_a_payload_is_compact_and_readable(text: str, data: str) -> None:
    """C2: line breaks of any kind are escaped, all other text is left as it is, and no space is added."""
    assert encode_data({"text": text}) == data
    assert decode_data(data) == {"text": text}


@calm
@given(DOCUMENTS)
def test_a_payload_is_one_line_whatever_it_holds(document: dict[str, Json]) -> None:
    """C2: no client's idea of a line cuts a payload, and any JSON reader gets back what was put in."""
    data = encode_data(document)
    assert data.splitlines() == [data]
    assert decode_data(data) == json.loads(data) == document


def test_a_lone_surrogate_is_the_callers_mistake() -> None:
    """What UTF-8 cannot hold is refused here: it is cleaned at the doors, where it comes in."""
    with pytest.raises(UnicodeEncodeError):
        encode_data({"text": "\ud83d"})


def _log(*entries: tuple[EventKind, dict[str, Json]]) -> list[Event]:
    return [Event("r", seq, kind, encode_data(data)) for seq, (kind, data) in enumerate(entries)]


def _said(text: str) -> tuple[EventKind, dict[str, Json]]:
    return EventKind.DELTA, {"text": text}


RERUN: tuple[EventKind, dict[str, Json]] = (EventKind.RERUN, {"reason": "merge", "attempt": 1})
DONE: tuple[EventKind, dict[str, Json]] = (EventKind.DONE, {"usage": {}})


@pytest.mark.parametrize(
    ("events", "text"),
    [
        (_log(), ""),
        (_log(_said("a"), _said(""), _said("b")), "ab"),
        (_log(_said("a"), _said("b"), DONE), "ab"),
        (_log(_said("a"), (EventKind.TOOL, {"key": "k", "name": "look", "arguments": {}}), _said("b")), "ab"),
        (_log(_said("void"), RERUN, _said("a"), RERUN, RERUN, _said("b"), _said("c"), DONE), "bc"),
        (_log(_said("void"), RERUN), ""),
        (_log(_said("half"), (EventKind.CANCELLED, {"reason": "user"})), "half"),
        (_log(_said("half"), (EventKind.FAILED, {"error": "text"})), "half"),
    ],
)
def test_the_text_is_what_was_said_since_the_last_rerun(events: list[Event], text: str) -> None:
    """Fragments append, a rerun voids, an end adds nothing."""
    assert reply_text(events) == text
