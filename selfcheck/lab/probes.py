"""Probes, on the service's side: ask an exercise a table of cases, and report what it did, judging nothing.

What comes back is spelled out by type, so that an object that claims to equal everything, or a `True` that is a 1,
arrives at the judge as what it is.
"""

import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from shared.events import Json
from shared.exercises import SHAPES, Exercises
from shared.run import Run, RunStatus

T = TypeVar("T")

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,16}\b")

TREE_FILES = tuple({shape.file for shape in SHAPES})
LONGEST_TEXT = 200  # of what an exercise's objects say of themselves
MOST_HEARD = 10_000  # of it, before what is not to be shown is taken out
MOST_EMITTED = 20_000  # twice what any case calls for


class Item:
    """What an orderer is probed with: has no order, and is equal to nothing else, not even to its own copy."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return repr(self.text)


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
            "message": safely(raised.__str__),
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
    """Ask with a run of this status and age: {"status", "created_at", "now"}; a null status means no run.

    It was last changed when it was created, unless there is an "updated_at".
    """
    assert isinstance(case, dict), "a case is an object"
    times = {name: datetime.fromisoformat(str(case[name])) for name in case if name != "status"}
    created_at, now = times["created_at"], times["now"]
    if case["status"] is None:
        return spell(exercises.should_merge(None, now))
    status = RunStatus(str(case["status"]))
    run = Run("run-1", "session-1", "user-1", status, 1, created_at, times.get("updated_at", created_at))
    return spell(exercises.should_merge(run, now))


def _orderer(exercises: Exercises, case: Json) -> Json:
    """Offer numbers to one or more orderers; return all that came out.

    {"starts": [of each orderer], "offers": [[orderer, seq, item] …]}; emitted comes back in the same form. An offer
    that emits after it has returned, or not at all, shows in the count of what each offer brought. With "handed_back"
    an offer has returned something, which nobody takes.
    """
    assert isinstance(case, dict), "a case is an object"
    if "backwards" in case:
        return _backwards(exercises, int(str(case["backwards"])), float(str(case["most_cpu_s"])))
    starts, offers = case["starts"], case["offers"]
    assert isinstance(starts, list), "starts are a list"
    assert isinstance(offers, list), "offers are a list"
    emitted: list[tuple[int, object, object]] = []

    def sink(which: int) -> Callable[[int, Item | str], None]:
        return lambda seq, item: _append(emitted, (which, seq, item))

    orderers = [exercises.SeqOrderer(int(str(start)), sink(which)) for which, start in enumerate(starts)]
    brought: list[Json] = []
    handed_back: dict[str, Json] = {}
    for offer in offers:
        assert isinstance(offer, list), "an offer is [orderer, seq, item]"
        which, seq, item = offer
        before = len(emitted)
        answer: object = orderers[int(str(which))].offer(int(str(seq)), Item(str(item)) if item else "")  # type: ignore[func-returns-value]
        if answer is not None:
            handed_back = {"handed_back": True}
        brought.append(len(emitted) - before)
    return {"emitted": [_spell_emitted(*each) for each in emitted], "brought": brought, **handed_back}


def _backwards(exercises: Exercises, count: int, most_cpu_s: float) -> Json:
    """Offer this many numbers, the highest first, and return the seqs that came out; stop when it costs too much.

    In order they can only have come out by the last offer, which is the one that is due.
    """
    emitted: list[object] = []

    def emit(seq: int, item: str) -> None:
        _append(emitted, seq)

    orderer = exercises.SeqOrderer(0, emit)
    stop_at = time.thread_time() + most_cpu_s
    for seq in range(count - 1, -1, -1):
        orderer.offer(seq, "x")
        if seq % 64 == 0 and time.thread_time() > stop_at:
            return {"emitted": [], "too_slow": True}
    return {"emitted": [spell(seq) for seq in emitted], "too_slow": False}


def _append(emitted: list[T], each: T) -> None:
    if len(emitted) < MOST_EMITTED:
        emitted.append(each)


def _spell_emitted(which: int, seq: object, item: object) -> Json:
    if type(item) is Item:
        return [which, spell(seq), item.text]
    return [which, spell(seq), "" if type(item) is str and not item else described(item)]


def spell(answer: object) -> Json:
    """Return an answer as itself when it is plainly a value of JSON, else as its type and what it says of itself."""
    if answer is None or type(answer) is bool or type(answer) is str:
        return answer
    if type(answer) is int and abs(answer) < 1 << 63:
        return answer
    if type(answer) is RunStatus:
        return str(answer)
    return described(answer)


def described(thing: object) -> Json:
    """Return the type of something that is no plain value, and what it says of itself."""
    return {"type": safely(lambda: type(thing).__name__), "says": safely(lambda: repr(thing))}


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


def safely(say: Callable[[], str]) -> str:
    """Return what a foreign object says of itself, cut to a length, or that it cannot say it.

    Where it lies in memory is left out: that is another place in the next run, and no result may differ by it.
    """
    try:
        return _ADDRESS.sub("", str(say())[:MOST_HEARD])[:LONGEST_TEXT].encode("utf-8", "replace").decode()
    except BaseException as failure:
        return f"<it cannot say: {type(failure).__name__}>"
