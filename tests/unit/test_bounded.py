"""What a report may hold, whatever its author made of it."""

import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.events import Json, decode_data, encode_data
from shared.text import clean
from tests.support.calm import calm
from worker.bounded import bounded

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ({}, {}),
        ({"a": None, "b": True, "c": -1, "d": 1.5, "e": "", "f": []}, None),
        ({"a": (1, ["x", {"y": {}}])}, {"a": [1, ["x", {"y": {}}]]}),
        ({"a\ud83d\ude00": "\x00\ud800"}, {"a😀": "\ufffd\ufffd"}),
        ({"a": 2**64 - 1, "b": -(2**63)}, None),
    ],
)
def test_what_can_be_held_is_held(data: dict[str, object], kept: dict[str, Json] | None) -> None:
    """Values stay as they are, tuples become lists, and what no text can hold becomes U+FFFD."""
    assert bounded(data, 1000) == (data if kept is None else kept)


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ({"a": "x" * 50, "ok": True}, {"a": "x" * 10 + "… (40 characters more)", "ok": True}),
        ({"a": "12345678", "b": "123", "c": 7}, {"a": "12345678", "b": "12… (1 characters more)", "c": 7}),
        ({"a": "1234567890", "b": "", "c": []}, {"a": "1234567890", "b": "", "c": []}),
        ({"a": "1234567890", "b": "\ud83d\ude00"}, {"a": "1234567890", "b": "… (2 characters more)"}),
        ({"a": ["1"] * 9}, {"a": ["1", "1", "1", "1", "1", "… (4 more)"]}),
        ({"a": {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6}},
         {"a": {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "…": "(1 more)"}}),
    ],
)  # fmt: skip
def test_what_is_too_much_is_cut_under_a_mark(data: dict[str, object], kept: dict[str, Json]) -> None:
    """The mark says how much is missing."""
    assert bounded(data, 10) == kept


def test_what_refers_to_itself_comes_to_an_end() -> None:
    """After as many levels as anybody nests on purpose."""
    loop: dict[str, object] = {}
    loop["again"] = loop
    assert encode_data(bounded(loop, 10_000)).count("again") == 33


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"a": object()}, TypeError),
        ({"a": [{"b": {1, 2}}]}, TypeError),
        ({"a": b"bytes"}, TypeError),
        ({"a": deque([1])}, TypeError),
        ({"a": {1: 2}}, TypeError),
        ({1: 2}, TypeError),
        ({"a": 2**64}, TypeError),
        ({"a": -(2**63) - 1}, TypeError),
        ({f"{number}": 0 for number in range(65)}, ValueError),
        ({"a" * 101: 0}, ValueError),
    ],
)
def test_what_is_no_json_is_an_error(data: dict[str, object], error: type[Exception]) -> None:
    """Nothing is made up in its place."""
    with pytest.raises(error):
        bounded(data, 1000)


def test_a_number_that_json_lacks_becomes_null() -> None:
    """As the encoder of all events has it."""
    assert decode_data(encode_data(bounded({"a": math.nan, "b": -math.inf}, 10))) == {"a": None, "b": None}


@calm
@given(st.dictionaries(st.text(max_size=100), VALUES, max_size=8), st.integers(0, 200))
def test_whatever_json_comes_can_be_written(data: dict[str, Json], most: int) -> None:
    """It is encoded and read back unchanged, keeps its members, and is whole when there is room."""
    kept = bounded(data, most)
    assert decode_data(encode_data(kept)) == kept
    assert len(kept) == len({clean(name) for name in data})
    room = bounded(data, 1_000_000)
    assert kept == room or len(encode_data(room)) > most
