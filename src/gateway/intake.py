"""What comes in: bodies and fields, read within bounds and refused with the field's name."""

import asyncio
import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from uuid import uuid4

from starlette.requests import ClientDisconnect, Request

from gateway.problems import Refused
from shared.errors import InvalidField
from shared.events import Json
from shared.ledger import IfActive
from shared.settings import Settings
from shared.text import clean

MAX_ID = 128  # code points in an id that a caller makes up

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_CHAT = frozenset({"session_id", "text", "message_id", "user_id", "if_active"})
_ANSWER = frozenset({"question_id", "text"})


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The body of `POST /chat`, checked and cleaned."""

    session_id: str
    text: str
    message_id: str
    user_id: str
    if_active: IfActive = IfActive.MERGE


async def read_chat(request: Request, settings: Settings) -> ChatRequest:
    """Read and check the body of `POST /chat`. A missing message id is made up, a missing user is "anonymous".

    Raises:
        Refused: 413, 408 or 400.
        InvalidField: 422.
    """
    fields = await _read_fields(request, settings, _CHAT)
    return ChatRequest(
        check_id("session_id", _required(fields, "session_id")),
        _check_text(_required(fields, "text"), settings.max_text),
        check_id("message_id", fields.get("message_id", str(uuid4()))),
        check_id("user_id", fields.get("user_id", "anonymous")),
        _check_if_active(fields.get("if_active", str(IfActive.MERGE))),
    )


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """An answer to a question, checked and cleaned."""

    question_id: str
    text: str


async def read_answer(request: Request, settings: Settings) -> AnswerRequest:
    """Read and check the body of `POST /runs/{run_id}/answers`.

    Raises:
        Refused: 413, 408 or 400.
        InvalidField: 422.
    """
    return check_answer(await _read_fields(request, settings, _ANSWER), settings)


def check_answer(fields: dict[str, Json], settings: Settings) -> AnswerRequest:
    """Return the answer that these fields are.

    Raises:
        InvalidField: they are none.
    """
    question_id = check_id("question_id", _required(fields, "question_id"))
    return AnswerRequest(question_id, _check_text(_required(fields, "text"), settings.max_text))


def check_id(field: str, value: Json) -> str:
    """Return an id of 1 to 128 characters without control characters.

    Raises:
        InvalidField: it is not one.
    """
    if not isinstance(value, str):
        raise InvalidField(field, f"is {_kind(value)}; expected a string of 1 to {MAX_ID} characters")
    if not 1 <= len(value) <= MAX_ID:
        raise InvalidField(field, f"has {len(value)} characters; expected 1 to {MAX_ID}")
    if _CONTROL.search(value):
        raise InvalidField(field, "has a control character; expected none")
    return clean(value)


def _required(fields: dict[str, Json], field: str) -> Json:
    if field not in fields:
        raise InvalidField(field, "is missing; this call needs it")
    return fields[field]


def _check_if_active(value: Json) -> IfActive:
    known = [str(policy) for policy in IfActive]
    if value not in known:
        raise InvalidField("if_active", f"is not one of {', '.join(known)}")
    return IfActive(str(value))


def _check_text(value: Json, most: int) -> str:
    if not isinstance(value, str):
        raise InvalidField("text", f"is {_kind(value)}; expected a string of 1 to {most} characters")
    if len(value) > most:
        raise InvalidField("text", f"has {len(value)} characters; expected at most {most}")
    text = clean(value)
    if not text.strip():
        raise InvalidField("text", "is blank; expected at least one character that can be seen")
    return text


async def _read_body(request: Request, settings: Settings) -> bytes:
    most, timeout_s = settings.max_body, settings.request_timeout.total_seconds()
    announced = request.headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and int(announced[:18]) > most:
        raise _too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise _too_large(most)
    except TimeoutError as late:
        detail = f"the body was not complete after {timeout_s:g} s"
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, detail, field="body") from late
    except ClientDisconnect as left:
        raise Refused(HTTPStatus.BAD_REQUEST, "the body ended before it was complete", field="body") from left
    return bytes(body)


def _too_large(most: int) -> Refused:
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {most} bytes", field="body")


async def _read_fields(request: Request, settings: Settings, known: frozenset[str]) -> dict[str, Json]:
    try:
        fields = parse_object(await _read_body(request, settings))
    except ValueError as error:
        raise Refused(HTTPStatus.BAD_REQUEST, f"the body is {error}", field="body") from error
    unknown = fields.keys() - known
    if unknown:
        raise InvalidField(
            clean(min(unknown))[:MAX_ID], f"is not a field of this call; expected {', '.join(sorted(known))}"
        )
    return fields


def parse_object(document: bytes) -> dict[str, Json]:
    """Read a JSON object.

    Raises:
        ValueError: it is none. The message says what it is instead.
    """
    try:
        # Not msgspec: it refuses lone surrogates, which JSON can hold and `clean` has an answer to.
        fields: Json = json.loads(document.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ValueError(f"{_kind(fields)}; expected a JSON object")
    return fields


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no number in JSON")  # Python's parser takes NaN and Infinity for numbers


def _kind(value: Json) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case list():
            return "an array"
        case str():
            return "a string"
        case None:
            return "null"
        case _:
            return "an object"
