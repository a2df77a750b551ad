"""A model behind a server, against one on this machine that behaves and misbehaves as such servers do."""

import asyncio
import json
import logging
import ssl
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from shared.adapters.clock import SystemClock
from shared.bootstrap import Ports, open_ports
from shared.events import TERMINAL, Event, EventKind, Json, decode_data, reply_text
from shared.exercises import load
from shared.ledger import Ledger
from shared.ports import Mark
from shared.settings import MERGE_WINDOW, Settings
from tests.support.model_server import (
    DONE,
    Answer,
    Exchange,
    ModelServer,
    bytewise,
    chunk,
    data,
    serving,
    spoken,
    usage,
)
from tests.support.models import Outcome, asked, outcome, reply_of, said
from tests.support.notes import Notes, noting
from worker.bootstrap import build
from worker.models.completion import MOST_WITHOUT_EVENT
from worker.models.endpoint import Endpoint
from worker.models.openai import OpenAIModel
from worker.models.port import Finished, FinishReason, Fragment, ModelFailed, Piece, ToolCall, Usage, Working

T = TypeVar("T")

KEY = "sk-Secret_0123"
STOP = Finished(FinishReason.STOP)
STOPPED = chunk({}, "stop")
NEVER = timedelta(hours=1)  # what takes so long has failed before
TURNS = 20  # in which the loop has finished the generators that httpx nests and does not close
MOST_TURNS = 1000  # in which it has finished one that a collection of garbage has found in the last of those turns
BROKE_OFF = "the model's server broke off in the middle of the reply"


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's own address is reached directly, and no certificates are read, which takes longer than a test."""
    trust_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: trust_nobody)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@dataclass(slots=True)
class Scene:
    """A server, a model that asks it, and what was logged."""

    server: ModelServer
    model: OpenAIModel
    notes: Notes


@asynccontextmanager
async def scene(answer: Answer, linger: timedelta = NEVER, key: str = KEY) -> AsyncIterator[Scene]:
    """Serve `answer`, and have a model ask for it."""
    with noting() as notes:
        async with serving(answer) as server:
            endpoint = Endpoint(f"{server.base_url}/chat/completions", "some-model", key)
            async with OpenAIModel.open(endpoint, linger) as model:
                yield Scene(server, model, notes)


def run(test: Coroutine[None, None, T]) -> T:
    """Run a test on a loop of its own. Nothing may be left behind on it."""

    async def alone() -> T:
        result = await test
        for turn in range(MOST_TURNS):
            await asyncio.sleep(0)
            if turn >= TURNS and len(asyncio.all_tasks()) == 1:
                return result
        raise AssertionError(f"left behind: {asyncio.all_tasks() - {asyncio.current_task()}}")

    return asyncio.run(alone())


def answered(*body: bytes, linger: timedelta = NEVER) -> Outcome:
    """Return what becomes of a reply with this body, each part read alone, and a good end of it."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.say(*body)
        await exchange.end()

    async def ask() -> Outcome:
        async with scene(answer, linger) as on:
            return await reply_of(on.model, "hello")

    return run(ask())


# --- A reply ----------------------------------------------------------------------------------------------------------

REPLY: list[Piece] = [Fragment("Hel"), Fragment("lo"), STOP, Usage(input_tokens=5, output_tokens=2)]
WHOLE = chunk({"role": "assistant", "content": ""}) + spoken("Hel", "lo") + STOPPED + usage(5, 2) + DONE


def test_a_model_is_asked_for_a_stream_of_all_messages() -> None:
    """In the order of their acceptance, with the key in its header, and with usage at the end."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.say(WHOLE)
        await exchange.end()

    async def ask() -> tuple[Outcome, list[Exchange]]:
        async with scene(answer) as on:
            return await reply_of(on.model, "a refund, please", "no: an exchange 🙂"), on.server.asked

    reply, (exchange,) = run(ask())
    assert reply == Outcome(REPLY)
    assert (exchange.method, exchange.path) == ("POST", "/v1/chat/completions")
    assert exchange.body == {
        "model": "some-model",
        "messages": [
            {"role": "user", "content": "a refund, please"},
            {"role": "user", "content": "no: an exchange 🙂"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    expected = {
        "authorization": f"Bearer {KEY}",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "content-type": "application/json",
    }
    assert {name: exchange.headers[name] for name in expected} == expected


def test_a_server_without_keys_is_sent_none() -> None:
    """Nor anything else in its place."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.say(WHOLE)
        await exchange.end()

    async def ask() -> set[str]:
        async with scene(answer, key="") as on:
            await reply_of(on.model, "hello")
            return on.server.asked[0].headers.keys() & {"authorization", "api-key"}

    assert run(ask()) == set()


def test_fragments_come_out_as_they_come_in() -> None:
    """Each one before the next is sent: nothing is held back to wait for more."""
    taken = [asyncio.Event() for _ in range(3)]

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        for number, event in enumerate(taken):
            await exchange.say(spoken(str(number)))
            await event.wait()
        await exchange.say(STOPPED + DONE)
        await exchange.end()

    async def ask() -> list[Piece]:
        async with scene(answer) as on, aclosing(on.model.stream(asked("hello"))) as stream:
            pieces: list[Piece] = []
            async for piece in stream:
                pieces.append(piece)
                if isinstance(piece, Fragment):
                    taken[int(piece.text)].set()
            return pieces

    assert run(ask()) == [Fragment("0"), Fragment("1"), Fragment("2"), STOP]


def test_calls_overlap() -> None:
    """The second reply comes while the first one waits, each to whom it belongs."""
    first_has_begun, second_is_over = asyncio.Event(), asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        assert isinstance(exchange.body, dict)
        content = json.dumps(exchange.body["messages"])
        await exchange.begin()
        await exchange.say(spoken(content))
        if "first" in content:
            first_has_begun.set()
            await second_is_over.wait()
        await exchange.say(STOPPED + DONE)
        await exchange.end()

    async def ask() -> list[list[str]]:
        async with scene(answer) as on:
            first = asyncio.create_task(reply_of(on.model, "first"))
            await first_has_begun.wait()
            second = await reply_of(on.model, "second")
            second_is_over.set()
            return [said((await first).pieces), said(second.pieces)]

    assert run(ask()) == [
        ['[{"role": "user", "content": "first"}]'],
        ['[{"role": "user", "content": "second"}]'],
    ]


def test_a_connection_serves_one_call_after_another() -> None:
    """A reply that was read to its end costs the next one no new connection."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.say(WHOLE)
        await exchange.end()

    async def ask() -> tuple[int, int]:
        async with scene(answer) as on:
            for _ in range(3):
                assert await reply_of(on.model, "hello") == Outcome(REPLY)
            return len(on.server.asked), on.server.connections

    assert run(ask()) == (3, 1)


def test_a_tool_call_is_put_together() -> None:
    """From its parts, each of which is a sign of life; it comes whole, behind the text."""
    parts: list[Json] = [
        {"index": 0, "id": "call_x", "type": "function", "function": {"name": "look_up", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"order"'}},
        {"index": 1, "id": "call_y", "type": "function", "function": {"name": "now", "arguments": "{}"}},
        {"index": 0, "function": {"arguments": ": 4711}"}},
    ]
    calls = [chunk({"tool_calls": [part]}) for part in parts]
    assert answered(spoken("One moment."), *calls, chunk({}, "tool_calls"), usage(5, 2), DONE) == Outcome(
        [
            Fragment("One moment."),
            *[Working()] * 4,
            ToolCall("call_x", "look_up", '{"order": 4711}'),
            ToolCall("call_y", "now", "{}"),
            Finished(FinishReason.TOOL_CALLS),
            Usage(input_tokens=5, output_tokens=2),
        ]
    )


# --- Bytes ------------------------------------------------------------------------------------------------------------


def test_a_stream_may_be_cut_anywhere() -> None:
    """C3: single bytes, so that every character and every line is split; the text is what it was."""
    reply = answered(*bytewise(spoken("Grüße ", "🙂", "\u2028\x85") + STOPPED + usage(5, 3) + DONE))
    assert reply == Outcome([*map(Fragment, ("Grüße ", "🙂", "\u2028\x85")), STOP, Usage(5, 3)])


def test_lines_may_end_in_any_way() -> None:
    """CRLF, as servers behind some proxies send them, cut inside; and without the space behind the colon."""
    stream = (spoken("a", "b") + STOPPED + DONE).replace(b"\n", b"\r\n").replace(b"data: ", b"data:")
    assert answered(*bytewise(stream)) == Outcome([Fragment("a"), Fragment("b"), STOP])


def test_what_is_no_event_is_passed_over() -> None:
    """Comments, unknown fields, lines of garbage, empty events, chunks without a choice."""
    noise = b": OPENROUTER PROCESSING\n\n\n\nretry: 5\nid: 7\ngarbage\n\xff\xfe\nevent: ping\n\ndata:\n\n"
    empty = data({"choices": []}) + data({})
    assert answered(noise, spoken("a"), empty + noise, spoken("b"), noise, STOPPED, noise + empty, DONE) == Outcome(
        [Fragment("a"), Fragment("b"), STOP]
    )


def test_a_line_may_be_huge() -> None:
    """A fragment of a megabyte is a fragment."""
    text = "wörd " * 200_000
    stream = spoken(text) + STOPPED + DONE
    pieces = [stream[at : at + 65_536] for at in range(0, len(stream), 65_536)]
    assert answered(*pieces) == Outcome([Fragment(text), STOP])


def test_a_line_without_end_is_given_up() -> None:
    """Memory is bounded, and a server that sends this without a pause is not listened to for ever."""
    gone = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.say(spoken("a"))
        try:
            while True:
                await exchange.say(b"x" * 65_536)
        except ConnectionError:
            gone.set()

    async def ask() -> Outcome:
        async with scene(answer) as on:
            reply = await reply_of(on.model, "hello")
            await gone.wait()
            return reply

    reply = run(ask())
    assert reply.pieces == [Fragment("a")]
    assert reply.failure is not None and not reply.failure[1]
    sent = int(reply.failure[0].removeprefix("the model's server sent ").removesuffix(" bytes without an event"))
    assert MOST_WITHOUT_EVENT < sent <= MOST_WITHOUT_EVENT + 65_536


def test_a_body_may_be_sent_until_the_connection_ends() -> None:
    """Neither in chunks nor with a length, as HTTP/1.0 and some small servers do."""

    async def answer(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + WHOLE)
        exchange.close()

    async def ask() -> Outcome:
        async with scene(answer) as on:
            return await reply_of(on.model, "hello")

    assert run(ask()) == Outcome(REPLY)


# --- Ends -------------------------------------------------------------------------------------------------------------


def test_a_missing_done_is_not_missed() -> None:
    """The server has said why it stopped, so the reply is complete."""
    assert answered(spoken("a"), STOPPED) == Outcome([Fragment("a"), STOP])


def test_an_end_without_reason_is_a_failure() -> None:
    """A body that ends well, and a reply that does not: what was said was said, and another try may succeed."""
    assert answered(spoken("a")) == Outcome([Fragment("a")], (BROKE_OFF, False))
    assert answered() == answered(b": hello\n\n") == Outcome([], (BROKE_OFF, False))


def test_half_an_event_is_none() -> None:
    """The reason was on its way when the connection ended."""
    assert answered(spoken("a"), STOPPED[:-1]) == Outcome([Fragment("a")], (BROKE_OFF, False))


def breaking_off(*body: bytes) -> Outcome:
    """Return what becomes of a reply whose connection ends in the middle of the body."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.say(*body)
        exchange.close()

    async def ask() -> Outcome:
        async with scene(answer) as on:
            return await reply_of(on.model, "hello")

    return run(ask())


def test_a_lost_connection_is_a_failure() -> None:
    """The same as a body that ends too early, and it says which of the two it was."""
    assert breaking_off(spoken("a")) == Outcome(
        [Fragment("a")], ("the connection to the model's server failed: RemoteProtocolError", False)
    )


def test_a_connection_that_is_lost_when_all_is_said_costs_nothing() -> None:
    """With the reason, or the end, the reply was there."""
    assert breaking_off(spoken("a"), STOPPED) == Outcome([Fragment("a"), STOP])
    assert breaking_off(WHOLE) == Outcome(REPLY)


def test_what_comes_after_the_reason_is_read() -> None:
    """Usage for certain; text nowhere that we know of, but it would be lost in silence."""
    assert answered(spoken("a"), STOPPED, spoken("b"), usage(5, 2), DONE) == Outcome(
        [Fragment("a"), Fragment("b"), STOP, Usage(input_tokens=5, output_tokens=2)]
    )


@pytest.mark.parametrize(("sent", "end"), [(spoken("Hel", "lo") + STOPPED, REPLY[:3]), (WHOLE, REPLY)])
def test_a_server_that_does_not_close_is_not_waited_for(sent: bytes, end: list[Piece]) -> None:
    """With the reason, or with `[DONE]`, the reply is over: the connection is given up, the next call has its own."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.say(sent)
        await exchange.left()

    async def ask() -> list[Outcome]:
        async with scene(answer, linger=timedelta(0)) as on:
            return [await reply_of(on.model, "hello") for _ in range(2)]

    assert run(ask()) == [Outcome(end)] * 2


# --- Errors -----------------------------------------------------------------------------------------------------------


def refused(status: int, body: bytes = b"", content_type: str = "application/json") -> tuple[Outcome, Notes]:
    """Return what becomes of a request that is answered so, and what is logged."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin(status, content_type)
        if body:
            await exchange.say(body)
        await exchange.end()

    async def ask() -> tuple[Outcome, Notes]:
        async with scene(answer) as on:
            return await reply_of(on.model, "hello"), on.notes

    return run(ask())


@pytest.mark.parametrize(
    ("status", "words", "permanent"),
    [
        (302, "302 Found", True),
        (400, "400 Bad Request", True),
        (401, "401 Unauthorized; check OPENAI_API_KEY", True),
        (402, "402 Payment Required", True),
        (403, "403 Forbidden; check OPENAI_API_KEY", True),
        (404, "404 Not Found; check OPENAI_BASE_URL and OPENAI_MODEL", True),
        (408, "408 Request Timeout", False),
        (409, "409 Conflict", False),
        (413, "413 Request Entity Too Large", True),
        (422, "422 Unprocessable Entity", True),
        (425, "425 Too Early", False),
        (429, "429 Too Many Requests", False),
        (500, "500 Internal Server Error", False),
        (502, "502 Bad Gateway", False),
        (503, "503 Service Unavailable", False),
        (529, "529", False),
        (599, "599", False),
    ],
)
def test_a_status_says_whether_to_ask_again(status: int, words: str, permanent: bool) -> None:
    """The answer's own words for it are not repeated."""
    reply, _ = refused(status)
    assert reply == Outcome([], (f"the model's server answered {words}", permanent))


@pytest.mark.parametrize(
    ("body", "logged"),
    [
        (b'{"error":{"message":"You are too fast","type":"requests"}}', "You are too fast"),
        (b'{"error":"too fast"}', "too fast"),
        (b'{"object":"error","message":"too fast"}', "too fast"),
        (b'{"detail":"too fast"}', '{"detail":"too fast"}'),
        (b"<html>too fast", "<html>too fast"),
        (b"\xff" + b"x" * 600, "\ufffd" + "x" * 499),
        (b'{"error":' + b"[" * 20_000, '{"error":' + "[" * 491),
        (b"", ""),
    ],
)
def test_what_a_server_says_is_for_the_log(body: bytes, logged: str) -> None:
    """Short, whatever it is; who watches the run is told the status alone."""
    reply, notes = refused(429, body)
    problem = "the model's server answered 429 Too Many Requests"
    assert reply == Outcome([], (problem, False))
    assert notes.of("model_refused") == [{"run_id": "run-1", "attempt": 1, "why": problem, "said": logged}]


def test_the_words_of_an_error_are_not_waited_for() -> None:
    """A status is enough to go on with."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin(503)
        await exchange.left()

    async def ask() -> Outcome:
        async with scene(answer, linger=timedelta(0)) as on:
            return await reply_of(on.model, "hello")

    assert run(ask()) == Outcome([], ("the model's server answered 503 Service Unavailable", False))


@pytest.mark.parametrize("content_type", ["application/json", "text/html; charset=utf-8", ""])
def test_an_answer_that_is_no_stream_is_refused(content_type: str) -> None:
    """A sign-in page, or a server that does not stream: asking again will not change it."""
    reply, notes = refused(200, b'{"choices":[{"message":{"content":"a"}}]}', content_type)
    assert reply == Outcome([], ("the model's server answered without a stream; check OPENAI_BASE_URL", True))
    assert [note["said"] for note in notes.of("model_refused")] == ['{"choices":[{"message":{"content":"a"}}]}']


def test_a_redirect_is_not_followed() -> None:
    """The messages, and the key, go to nobody whom nobody has chosen."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin(307, location="/v1/elsewhere")
        await exchange.end()

    async def ask() -> tuple[Outcome, list[str]]:
        async with scene(answer) as on:
            return await reply_of(on.model, "hello"), [exchange.path for exchange in on.server.asked]

    assert run(ask()) == (
        Outcome([], ("the model's server answered 307 Temporary Redirect", True)),
        ["/v1/chat/completions"],
    )


@pytest.mark.parametrize(
    ("error", "permanent"),
    [
        ({"message": "overloaded", "type": "server_error"}, False),
        ({"message": "context too long", "type": "invalid_request_error"}, True),
        ({"message": "no such model", "code": 404}, True),
    ],
)
def test_an_error_in_the_middle_is_a_failure(error: Json, permanent: bool) -> None:
    """What was said before it was said; what comes after it is not read, an end included."""
    assert answered(spoken("a"), data({"error": error}), spoken("b"), STOPPED, DONE) == Outcome(
        [Fragment("a")], ("the model's server reported an error", permanent)
    )


def test_garbage_in_the_middle_is_a_failure() -> None:
    """A word could be missing, so the reply is not one."""
    assert answered(spoken("a"), b"data: {garb\n\n", spoken("b"), STOPPED, DONE) == Outcome(
        [Fragment("a")], ("the model's server sent a chunk that is not JSON", False)
    )


def test_a_server_that_is_not_there_is_a_failure() -> None:
    """It may be there at the next try."""

    async def ask() -> Outcome:
        async with serving(_nothing) as server:
            endpoint = Endpoint(server.base_url, "m")
        async with OpenAIModel.open(endpoint) as model:
            return await reply_of(model, "hello")

    assert run(ask()) == Outcome([], ("the connection to the model's server failed: ConnectError", False))


async def _nothing(_: Exchange) -> None:
    """Do not answer."""


@pytest.mark.parametrize("sent", [b"", b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-type: text/event-st"])
def test_a_server_that_speaks_something_else_is_a_failure(sent: bytes) -> None:
    """No answer, no HTTP, half a head."""

    async def answer(exchange: Exchange) -> None:
        await exchange.send(sent)
        exchange.close()

    async def ask() -> Outcome:
        async with scene(answer) as on:
            return await reply_of(on.model, "hello")

    assert run(ask()) == Outcome([], ("the connection to the model's server failed: RemoteProtocolError", False))


def test_a_reset_is_a_failure() -> None:
    """However the connection is lost."""

    async def answer(exchange: Exchange) -> None:
        exchange.break_off()

    async def ask() -> Outcome:
        async with scene(answer) as on:
            return await reply_of(on.model, "hello")

    reply = run(ask())
    assert reply.failure is not None
    problem, permanent = reply.failure
    assert problem in {
        f"the connection to the model's server failed: {kind}" for kind in ("ReadError", "RemoteProtocolError")
    }
    assert (reply.pieces, permanent) == ([], False)


# --- The key ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Keep every line that anybody logs, libraries included, as it would be printed."""
    kept: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            kept.append(f"{logging.Formatter().format(record)} {record.__dict__}")

    root, keeper = logging.getLogger(), Keeper()
    level = root.level
    root.addHandler(keeper)
    root.setLevel(logging.DEBUG)
    yield kept
    root.removeHandler(keeper)
    root.setLevel(level)


async def _quoting(exchange: Exchange, *, status: int = 200, inside: bool = False) -> None:
    """Answer with an error that quotes the request's headers, before or inside the stream."""
    quoted: Json = {"error": {"message": f"who is {exchange.headers['authorization']}?", KEY: KEY}}
    if inside:
        await exchange.begin()
        await exchange.say(spoken("a"), data(quoted))
    else:
        await exchange.begin(status, "application/json")
        await exchange.say(json.dumps(quoted).encode() + b" " * (not inside))
    await exchange.end()


async def _garbling(exchange: Exchange) -> None:
    """Answer with a chunk that cannot be read and holds the key."""
    await exchange.begin()
    await exchange.say(f"data: {exchange.headers['authorization']}\n\n".encode())
    await exchange.end()


async def _breaking(exchange: Exchange) -> None:
    """Break off."""
    await exchange.send(f"{exchange.headers['authorization']}\r\n\r\n".encode())
    exchange.close()


@pytest.mark.parametrize(
    "answer",
    [
        partial(_quoting, status=401),
        partial(_quoting, status=500),
        partial(_quoting, status=200),
        partial(_quoting, inside=True),
        _garbling,
        _breaking,
    ],
    ids=["401", "500", "no stream", "inside", "garbled", "broken"],
)
def test_the_key_is_in_no_log_and_in_no_error(answer: Answer, lines: list[str]) -> None:
    """Whatever a server quotes and a library logs, at any level, and however the error is printed."""

    async def ask() -> str:
        async with scene(answer) as on:
            with pytest.raises(ModelFailed) as failed:
                async for _ in on.model.stream(asked("hello")):
                    pass
            shown = "".join(traceback.format_exception(failed.value))
            return f"{shown} {failed.value!r} {vars(failed.value)} {on.notes.lines} {on.model!r}"

    everything = run(ask()) + "".join(lines)
    assert "model_refused" in everything
    assert KEY not in everything


# --- Being closed -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Closing:
    """A server that says something, or nothing, and waits for the client to leave."""

    sends: bytes | None
    asked: asyncio.Event
    left: asyncio.Event

    async def answer(self, exchange: Exchange) -> None:
        """Do so. None: not even the head of an answer."""
        if self.sends is not None:
            await exchange.begin()
            if self.sends:
                await exchange.say(self.sends)
        self.asked.set()
        await exchange.left()
        self.left.set()


@pytest.mark.parametrize("sends", [None, b"", b": ping\n\n", spoken("a")])
def test_a_cancelled_reader_is_gone_at_once(sends: bytes | None) -> None:
    """The server sees it, before or after its first word, and computes no further; the caller sees its cancellation."""

    async def ask() -> bool:
        closing = Closing(sends, asyncio.Event(), asyncio.Event())
        async with scene(closing.answer) as on:
            reading = asyncio.create_task(reply_of(on.model, "hello"))
            await closing.asked.wait()
            reading.cancel()
            await asyncio.wait((reading,))
            await closing.left.wait()
            return reading.cancelled()

    assert run(ask())


def test_a_closed_stream_is_gone_at_once() -> None:
    """Between two pieces, with more of them already here."""

    async def ask() -> list[Piece]:
        closing = Closing(spoken("a", "b", "c"), asyncio.Event(), asyncio.Event())
        async with scene(closing.answer) as on:
            pieces: list[Piece] = []
            async with aclosing(on.model.stream(asked("hello"))) as stream:
                async for piece in stream:
                    pieces.append(piece)
                    break
            await closing.left.wait()
            return pieces

    assert run(ask()) == [Fragment("a")]


def test_a_stream_that_was_never_read_asks_nothing() -> None:
    """It can be closed all the same."""

    async def ask() -> list[Exchange]:
        async with scene(_nothing) as on:
            stream: AsyncGenerator[Piece] = on.model.stream(asked("hello"))
            await stream.aclose()
            return on.server.asked

    assert run(ask()) == []


def test_a_closed_stream_leaves_others_alone() -> None:
    """The next call, and one that is under way, are answered."""
    go = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.say(spoken("a"))
        if "closed" in json.dumps(exchange.body):
            await exchange.left()
            return
        await go.wait()
        await exchange.say(STOPPED + DONE)
        await exchange.end()

    async def ask() -> list[Outcome]:
        async with scene(answer) as on:
            under_way = asyncio.create_task(outcome(on.model.stream(asked("hello"))))
            async with aclosing(on.model.stream(asked("closed"))) as stream:
                await anext(stream)
            go.set()
            return [await under_way, await reply_of(on.model, "hello")]

    assert run(ask()) == [Outcome([Fragment("a"), STOP])] * 2


# --- In a worker ------------------------------------------------------------------------------------------------------

SOON = Settings(look_every=timedelta(milliseconds=1))
_SOLUTION = Path(__file__).parents[2] / "solution"


@asynccontextmanager
async def working(model: OpenAIModel) -> AsyncIterator[tuple[Ports, Ledger]]:
    """Have a worker with this model work in memory, beside the block."""
    rules = load(_SOLUTION, _SOLUTION).exercises
    async with open_ports(None, SOON) as ports:
        task = asyncio.create_task(build(ports, rules, SOON, model).run())
        try:
            yield ports, Ledger(ports.store, SystemClock(), rules)
        finally:
            task.cancel()
            await asyncio.wait((task,))


async def ended(ports: Ports, run_id: str) -> list[Event]:
    """Return a run's events once the last of them is there."""
    events: list[Event] = []
    async with aclosing(ports.output.follow(run_id)) as batches:
        async for batch in batches:
            events += batch
            if events[-1].kind in TERMINAL:
                break
    return events


def test_a_worker_writes_what_the_server_says() -> None:
    """Fragment by fragment, then the tool call; usage, and why the model stopped, in the last event."""

    async def answer(exchange: Exchange) -> None:
        call: Json = {"index": 0, "id": "x", "function": {"name": "look_up", "arguments": "{}"}}
        await exchange.begin()
        await exchange.say(chunk({"role": "assistant", "content": ""}), spoken("Hel", "lo"))
        await exchange.say(chunk({"tool_calls": [call]}), chunk({}, "tool_calls"), usage(5, 2), DONE)
        await exchange.end()

    async def ask() -> list[Event]:
        async with scene(answer) as on, working(on.model) as (ports, ledger):
            accepted = await ledger.accept("m", "s", "u", "hello")
            await ports.queue.put("s")
            return await ended(ports, accepted.run_id)

    events = run(ask())
    assert reply_text(events) == "Hello"
    assert events[-1].kind is EventKind.DONE
    assert decode_data(events[-1].data) == {
        "usage": {"input_tokens": 5, "output_tokens": 2},
        "finish_reason": "tool_calls",
    }
    assert [decode_data(event.data) for event in events if event.kind is EventKind.TOOL] == [
        {"key": "x", "name": "look_up", "arguments": {}}
    ]


def test_a_run_that_is_cancelled_stops_its_server() -> None:
    """The server sees the user's wish as a connection that closes, and spends nothing more on it."""
    closing = Closing(spoken("a"), asyncio.Event(), asyncio.Event())

    async def ask() -> list[Event]:
        async with scene(closing.answer) as on, working(on.model) as (ports, ledger):
            accepted = await ledger.accept("m", "s", "u", "hello")
            await ports.queue.put("s")
            await closing.asked.wait()
            await ledger.cancel(accepted.run_id)
            await ports.marks.set(accepted.run_id, Mark.CANCEL, MERGE_WINDOW)
            await closing.left.wait()
            return await ended(ports, accepted.run_id)

    assert run(ask())[-1].kind is EventKind.CANCELLED


def test_a_server_that_refuses_the_key_fails_the_run() -> None:
    """At the first attempt, and the waiter reads our words for it."""

    async def ask() -> list[Event]:
        async with scene(partial(_quoting, status=401)) as on, working(on.model) as (ports, ledger):
            accepted = await ledger.accept("m", "s", "u", "hello")
            await ports.queue.put("s")
            return await ended(ports, accepted.run_id)

    (event,) = run(ask())
    assert (event.kind, decode_data(event.data)) == (
        EventKind.FAILED,
        {"error": "the model's server answered 401 Unauthorized; check OPENAI_API_KEY"},
    )
