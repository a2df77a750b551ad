"""Every call of the gateway and every answer it gives: status, headers, members."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote

import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.bootstrap import build
from shared.adapters.memory import MemoryStore
from shared.bootstrap import Ports
from shared.errors import Unavailable
from shared.events import Json, decode_data
from shared.ports import Accepted, Mark, Message, StoredRun
from shared.run import Run, RunStatus
from shared.settings import MERGE_WINDOW
from tests.support.asking import Answer, Headers, ask, calling
from tests.support.houses import LEASE, SETTINGS, SOLUTION, House, as_sent, delta, done, house, log
from tests.support.moved_loop import run, settle

STREAM: Headers = [(b"accept", b"text/event-stream")]


def message(**fields: Json) -> bytes:
    """Return the body of a message of session "s"."""
    return msgspec.json.encode({"session_id": "s", "text": "hello"} | fields)


async def send(gateway: House, **fields: Json) -> Answer:
    """Send a message of session "s"."""
    return await ask(gateway.app, "POST", "/chat", body=message(**fields))


async def opened(gateway: House, **fields: Json) -> str:
    """Send a message; return the run it went to."""
    answer = await send(gateway, **fields)
    assert answer.status == 202
    return str(answer.json()["run_id"])


async def at_status(gateway: House, status: RunStatus) -> None:
    """Bring a run "r" to a status."""
    if status is RunStatus.PENDING:
        await gateway.run()
    elif status is RunStatus.RUNNING:
        await gateway.run()
        assert await gateway.store.claim("w", LEASE, "s") is not None
    elif status is RunStatus.STREAMING:
        await gateway.streaming()
    else:
        await gateway.ended([delta(0), replace(done(1), kind=type(done(1).kind)(status.value))])


# --- POST /chat -------------------------------------------------------------------------------------------------------


def test_a_message_opens_a_run() -> None:
    """The first message of a session is answered with a pending run, stored with it, and rung for."""

    async def main() -> None:
        gateway = house()
        answer = await send(gateway, message_id="m", user_id="u")
        run_id = str(answer.json()["run_id"])
        assert (answer.status, answer.headers["content-type"]) == (202, "application/json")
        assert "idempotency-replayed" not in answer.headers
        assert answer.json() == {
            "run_id": run_id,
            "session_id": "s",
            "merged": False,
            "status": "pending",
            "events_url": f"/runs/{run_id}/events",
        }
        (stored,) = await gateway.store.messages_of(run_id)
        assert (stored.id, stored.user_id, stored.text) == ("m", "u", "hello")
        assert [each.session_id for each in await gateway.queue.take("w", 9, timedelta(0))] == ["s"]

    run(main())


@pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.STREAMING])
def test_a_message_joins_an_active_run(status: RunStatus) -> None:
    """A message to a session with an active run, one that is young, is merged into it and marked for its worker."""

    async def main() -> None:
        gateway = house()
        await at_status(gateway, status)
        gateway.clock.advance(MERGE_WINDOW - timedelta(seconds=1))
        answer = await send(gateway)
        assert answer.json() == {
            "run_id": "r",
            "session_id": "s",
            "merged": True,
            "status": status.value,
            "events_url": "/runs/r/events",
        }
        assert await gateway.marks.read("r") == frozenset({Mark.RERUN})
        assert (len(await gateway.store.messages_of("r")), await gateway.queue.depth()) == (2, 0)

    run(main())


@pytest.mark.parametrize(
    "status", [RunStatus.PENDING, RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED, "old", "cancel asked"]
)
def test_a_message_opens_a_run_of_its_own(status: RunStatus | str) -> None:
    """A run that is pending, has ended, is 30 s old or was asked to stop takes no message: the next opens a run."""

    async def main() -> None:
        gateway = house()
        await at_status(gateway, status if isinstance(status, RunStatus) else RunStatus.STREAMING)
        if status == "old":
            (stored,) = await gateway.store.runs_of("s")
            gateway.clock.advance(MERGE_WINDOW - (gateway.clock.now() - stored.run.created_at))
        if status == "cancel asked":
            await gateway.store.ask_cancel("r")
        answer = (await send(gateway)).json()
        assert (answer["merged"], answer["status"], answer["run_id"] != "r") == (False, "pending", True)

    run(main())


def test_a_message_sent_again_gets_its_first_answer() -> None:
    """The same message id gives the same bytes and says so, whatever has become of the run; nothing is stored twice."""

    async def main() -> None:
        gateway = house()
        first = await send(gateway, message_id="m")
        run_id = str(first.json()["run_id"])
        assert await gateway.store.claim("w", LEASE, "s") is not None
        second = await send(gateway, message_id="merged")
        assert second.json()["merged"] is True
        for sent, message_id in ((first, "m"), (second, "merged")):
            again = await send(gateway, message_id=message_id)
            assert (again.status, again.body) == (202, sent.body)
            assert again.headers["idempotency-replayed"] == "true"
        assert [each.id for each in await gateway.store.messages_of(run_id)] == ["m", "merged"]
        assert len(await gateway.store.runs_of("s")) == 1

    run(main())


class ForgetfulStore(MemoryStore):
    """Takes a message, and loses the word of it with its connection, once."""

    lost = False

    async def open_run(self, run: Run, message: Message) -> Accepted:
        """Open a run, and say nothing of it the first time."""
        accepted = await super().open_run(run, message)
        if not self.lost:
            self.lost = True
            raise Unavailable("store", "the connection was lost")
        return accepted


def test_a_message_whose_taking_was_not_heard_of_is_taken_once() -> None:
    """It is answered with 503 although it is stored; sent again it gets its run, and a worker is told."""

    async def main() -> None:
        gateway = house(store=ForgetfulStore)
        assert (await send(gateway, message_id="m")).status == 503
        again = await send(gateway, message_id="m")
        assert (again.status, again.headers["idempotency-replayed"]) == (202, "true")
        assert [each.run.id for each in await gateway.store.runs_of("s")] == [again.json()["run_id"]]
        assert await gateway.queue.depth() == 1

    run(main())


def test_a_message_id_belongs_to_its_session() -> None:
    """The same message id in another session is another message."""

    async def main() -> None:
        gateway = house()
        one, other = await opened(gateway, message_id="m"), await opened(gateway, message_id="m", session_id="t")
        assert one != other

    run(main())


@pytest.mark.parametrize("status", [RunStatus.PENDING, RunStatus.STREAMING, RunStatus.DONE])
def test_a_message_id_with_another_text_is_refused(status: RunStatus) -> None:
    """A message id that stands for another text is a mistake, told with its field; nothing is stored."""

    async def main() -> None:
        gateway = house()
        await at_status(gateway, status)
        before = await gateway.store.inputs_of("s")
        answer = await send(gateway, message_id="m-r", text="other")
        assert (answer.status, answer.problem()["field"]) == (422, "message_id")
        assert await gateway.store.inputs_of("s") == before

    run(main())


class SlowStore(MemoryStore):
    """Lets others run between the gateway's question and its write."""

    async def latest_run(self, session_id: str) -> StoredRun | None:
        """Answer, and let the others ask as well."""
        latest = await super().latest_run(session_id)
        await settle()
        return latest


def test_a_message_sent_many_times_at_once_is_one_message() -> None:
    """Of equal messages at the same moment one opens a run, and all get its answer (W7)."""

    async def main() -> None:
        gateway = house(store=SlowStore)
        answers = await asyncio.gather(*(send(gateway, message_id="m") for _ in range(5)))
        assert {answer.body for answer in answers} == {answers[0].body}
        assert sorted(answer.headers.get("idempotency-replayed", "") for answer in answers) == ["", *["true"] * 4]
        assert len(await gateway.store.inputs_of("s")) == 1

    run(main())


REFUSED_BODIES: list[tuple[bytes, int, str]] = [
    (b"", 400, "body"),
    (b"{", 400, "body"),
    (b"\xff\xfe", 400, "body"),
    (b"[]", 400, "body"),
    (b"null", 400, "body"),
    (b'"s"', 400, "body"),
    (b"7", 400, "body"),
    (b"[" * 30_000, 400, "body"),
    (message(session_id=None), 422, "session_id"),
    (message(session_id=""), 422, "session_id"),
    (message(session_id="x" * 129), 422, "session_id"),
    (message(session_id="a\tb"), 422, "session_id"),
    (message(session_id=7), 422, "session_id"),
    (message(message_id=""), 422, "message_id"),
    (message(message_id="a\x00"), 422, "message_id"),
    (message(message_id=True), 422, "message_id"),
    (message(user_id="x" * 129), 422, "user_id"),
    (message(user_id={}), 422, "user_id"),
    (message(text=None), 422, "text"),
    (message(text=""), 422, "text"),
    (message(text=" \n "), 422, "text"),
    (message(text="x" * 8001), 422, "text"),
    (message(text=["x"]), 422, "text"),
    (message(sesion_id="s"), 422, "sesion_id"),
    (b'{"text":"hello"}', 422, "session_id"),
    (b'{"session_id":"s"}', 422, "text"),
    (b'{"session_id":"s","text":"t","\\ud800":1}', 422, "\ufffd"),
    (b" " * 65_537, 413, "body"),
]


@pytest.mark.parametrize("headers", [[], STREAM])
@pytest.mark.parametrize(("body", "status", "field"), REFUSED_BODIES)
def test_a_bad_message_is_refused_by_its_field(body: bytes, status: int, field: str, headers: Headers) -> None:
    """A message that cannot be taken is told why and by which field, stream or not, and nothing is stored."""

    async def main() -> None:
        gateway = house()
        for pieces in ([body], [body[:10], body[10:]]):
            answer = await ask(gateway.app, "POST", "/chat", headers, pieces)
            assert (answer.status, answer.problem()["field"], answer.raised) == (status, field, None)
        assert await gateway.store.inputs_of("s") == []

    run(main())


def test_a_body_that_is_announced_too_large_is_refused_unread() -> None:
    """A length beyond the bound is refused before any of it is read."""

    async def main() -> None:
        gateway = house()
        async with calling(gateway.app, "POST", "/chat", [(b"content-length", b"65537")], [b"x"] * 70_000) as call:
            answer = await call.answer()
            assert (answer.status, len(call.body)) == (
                413,
                70_000 - call.body.count(b"") if b"" in call.body else 70_000,
            )

    run(main())


def test_a_client_that_leaves_in_its_body_sent_nothing() -> None:
    """A body that breaks off stores nothing and is no fault of ours."""

    async def main() -> None:
        gateway = house()
        async with calling(gateway.app, "POST", "/chat", body=[message()[:10], b""]) as call:
            call.body.pop()
            call.leave()
            await settle()
            assert (call.over, call.raised) == (True, None)
        assert await gateway.store.inputs_of("s") == []

    run(main())


@pytest.mark.parametrize(
    ("text", "stored"), [("a\\u0000b", "a\ufffdb"), ("half \\ud83d", "half \ufffd"), ("\\ud83d\\ude00", "😀")]
)
def test_what_cannot_be_held_is_stored_replaced(text: str, stored: str) -> None:
    """NUL and lone surrogates are stored as U+FFFD, and the same message again is the same message (C3)."""

    async def main() -> None:
        gateway = house()
        body = f'{{"session_id":"s","message_id":"m","text":"{text}"}}'.encode()
        first = await ask(gateway.app, "POST", "/chat", body=body)
        again = await ask(gateway.app, "POST", "/chat", body=body)
        assert (first.status, again.status, again.body) == (202, 202, first.body)
        (kept,) = await gateway.store.messages_of(str(first.json()["run_id"]))
        assert kept.text == stored

    run(main())


# --- POST /chat, answered by the stream -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "accept", [b"text/event-stream", b"application/json, text/event-stream;q=0.9", b"Text/Event-Stream"]
)
def test_a_message_can_be_answered_by_its_stream(accept: bytes) -> None:
    """With `Accept: text/event-stream` the answer is the run's stream, and the header names the run."""

    async def main() -> None:
        gateway = house()
        async with calling(gateway.app, "POST", "/chat", [(b"accept", accept)], message()) as call:
            assert await call.started() == 200
            assert call.headers["content-type"] == "text/event-stream; charset=utf-8"
            run_id = call.headers["x-run-id"]
            claim = await gateway.store.claim("w", LEASE, "s")
            assert claim is not None and claim.run.id == run_id
            await gateway.publish(*log(3, run_id))
            assert await call.events() == as_sent(log(3, run_id))

    run(main())


def test_a_merged_message_is_answered_by_the_whole_stream() -> None:
    """A message that joins a run gets that run's stream from its beginning."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.write(delta(0), delta(1))
        async with calling(gateway.app, "POST", "/chat", [*STREAM, (b"last-event-id", b"1")], message()) as call:
            await gateway.write(done(2))
            assert (await call.started(), call.headers["x-run-id"]) == (200, "r")
            assert await call.events() == as_sent(log(3))

    run(main())


def test_a_message_sent_again_is_answered_by_the_whole_stream() -> None:
    """A message whose run has ended since is answered by all of it, and the header says that it is a repetition."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(3))
        async with calling(gateway.app, "POST", "/chat", STREAM, message(message_id="m-r")) as call:
            assert await call.events() == as_sent(log(3))
            assert (call.headers["x-run-id"], call.headers["idempotency-replayed"]) == ("r", "true")

    run(main())


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "attempt", "last_seq"),
    [
        (RunStatus.PENDING, 0, None),
        (RunStatus.RUNNING, 1, None),
        (RunStatus.STREAMING, 1, None),
        (RunStatus.DONE, 1, 1),
        (RunStatus.FAILED, 1, 1),
        (RunStatus.CANCELLED, 1, 1),
    ],
)
def test_a_run_tells_where_it_stands(status: RunStatus, attempt: int, last_seq: int | None) -> None:
    """A run is shown with its status, attempt, newest seq (null while there is none) and times with an offset."""

    async def main() -> None:
        gateway = house()
        await at_status(gateway, status)
        answer = await ask(gateway.app, "GET", "/runs/r")
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert answer.json() == {
            "run_id": "r",
            "session_id": "s",
            "status": status.value,
            "attempt": attempt,
            "last_seq": last_seq,
            "created_at": "2026-01-01T00:00:00.001000+00:00",
            "updated_at": "2026-01-01T00:00:00.001000+00:00",
        }

    run(main())


@pytest.mark.parametrize("run_id", ["x", "%00", "%0A", "%ED%A0%80", "%FF", "x" * 5000, "%F0%9F%98%80", "..", "%2e%2e"])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/runs/{}"), ("HEAD", "/runs/{}"), ("GET", "/runs/{}/events"), ("POST", "/runs/{}/cancel")],
)
def test_an_unknown_run_is_not_found(method: str, path: str, run_id: str) -> None:
    """Whatever the id is made of, a run that does not exist is 404, and the answer names the member of the path."""

    async def main() -> None:
        gateway = house()
        answer = await ask(gateway.app, method, path.format(run_id))
        assert (answer.status, answer.problem()["field"], answer.raised) == (404, "run_id", None)

    run(main())


class FussyStore(MemoryStore):
    """Holds only what PostgreSQL can hold."""

    async def run(self, run_id: str) -> StoredRun | None:
        """Look a run up by an id that can be one."""
        assert "\0" not in run_id and run_id.encode()
        return await super().run(run_id)


@pytest.mark.parametrize("path", ["/runs/%00", "/runs/a%00b/events", "/runs/%ED%A0%80"])
def test_no_store_is_asked_for_what_it_cannot_hold(path: str) -> None:
    """An id that no database can hold is cleaned before anybody is asked for it."""

    async def main() -> None:
        assert (await ask(house(store=FussyStore).app, "GET", path)).status == 404

    run(main())


def test_a_pending_run_is_cancelled_at_once() -> None:
    """A run that no worker has ends here: 200, status cancelled, one event with seq 0, and the session is free."""

    async def main() -> None:
        gateway = house()
        await gateway.run()
        answer = await ask(gateway.app, "POST", "/runs/r/cancel")
        assert (answer.status, answer.json()) == (200, {"run_id": "r", "status": "cancelled"})
        (event,) = await gateway.store.events("r", 0, 9)
        assert (event.seq, event.kind.value, list(decode_data(event.data))) == (0, "cancelled", ["reason"])
        assert (await send(gateway)).json()["merged"] is False

    run(main())


@pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.STREAMING])
def test_an_active_run_is_asked_to_stop(status: RunStatus) -> None:
    """A run that a worker has is noted durably and marked: 202, as often as it is asked."""

    async def main() -> None:
        gateway = house()
        await at_status(gateway, status)
        for _ in range(2):
            answer = await ask(gateway.app, "POST", "/runs/r/cancel")
            assert (answer.status, answer.json()) == (202, {"run_id": "r", "status": status.value})
        stored = await gateway.store.run("r")
        assert stored is not None and stored.cancel_asked
        assert await gateway.marks.read("r") == frozenset({Mark.CANCEL})

    run(main())


@pytest.mark.parametrize("status", [RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED])
def test_an_ended_run_cannot_be_cancelled(status: RunStatus) -> None:
    """A run that has ended is 409, and stays as it is."""

    async def main() -> None:
        gateway = house()
        await at_status(gateway, status)
        answer = await ask(gateway.app, "POST", "/runs/r/cancel")
        assert answer.status == 409
        assert answer.problem()["detail"] == f"cannot cancel run 'r': it has ended as {status}"
        stored = await gateway.store.run("r")
        assert stored is not None and (stored.run.status, stored.cancel_asked) == (status, False)

    run(main())


def test_a_cancel_is_durable_without_a_bus() -> None:
    """While the bus is away a cancel is noted in the store and answered as always (W4)."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        gateway.bus.away(True)
        answer = await ask(gateway.app, "POST", "/runs/r/cancel")
        stored = await gateway.store.run("r")
        assert (answer.status, stored is not None and stored.cancel_asked) == (202, True)

    run(main())


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_a_session_is_shown_and_read_on() -> None:
    """The snapshot's cursor is the one to read on from: snapshot and page together are the history."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.flush(delta(0))
        snapshot = await ask(gateway.app, "GET", "/sessions/s")
        assert (snapshot.status, snapshot.headers["content-type"]) == (200, "application/json")
        assert snapshot.json()["cursor"] == "0-0"
        await gateway.end([delta(1), done(2)])
        page = await ask(gateway.app, "GET", "/sessions/s/events?cursor=0-0")
        assert page.json() == {
            "events": [
                {"run_id": "r", "seq": 1, "kind": "delta", "data": {"text": "1 "}},
                {"run_id": "r", "seq": 2, "kind": "done", "data": {"usage": {}}},
            ],
            "cursor": "0-2",
            "more": False,
        }

    run(main())


@pytest.mark.parametrize("query", ["", "?cursor=", "?other=1"])
def test_no_cursor_is_the_beginning(query: str) -> None:
    """Without a cursor, or with an empty one, a page begins at the beginning."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(2))
        page = (await ask(gateway.app, "GET", f"/sessions/s/events{query}")).json()
        assert isinstance(page["events"], list)
        assert (len(page["events"]), page["cursor"]) == (2, "0-1")

    run(main())


@pytest.mark.parametrize("cursor", ["1", "a-b", "%00", "-1-0", "0-0%0A", "%D9%A3-%D9%A3", "9" * 30 + "-0", "%FF"])
def test_a_cursor_of_somebody_elses_is_refused(cursor: str) -> None:
    """A cursor that was never given out is 422 and named."""

    async def main() -> None:
        answer = await ask(house().app, "GET", f"/sessions/s/events?cursor={cursor}")
        assert (answer.status, answer.problem()["field"]) == (422, "cursor")

    run(main())


@pytest.mark.parametrize("path", ["/sessions/{}", "/sessions/{}/events"])
@pytest.mark.parametrize("session_id", ["%00", "a%0Ab", "%7F", "%C2%85", "x" * 129, quote("é" * 129)])
def test_a_bad_session_id_is_refused(path: str, session_id: str) -> None:
    """A control character or more than 128 code points in a path are told as they are in a body."""

    async def main() -> None:
        answer = await ask(house().app, "GET", path.format(session_id))
        assert (answer.status, answer.problem()["field"]) == (422, "session_id")

    run(main())


@pytest.mark.parametrize("session_id", ["%ED%A0%80", "%FF", quote("é" * 128), "a%20b", "%F0%9F%98%80", "%2e"])
def test_a_session_id_may_be_any_other_text(session_id: str) -> None:
    """Any other text of up to 128 code points names a session, and an unknown one is empty."""

    async def main() -> None:
        answer = await ask(house().app, "GET", f"/sessions/{session_id}")
        assert (answer.status, answer.json()["runs"]) == (200, [])

    run(main())


def test_a_session_id_may_hold_a_slash() -> None:
    """As %2F it is a part of the id, whatever follows it; as itself it ends the id, and the path is unknown."""

    async def main() -> None:
        gateway = house()
        for session_id in ("a/b", "a/events", "a/socket", "a/b%2F"):
            run_id = await opened(gateway, session_id=session_id)
            path = f"/sessions/{quote(session_id, safe='')}"
            snapshot = (await ask(gateway.app, "GET", path)).json()
            assert snapshot["session_id"] == session_id
            assert run_id in str(snapshot["runs"])
            assert (await ask(gateway.app, "GET", f"{path}/events")).json()["events"] == []
            assert (await ask(gateway.app, "GET", f"{path}/socket")).status == 426
        for path in ("/sessions/a/b", "/sessions/a/", "/sessions/a/b/events", "/sessions//events"):
            assert (await ask(gateway.app, "GET", path)).status == 404
        assert (await ask(gateway.app, "GET", "/s%65ssions/a")).json()["session_id"] == "a"

    run(main())


# --- what there is not ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/nothing",
        "/chat/",
        "/chat/x",
        "/runs",
        "/runs/",
        "/runs/r/",
        "/runs/a%2Fb",
        "/runs/r/events/",
        "//chat",
        "",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_path_is_not_found(method: str, target: str) -> None:
    """A path that is none of ours is 404 for every method, and nobody is redirected by what a Host header says."""

    async def main() -> None:
        answer = await ask(house().app, method, target, [(b"host", b"elsewhere.example")])
        assert (answer.status, "location" in answer.headers) == (404, False)
        answer.problem()

    run(main())


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/chat", {"POST"}),
        ("/runs/r", {"GET", "HEAD"}),
        ("/runs/r/events", {"GET", "HEAD"}),
        ("/runs/r/cancel", {"POST"}),
        ("/sessions/s", {"GET", "HEAD"}),
        ("/sessions/s/events", {"GET", "HEAD"}),
        ("/healthz", {"GET", "HEAD"}),
        ("/readyz", {"GET", "HEAD"}),
        ("/metrics", {"GET", "HEAD"}),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(path: str, allowed: set[str]) -> None:
    """Every method that a path does not know is 405, and `Allow` has those that it does."""

    async def main() -> None:
        for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} - allowed:
            answer = await ask(house().app, method, path)
            assert (answer.status, set(answer.headers["allow"].split(", "))) == (405, allowed), method
            answer.problem()

    run(main())


@pytest.mark.parametrize("path", ["/runs/r", "/sessions/s", "/sessions/s/events", "/healthz", "/readyz"])
def test_head_has_the_head_of_get(path: str) -> None:
    """HEAD is answered with the status and the headers of GET; the server leaves the body out."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(2))
        head, get = await ask(gateway.app, "HEAD", path), await ask(gateway.app, "GET", path)
        assert (head.status, head.headers) == (200, get.headers)

    run(main())


# --- the process and its services -------------------------------------------------------------------------------------


def test_the_process_is_alive_and_ready() -> None:
    """Liveness asks nobody; readiness asks both services."""

    async def main() -> None:
        gateway = house()
        alive, ready = await ask(gateway.app, "GET", "/healthz"), await ask(gateway.app, "GET", "/readyz")
        assert (alive.status, alive.json(), ready.status, ready.json()) == (
            200,
            {"status": "ok"},
            200,
            {"status": "ready"},
        )
        for away in (gateway.store.away, gateway.bus.away):
            away(True)
            answer = await ask(gateway.app, "GET", "/readyz")
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert (await ask(gateway.app, "GET", "/healthz")).status == 200
            away(False)
        assert (await ask(gateway.app, "GET", "/readyz")).status == 200

    run(main())


def test_metrics_count_what_became_of_messages() -> None:
    """Opened, merged and replayed messages are counted apart, in Prometheus text."""

    async def main() -> None:
        gateway = house()
        await send(gateway, message_id="m")
        await send(gateway, message_id="m")
        assert await gateway.store.claim("w", LEASE, "s") is not None
        await send(gateway)
        answer = await ask(gateway.app, "GET", "/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        lines = answer.body.decode().splitlines()
        counted = [line for line in lines if line.startswith("koda_messages")]
        assert "koda_queue_depth 2" in lines
        gateway.bus.away(True)
        assert "koda_queue_depth NaN" in (await ask(gateway.app, "GET", "/metrics")).body.decode().splitlines()
        assert sorted(counted) == [
            'koda_messages_accepted_total{outcome="merged"} 1',
            'koda_messages_accepted_total{outcome="opened"} 1',
            'koda_messages_accepted_total{outcome="replayed"} 1',
        ]

    run(main())


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/chat"),
        ("GET", "/runs/r"),
        ("GET", "/runs/r/events"),
        ("HEAD", "/runs/r/events"),
        ("POST", "/runs/r/cancel"),
        ("GET", "/sessions/s"),
        ("GET", "/sessions/s/events"),
        ("GET", "/readyz"),
    ],
)
def test_a_store_that_is_away_is_told(method: str, path: str) -> None:
    """Without the store every call that needs it is 503 with Retry-After, before the first byte."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(2))
        gateway.store.away(True)
        for headers in ([], STREAM):
            answer = await ask(gateway.app, method, path, headers, message() if path == "/chat" else b"")
            assert (answer.status, answer.headers["retry-after"], answer.raised) == (503, "1", None)
            assert answer.problem()["detail"] == "the store is away; try again"

    run(main())


def test_what_needs_no_bus_works_without_it() -> None:
    """While the bus is away, runs, sessions and ended streams are read as ever."""

    async def main() -> None:
        gateway = house()
        await gateway.ended(log(2))
        gateway.bus.away(True)
        for path in ("/runs/r", "/runs/r/events", "/sessions/s", "/sessions/s/events", "/healthz"):
            assert (await ask(gateway.app, "GET", path)).status == 200

    run(main())


def test_a_cursor_ahead_of_the_store_needs_the_bus() -> None:
    """Whether a cursor that the store does not know is the stream's cannot be said without the bus: 503."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        gateway.bus.away(True)
        answer = await ask(gateway.app, "GET", "/runs/r/events", [(b"last-event-id", b"5")])
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")

    run(main())


class CrashingStore(MemoryStore):
    """Has a fault."""

    async def run(self, run_id: str) -> StoredRun | None:
        """Crash."""
        raise ZeroDivisionError("a secret")

    async def runs_of(self, session_id: str) -> Sequence[StoredRun]:
        """Crash."""
        raise ZeroDivisionError("a secret")

    async def latest_run(self, session_id: str) -> StoredRun | None:
        """Crash."""
        raise ZeroDivisionError("a secret")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/chat"),
        ("GET", "/runs/r"),
        ("GET", "/runs/r/events"),
        ("GET", "/sessions/s"),
        ("POST", "/runs/r/cancel"),
    ],
)
def test_a_fault_of_ours_is_a_document_too(method: str, path: str) -> None:
    """An exception before the first byte is a 500 with a document that shows nothing of the inside (C6)."""

    async def main() -> None:
        gateway = house(store=CrashingStore)
        answer = await ask(gateway.app, method, path, body=message() if path == "/chat" else b"")
        assert (answer.status, "secret" in f"{answer.problem()}") == (500, False)
        assert isinstance(answer.raised, ZeroDivisionError)

    run(main())


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_full_gateway_sends_waiters_elsewhere() -> None:
    """Beyond its streams a gateway answers 503 with Retry-After; a stream that closes makes room."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, max_waiters=2))
        await gateway.streaming("r", "s")
        await gateway.streaming("q", "t")
        async with calling(gateway.app, "GET", "/runs/r/events"):
            async with calling(gateway.app, "GET", "/runs/q/events"):
                await settle()
                answer = await ask(gateway.app, "GET", "/runs/r/events")
                assert (answer.status, answer.headers["retry-after"]) == (503, "1")
                assert "field" not in answer.problem()
            async with calling(gateway.app, "GET", "/runs/r/events") as admitted:
                assert await admitted.started() == 200

    run(main())


def test_a_run_with_too_many_waiters_refuses_more() -> None:
    """Beyond the streams of one run the answer is 429 and names the run; other runs are open."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, max_run_waiters=1))
        await gateway.streaming("r", "s")
        await gateway.streaming("q", "t")
        async with calling(gateway.app, "GET", "/runs/r/events"):
            await settle()
            answer = await ask(gateway.app, "GET", "/runs/r/events")
            assert (answer.status, answer.headers["retry-after"]) == (429, "1")
            assert answer.problem()["field"] == "run_id"
            async with calling(gateway.app, "GET", "/runs/q/events") as other:
                assert await other.started() == 200
        async with calling(gateway.app, "GET", "/runs/r/events") as admitted:
            assert await admitted.started() == 200

    run(main())


def test_a_full_gateway_takes_no_message_that_wants_a_stream() -> None:
    """A message that cannot be answered by its stream is refused before it is stored; without one it is accepted."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, max_waiters=1))
        await gateway.streaming("q", "t")
        async with calling(gateway.app, "GET", "/runs/q/events"):
            await settle()
            answer = await ask(gateway.app, "POST", "/chat", STREAM, message())
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert await gateway.store.inputs_of("s") == []
            assert (await send(gateway)).status == 202

    run(main())


def test_refused_streams_cost_nothing() -> None:
    """A stream that was refused, not found or empty takes no place."""

    async def main() -> None:
        gateway = house(settings=replace(SETTINGS, max_waiters=1))
        await gateway.ended(log(2))
        for _ in range(3):
            assert (await ask(gateway.app, "GET", "/runs/x/events")).status == 404
            assert (await ask(gateway.app, "GET", "/runs/r/events", [(b"last-event-id", b"1")])).status == 204
            assert (await ask(gateway.app, "GET", "/runs/r/events")).status == 200

    run(main())


# --- more routes ------------------------------------------------------------------------------------------------------


def test_more_routes_come_first() -> None:
    """Routes that a composition root adds are asked before ours, and ours are all still there."""

    async def hello(_: Request) -> Response:
        return Response("hello")

    async def main() -> None:
        gateway = house()
        ports = Ports(gateway.store, gateway.output, gateway.queue, gateway.marks, gateway.store, gateway.store)
        built, _ = build(ports, SOLUTION, gateway.clock, SETTINGS)
        app = built.app(Route("/healthz", hello))
        assert (await ask(app, "GET", "/healthz")).body == b"hello"
        assert (await ask(app, "GET", "/readyz")).status == 200

    run(main())
