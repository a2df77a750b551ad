"""The worker's composition root: ports, exercises and settings become a consumer."""

import os
import secrets
import socket

from shared.adapters.clock import SystemClock
from shared.bootstrap import Ports
from shared.exercises import Exercises
from shared.ledger import Ledger
from shared.settings import Settings
from worker.archivist import Archivist
from worker.consumer import Consumer
from worker.executor import Executor
from worker.models.port import Model
from worker.models.scripted import ScriptedModel
from worker.orphans import Orphans


def build(ports: Ports, exercises: Exercises, settings: Settings, model: Model | None = None) -> Consumer:
    """Return a worker under a name of its own. `model` defaults to the scripted one."""
    clock = SystemClock()
    ledger = Ledger(ports.store, clock, exercises)
    speaker = model if model is not None else ScriptedModel(settings.fragment_pace)
    executor = Executor(ledger, ports, clock, speaker, settings)
    archivist = Archivist(ports.store, clock, settings)
    orphans = Orphans(ports.forks, ledger, ports.marks)
    return Consumer(new_owner(), ledger, ports.store, ports.queue, executor, archivist, orphans, settings)


def new_owner() -> str:
    """Return a name that no other worker has or had: `host-pid-random`, so that a person can find the process."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
