"""The yard: wrong submissions judged many at a time, each by a judge of its own that has loaded everything.

A warden of grading, with another judge: the one a learner meets, outside of any cell, whose services are forked where
that can be done. What comes of a submission is all six results, and what it has left behind.
"""

import contextlib
import importlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from selfcheck import early
from selfcheck.grading import descendants, warden
from selfcheck.grading.orders import Place, Said
from selfcheck.judge import Judge, replace_spec
from selfcheck.processes.held import Service, encode
from selfcheck.spec import BOTH, ServiceSpec, new_token
from selfcheck.trees import kit_root
from selfcheck.verifying.forked import POSSIBLE, Forker

_LOADED_LATER: Final = (
    *("gateway.bootstrap", "worker.bootstrap", "shared.bootstrap", "shared.adapters.memory"),
    *("selfcheck.lab.compose", "selfcheck.lab.controls"),
    *("selfcheck.playing.diagnosis", "selfcheck.symptoms", "selfcheck.reporting.timeline"),
    *("uvicorn.loops.auto", "uvicorn.protocols.http.auto", "uvicorn.lifespan.off", "concurrent.futures.thread"),
    "uvloop",
)
_SETTLE_S: Final = 3.0  # what a service started has this long to notice its end
_LOOK_EVERY_S: Final = 0.02


def main() -> None:
    """Judge what comes on standard input."""
    _preload()
    warden.main(judge)


def _preload() -> None:
    """Load what a judge and a service load when they need it: all copies have it then."""
    for name in _LOADED_LATER:
        with contextlib.suppress(ImportError):  # not every system has them all
            importlib.import_module(name)


def judge(place: Place, room: Path, say: Callable[[Said], None]) -> None:
    """Judge the tree in a room, and say what comes of it, check by check."""
    os.chdir(kit_root())  # where a learner is
    forker = Forker() if POSSIBLE else None
    judging = _Judge(room / "tree", place.seed, forker)
    try:
        for result in judging.judge():
            say(Said("judged", check=result.to_json()))
    finally:
        judging.close()
        if forker is not None:
            forker.close()
    left = _left_behind()
    if left:
        say(Said("left", problem=left))


class _Judge(Judge):
    def __init__(self, tree: Path, seed: int, forker: Forker | None) -> None:
        solution = str(kit_root() / "solution")
        super().__init__(ServiceSpec(str(tree), solution, (), new_token(), BOTH, early.LAB_SETTINGS), None, seed)
        self._forker = forker

    def _start(self, replaced: frozenset[int]) -> Service:
        if self._forker is None:
            return super()._start(replaced)
        spec = replace_spec(self._spec, tuple(sorted(replaced | self._unfit)))
        return Service(spec, {"+".join(spec.roles): self._forker.fork(encode(spec))})


def _left_behind() -> str:
    """Return the processes that are still there, once they have had time to end; "" when none is."""
    until = time.monotonic() + _SETTLE_S
    while (left := descendants.descendants()) and time.monotonic() < until:
        time.sleep(_LOOK_EVERY_S)
    return " ".join(map(str, left))
