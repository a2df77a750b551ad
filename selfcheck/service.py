"""The service under judgement: gateway, worker or both, in a process of its own, with the lab beside it.

Started by the judge as `python -c "from selfcheck.service import main; main()" SPEC` and imported by nobody else. It
says everything on stderr, one signed JSON line each: which file of the tree it is about to execute, that it listens,
what happens to runs, and, should the event loop stand still, where. It ends when its standard input does, so it cannot
outlive the judge.
"""

import gc

# Nothing that is allocated while modules load is garbage: looking for it costs a tenth of the start.
gc.disable()

import asyncio  # noqa: E402
import faulthandler  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import socket  # noqa: E402
import sys  # noqa: E402
from collections.abc import Coroutine  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NoReturn  # noqa: E402

import msgspec  # noqa: E402

from selfcheck.lab import captivity  # noqa: E402
from selfcheck.spec import ServiceSpec  # noqa: E402
from shared import logs  # noqa: E402
from shared.errors import Misconfigured, Unavailable  # noqa: E402
from shared.logs import logger, note  # noqa: E402

log = logger("service")

BEAT_S = 0.2
STILL_S = 0.8  # a loop that has not turned for this long is shown where it stands


class _Signed(logs.JsonLines):
    """Our lines, told apart from whatever else is printed: each begins a line, with the judge's own token."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def format(self, record: logging.LogRecord) -> str:
        return f"\n{self._token} {super().format(record)}"  # a tree may have printed half a line


def main() -> None:
    """Run the service that the first argument describes, until standard input ends."""
    spec = msgspec.json.decode(sys.argv.pop(), type=ServiceSpec)
    # Of our own: a tree may close stderr, or put something else in its place.
    voice = os.fdopen(os.dup(2), "w", encoding="utf-8", buffering=1)
    logs.configure(json=True, stream=voice)
    logging.getLogger(logs.ROOT).handlers[0].setFormatter(_Signed(spec.token))
    # A request that crashes is a line of ours. What the server says of it besides would pass for a print of the tree.
    logging.getLogger("uvicorn").propagate = False
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    captivity.enter(lambda: note(log, "process_started"))
    # The port is known, and connections queue, while everything else is still loading.
    try:
        listener = socket.create_server(("127.0.0.1", spec.port), backlog=256)
    except OSError as error:
        problem = f"port {spec.port} on 127.0.0.1 cannot be had: {os.strerror(error.errno or 0)}"
        _end(Misconfigured("service", problem, "choose another with --port"))
    note(log, "listening", role="+".join(spec.roles), port=listener.getsockname()[1])
    watch = _Watch(voice.fileno())
    try:
        _serve(spec, listener, watch)
    except Unavailable as fault:
        _end(fault)
    os._exit(0)


def _end(fault: Unavailable) -> NoReturn:
    """Say why the service cannot be started, and end."""
    remedy = fault.remedy if isinstance(fault, Misconfigured) else None
    note(log, "not_started", service=fault.service, problem=fault.problem, remedy=remedy)
    sys.stderr.flush()
    os._exit(3)


def _serve(spec: ServiceSpec, listener: socket.socket, watch: "_Watch") -> None:
    from selfcheck.lab.compose import import_adapters, serve
    from shared.exercises import load

    if spec.experiment:
        from selfcheck.experiments.compose import serve

    role = "+".join(spec.roles)

    def announce(file: str) -> None:
        note(log, "tree_file", role=role, file=file)  # should the process end in it, that has a culprit
        watch.begin()

    loaded = load(Path(spec.tree), Path(spec.stand_in), frozenset(spec.replaced), announce)
    watch.pause()
    for fault in loaded.faults:
        note(
            log, "tree_fault", exercises=[*fault.exercises], file=fault.file, line=fault.line,
            problem=fault.problem, expected=fault.expected,
        )  # fmt: skip

    if spec.redis_url:
        import_adapters()  # here, not in the loop, which they would hold up

    async def start() -> None:
        watch.beat(asyncio.get_running_loop())
        note(log, "ready", role=role)
        gc.freeze()
        gc.enable()
        await serve(spec, loaded.exercises, listener)

    _run(start())


def _run(service: Coroutine[None, None, None]) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(service)
    else:
        uvloop.run(service)


class _Watch:
    """A thread that needs no interpreter shows where the loop stands, unless that is put off, beat by beat.

    It reads the stack of a thread that may be running, which can end the process. So it watches only where a tree's
    code may be what stands still, and not while our own modules load, which on a busy machine takes long enough.
    """

    def __init__(self, voice_fd: int) -> None:
        self._voice_fd = voice_fd
        self._beaten_at: float | None = None

    def begin(self) -> None:
        """Watch from now on: a tree's file is about to be executed, and may never return."""
        self._put_off()

    def pause(self) -> None:
        """Watch no more until the loop beats."""
        faulthandler.cancel_dump_traceback_later()

    def beat(self, loop: asyncio.AbstractEventLoop) -> None:
        """Put it off, now and regularly, as long as the loop turns."""
        now = loop.time()
        if self._beaten_at is not None and now - self._beaten_at > STILL_S:
            note(log, "loop_resumed", after_s=round(now - self._beaten_at, 1))
        self._beaten_at = now
        self._put_off()
        loop.call_later(BEAT_S, self.beat, loop)

    def _put_off(self) -> None:
        faulthandler.dump_traceback_later(STILL_S, repeat=True, file=self._voice_fd)
