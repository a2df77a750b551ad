"""The gateway's composition root: ports, exercises, clock and settings become an ASGI application."""

from gateway.app import Gateway
from gateway.feeds import Feeds
from gateway.hub import Hub
from shared.bootstrap import Ports
from shared.exercises import Exercises
from shared.ledger import Ledger
from shared.metrics import Metrics
from shared.ports import Clock
from shared.settings import Settings


def build(
    ports: Ports, exercises: Exercises, clock: Clock, settings: Settings, metrics: Metrics | None = None
) -> tuple[Gateway, Feeds]:
    """Return the gateway, and its feeds, to be stopped when the process is to end. It shows what `metrics` has."""
    ledger = Ledger(ports.store, clock, exercises)
    feeds = Feeds(ports.store, ports.output, Hub(ports.output), exercises, settings)
    return Gateway(ledger, ports, feeds, clock, settings, metrics or Metrics()), feeds
