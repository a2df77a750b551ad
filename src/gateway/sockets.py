"""`GET /sessions/{session_id}/socket`: a WebSocket is let in, given a line, listened to, and closed with a reason.

What a process cannot bear is refused before the upgrade, as a problem document. What a client has done wrong is told
behind it, by a close code: a browser shows its page nothing of a refused upgrade.
"""

import logging
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request
from starlette.types import Message, Receive, Scope, Send

from gateway.answers import Answers
from gateway.connections import Connections
from gateway.feeds import Feeds
from gateway.hearing import Hearing
from gateway.intake import check_id
from gateway.line import BATCH, Closed, Common, Line, Start
from gateway.problems import answer
from gateway.sessions import parse_cursor
from gateway.waiter import Waiter
from shared.envelope import VERSION, CloseCode, fitting
from shared.errors import InvalidField, KodaError
from shared.logs import logger, note
from shared.metrics import Counter
from shared.ports import Clock
from shared.run import ENDED
from shared.settings import Settings

log = logger("gateway")


class _Ear(Waiter):
    """A waiter that hears what its client sends."""

    __slots__ = ("hearing",)

    hearing: Hearing | None

    async def hear(self, message: Message) -> None:
        """Take a frame. What comes before there is a line is not there yet for anybody."""
        if self.hearing is not None:
            await self.hearing.take(message)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a client asks for, once it is found to make sense."""

    session_id: str
    start: Start


class Sockets:
    """Serves the sockets of one gateway."""

    def __init__(
        self, feeds: Feeds, connections: Connections, answers: Answers, clock: Clock, settings: Settings, sent: Counter
    ) -> None:
        self._feeds = feeds
        self._connections = connections
        self._answers = answers
        self._settings = settings
        self._common = Common(feeds, clock, sent)

    async def serve(self, session_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket, from its upgrade to its end."""
        await receive()  # that it wants to connect
        try:
            with self._connections.room():
                asked = await self._asked(session_id, HTTPConnection(scope))
                await self._hold(asked, scope, receive, send)
        except KodaError as refusal:  # none is raised behind the upgrade
            response = await answer(Request({**scope, "type": "http", "method": "GET"}), refusal)
            await response(scope, receive, send)

    async def _asked(self, session_id: str, request: HTTPConnection) -> _Asked | Closed:
        """Return what is asked for, or why it is not to be had.

        Raises:
            Unavailable: the store is away, so nobody knows.
        """
        version, cursor = request.query_params.get("v", f"{VERSION}"), request.query_params.get("cursor", "")
        if version != f"{VERSION}":
            return Closed(CloseCode.UNKNOWN_VERSION, f"v: this gateway speaks version {VERSION}")
        try:
            session_id = check_id("session_id", session_id)
            ordinal, seq = parse_cursor(cursor)
        except InvalidField as wrong:
            return Closed(CloseCode.BAD_REQUEST, str(wrong))
        if cursor and not await self._is_of(session_id, ordinal, seq):
            return Closed(CloseCode.UNKNOWN_CURSOR, "cursor: is not of this session's history; begin without one")
        return _Asked(session_id, Start(cursor, ordinal, seq))

    async def _is_of(self, session_id: str, ordinal: int, seq: int) -> bool:
        """Whether a session has such a place. What a run that has not ended may have, its feed finds out."""
        named = await self._feeds.succession(session_id).run(ordinal)
        if named is None or seq < 0:
            return named is not None
        stored = (await self._feeds.find(named.run.id, None)).stored
        return stored.run.status not in ENDED or (stored.last_seq is not None and seq <= stored.last_seq)

    async def _hold(self, asked: _Asked | Closed, scope: Scope, receive: Receive, send: Send) -> None:
        """Upgrade, hold the line until its end, and say why it ends, unless nobody is there to be told."""
        send_timeout_s = self._settings.send_timeout.total_seconds()
        ear = _Ear(scope, receive, send, send_timeout_s)
        ear.hearing = None
        with ear:
            try:
                await ear.send({"type": "websocket.accept"})
                closed = (
                    asked if isinstance(asked, Closed) else await self._carry(asked, ear, BATCH in _extensions(scope))
                )
                note(log, "socket_closed", code=closed.code.value, why=closed.reason)
                await ear.send({"type": "websocket.close", "code": closed.code.value, "reason": fitting(closed.reason)})
            except OSError as gone:  # as ASGI servers may say it
                note(log, "client_dropped", logging.WARNING, why=str(gone))
        if ear.stalled:
            note(log, "client_dropped", logging.WARNING, after_s=send_timeout_s)

    async def _carry(self, asked: _Asked, ear: _Ear, batches: bool) -> Closed:
        session_id = asked.session_id
        line = Line(session_id, asked.start, ear, batches, self._common)
        if not self._connections.add(session_id, line):
            most = self._settings.max_session_sockets
            return Closed(CloseCode.TOO_MANY, f"session_id: the session has {most} sockets here, as many as it may")
        try:
            ear.hearing = Hearing(session_id, line, self._answers, self._settings)
            return await line.serve()
        finally:
            ear.hearing = None
            self._connections.remove(session_id, line)


def _extensions(scope: Scope) -> dict[str, object]:
    extensions: dict[str, object] | None = scope.get("extensions")
    return extensions or {}
