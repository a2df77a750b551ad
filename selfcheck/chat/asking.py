"""What a front end asks of a gateway besides streams: each call returns what its caller needs, or raises one error."""

import uuid
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import httpx
import msgspec

from client.arrivals import SessionRead
from client.reading import BadPayload, from_session
from shared.errors import CallerError, Unavailable

_AGAIN: Final = {HTTPStatus.TOO_MANY_REQUESTS}


class Refused(CallerError):
    """The gateway does not take this, for the reason that it gave."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        self.reason = reason
        super().__init__(f"refused with {status}: {reason}")


class Accepted(msgspec.Struct, frozen=True):
    """A message that was taken: by which run, and whether that was there already."""

    run_id: str
    merged: bool


class _Problem(msgspec.Struct):
    title: str = ""
    detail: str = ""


class Asking:
    """A gateway, as the base of `client`'s addresses.

    Every call raises `Refused` (asking again changes nothing), `Unavailable`, or `BadPayload` for an answer that is
    none of a gateway's.
    """

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def session(self, session_id: str) -> SessionRead:
        """Return the runs of a session."""
        return from_session(self._ask("GET", f"/sessions/{quote(session_id, safe='')}"))

    def send(self, session_id: str, text: str) -> Accepted:
        """Send a message."""
        message = {"session_id": session_id, "text": text, "message_id": uuid.uuid4().hex}
        answer = self._ask("POST", "/chat", message)
        try:
            return msgspec.json.decode(answer, type=Accepted)
        except msgspec.DecodeError as error:
            raise BadPayload("the answer to a message", str(error)) from error

    def cancel(self, run_id: str) -> None:
        """Ask for a run to be stopped; one that has ended is."""
        try:
            self._ask("POST", f"/runs/{quote(run_id, safe='')}/cancel")
        except Refused as refused:
            if refused.status != HTTPStatus.CONFLICT:
                raise

    def answer(self, run_id: str, question_id: str, text: str) -> bool:
        """Answer a question of a run; return whether it counts: the question may have had its answer, or its time."""
        try:
            self._ask("POST", f"/runs/{quote(run_id, safe='')}/answers", {"question_id": question_id, "text": text})
        except Refused as refused:
            if refused.status != HTTPStatus.CONFLICT:
                raise
            return False
        return True

    def _ask(self, method: str, path: str, document: dict[str, str] | None = None) -> bytes:
        try:
            answer = self._client.request(method, path, json=document)
        except httpx.TransportError as error:
            address = self._client.base_url.netloc.decode("ascii")
            raise Unavailable("gateway", f"{address}: {type(error).__name__}: {error}") from error
        if answer.is_success:
            return answer.content
        reason = _reason(answer)
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status_code in _AGAIN:
            raise Unavailable("gateway", f"it answers {answer.status_code}: {reason}")
        raise Refused(answer.status_code, reason)


def _reason(answer: httpx.Response) -> str:
    """Return what a problem document says (RFC 9457), or what HTTP has to say."""
    try:
        problem = msgspec.json.decode(answer.content, type=_Problem)
    except msgspec.DecodeError:
        problem = _Problem()
    return problem.detail or problem.title or answer.reason_phrase
