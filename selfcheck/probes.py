"""Probes, on the service's side: ask an exercise a table of cases, and report what it did, judging nothing.

What comes back is spelled out by type, so that an object that claims to equal everything, or a `True` that is a 1,
arrives at the judge as what it is.
"""

import time
from collections.abc import Callable
from datetime import datetime

from shared.events import Json
from shared.exercises import SHAPES, Exercises
from shared.run import Run, RunStatus

TREE_FILES = tuple({shape.file for shape in SHAPES})
LONGEST_TEXT = 200  # of what an exercise's objects say of themselves


def probe(exercises: Exercises, number: int, cases: list[Json]) -> Json:
    """Return one answer per case, in order: what was returned, or what was raised."""
    ask: dict[int, Callable[[Exercises, Json], Json]] = {1: _transition, 2: _orderer, 3: _resume, 4: _merge}
    return [_attempt(lambda case=case: ask[number](exercises, case)) for case in cases]  # type: ignore[misc]


def _attempt(call: Callable[[], Json]) -> Json:
    try:
        return {"returned": call()}
    except BaseException as raised:  # an exercise may raise anything, SystemExit included
        return {
            "raised": type(raised).__name__,
            "value_error": isinstance(raised, ValueError),
            "message": _safely(raised.__str__),
            "where": raised_at(raised),
        }


def _transition(exercises: Exercises, case: Json) -> Json:
    assert isinstance(case, list), "a case is [current, target]"
    current, target = (RunStatus(str(word)) for word in case)
    return spell(exercises.transition(current, target))


def _resume(exercises: Exercises, case: Json) -> Json:
    assert case is None or isinstance(case, str), "a case is a header or null"
    return spell(exercises.resume_from(case))


def _merge(exercises: Exercises, case: Json) -> Json:
    """Ask with a run of this status and age: {"status", "created_at", "now"}; a null status means no run."""
    assert isinstance(case, dict), "a case is an object"
    created_at, now = (datetime.fromisoformat(str(case[name])) for name in ("created_at", "now"))
    if case["status"] is None:
        return spell(exercises.should_merge(None, now))
    status = RunStatus(str(case["status"]))
    run = Run("run-1", "session-1", "user-1", status, 1, created_at, created_at)
    return spell(exercises.should_merge(run, now))


def _orderer(exercises: Exercises, case: Json) -> Json:
    """Offer numbers to one or more orderers; return all that came out.

    {"starts": [of each orderer], "offers": [[orderer, seq, item] …]}; emitted comes back in the same form. An offer
    that emits after it has returned, or not at all, shows in the count of what each offer brought.
    """
    assert isinstance(case, dict), "a case is an object"
    if "backwards" in case:
        return _backwards(exercises, int(str(case["backwards"])))
    starts, offers = case["starts"], case["offers"]
    assert isinstance(starts, list), "starts are a list"
    assert isinstance(offers, list), "offers are a list"
    emitted: list[Json] = []

    def sink(which: int) -> Callable[[int, str], None]:
        return lambda seq, item: emitted.append([which, seq, item])

    orderers = [exercises.SeqOrderer(int(str(start)), sink(which)) for which, start in enumerate(starts)]
    brought: list[Json] = []
    for offer in offers:
        assert isinstance(offer, list), "an offer is [orderer, seq, item]"
        which, seq, item = offer
        before = len(emitted)
        orderers[int(str(which))].offer(int(str(seq)), str(item))
        brought.append(len(emitted) - before)
    return {"emitted": [_spell_emitted(each) for each in emitted], "brought": brought}


def _backwards(exercises: Exercises, count: int) -> Json:
    """Offer this many numbers, the highest first; return the seqs that came out by the last, and the CPU seconds."""
    emitted: list[Json] = []

    def emit(seq: int, item: str) -> None:
        emitted.append(seq if item == "x" else None)

    orderer = exercises.SeqOrderer(0, emit)
    began = time.thread_time()
    for seq in range(count - 1, 0, -1):
        orderer.offer(seq, "x")
    early = len(emitted)
    orderer.offer(0, "x")
    cpu_s = time.thread_time() - began
    return {"emitted": [spell(each) for each in emitted[early:]], "cpu_s": cpu_s}


def _spell_emitted(emitted: Json) -> Json:
    assert isinstance(emitted, list), "what was emitted is [orderer, seq, item]"
    which, seq, item = emitted
    plain = type(seq) is int and type(item) is str
    return [which, seq, item] if plain else [which, spell(seq), spell(item)]


def spell(answer: object) -> Json:
    """Return an answer as itself when it is plainly a value of JSON, else as its type and what it says of itself."""
    if answer is None or type(answer) is bool or type(answer) is str:
        return answer
    if type(answer) is int and abs(answer) < 1 << 63:
        return answer
    if type(answer) is RunStatus:
        return str(answer)
    return {"type": _safely(lambda: type(answer).__name__), "says": _safely(lambda: repr(answer))}


def raised_at(raised: BaseException) -> str:
    """Return `file:line` of the innermost frame of an exception that stands in a tree's file, or ""."""
    where = ""
    trace = raised.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.endswith(TREE_FILES):
            where = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _safely(say: Callable[[], str]) -> str:
    try:
        return str(say())[:LONGEST_TEXT].encode("utf-8", "replace").decode()
    except BaseException as failure:
        return f"<it cannot say: {type(failure).__name__}>"
