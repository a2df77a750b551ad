"""What a command's end means: exit codes, and the one line for what went wrong."""

import os
from collections.abc import Callable
from functools import cache

from selfcheck import console, early, texts
from selfcheck.interrupts import INTERRUPTED, part_with
from selfcheck.texts import say
from shared.errors import KodaError, Misconfigured

PASSED, NOT_PASSED, USAGE, ENVIRONMENT = 0, 1, 2, 3
_ASKED_FOR = {"settings", "--tree", "DIR"}  # what the command line and the environment say, and another word mends


def play_and_report(options: early.Options, started: early.Started | None = None) -> int:
    """Play the checks and return the exit code."""

    def play() -> int:
        from selfcheck.play import run

        speak(texts.choose(options.lang, os.environ) or "en")
        report = run(options, started)
        if any(check.status == "environment" for check in report.checks):
            return ENVIRONMENT
        return PASSED if options.exit_zero or report.passed == report.total else NOT_PASSED

    try:
        return said(play)
    finally:
        if started is not None:
            started.end()


def speak(lang: texts.Lang) -> None:
    """Show messages in this language from now on; in English, and say so, where its characters cannot be shown."""
    texts.use(lang)
    if not console.can_show(say("console.stopped")):
        texts.use("en")
        _tell_fallback()
        return
    if lang != "en":  # in which the last word is known from the beginning
        part_with(str(say("console.stopped")))


@cache
def _tell_fallback() -> None:
    """Say once that there is no other language here: a command may ask for it again."""
    console.tell(say("console.cannot_show", encoding=console.out.encoding))


def said(command: Callable[[], int]) -> int:
    """Carry a command out; say in one line why it could not be, and return its exit code."""
    try:
        return command()
    except KeyboardInterrupt:
        return _stopped()
    except RuntimeError as fault:
        # A Ctrl-C while a lock is being taken: its owner then gives back what it does not have, and says that instead.
        if isinstance(fault.__context__, KeyboardInterrupt):
            return _stopped()
        raise
    except BrokenPipeError:
        return NOT_PASSED
    except OSError as full:
        console.tell(say("console.refused", reason=str(full)))
        return ENVIRONMENT
    except KodaError as fault:
        from selfcheck.recognising import explained

        console.tell(explained(fault))
        return USAGE if isinstance(fault, Misconfigured) and fault.service in _ASKED_FOR else ENVIRONMENT


def _stopped() -> int:
    console.err.print(str(say("console.stopped")))
    return INTERRUPTED
