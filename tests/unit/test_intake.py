"""What comes in: bodies and fields, and the words they are refused with."""

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message

from gateway.intake import ChatRequest, check_id, read_chat
from gateway.problems import Refused
from shared.errors import InvalidField
from shared.events import Json
from tests.support.calm import calm
from tests.support.houses import SETTINGS
from tests.support.moved_loop import run

GOOD: dict[str, Json] = {"session_id": "s", "text": "hello", "message_id": "m", "user_id": "u"}


def read(*pieces: bytes, announced: bytes | None = None) -> ChatRequest:
    """Read a body that comes in pieces, with the length it announces (None: chunked)."""
    headers = [] if announced is None else [(b"content-length", announced)]
    left = list(pieces)

    async def receive() -> Message:
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    return run(read_chat(request, SETTINGS))


def read_fields(**changes: Json) -> ChatRequest:
    """Read a good body with some fields changed."""
    return read(json.dumps(GOOD | changes).encode())


def refusal(*pieces: bytes, announced: bytes | None = None) -> tuple[int, str | None, str]:
    """Return status, field and sentence of a body that is refused as a whole."""
    with pytest.raises(Refused) as refused:
        read(*pieces, announced=announced)
    return refused.value.status, refused.value.field, str(refused.value)


def test_a_good_body_is_read() -> None:
    """All four fields come out as they were sent, whatever pieces the body comes in."""
    body = json.dumps(GOOD).encode()
    assert read(body) == ChatRequest("s", "hello", "m", "u")
    assert read(*(bytes([byte]) for byte in body)) == ChatRequest("s", "hello", "m", "u")


def test_what_may_be_missing_is_made_up() -> None:
    """A missing user is anonymous, and two missing message ids are two ids."""
    one, other = (read(b'{"session_id":"s","text":"t"}') for _ in range(2))
    assert (one.user_id, len(one.message_id)) == ("anonymous", 36)
    assert one.message_id != other.message_id


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{}x",
        b"\xff",
        b'{"text":"\xed\xa0\x80"}',
        b"\xef\xbb\xbf{}",
        b"{'text': 1}",
        b'{"text": NaN}',
        b'{"text": Infinity}',
        b'{"text": -Infinity}',
        b'{"text": "a\nb"}',
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b'{"text": ' + b"1" * 5_000 + b"}",
        '{"text":"é"}'.encode("utf-16"),
    ],
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    """Anything but one JSON text in UTF-8 is 400, and the sentence says that the body is to be changed."""
    status, field, sentence = refusal(body)
    assert (status, field) == (400, "body")
    assert sentence.startswith("the body is no JSON: ")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"[]", "an array"),
        (b'"text"', "a string"),
        (b"1", "a number"),
        (b"1e999", "a number"),
        (b"true", "a boolean"),
        (b"null", "null"),
    ],
)
def test_json_that_is_no_object_is_refused(body: bytes, kind: str) -> None:
    """JSON of another kind is 400, and the sentence says which kind it is."""
    assert refusal(body) == (400, "body", f"the body is {kind}; expected a JSON object")


def test_a_body_that_is_announced_too_large_is_not_read() -> None:
    """A length beyond 64 KiB is refused before the first piece is taken."""
    assert refusal(announced=b"65537") == (413, "body", "the body is larger than 65536 bytes")
    assert refusal(announced=b"9" * 40) == (413, "body", "the body is larger than 65536 bytes")


def test_a_body_that_becomes_too_large_is_refused() -> None:
    """A chunked body is refused as soon as it is beyond 64 KiB, and one of exactly that size is read."""
    assert refusal(*[b" " * 1000] * 70) == (413, "body", "the body is larger than 65536 bytes")
    body = json.dumps(GOOD).encode()
    assert read(body, b" " * (65536 - len(body)), announced=b"65536").text == "hello"
    assert read(body, b" " * (65536 - len(body))).text == "hello"
    assert refusal(body, b" " * (65537 - len(body)))[0] == 413


@pytest.mark.parametrize("announced", [b"-1", b"x", b"", "٣".encode(), b"1_0"])
def test_a_length_that_is_no_number_is_ignored(announced: bytes) -> None:
    """What no server lets through does no harm: the body is read as it comes."""
    assert read(json.dumps(GOOD).encode(), announced=announced).text == "hello"


def test_a_body_that_breaks_off_is_refused() -> None:
    """A client that leaves in the middle of its body has sent no message, and this is no fault of ours."""
    assert refusal() == (400, "body", "the body ended before it was complete")


@pytest.mark.parametrize("field", ["session_id", "message_id", "user_id"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "is null; expected a string of 1 to 128 characters"),
        (1, "is a number; expected a string of 1 to 128 characters"),
        (1.5, "is a number; expected a string of 1 to 128 characters"),
        (False, "is a boolean; expected a string of 1 to 128 characters"),
        (["s"], "is an array; expected a string of 1 to 128 characters"),
        ({"s": "s"}, "is an object; expected a string of 1 to 128 characters"),
        ("", "has 0 characters; expected 1 to 128"),
        ("x" * 129, "has 129 characters; expected 1 to 128"),
        ("a\nb", "has a control character; expected none"),
        ("\x00", "has a control character; expected none"),
        ("\x7f", "has a control character; expected none"),
        ("\x85", "has a control character; expected none"),
    ],
)
def test_a_bad_id_is_refused(field: str, value: Json, problem: str) -> None:
    """Whatever is wrong with an id is told, with the name of its field."""
    with pytest.raises(InvalidField) as refused:
        read_fields(**{field: value})
    assert (refused.value.field, refused.value.problem) == (field, problem)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "is null; expected a string of 1 to 8000 characters"),
        (1, "is a number; expected a string of 1 to 8000 characters"),
        ([], "is an array; expected a string of 1 to 8000 characters"),
        ("", "is blank; expected at least one character that can be seen"),
        (" \n\t\u2003", "is blank; expected at least one character that can be seen"),
        ("x" * 8001, "has 8001 characters; expected at most 8000"),
        ("é" * 8001, "has 8001 characters; expected at most 8000"),
    ],
)
def test_a_bad_text_is_refused(value: Json, problem: str) -> None:
    """Whatever is wrong with a text is told."""
    with pytest.raises(InvalidField) as refused:
        read_fields(text=value)
    assert (refused.value.field, refused.value.problem) == ("text", problem)


@pytest.mark.parametrize("field", ["session_id", "text"])
def test_a_missing_field_is_refused(field: str) -> None:
    """A session and a text there must be."""
    body = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(InvalidField) as refused:
        read(json.dumps(body).encode())
    assert (refused.value.field, refused.value.problem.split(";")[0]) == (field, "is missing")


def test_an_unknown_field_is_refused() -> None:
    """A field that this call does not have is told by its name, so that a misspelt one is not lost in silence."""
    with pytest.raises(InvalidField) as refused:
        read_fields(mesage_id="m")
    assert refused.value.field == "mesage_id"
    known = "if_active, message_id, session_id, text, user_id"
    assert refused.value.problem == f"is not a field of this call; expected {known}"


@pytest.mark.parametrize("name", ["\ud800", "\x00", "x" * 10_000])
def test_an_unknown_field_of_any_name_can_be_told(name: str) -> None:
    """A name that UTF-8 cannot hold, or that has no end, comes back as one that an answer can hold."""
    with pytest.raises(InvalidField) as refused:
        read_fields(**{name: 1})
    assert 0 < len(refused.value.field.encode()) <= 128


def test_the_longest_of_everything_is_taken() -> None:
    """An id of 128 and a text of 8000 code points are within the bounds, whatever bytes they take."""
    chat = read(json.dumps(GOOD | {"session_id": "é" * 128, "text": "😀" * 8000}, ensure_ascii=False).encode())
    assert (len(chat.session_id), len(chat.text)) == (128, 8000)


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("a\\u0000b", "a\ufffdb"),
        ("a\\ud800", "a\ufffd"),
        ("\\udc00\\ud800", "\ufffd\ufffd"),
        ("\\ud83d\\ude00", "😀"),
        ("\\ud83d \\ude00", "\ufffd \ufffd"),
        ("\\u2028\\r\\n", "\u2028\r\n"),
    ],
)
def test_what_cannot_be_held_is_replaced(sent: str, stored: str) -> None:
    """NUL and lone surrogates become U+FFFD, a pair its character; nothing else of a text is changed (C3)."""
    assert read(f'{{"session_id":"s","text":"{sent}."}}'.encode()).text == f"{stored}."


def test_an_id_is_cleaned_too() -> None:
    """A lone surrogate in an id, which no database can hold, is replaced as well."""
    assert check_id("session_id", "a\ud800") == "a\ufffd"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@calm
@given(
    st.dictionaries(st.sampled_from(["session_id", "text", "message_id", "user_id", "x"]), json_values),
    st.lists(st.integers(0, 200), max_size=3),
)
def test_every_object_is_read_or_refused_by_name(fields: dict[str, Json], cuts: Sequence[int]) -> None:
    """Any object in any pieces gives a request that UTF-8 can hold, or a refusal that names one of its fields."""
    body = json.dumps(fields).encode()
    edges = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    pieces = [body[start:end] for start, end in pairwise(edges)]
    try:
        chat = read(*pieces)
    except InvalidField as refused:
        assert refused.field in {*fields, "session_id", "text"}
    else:
        f"{chat}".encode()
        assert "\0" not in f"{chat}"


@calm
@given(st.binary(max_size=100))
def test_every_body_is_read_or_refused(body: bytes) -> None:
    """No bytes make the reader fail in any other way than by a refusal."""
    with suppress(Refused, InvalidField):
        read(body)
