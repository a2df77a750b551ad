"""Ten thousand requests that nobody would write, from two seeds: no fault of ours, and every refusal is a document."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote_from_bytes

import msgspec
import pytest

from shared.events import Json
from shared.run import RunStatus
from tests.support.asking import Answer, Headers, calling
from tests.support.houses import House, delta, house, log
from tests.support.moved_loop import run, settle

REQUESTS = 5_000  # of each seed; ten thousand in all

CURSORS = [
    b"",
    b"0",
    b"3",
    b"9",
    b"-1",
    b"\xb2",
    "٣".encode(),
    b"1_000",
    b" 7 ",
    b"7\n",
    b"9" * 5000,
    b"0-0",
    b"0-1",
    b"1-0",
]
BYTES = [*CURSORS, b"\x00", b"\xff\xfe", b"..", b"%", b"%00", b"a/b", b"a b", b"<script>", "😀".encode(), b"x" * 129]
TEXTS = [
    "",
    " ",
    "hello",
    "\x00",
    "\ud800",
    "\udc00\ud800",
    "😀",
    "\u2028\r\n",
    "x" * 129,
    "x" * 8001,
    "é" * 128,
    "a\tb",
]
FIELDS = ["session_id", "text", "message_id", "user_id", "", "\ud800", "Text", "x" * 300]
SEGMENTS = ["live", "ended", "ended", "archived", "archived", "pending", "s", "nothing"]


@dataclass(frozen=True, slots=True)
class Requested:
    """One request."""

    method: str
    target: str
    headers: Headers
    body: Sequence[bytes]


class Fuzz:
    """Makes requests: mostly right, with something odd somewhere."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def request(self) -> Requested:
        """Return the next request."""
        chance = self._chance
        method = chance.choice([*["GET"] * 6, *["POST"] * 4, "HEAD", "PUT", "DELETE", "OPTIONS", "X"])
        headers = [self._header() for _ in range(chance.choice([0, 0, 1, 2]))]
        body = self._body() if method in ("POST", "PUT") else b""
        cut = chance.randrange(len(body) + 1)
        return Requested(method, self._path(method) + self._query(), headers, [body[:cut], body[cut:]])

    def _path(self, method: str) -> str:
        shapes = ["/chat"] * 3 if method == "POST" else []
        shapes += ["/runs/{}/events"] * 5
        shapes += ["/runs/{}", "/runs/{}/cancel", "/sessions/{}", "/sessions/{}/events", "/{}"]
        return self._chance.choice([*shapes, "/healthz", "/readyz", "/metrics"]).format(self._segment())

    def _segment(self) -> str:
        if self._chance.random() < 0.6:
            return self._chance.choice(SEGMENTS)
        return quote_from_bytes(self._odd(), safe="")

    def _query(self) -> str:
        if self._chance.random() < 0.5:
            return ""
        name = self._chance.choice(["cursor", "last_event_id", "last_event_id", "cursor=1&cursor", "other", "%FF"])
        return f"?{name}={quote_from_bytes(self._cursor(), safe='')}"

    def _header(self) -> tuple[bytes, bytes]:
        name = self._chance.choice(
            [b"last-event-id", b"last-event-id", b"accept", b"content-length", b"content-type", b"x"]
        )
        if name == b"accept" and self._chance.random() < 0.7:
            return name, b"text/event-stream"
        return name, self._cursor()

    def _cursor(self) -> bytes:
        return self._chance.choice(CURSORS) if self._chance.random() < 0.7 else self._odd()

    def _odd(self) -> bytes:
        return self._chance.choice(BYTES) if self._chance.random() < 0.9 else self._chance.randbytes(12)

    def _body(self) -> bytes:
        chance = self._chance
        fields: dict[str, Json] = {
            "session_id": chance.choice(SEGMENTS),
            "text": "hello",
            "message_id": f"{chance.randrange(50)}",
        }
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            fields[chance.choice(FIELDS)] = self._value()
        body = _encode(fields)
        spoil: list[Callable[[], bytes]] = [
            lambda: body[: chance.randrange(len(body))],
            lambda: chance.randbytes(30),
            lambda: b"[" * chance.choice([1, 50_000]),
            lambda: body + b" " * 65_536,
            lambda: _encode(self._value()),
        ]
        return body if chance.random() < 0.7 else chance.choice(spoil)()

    def _value(self) -> Json:
        odd: list[Json] = [None, True, 0, -1.5, 10**40, [], {}, [[]], {"text": None}]
        return self._chance.choice(odd) if self._chance.random() < 0.5 else self._chance.choice(TEXTS)


def _encode(value: Json) -> bytes:
    """Encode as JSON, lone surrogates escaped as a browser does."""
    return json.dumps(value).encode()


async def furnish(gateway: House) -> None:
    """Have one run of each kind, each in a session of its name."""
    await gateway.run("pending", "pending")
    await gateway.streaming("live", "live")
    await gateway.write(delta(0, run_id="live"))
    await gateway.ended(log(4, "ended"), "ended")
    await gateway.ended(log(4, "archived"), "archived")
    assert await gateway.store.archive("archived", "0 1 2 ")


async def answer_of(gateway: House, request: Requested) -> Answer:
    """Return the answer; a client of a stream that goes on takes its first piece and leaves."""
    async with calling(gateway.app, request.method, request.target, request.headers, request.body) as call:
        await call.started()
        await settle()
        if not call.over:
            assert call.headers["content-type"].startswith("text/event-stream"), "only a stream goes on"
            call.leave()
            await settle()
            assert call.over
        body: bytes = b"".join(message.get("body", b"") for message in call.sent[1:])
        return Answer(await call.started(), call.headers, body, call.raised)


@pytest.mark.parametrize("seed", [7, 8])
def test_nothing_that_is_asked_is_a_fault_of_ours(seed: int) -> None:
    """No request gives a 500 or raises, every refusal is a problem document, and the gateway serves on as before."""

    async def main() -> dict[int, int]:
        gateway = house()
        await furnish(gateway)
        fuzz = Fuzz(random.Random(seed))
        statuses: dict[int, int] = {}
        for number in range(REQUESTS):
            request = fuzz.request()
            answer = await answer_of(gateway, request)
            seen = (number, request)
            assert answer.raised is None, seen
            assert answer.status in {200, 202, 204, 400, 404, 405, 409, 413, 422}, seen
            if answer.status >= 400:
                problem = answer.problem()
                assert all(isinstance(problem[member], str) for member in ("type", "title", "detail")), seen
            elif answer.headers.get("content-type") == "application/json":
                assert msgspec.json.decode(answer.body), seen
            statuses[answer.status] = statuses.get(answer.status, 0) + 1
        ended = await gateway.store.run("ended")
        assert ended is not None and (ended.run.status, ended.last_seq) == (RunStatus.DONE, 3)
        return statuses

    statuses = run(main())
    # The fuzz reaches every answer there is, so that none is right for want of being asked.
    assert statuses.keys() == {200, 202, 204, 400, 404, 405, 409, 413, 422}
