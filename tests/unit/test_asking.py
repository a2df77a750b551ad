"""What a front end asks besides streams, and what becomes of the answers."""

from collections.abc import Callable

import httpx
import msgspec
import pytest

from client.arrivals import ReadRun, SessionRead
from client.reading import BadPayload
from selfcheck.chat.asking import Accepted, Asking, Refused
from shared.errors import CallerError, Unavailable
from shared.run import RunStatus


class Server:
    """Gives one answer, and keeps what was asked."""

    def __init__(self, status: int, body: bytes) -> None:
        self.answer = (status, body)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request: this is what a mock transport calls."""
        self.requests.append(request)
        status, body = self.answer
        return httpx.Response(status, content=body)


def asking(server: Callable[[httpx.Request], httpx.Response]) -> Asking:
    """Return what asks this server."""
    return Asking(httpx.Client(base_url="http://gateway/lab", transport=httpx.MockTransport(server)))


def test_a_message_is_sent_under_an_id_of_its_own() -> None:
    """The answer says which run took it; two messages with one text are two messages."""
    server = Server(202, b'{"run_id":"r","session_id":"s","merged":true,"status":"streaming"}')
    assert [asking(server).send("s", "取消"), asking(server).send("s", "取消")] == [Accepted("r", True)] * 2
    assert [(request.method, str(request.url)) for request in server.requests] == [
        ("POST", "http://gateway/lab/chat")
    ] * 2  # fmt: skip
    first, second = (msgspec.json.decode(request.content, type=dict[str, str]) for request in server.requests)
    assert first.pop("message_id") != second.pop("message_id")
    assert first == second == {"session_id": "s", "text": "取消"}


def test_a_session_is_read() -> None:
    """Its id may be anything that an id may be."""
    server = Server(200, b'{"runs":[{"run_id":"r","status":"failed","text":"half"}],"cursor":"0-1"}')
    assert asking(server).session("a/b 取?") == SessionRead((ReadRun("r", "half", None, RunStatus.FAILED),))
    assert server.requests[0].url.raw_path == b"/lab/sessions/a%2Fb%20%E5%8F%96%3F"


@pytest.mark.parametrize("status", [200, 202, 409])
def test_a_run_that_has_ended_needs_no_stop(status: int) -> None:
    """Whether it is stopped now, will be, or was over before: that is what was asked for."""
    server = Server(status, b"{}")
    asking(server).cancel("a/b")
    assert (server.requests[0].method, server.requests[0].url.raw_path) == ("POST", b"/lab/runs/a%2Fb/cancel")


@pytest.mark.parametrize(("status", "counts"), [(200, True), (409, False)])
def test_an_answer_counts_or_is_late(status: int, counts: bool) -> None:
    """A question that has its answer, or had its time, takes no other; that is no mistake of the caller's."""
    server = Server(status, b"{}")
    assert asking(server).answer("a/b", "q", "取") is counts
    (request,) = server.requests
    assert (request.method, request.url.raw_path) == ("POST", b"/lab/runs/a%2Fb/answers")
    assert msgspec.json.decode(request.content) == {"question_id": "q", "text": "取"}


def test_an_answer_to_nothing_is_refused() -> None:
    """The question is not this run's."""
    with pytest.raises(Refused, match="refused with 404"):
        asking(Server(404, b"{}")).answer("r", "q", "yes")


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, b'{"title":"Not Found","detail":"there is no run"}', "there is no run"),
        (422, b'{"title":"Unprocessable"}', "Unprocessable"),
        (400, b"<html>", "Bad Request"),
    ],
)
def test_what_is_refused_is_the_callers_mistake(status: int, body: bytes, reason: str) -> None:
    """The reason is the problem document's, else HTTP's."""
    with pytest.raises(Refused) as refused:
        asking(Server(status, body)).cancel("r")
    assert isinstance(refused.value, CallerError)
    assert (refused.value.status, refused.value.reason) == (status, reason)
    assert str(refused.value) == f"refused with {status}: {reason}"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_work_later_is_unavailable(status: int) -> None:
    """Asking again is worth while."""
    with pytest.raises(Unavailable, match=f"^the gateway is away: it answers {status}: the bus is away$"):
        asking(Server(status, b'{"detail":"the bus is away"}')).send("s", "hi")


def test_a_gateway_that_cannot_be_reached_is_unavailable() -> None:
    """Which one is said; the transport's error is the cause."""

    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(Unavailable, match=r"^the gateway is away: gateway: ConnectError: refused$") as away:
        asking(refuse).session("s")
    assert isinstance(away.value.__cause__, httpx.ConnectError)


def test_an_answer_of_something_else_is_told_apart() -> None:
    """A success that is none of a gateway's answers is an error, not a message that was taken."""
    with pytest.raises(BadPayload, match="the answer to a message cannot be read"):
        asking(Server(200, b"<html>")).send("s", "hi")
    with pytest.raises(BadPayload, match="a session's snapshot cannot be read"):
        asking(Server(200, b"<html>")).session("s")
