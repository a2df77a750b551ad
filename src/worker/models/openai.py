"""A model behind a server that speaks OpenAI's chat-completions API: OpenAI's own, or one of the many that imitate it.

httpx is all it takes, and the project has that for its client: there is no extra to install.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import timedelta
from typing import Final

import httpx

from shared import outbound
from shared.events import Json
from shared.logs import logger, note
from worker.models.completion import Completion
from worker.models.endpoint import Endpoint
from worker.models.port import Fragment, ModelFailed, Piece, Request, Working
from worker.models.refusal import Refused, error_in, is_permanent, message_of

log = logger("worker")

CONNECT: Final = timedelta(seconds=10)  # the one wait that is ours to bound: how long a model thinks, its reader says
LINGER: Final = timedelta(milliseconds=500)  # for what is of use but not needed: an error's words, a reply's usage
MOST_OF_ERROR: Final = 16 * 2**10  # bytes that are read of it
MOST_SAID: Final = 500  # characters that are logged of it

_LOOK_AT: Final = {401: "OPENAI_API_KEY", 403: "OPENAI_API_KEY", 404: "OPENAI_BASE_URL and OPENAI_MODEL"}


class OpenAIModel:
    """Calls one model of one server. Calls overlap; make it with `open`.

    It waits for as long as the server is silent. Closing a stream closes the request's connection, and the server sees
    that; a reply that was read to its end leaves the connection to the next call.
    """

    def __init__(self, client: httpx.AsyncClient, endpoint: Endpoint, linger: timedelta) -> None:
        self._client = client
        self._endpoint = endpoint
        self._linger_s = linger.total_seconds()

    @classmethod
    @asynccontextmanager
    async def open(cls, endpoint: Endpoint, linger: timedelta = LINGER) -> AsyncIterator["OpenAIModel"]:
        """Hold the connections to the server open while the block lasts.

        Raises:
            Misconfigured: the environment's proxies or certificates cannot be used.
        """
        # At DEBUG it logs what a server sends in the place of HTTP, and a server may quote the key.
        logging.getLogger("httpcore").setLevel(logging.INFO)
        # How many calls there are at once is the worker's to say: no limit here may make one wait for another.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        timeout = httpx.Timeout(None, connect=CONNECT.total_seconds())
        # Redirects are not followed: they would take the messages to somebody whom nobody has chosen.
        with outbound.usable():
            made = httpx.AsyncClient(limits=limits, timeout=timeout, follow_redirects=False)
        async with made as client:
            yield cls(client, endpoint, linger)

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Yield the reply as it comes; tool calls, why it ends and usage once it is complete."""
        completion = Completion()
        try:
            async with aclosing(self._read(request, completion)) as pieces:
                async for piece in pieces:
                    yield piece
            for last in completion.rest():
                yield last
        except Refused as refused:
            said = self._endpoint.redacted(refused.said)[:MOST_SAID]
            note(
                log, "model_refused", logging.WARNING, run_id=request.run_id, attempt=request.attempt,
                why=refused.problem, said=said,
            )  # fmt: skip
            # Not chained: whoever prints the chain would print what the server said.
            raise ModelFailed(refused.problem, permanent=refused.permanent) from None

    async def _read(self, request: Request, completion: Completion) -> AsyncGenerator[Fragment | Working]:
        """Read the whole answer into `completion`, and yield what comes out of it at once."""
        try:
            async with self._answer(request) as chunks:
                async for chunk in chunks:
                    for piece in completion.feed(chunk):
                        yield piece
                    if completion.complete:
                        break
                for piece in await self._linger(chunks, completion):
                    yield piece
        except httpx.RequestError as error:
            problem = f"the connection to the model's server failed: {type(error).__name__}"
            raise Refused(problem, str(error)) from error

    @asynccontextmanager
    async def _answer(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        """Ask, and give the bytes of the answer.

        Raises:
            Refused: the answer is no event stream.
        """
        asked: dict[str, Json] = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": message.text} for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        async with self._client.stream(
            "POST", self._endpoint.url, headers=self._endpoint.headers, json=asked
        ) as answer:
            chunks = answer.aiter_bytes()
            refusal = _refusal(answer)
            if refusal is not None:
                refusal.said = await self._excerpt(chunks)
                raise refusal
            yield chunks

    async def _excerpt(self, chunks: AsyncIterator[bytes]) -> str:
        """Return what the server says of its refusal, as far as it says it soon."""
        body = bytearray()
        with suppress(TimeoutError, httpx.RequestError):
            async with asyncio.timeout(self._linger_s):
                async for chunk in chunks:
                    body += chunk
                    if len(body) > MOST_OF_ERROR:
                        break
        text = body[:MOST_OF_ERROR].decode("utf-8", "replace")
        try:
            return message_of(error_in(json.loads(text)) or text)
        except (ValueError, RecursionError):
            return text

    async def _linger(self, chunks: AsyncIterator[bytes], completion: Completion) -> list[Fragment | Working]:
        """Read on to the body's end when the reply is complete, unless that is long in coming.

        There is usage to come, and only a body that was read to its end leaves its connection to the next call; but a
        server that neither says so nor closes must not make a failure of a reply that is here.
        """
        pieces: list[Fragment | Working] = []
        with suppress(TimeoutError, httpx.RequestError):
            async with asyncio.timeout(self._linger_s):
                async for chunk in chunks:
                    pieces += completion.feed(chunk)
        return pieces


def _refusal(answer: httpx.Response) -> Refused | None:
    """Return why an answer is no stream of a completion; None when it is one."""
    status = answer.status_code
    if not answer.is_success:
        look = f"; check {_LOOK_AT[status]}" if status in _LOOK_AT else ""
        problem = f"the model's server answered {status} {httpx.codes.get_reason_phrase(status)}".rstrip() + look
        return Refused(problem, permanent=is_permanent(status))
    if answer.headers.get("content-type", "").partition(";")[0].strip().lower() != "text/event-stream":
        return Refused("the model's server answered without a stream; check OPENAI_BASE_URL", permanent=True)
    return None
