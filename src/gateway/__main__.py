"""The gateway as a process: `python -m gateway`, with Redis and PostgreSQL behind it.

`REDIS_URL` and `DATABASE_URL` say where these are, `HOST` and `PORT` (127.0.0.1, 8000) where to listen, `KODA_TREE`
whose exercises to use, `KODA_…` every number (`shared/settings.py`). A signal tells open streams to reconnect
elsewhere; exit codes are in `shared/adapters/process.py`.
"""

import gc
import sys
from collections.abc import Mapping
from typing import Final

from gateway.bootstrap import build
from gateway.server import Server
from shared.adapters.clock import SystemClock
from shared.adapters.process import Stop, Unsignalled, listen, run
from shared.bootstrap import open_ports
from shared.logs import logger, note
from shared.metrics import Metrics
from shared.start import start_from
from shared.tally import tallied

PORT: Final = 8000

GARBAGE: Final = (5_000, 20, 50)
"""How seldom the garbage collector looks: after so many new objects, and so on for older ones. It looks at all of an
age in one go, which with thousands of open streams takes tens of milliseconds, and nobody is served in them."""


async def serve(environment: Mapping[str, str], stop: Stop) -> None:
    """Answer requests until stopped."""
    start = start_from(environment)
    async with open_ports(start.urls, start.settings) as ports:
        metrics = Metrics()
        gateway, feeds = build(ports, start.exercises, SystemClock(), start.settings, metrics)
        server = _Server(gateway.app(), feeds, start.settings)
        # Not before there is somebody to answer: until then, a refused connection says all there is to say.
        listener = listen(environment, PORT)
        stop.by(server.end)
        gc.freeze()  # nothing that is loaded by now is ever garbage
        gc.set_threshold(*GARBAGE)
        host, port, *_ = listener.getsockname()
        note(logger("gateway"), "listening", host=host, port=port)
        with tallied(metrics):
            await server.serve(sockets=[listener])


class _Server(Unsignalled, Server):
    """The gateway's server, stopped by `run`."""


if __name__ == "__main__":
    sys.exit(run("gateway", serve))
