"""The thread that follows a run: what it puts into the inbox, and how it comes to its end."""

from collections.abc import Callable, Sequence

import httpx

from client.arrivals import Append, Arrival, Disconnected, Ended, Reconnected, RunEvent, Unknown
from client.reading import BadPayload
from selfcheck.chat.watching import watch
from shared.errors import Unavailable
from shared.run import RunStatus
from tests.support.patience import PATIENCE_S

RETRY = b"retry: 0\n"
FIRST = b'id: 0\nevent: delta\ndata: {"text":"a"}\n\n'
LATER = b"id: 1\nevent: thought\ndata: {}\n\n"
DONE = b'id: 2\nevent: done\ndata: {"usage":{}}\n\n'
BAD = b"id: 1\nevent: delta\ndata: {}\n\n"


def watched(bodies: Sequence[bytes], check: Callable[[], None] = lambda: None) -> list[Arrival | Exception | None]:
    """Return all that comes into the inbox, each connection having one of these bodies."""
    left = list(bodies)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=RETRY + left.pop(0))

    with httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(answer)) as client:
        inbox = watch(client, "r", None, check)
        items = [inbox.get(timeout=PATIENCE_S)]
        while items[-1] is not None and not isinstance(items[-1], Exception):
            items.append(inbox.get(timeout=PATIENCE_S))
    return items


def test_events_come_as_arrivals_and_an_interruption_once() -> None:
    """Two connections in a row that bring nothing are one interruption; what comes next says that it is over."""
    assert watched([FIRST, b"", b"", LATER + DONE]) == [
        RunEvent("r", 0, Append("a")),
        Disconnected("r"),
        Reconnected("r"),
        RunEvent("r", 1, Unknown()),
        RunEvent("r", 2, Ended(RunStatus.DONE, "")),
        None,
    ]


def test_what_ends_the_thread_is_handed_on() -> None:
    """Whoever waits at the inbox learns of any exception, and nothing comes behind it."""
    first, fault = watched([FIRST + BAD + DONE])
    assert first == RunEvent("r", 0, Append("a"))
    assert isinstance(fault, BadPayload)


def test_reconnecting_can_be_called_off() -> None:
    """The check comes before each pause: of a service that has ended nobody waits for an answer."""
    away = Unavailable("service", "it has ended")

    def check() -> None:
        raise away

    assert watched([FIRST], check) == [RunEvent("r", 0, Append("a")), away]
