"""The gateway's calls: each reads its request, asks one thing of the business code, and answers."""

import contextlib
import math
from collections.abc import Mapping
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from gateway import sessions
from gateway.answers import Answers
from gateway.connections import Connections
from gateway.doorbell import Doorbell
from gateway.feeds import Feeds
from gateway.front import Front
from gateway.intake import ChatRequest, check_id, read_answer, read_chat
from gateway.problems import problem
from gateway.routes import SegmentRoute
from gateway.stream import RunStream, Streams
from gateway.trace import trace_of
from gateway.waiters import Waiters
from shared.bootstrap import Ports
from shared.errors import RunEnded, Unavailable, UnknownRun
from shared.events import Json
from shared.ledger import IfActive, Ledger
from shared.logs import carrying
from shared.metrics import Metrics
from shared.ports import Accepted, Clock, StoredRun
from shared.run import RunStatus
from shared.settings import Settings
from shared.text import clean

if TYPE_CHECKING:
    from gateway.sockets import Sockets


class Gateway:
    """The calls of one gateway process."""

    def __init__(
        self, ledger: Ledger, ports: Ports, feeds: Feeds, clock: Clock, settings: Settings, metrics: Metrics
    ) -> None:
        self._ledger = ledger
        self._store = ports.store
        self._queue = ports.queue
        self._doorbell = Doorbell(ports.queue, ports.marks, ports.output)
        self._answers = Answers(ports.questions, ports.store, self._doorbell)
        self._feeds = feeds
        self._settings = settings
        self._metrics = metrics
        self._waiters = Waiters(settings.max_waiters, settings.max_run_waiters)
        self._streams = Streams(feeds, self._waiters, settings.send_timeout.total_seconds())
        self._connections = Connections(settings.max_sockets, settings.max_session_sockets)
        self._clock = clock
        self._frames = metrics.counter("koda_socket_frames_total", "Frames sent on sockets.")
        metrics.gauge("koda_sockets", "Sockets open in this process.", lambda: self._connections.open)
        self._accepted = metrics.counter("koda_messages_accepted_total", "Messages accepted, by what became of them.")
        metrics.gauge("koda_waiters", "Streams open in this process.", lambda: self._waiters.open)
        self._depth = math.nan
        metrics.gauge("koda_queue_depth", "Doorbells waiting or taken; NaN while the bus is away.", lambda: self._depth)

    def app(self, *more: BaseRoute) -> Starlette:
        """Return the ASGI application; `more` routes come before ours."""
        routes = [
            *more,
            Route("/chat", self.chat, methods=["POST"]),
            Route("/runs/{run_id}", self.run, methods=["GET"]),
            Route("/runs/{run_id}/events", self.events, methods=["GET"]),
            Route("/runs/{run_id}/cancel", self.cancel, methods=["POST"]),
            Route("/runs/{run_id}/answers", self.answers, methods=["POST"]),
            SegmentRoute("/sessions/{session_id}", self.session, methods=["GET"]),
            SegmentRoute("/sessions/{session_id}/events", self.session_events, methods=["GET"]),
            SegmentRoute("/sessions/{session_id}/socket", self.socket, methods=["GET"]),
            Route("/healthz", self.healthz, methods=["GET"]),
            Route("/readyz", self.readyz, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
        ]
        return Front(routes, self._streams, lambda: self._sockets)

    # messages

    async def chat(self, request: Request) -> Response:
        """`POST /chat`: accept a message; with `Accept: text/event-stream` the answer is the run's stream."""
        chat = await read_chat(request, self._settings)
        if _wants_stream(request):
            self._waiters.check()
        await self._refuse_if_deaf(chat)
        trace = trace_of(request)
        with carrying(trace=trace):
            accepted = await self._accept(chat, trace)
        outcome = "replayed" if accepted.replayed else "merged" if accepted.merged else "opened"
        self._accepted.add(outcome=outcome)
        replayed = {"Idempotency-Replayed": "true"} if accepted.replayed else {}
        if _wants_stream(request):
            return RunStream(self._streams, accepted.run_id, None, {"X-Run-Id": accepted.run_id, **replayed})
        return _json(
            {
                "run_id": accepted.run_id,
                "session_id": accepted.message.session_id,
                "merged": accepted.merged,
                "status": str(accepted.status),
                "events_url": f"/runs/{accepted.run_id}/events",
            },
            HTTPStatus.ACCEPTED,
            replayed,
        )

    async def _accept(self, chat: ChatRequest, trace: str) -> Accepted:
        """Take the message into the store, then do what its taking means for others."""
        accepted = await self._ledger.accept(
            chat.message_id, chat.session_id, chat.user_id, chat.text, chat.if_active, trace
        )
        if chat.if_active is IfActive.INTERRUPT:
            await self._interrupt(accepted)
        if not accepted.merged:
            self._connections.look_again(chat.session_id)
        await self._doorbell.ring(accepted)
        return accepted

    async def _interrupt(self, accepted: Accepted) -> None:
        """Cancel the run that a new one shall not wait for, as long as it does. It is stored: nothing can be lost.

        A caller who was told 503 here sends the message again, and this is done again.
        """
        if (await self._find(accepted.run_id)).run.status is not RunStatus.PENDING:
            return
        active = await self._ledger.active_run(accepted.message.session_id)
        # The former may have ended since, and the new one have been claimed.
        if active is not None and active.id != accepted.run_id:
            with contextlib.suppress(RunEnded):
                await self._ledger.cancel(active.id)
                await self._doorbell.stop(active.id)

    async def _refuse_if_deaf(self, chat: ChatRequest) -> None:
        """Refuse a message while no worker can be told of it. One that was accepted before is answered as before."""
        try:
            await self._doorbell.check()
        except Unavailable:
            if await self._store.find_message(chat.session_id, chat.message_id) is None:
                raise

    # runs

    async def run(self, request: Request) -> Response:
        """`GET /runs/{run_id}`: where the run stands."""
        return _json(_standing(await self._find(_run_id(request))))

    async def cancel(self, request: Request) -> Response:
        """`POST /runs/{run_id}/cancel`: durable first, the mark second; 202 while a worker has still to end it."""
        run_id = _run_id(request)
        status = await self._ledger.cancel(run_id)
        if status is RunStatus.CANCELLED:
            await self._feeds.announce_end(run_id)
            return _json({"run_id": run_id, "status": str(status)})
        await self._doorbell.stop(run_id)
        return _json({"run_id": run_id, "status": str(status)}, HTTPStatus.ACCEPTED)

    async def answers(self, request: Request) -> Response:
        """`POST /runs/{run_id}/answers`: answer a question of the run. Of several answers, the first counts."""
        run_id, answer = _run_id(request), await read_answer(request, self._settings)
        await self._answers.to_run(run_id, answer)
        return _json({"question_id": answer.question_id, "run_id": run_id, "counted": True, "text": answer.text})

    async def events(self, request: Request) -> Response:
        """`GET /runs/{run_id}/events`: the run's stream. As a rule, `Front` knows a shorter way to it."""
        return self._streams.of(_run_id(request), request.scope)

    # sessions

    async def session(self, request: Request) -> Response:
        """`GET /sessions/{session_id}`: messages, runs, texts, and the cursor to go on from."""
        session_id = check_id("session_id", request.path_params["session_id"])
        return _json(await sessions.snapshot(self._store, session_id))

    async def session_events(self, request: Request) -> Response:
        """`GET /sessions/{session_id}/events?cursor=`: what came after."""
        session_id = check_id("session_id", request.path_params["session_id"])
        return _json(await sessions.page(self._store, session_id, request.query_params.get("cursor")))

    async def socket(self, _: Request) -> Response:
        """`GET /sessions/{session_id}/socket` without an upgrade. With one, `Front` knows the way."""
        detail = "this is a WebSocket; ask for it with Upgrade: websocket, or read /sessions/{session_id}/events"
        return problem(HTTPStatus.UPGRADE_REQUIRED, detail, headers={"Upgrade": "websocket"})

    @cached_property
    def _sockets(self) -> "Sockets":
        """What serves sockets. Only whoever has one pays for it."""
        from gateway.sockets import Sockets

        return Sockets(self._feeds, self._connections, self._answers, self._clock, self._settings, self._frames)

    # the process

    async def healthz(self, _: Request) -> Response:
        """`GET /healthz`: this process runs."""
        return _json({"status": "ok"})

    async def readyz(self, _: Request) -> Response:
        """`GET /readyz`: store and bus answer, so a message sent here would be worked on."""
        await self._store.ping()
        await self._queue.depth()
        return _json({"status": "ready"})

    async def metrics(self, _: Request) -> Response:
        """`GET /metrics`: Prometheus text."""
        try:
            self._depth = await self._queue.depth()
        except Unavailable:
            self._depth = math.nan
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _find(self, run_id: str) -> StoredRun:
        stored = await self._store.run(run_id)
        if stored is None:
            raise UnknownRun(run_id)
        return stored


def _wants_stream(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "").lower()


def _run_id(request: Request) -> str:
    """Return the path's run id, cleaned: one that no store can hold belongs to no run."""
    run_id: str = request.path_params["run_id"]
    return clean(run_id)


def _standing(stored: StoredRun) -> dict[str, Json]:
    run = stored.run
    return {
        "run_id": run.id,
        "session_id": run.session_id,
        "status": str(run.status),
        "attempt": run.attempt,
        "last_seq": stored.last_seq,
        "created_at": run.created_at.isoformat(),
        "updated_at": run.updated_at.isoformat(),
    }


def _json(
    document: "Mapping[str, Json | msgspec.Raw]", status: int = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> Response:
    return Response(msgspec.json.encode(document), status, headers, "application/json")
