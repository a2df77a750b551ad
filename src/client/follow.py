"""Follow a run with httpx: `follow` and `afollow` carry out what `following.py` decides.

`open_stream` is the room below them: one connection, without a second one behind it. A session's line, which carries
all its runs, is followed by `follow_line.py`.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote

import httpx

from client.following import IDLE, Following, is_event_stream, request_headers
from client.sse import EventStreamParser, ServerEvent

_CONNECT_S: Final = 10.0  # to connect, to send the request, and to get a connection from the client's pool

# What the next connection may be spared. httpx's other errors are mistakes in the call: they go through.
_BROKEN: Final = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError)


def follow(
    client: httpx.Client, run: str | Following, *, pause: Callable[[timedelta], None] | None = None
) -> Generator[ServerEvent]:
    """Yield a run's events, each once and in order, reconnecting until the run has ended.

    `client` has the gateway as its `base_url`. `run` is a run's id, or a `Following`, which takes more and can be
    looked at: after the last event, its `outcome` says why there are no more. `snapshot` and `gap` are handed on (a
    `gap` says that all text so far is void), `error` is not: it leads to the next connection. Closing the generator
    closes the connection. `pause` waits between two connections; sleeping is the default.

    Raises:
        StreamRefused: the answer is final, as it is for an unknown run.
        GaveUp: too many connections in a row brought nothing new.
    """
    following = Following(run) if isinstance(run, str) else run
    pause = pause or _sleep
    while following.outcome is None:
        try:
            headers, timeout = following.begin(), _timeout(following.patience.idle)
            with client.stream("GET", _path(following.run_id), headers=headers, timeout=timeout) as response:
                if following.answered(response.status_code, response.headers):
                    for chunk in response.iter_bytes():
                        yield from following.feed(chunk)
                        if following.leaving:
                            break
        except _BROKEN as error:
            following.broke(error)
        if following.outcome is None:
            pause(following.next_pause())


async def afollow(
    client: httpx.AsyncClient, run: str | Following, *, pause: Callable[[timedelta], Awaitable[None]] | None = None
) -> AsyncGenerator[ServerEvent]:
    """Do what `follow` does, in an event loop.

    Leaving the loop over it early does not close the connection at once: wrap it in `contextlib.aclosing`.
    """
    following = Following(run) if isinstance(run, str) else run
    pause = pause or _async_sleep
    while following.outcome is None:
        try:
            headers, timeout = following.begin(), _timeout(following.patience.idle)
            async with client.stream("GET", _path(following.run_id), headers=headers, timeout=timeout) as response:
                if following.answered(response.status_code, response.headers):
                    async for chunk in response.aiter_bytes():
                        for event in following.feed(chunk):
                            yield event
                        if following.leaving:
                            break
        except _BROKEN as error:
            following.broke(error)
        if following.outcome is None:
            await pause(following.next_pause())


@dataclass(frozen=True, slots=True)
class Stream:
    """One connection. `events` reads on as it is iterated, and is empty if the answer is no stream of events.

    `parser` has seen all bytes read so far: `retry`, `comments` (heartbeats among them) and `last_event_id`.
    """

    status: int
    headers: httpx.Headers
    events: Iterator[ServerEvent]
    parser: EventStreamParser


@contextmanager
def open_stream(
    client: httpx.Client, run_id: str, cursor: int | None = None, *, idle: timedelta = IDLE
) -> Iterator[Stream]:
    """Open one connection to a run's stream, after the event `cursor` (None: from its start), and close it at the end.

    Nothing is filtered and nothing is asked again: stop iterating and leave the block to cut the connection.

    Raises:
        httpx.TransportError: the connection did not come about, or broke (from `events` too). An orderly end raises
            nothing.
    """
    parser = EventStreamParser()
    headers = request_headers(cursor)
    with client.stream("GET", _path(run_id), headers=headers, timeout=_timeout(idle)) as response:
        yield Stream(response.status_code, response.headers, _events(response, parser), parser)


def _events(response: httpx.Response, parser: EventStreamParser) -> Iterator[ServerEvent]:
    if is_event_stream(response.status_code, response.headers):
        for chunk in response.iter_bytes():
            yield from parser.feed(chunk)


def _path(run_id: str) -> str:
    return f"/runs/{quote(run_id, safe='')}/events"


def _timeout(idle: timedelta) -> httpx.Timeout:
    return httpx.Timeout(_CONNECT_S, read=idle.total_seconds())


def _sleep(duration: timedelta) -> None:
    time.sleep(duration.total_seconds())


async def _async_sleep(duration: timedelta) -> None:
    import asyncio  # not above: whoever follows without an event loop starts faster without it

    await asyncio.sleep(duration.total_seconds())
