"""What a command's end means: exit codes, and the one line for what went wrong."""

import os
from collections.abc import Callable

from selfcheck import console, early, texts
from selfcheck.interrupts import INTERRUPTED
from shared.errors import KodaError, Misconfigured

PASSED, NOT_PASSED, USAGE, ENVIRONMENT = 0, 1, 2, 3


def play_and_report(options: early.Options, started: early.Started | None = None) -> int:
    """Play the checks and return the exit code."""

    def play() -> int:
        from selfcheck.play import run

        texts.use(texts.choose(options.lang, os.environ) or "en")
        report = run(options, started)
        if any(check.status == "environment" for check in report.checks):
            return ENVIRONMENT
        return PASSED if options.exit_zero or report.passed == report.total else NOT_PASSED

    try:
        return said(play)
    finally:
        if started is not None:
            started.end()


def said(command: Callable[[], int]) -> int:
    """Carry a command out; say in one line why it could not be, and return its exit code."""
    try:
        return command()
    except KeyboardInterrupt:
        console.err.print("stopped")
        return INTERRUPTED
    except BrokenPipeError:
        return NOT_PASSED
    except OSError as full:
        console.tell(f"the system refuses something: {full}")
        return ENVIRONMENT
    except KodaError as fault:
        console.tell(str(fault))
        return USAGE if isinstance(fault, Misconfigured) and fault.service == "settings" else ENVIRONMENT
