"""The diagnosis: by which of the common mistakes an exercise is recognised that was found wrong.

Loaded when a check does not pass, and no sooner.
"""

import msgspec

from selfcheck.playing.stage import Stage
from selfcheck.playing.watcher import Gone, Silent
from selfcheck.processes.held import Service
from selfcheck.symptoms import HANGS, cases, recognise
from shared.errors import Unavailable


def diagnose(exercise: int, service: Service, seed: int) -> str:
    """Ask an exercise for its symptom and return the name, "" when it has none of ours.

    A service that does not come through this is ended.
    """
    try:
        with Stage(service, seed) as stage:
            return recognise(exercise, stage.probe(exercise, cases(exercise), quietly=True))
    except (Gone, Silent, Unavailable):
        service.settle()
        service.stop()
        return HANGS if service.hung_at is not None else ""
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AssertionError):
        return ""  # it answers what is no answer; the judge has said what it thinks of that
