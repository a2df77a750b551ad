"""Errors as `application/problem+json` (RFC 9457): what happened, which field, and when trying again makes sense."""

import logging
from http import HTTPStatus

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from shared.errors import (
    CallerError,
    InvalidField,
    LostOwnership,
    QuestionClosed,
    RunEnded,
    SessionBusy,
    Unavailable,
    UnknownQuestion,
    UnknownRun,
)
from shared.events import Json
from shared.logs import logger, note

log = logger("gateway")

RETRY_AFTER_S = 1  # a restart of a service takes about this long


class Refused(CallerError):
    """A request that is refused with a status of its own, before any rule of ours looks at it."""

    def __init__(
        self, status: HTTPStatus, detail: str, *, field: str | None = None, retry_after_s: int | None = None
    ) -> None:
        self.status = status
        self.field = field
        self.retry_after_s = retry_after_s
        super().__init__(detail)


def problem(
    status: int, detail: str, *, field: str | None = None, headers: dict[str, str] | None = None,
    more: dict[str, Json] | None = None,
) -> Response:  # fmt: skip
    """Return a problem document; `field` is the member of the request that is to be changed."""
    document: dict[str, Json] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if field is not None:
        document["field"] = field
    document.update(more or {})
    return Response(msgspec.json.encode(document), status, headers, "application/problem+json")


async def answer(_: Request, fault: Exception) -> Response:
    """Turn an exception into the response it stands for."""
    match fault:
        case Refused():
            headers = {} if fault.retry_after_s is None else {"Retry-After": str(fault.retry_after_s)}
            return problem(fault.status, str(fault), field=fault.field, headers=headers)
        case InvalidField():
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, fault.problem, field=fault.field)
        case UnknownRun():
            return problem(HTTPStatus.NOT_FOUND, str(fault), field="run_id")
        case UnknownQuestion():
            return problem(HTTPStatus.NOT_FOUND, str(fault), field="question_id")
        case QuestionClosed():
            more: dict[str, Json] = {} if fault.answer is None else {"answer": fault.answer}
            return problem(HTTPStatus.CONFLICT, str(fault), field="question_id", more=more)
        case SessionBusy():
            return problem(HTTPStatus.CONFLICT, str(fault), field="if_active")
        case RunEnded() | LostOwnership():
            return problem(HTTPStatus.CONFLICT, str(fault))
        case Unavailable():
            note(log, "request_refused", logging.WARNING, why=str(fault))
            # What exactly the service said names hosts and versions; that is for the log.
            detail = f"the {fault.service} is away; try again"
            headers = {"Retry-After": str(RETRY_AFTER_S)}
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers=headers)
        case HTTPException():
            return problem(fault.status_code, _explain(fault), headers=dict(fault.headers or {}))
        case _:
            log.error("request_crashed", exc_info=fault)
            return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault of ours; it has been logged")


def _explain(fault: HTTPException) -> str:
    match fault.status_code:
        case HTTPStatus.NOT_FOUND:
            return "there is nothing here; the calls are listed in docs/wire.md"
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return "this path does not know this method; see the header Allow"
        case _:
            return fault.detail
