"""What a worker shows of itself: that its event loop turns, and how often what has happened.

A worker serves nobody, so this is all that its keeper can ask it. Nothing here asks a service: a worker waits for one
that is away, and starting it anew would not help.
"""

import logging

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.events import Json
from shared.logs import ROOT
from shared.metrics import Metrics


def health_app(metrics: Metrics) -> Starlette:
    """Return the application that answers `GET /healthz` and `GET /metrics`."""

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def numbers(_: Request) -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return Starlette(routes=[Route("/healthz", healthz), Route("/metrics", numbers)])


class CountingHandler(logging.Handler):
    """Counts what the log says: each line is a past fact, and who moves a run also says where to."""

    def __init__(self, metrics: Metrics) -> None:
        super().__init__()
        self._lines = metrics.counter("koda_log_lines_total", "What has happened, by room and event.")

    def emit(self, record: logging.LogRecord) -> None:
        """Count one line."""
        room, event = record.name.removeprefix(f"{ROOT}."), record.getMessage()
        fields: dict[str, Json] = getattr(record, "fields", {})
        if "target" in fields:
            self._lines.add(room=room, event=event, target=str(fields["target"]))
        else:
            self._lines.add(room=room, event=event)
