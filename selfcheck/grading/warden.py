"""A warden: the process that has submissions judged at one place, one after the other, and keeps each within bounds.

It has loaded the judge once and makes a copy of itself for each submission, so no judge sees what another has left. It
has one thread, for a copy of a process with several would be half a one. When its standard input ends, which is when
whoever grades has ended, it ends what it has started, removes what is on the disk, and ends.
"""

import gc
import os
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeAlias

import msgspec

from selfcheck.grading import descendants, verdict
from selfcheck.grading.orders import MIB, Order, Place, Reason, Said
from shared.errors import KodaError

LOOK_EVERY_S = 0.25
JUDGES_MEMORY = 1024 * MIB  # a judge takes 50; what it reads of a submission is bounded, but it may be odd
JUDGES_PROCESSES = 8

Judging: TypeAlias = Callable[[Place, Path, Callable[[Said], None]], None]
"""Judges the tree in a room, and says what comes of it."""


def main(judge: Judging = verdict.judge) -> None:
    """Carry out the orders that come on standard input, for the place that the first argument describes."""
    place = msgspec.json.decode(sys.argv[1], type=Place)
    os.chdir("/")  # not the kit: that is where others would look first
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descendants.adopt()
    gc.freeze()
    warden = Warden(place, sys.stdin.buffer, sys.stdout.buffer, judge)
    while line := sys.stdin.buffer.readline():
        order = msgspec.json.decode(line, type=Order)
        warden.carry_out(order)
    shutil.rmtree(place.base, ignore_errors=True)


class Warden:
    """Carries out orders. Each has one judge of its own, and nothing of it is there when its last line is said."""

    def __init__(self, place: Place, orders: BinaryIO, answers: BinaryIO, judge: Judging = verdict.judge) -> None:
        self._place = place
        self._judge = judge
        self._orders = orders
        self._answers = answers

    def carry_out(self, order: Order) -> None:
        """Have a submission judged, and say the last line about it."""
        judge = os.fork()
        if judge == 0:
            self._be_judge(order)
        reason = self._watch(judge)
        descendants.end_all(judge)
        if self._is_over():
            shutil.rmtree(self._place.base, ignore_errors=True)
            os._exit(1)
        self._say(Said("end", reason=reason))

    def _watch(self, judge: int) -> Reason:
        """Return how a judge ended, or why it has to be ended."""
        limits = self._place.limits
        until = time.monotonic() + limits.seconds
        orders = self._orders.fileno()
        ended = os.pidfd_open(judge) if hasattr(os, "pidfd_open") else None
        try:
            while True:
                pid, status = os.waitpid(judge, os.WNOHANG)
                if pid:
                    return "done" if status == 0 else "died"
                left = until - time.monotonic()
                excess = self._excess() if left > 0 else "time"
                if excess is not None:
                    return excess
                heard = [orders] if ended is None else [orders, ended]
                if orders in select.select(heard, [], [], min(left, LOOK_EVERY_S))[0]:
                    return "died"  # there is no other order while one is carried out: it is the end
        finally:
            if ended is not None:
                os.close(ended)

    def _excess(self) -> Reason | None:
        limits = self._place.limits
        held = descendants.descendants()
        if len(held) > limits.processes + JUDGES_PROCESSES:
            return "processes"
        return "memory" if sum(held.values()) > limits.memory + JUDGES_MEMORY else None

    def _is_over(self) -> bool:
        return self._orders in select.select([self._orders], [], [], 0)[0]

    def _be_judge(self, order: Order) -> NoReturn:
        code = 1
        try:
            os.setpgid(0, 0)
            descendants.end_with_parent()
            _, most = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (JUDGES_MEMORY if most < 0 else min(JUDGES_MEMORY, most), most))
            self._judge(self._place, Path(order.room), self._say)
            code = 0
        except KodaError as fault:
            self._say(Said("trouble", problem=str(fault)))
        except BaseException as error:  # whatever it is, the next submission has a judge of its own
            self._say(Said("trouble", problem=f"{type(error).__name__}: {error}"))
        finally:
            os._exit(code)

    def _say(self, said: Said) -> None:
        self._answers.write(msgspec.json.encode(said) + b"\n")
        self._answers.flush()
