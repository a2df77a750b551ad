"""Submissions that do not load, and submissions that fight back. None of them is right underneath."""

from dataclasses import replace

from tests.mutants.merges import merge
from tests.mutants.orderers import INIT, OFFER, orderer
from tests.mutants.resumes import resume
from tests.mutants.submission import ANY, CRASHED, FAILED_OR_CRASHED, HUNG, Mutant, States, orderer_class
from tests.mutants.transitions import transition

CHECKS_OF = {1: (1,), 2: (2,), 3: (4,), 4: (5, 6)}
"""Which checks judge an exercise."""

RAISES, HANGS = ("raises-always",), ("does-not-return",)
"""What is seen of some deeds. Of the others it depends on when the process ends, and that is nothing to learn from."""


def _at_import(name: str, symptom: str, head: bytes, states: States = CRASHED) -> tuple[Mutant, Mutant]:
    """Spoil a file as a whole: both its exercises are lost."""
    return (
        Mutant(f"{name}-in-lifecycle", 1, symptom, head=head, caught_by=(1, 5, 6), states=states),
        Mutant(f"{name}-in-delivery", 2, symptom, head=head, caught_by=(2, 4), states=states),
    )


def _misfit(name: str, exercise: int, symptom: str, source: str = "", tail: str = "") -> Mutant:
    """Spoil one name: what stands there cannot be called as the exercise is."""
    return Mutant(name, exercise, symptom, source, tail=tail, caught_by=CHECKS_OF[exercise], states=CRASHED)


def _when_called(
    name: str,
    symptom: str,
    deed: str,
    states: States,
    module: str = "",
    *,
    wild: bool = False,
    recognised_as: tuple[str, ...] = (),
) -> tuple[Mutant, ...]:
    """Do the same deed in each of the four exercises, and answer wrongly afterwards."""
    head = f"import {module}\n".encode() if module else b""
    mutants = (
        transition(f"{name}-in-transition", symptom, f"{deed}\nreturn target", states, head),
        orderer(f"{name}-in-offer", symptom, f"{deed}\nself._emit(seq, item)", states=states, head=head),
        resume(f"{name}-in-resume-from", symptom, f"{deed}\nreturn 0", states, head),
        merge(f"{name}-in-should-merge", symptom, (5, 6), f"{deed}\nreturn not previous", states, head),
    )
    return tuple(replace(mutant, wild=wild, recognised_as=recognised_as) for mutant in mutants)


BROKEN = (
    *_at_import("sys-exit", "ends with a good exit code while it is loaded", b"import sys\nsys.exit(0)\n"),
    *_at_import("os-exit", "ends the process at once while it is loaded", b"import os\nos._exit(0)\n"),
    *_at_import("endless-loop", "never finishes loading", b"while True:\n    pass\n", ("hung", "crashed")),
    *_at_import("raises", "raises while it is loaded", b"1 / 0\n"),
    *_at_import("interrupts", "raises what Ctrl-C raises while it is loaded", b"raise KeyboardInterrupt\n"),
    *_at_import("unknown-import", "imports a package that is not there", b"import no_such_package\n"),
    *_at_import("syntax-error", "is not Python", b"def broken(:\n"),
    *_at_import("not-utf-8", "was saved in another encoding", b"# caf\xe9\n"),
    *_at_import("nul-byte", "has a NUL byte in it", b"\0\n"),
    _misfit("transition-missing", 1, "the name is not there", tail="\ndel transition\n"),
    _misfit("orderer-missing", 2, "the name is not there", tail="\ndel SeqOrderer\n"),
    _misfit("resume-from-missing", 3, "the name is not there", tail="\ndel resume_from\n"),
    _misfit("should-merge-missing", 4, "the name is not there", tail="\ndel should_merge\n"),
    _misfit("transition-a-table", 1, "a dict is not a function", tail="\ntransition = TRANSITIONS\n"),
    _misfit("orderer-a-function", 2, "a function is not a class", "def SeqOrderer(start, emit): ...\n"),
    _misfit(
        "orderer-without-offer", 2, "the method has another name", orderer_class(OFFER, INIT).replace("offer", "push")
    ),
    _misfit("transition-takes-one", 1, "takes the target alone", "def transition(target): return target\n"),
    _misfit("orderer-takes-one", 2, "takes no start", orderer_class(OFFER, INIT, parameters="emit, *, start=0")),
    _misfit("resume-from-takes-two", 3, "wants what nobody gives", "def resume_from(last_event_id, run): return 0\n"),
    _misfit(
        "should-merge-takes-three",
        4,
        "wants what nobody gives",
        "def should_merge(previous, now, window): return False\n",
    ),
    _misfit(
        "transition-async", 1, "a coroutine is always true", "async def transition(current, target): return target\n"
    ),
    _misfit(
        "orderer-async",
        2,
        "nobody awaits the offer",
        orderer_class(OFFER, INIT).replace("def offer", "async def offer"),
    ),
    _misfit("resume-from-async", 3, "a coroutine is no number", "async def resume_from(last_event_id): return 0\n"),
    _misfit(
        "should-merge-async", 4, "a coroutine is always true", "async def should_merge(previous, now): return False\n"
    ),
    _misfit("transition-yields", 1, "a generator is always true", "def transition(current, target): yield target\n"),
    _misfit("orderer-yields", 2, "no line of it ever runs", orderer_class("yield (seq, item)", INIT)),
    _misfit("resume-from-yields", 3, "a generator is no number", "def resume_from(last_event_id): yield 0\n"),
    _misfit("should-merge-yields", 4, "a generator is always true", "def should_merge(previous, now): yield False\n"),
)

_SAME = b"""\
class Same:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True

class SameNumber(Same, int):
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__

class SameText(Same, str): ...

"""

HOSTILE = (
    *_when_called(
        "sys-exit", "ends with a good exit code when it is called", "sys.exit(0)", CRASHED, "sys", recognised_as=RAISES
    ),
    *_when_called("os-exit", "ends the process at once when it is called", "os._exit(0)", CRASHED, "os"),
    *_when_called("endless-loop", "does not return", "while True:\n    pass", HUNG, recognised_as=HANGS),
    *_when_called("sleeps", "does not return for an hour", "time.sleep(3600)", HUNG, "time", recognised_as=HANGS),
    *_when_called("stops-itself", "stops its own process", "os.kill(os.getpid(), 19)", ("hung", "crashed"), "os"),
    *_when_called("kills-itself", "kills its own process", "os.kill(os.getpid(), 9)", CRASHED, "os"),
    *_when_called("raises", "raises", "raise RuntimeError('no')", CRASHED, recognised_as=RAISES),
    *_when_called(
        "raises-no-exception",
        "raises what `except Exception` lets through",
        "raise BaseException('no')",
        CRASHED,
        recognised_as=RAISES,
    ),
    *_when_called(
        "cancels",
        "raises what a cancelled task raises",
        "raise asyncio.CancelledError",
        CRASHED,
        "asyncio",
        recognised_as=RAISES,
    ),
    *_when_called("interrupts", "raises what Ctrl-C raises", "raise KeyboardInterrupt", CRASHED, recognised_as=RAISES),
    *_when_called("closes-stdout", "closes the standard streams", "os.closerange(0, 3)", ANY, "os", wild=True),
    *_when_called(
        "closes-everything", "closes all that the process has open", "os.closerange(0, 256)", ANY, "os", wild=True
    ),
    *_when_called("prints-50-mb", "prints fifty megabytes", "print('x' * 50_000_000)", ANY),
    *_when_called("forks", "goes on as two processes", "os.fork()", ANY, "os"),
    transition("always-equal-transition", "equal to every status", "return SameText(target)", FAILED_OR_CRASHED, _SAME),
    orderer(
        "always-equal-numbers",
        "equal to every number",
        "self._emit(SameNumber(seq), item)",
        states=FAILED_OR_CRASHED,
        head=_SAME,
    ),
    resume("always-equal-resume-from", "equal to every number", "return SameNumber(0)", FAILED_OR_CRASHED, _SAME),
    merge("always-equal-should-merge", "equal to True and to False", (5, 6), "return Same()", FAILED_OR_CRASHED, _SAME),
)
