"""The lab: what the judge can do to a service besides using it. Never part of `gateway` or `worker`.

The service mounts one route for it, which answers only to the judge's random token. Some controls belong to the
gateway's side (clock, shuffle, probes), some to the worker's (gate, late write); where the two are separate processes,
each has its own.
"""

import asyncio
import io
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, nullcontext, redirect_stdout
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from selfcheck.lab.probes import probe
from selfcheck.lab.shuffle import ShuffledOutput
from selfcheck.spec import LAB_PATH, TOKEN_HEADER
from shared.adapters.clock import MovedClock
from shared.bootstrap import Ports
from shared.errors import LostOwnership
from shared.events import Json
from shared.exercises import Exercises
from shared.ledger import Ledger
from shared.logs import logger, note
from shared.ports import Claim
from shared.run import RunStatus
from shared.settings import Settings
from worker.models import port as models
from worker.signals import Signals
from worker.writer import RunWriter

log = logger("lab")

Control = Callable[[list[Json]], Awaitable[Json]]


async def mark(arguments: list[Json]) -> Json:
    """Write a line that the judge will know: what was said before it has been read when this has."""
    (word,) = arguments
    note(log, "marked", mark=word)
    return None


class Gate:
    """Lets the model say so many fragments of each run and no more, until it is moved."""

    def __init__(self) -> None:
        self._open_for: int | None = None
        self._moved = asyncio.Event()

    def set(self, fragments: int | None) -> None:
        """Let through this many fragments of each run, counted from its beginning; None: all."""
        self._open_for = fragments
        self._moved.set()
        self._moved = asyncio.Event()

    def closed(self) -> bool:
        """Whether every run says no more, from some fragment on, until the gate is moved."""
        return self._open_for is not None

    async def control(self, arguments: list[Json]) -> Json:
        """Let the model say so many fragments of each run; null: all."""
        (fragments,) = arguments
        assert fragments is None or isinstance(fragments, int), "fragments are counted"
        self.set(fragments)
        return None

    async def pass_through(self, said: int) -> None:
        """Return when a run that has said so many fragments may say one more."""
        while self._open_for is not None and said >= self._open_for:
            await self._moved.wait()


class GatedModel:
    """A model whose every fragment passes a gate."""

    def __init__(self, model: models.Model, gate: Gate) -> None:
        self._model = model
        self._gate = gate
        self._said: dict[str, int] = {}

    async def stream(self, request: models.Request) -> AsyncGenerator[models.Piece]:
        """Yield what the model says, as far as the gate is open for this run (all its calls counted together)."""
        async with aclosing(self._model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, models.Fragment):
                    said = self._said.get(request.run_id, 0)
                    await self._gate.pass_through(said)
                    self._said[request.run_id] = said + 1
                yield piece


class _Nowhere(io.TextIOBase):
    """Takes whatever is printed, and keeps none of it."""

    def write(self, text: str, /) -> int:
        return len(text)


class GatewayControls:
    """The lab's hands on the gateway's side."""

    def __init__(self, gate: Gate, clock: MovedClock, shuffled: ShuffledOutput, exercises: Exercises) -> None:
        self._gate = gate
        self._clock = clock
        self._shuffled = shuffled
        self._exercises = exercises

    def controls(self) -> dict[str, Control]:
        """Return the controls by name."""
        return {
            "mark": mark,
            "gate": self._gate.control,  # nothing passes it here; but what is behind it is awaited here
            "advance": self.advance,
            "shuffle": self.shuffle,
            "arrivals": self.arrivals,
            "probe": self.probe,
        }

    async def advance(self, arguments: list[Json]) -> Json:
        """Move the gateway's clock by so many seconds."""
        (seconds,) = arguments
        assert isinstance(seconds, int | float), "seconds are a number"
        self._clock.advance(timedelta(seconds=seconds))
        return None

    async def shuffle(self, arguments: list[Json]) -> Json:
        """Deliver streams that are followed from now on by the plan of this seed; null: as they come."""
        (seed,) = arguments
        assert seed is None or isinstance(seed, int), "a seed is a whole number"
        self._shuffled.seed = seed
        return None

    async def arrivals(self, arguments: list[Json]) -> Json:
        """Return the seqs of a run in the order in which the bus delivered them here."""
        (run_id,) = arguments
        return [*self._shuffled.arrivals.get(str(run_id), [])]

    async def probe(self, arguments: list[Json]) -> Json:
        """Ask an exercise a table of cases and return its answers."""
        number, cases, quietly = arguments
        assert isinstance(number, int), "exercises are numbered"
        assert isinstance(cases, list), "cases are a list"
        with redirect_stdout(_Nowhere()) if quietly else nullcontext():
            return probe(self._exercises, number, cases)


class WorkerControls:
    """The lab's hands on the worker's side."""

    def __init__(self, gate: Gate, ports: Ports, ledger: Ledger, settings: Settings) -> None:
        self._gate = gate
        self._ports = ports
        self._ledger = ledger
        self._settings = settings

    def controls(self) -> dict[str, Control]:
        """Return the controls by name."""
        return {"mark": mark, "gate": self._gate.control, "late_write": self.late_write}

    async def late_write(self, arguments: list[Json]) -> Json:
        """Wake the run's own worker after the end: it believes the run to be `running`, and writes a fragment.

        Returns why that was refused, or null when it was not.
        """
        (run_id,) = arguments
        stored = await self._ports.store.run(str(run_id))
        assert stored is not None, "the judge names a run that exists"
        first_seq = 0 if stored.last_seq is None else stored.last_seq + 1
        claim = Claim(replace(stored.run, status=RunStatus.RUNNING), None)
        ports = self._ports
        writer = RunWriter(claim, first_seq, self._ledger, ports.store, ports.output, Signals(), self._settings)
        async with writer.sending():
            try:
                await writer.fragment(" (written after the end)")
                await writer.drain()
            except LostOwnership as refusal:
                return str(refusal)
        return None


def route(token: str, controls: dict[str, Control]) -> Route:
    """Return the lab's one route: a list of [control, argument …], done in order, answered by the list of results."""

    async def act(request: Request) -> Response:
        if not secrets.compare_digest(request.headers.get(TOKEN_HEADER, ""), token):
            return Response(status_code=HTTPStatus.NOT_FOUND)
        calls: list[tuple[str, list[Json]]] = msgspec.json.decode(await request.body())
        return Response(msgspec.json.encode([await controls[name](arguments) for name, arguments in calls]))

    return Route(LAB_PATH, act, methods=["POST"])
