"""The operating system's side of a process: its event loop, its signals, its address and its exit code.

The exit code is for whoever starts the process again:

    0  a signal came, and what was going on has been brought to an end
    1  a fault of ours; the line `crashed` has the traceback
    2  something that must be given is not
    3  a service does not answer, or something has to be mended first
"""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Final, TypeAlias

import uvicorn

from shared import logs
from shared.errors import CallerError, Misconfigured, Unavailable
from shared.logs import logger, note

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

BACKLOG: Final = 2048  # connections that wait to be accepted: all clients come back at once after a deploy


class Stop:
    """What the first signal begins: `give_up`, until there is something that can be ended better."""

    def __init__(self, give_up: Callable[[], object]) -> None:
        self.begin = give_up

    def by(self, begin: Callable[[], object]) -> None:
        """Let the first signal call this; it must return at once, and bring the process's work to its end."""
        self.begin = begin


Work: TypeAlias = Callable[[Mapping[str, str], Stop], Coroutine[None, None, None]]
"""What a process does, given its environment: it returns once it has been stopped."""


def run(room: str, work: Work) -> int:
    """Do a process's work until SIGTERM or SIGINT; a second signal ends it on the spot. Return the exit code.

    Whatever is to be said is said on stderr: JSON lines, or readable ones when it is a terminal.
    """
    _configure_logs()
    log = logger(room)
    try:
        _run(_signalled(log, work))
    except asyncio.CancelledError:
        return 0  # a signal came before there was anything to drain
    except (CallerError, Unavailable) as fault:
        note(log, "not_started", logging.ERROR, why=str(fault))
        return 2 if isinstance(fault, CallerError) else 3
    except Exception:
        log.exception("crashed")
        return 1
    return 0


def _configure_logs() -> None:
    logs.configure(json=not sys.stderr.isatty())
    # What libraries have to say comes out the same way, so that every line of a process can be read by one reader.
    # A list of its own: what counts our lines is told of no others, whose texts are no names of facts.
    logging.root.handlers = [*logging.getLogger(logs.ROOT).handlers]
    logging.captureWarnings(True)


def _run(work: Coroutine[None, None, None]) -> None:
    try:
        import uvloop
    except ImportError:  # there is none for this system
        asyncio.run(work)
    else:
        uvloop.run(work)


async def _signalled(log: logging.Logger, work: Work) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "runs inside a task"
    stop = Stop(task.cancel)

    def begin(name: str) -> None:
        note(log, "stopping", signal=name)
        stop.begin()

    def on_first(number: int, _: FrameType | None) -> None:
        _on_signals(_end_at_once)
        loop.call_soon_threadsafe(begin, signal.Signals(number).name)

    _on_signals(on_first)
    await work(os.environ, stop)


def _on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in SIGNALS:
        signal.signal(number, handler)


def _end_at_once(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)  # the shell's word for it; a container's first process cannot be killed by the signal itself


def listen(environment: Mapping[str, str], port: int) -> socket.socket:
    """Return a socket that listens where `HOST` (default 127.0.0.1) and `PORT` (default `port`; 0: any free) say.

    Raises:
        Misconfigured: that is no address, or somebody else has it.
    """
    host, given = environment.get("HOST") or "127.0.0.1", environment.get("PORT") or str(port)
    if not (given.isascii() and given.isdigit() and int(given) < 2**16):
        raise Misconfigured("settings", f"PORT={given!r} is not a number from 0 to 65535", "change PORT or unset it")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, int(given)), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]  # Python repeats the address behind it
        problem = f"cannot listen on {host}, port {given}: {reason}"
        raise Misconfigured("settings", problem, "change HOST or PORT") from error


class Unsignalled(uvicorn.Server):
    """A server that leaves the signals to `run`, which has more than it to bring to an end."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield

    def end(self) -> None:
        """Shut down: accept nothing more and let running requests finish; then `serve` returns."""
        self.should_exit = True
