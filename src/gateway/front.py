"""The gateway's application: Starlette, and for streams and sockets a way of their own past it.

A stream is open for minutes, and there are thousands. On the way through the framework each would leave ten coroutines
and their wrappers lying for all that time, and every frame would have to pass them.
"""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from gateway.problems import answer
from gateway.stream import Streams
from shared.errors import KodaError

if TYPE_CHECKING:
    from gateway.sockets import Sockets

_STREAM: Final = re.compile(r"/runs/([^/]+)/events")
_SOCKET: Final = re.compile(r"/sessions/(.+)/socket", re.DOTALL)  # the only path of sockets, so a name may hold a slash


class Front(Starlette):
    """Serves `routes`, which has one for streams too: it knows other methods, and mounts."""

    def __init__(self, routes: Sequence[BaseRoute], streams: Streams, sockets: "Callable[[], Sockets]") -> None:
        super().__init__(
            routes=routes, exception_handlers={KodaError: answer, HTTPException: answer, Exception: answer}
        )
        # A path with a slash too many is unknown; the redirect would go wherever the caller's Host header says.
        self.router.redirect_slashes = False
        self._streams = streams
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "websocket" and (socket := _SOCKET.fullmatch(scope["path"])):
            await self._sockets().serve(socket[1], scope, receive, send)
            return
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        found = _STREAM.fullmatch(scope["path"]) if reads else None
        if found is None:
            await super().__call__(scope, receive, send)
            return
        try:
            await self._streams.of(found[1], scope)(scope, receive, send)
        except Exception as fault:  # before the first byte: a stream that has begun tells its client itself
            response = await answer(Request(scope), fault)
            await response(scope, receive, send)
            if not isinstance(fault, KodaError):
                raise  # as Starlette does, so that the server knows
