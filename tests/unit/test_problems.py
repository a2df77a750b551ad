"""Errors as problem documents."""

import logging
from collections.abc import Iterator
from http import HTTPStatus

import msgspec
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gateway.problems import Refused, answer, problem
from shared.errors import (
    Fenced,
    IllegalTransition,
    InvalidField,
    KodaError,
    Misconfigured,
    QuestionClosed,
    RunEnded,
    SessionBusy,
    Unavailable,
    UnknownQuestion,
    UnknownRun,
)
from shared.events import Json
from shared.run import RunStatus
from tests.support.moved_loop import run

REQUEST = Request({"type": "http", "method": "GET", "headers": []})

FAULTS: list[tuple[Exception, int, str | None]] = [
    (InvalidField("text", "is blank"), 422, "text"),
    (UnknownRun("r"), 404, "run_id"),
    (RunEnded("r", RunStatus.DONE, "cancel"), 409, None),
    (UnknownQuestion("q"), 404, "question_id"),
    (QuestionClosed("q", "answered", "yes"), 409, "question_id"),
    (SessionBusy("s", "r"), 409, "if_active"),
    (Fenced("r", 1), 409, None),
    (IllegalTransition(RunStatus.DONE, RunStatus.RUNNING), 409, None),
    (Unavailable("store", "secret:5432 refused"), 503, None),
    (Misconfigured("bus", "secret:6379 is of version 2", "update it"), 503, None),
    (Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large", field="body"), 413, "body"),
    (HTTPException(404), 404, None),
    (HTTPException(405, headers={"Allow": "GET"}), 405, None),
    (HTTPException(400, "odd"), 400, None),
    (ZeroDivisionError("secret"), 500, None),
]


def answered(fault: Exception) -> Response:
    """Return the answer to a request that raised."""
    return run(answer(REQUEST, fault))


def document(response: Response) -> dict[str, Json]:
    """Return the document in a response."""
    assert response.headers["content-type"] == "application/problem+json"
    decoded: dict[str, Json] = msgspec.json.decode(bytes(response.body))
    return decoded


@pytest.mark.parametrize(("fault", "status", "field"), FAULTS)
def test_every_fault_has_its_document(fault: Exception, status: int, field: str | None) -> None:
    """A fault is answered with its status, in head and document, and with the field where one is to blame."""
    response = answered(fault)
    members = document(response)
    assert (response.status_code, members["status"], members["type"]) == (status, status, "about:blank")
    assert members.get("field") == field
    assert members["title"] and members["detail"]


@pytest.mark.parametrize("fault", [fault for fault, status, _ in FAULTS if status >= 500])
def test_no_answer_tells_the_inside(fault: Exception) -> None:
    """What a service or a fault of ours said is for the log: an answer names no host and quotes no exception."""
    assert b"secret" not in bytes(answered(fault).body)


def test_a_fault_of_ours_is_in_our_log(caplog: pytest.LogCaptureFixture) -> None:
    """An exception that nobody expected is logged with its traceback, as the answer says."""
    answered(ZeroDivisionError("secret"))
    (record,) = caplog.records
    assert (record.name, record.levelno, record.getMessage()) == ("koda.gateway", logging.ERROR, "request_crashed")
    assert record.exc_info is not None and isinstance(record.exc_info[1], ZeroDivisionError)


def test_a_service_that_is_away_is_in_our_log(caplog: pytest.LogCaptureFixture) -> None:
    """What the answer leaves out is logged."""
    answered(Unavailable("store", "secret:5432 refused"))
    (record,) = caplog.records
    assert record.getMessage() == "request_refused"
    assert "secret:5432" in f"{vars(record)['fields']}"


@pytest.mark.parametrize("service", ["store", "bus"])
def test_a_service_that_is_away_says_when_to_come_again(service: str) -> None:
    """503 tells which service it is and comes with Retry-After, in seconds."""
    response = answered(Unavailable(service, "no answer"))
    assert response.headers["retry-after"] == "1"
    assert str(document(response)["detail"]).startswith(f"the {service} is away")


def test_a_refusal_says_when_to_come_again_if_it_knows() -> None:
    """A refusal has Retry-After exactly when it was given one."""
    assert "retry-after" not in answered(Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large")).headers
    assert answered(Refused(HTTPStatus.TOO_MANY_REQUESTS, "too many", retry_after_s=3)).headers["retry-after"] == "3"


def test_the_headers_of_the_framework_are_kept() -> None:
    """A wrong method is answered with the methods that are right."""
    assert answered(HTTPException(405, headers={"Allow": "GET"})).headers["allow"] == "GET"


def test_a_document_without_a_field_has_no_such_member() -> None:
    """The member `field` is there when a field is to blame, and not there otherwise."""
    members = {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "d"}
    assert document(problem(404, "d")) == members
    assert document(problem(404, "d", field="run_id")) == members | {"field": "run_id"}


def test_a_question_that_is_answered_brings_the_answer() -> None:
    """Whoever was second is shown what counted; where nothing did, there is no such member."""
    assert document(answered(QuestionClosed("q", "answered", "yes")))["answer"] == "yes"
    assert "answer" not in document(answered(QuestionClosed("q", "expired", None)))


def error_classes(root: type[KodaError] = KodaError) -> Iterator[type[KodaError]]:
    """Yield all classes of the error tree that `shared.errors` draws."""
    for kind in root.__subclasses__():
        if kind.__module__ == "shared.errors":
            yield kind
            yield from error_classes(kind)


def test_the_whole_error_tree_is_answered() -> None:
    """Every error that this project raises is in the table above, itself or by a class below it, and none is a 500."""
    known = [type(fault) for fault, status, _ in FAULTS if status != 500]
    missing = [kind for kind in error_classes() if not any(issubclass(each, kind) for each in known)]
    assert missing == []
