"""When standing in a tree's code is a hang."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from selfcheck.processes.stillness import Spent, Stillness, spent


def looks(*measured: Spent | None) -> list[bool]:
    """Return what each look finds, with this spent at each."""
    left = iter(measured)

    def measure(pids: Sequence[int]) -> Spent | None:
        assert pids == [7]
        return next(left)

    still = Stillness([7], measure)
    return [still.hangs() for _ in measured]


@pytest.mark.parametrize(
    ("measured", "found"),
    [
        ([Spent(1, True), Spent(1.8, True)], [False, True]),  # computes, for as long as we look
        ([Spent(1, False), Spent(1, False)], [False, True]),  # sleeps
        ([None, None], [False, True]),  # nothing is told of it
        ([Spent(1, True), Spent(1.1, True), Spent(1.2, True), Spent(1.6, True)], [False, False, False, True]),
        ([Spent(1, True)] * 5, [False, False, False, False, True]),  # gets no processor at all
        ([Spent(1, True), Spent(1.1, True), None], [False, False, True]),
    ],
)
def test_a_process_without_a_processor_is_waited_for(measured: list[Spent | None], found: list[bool]) -> None:
    """Two looks are enough for what sleeps or computes; who gets too little of the processor has more, up to five."""
    assert looks(*measured) == found


def test_what_came_out_in_between_is_no_hang() -> None:
    """It is looked at from the beginning, and what it spent before does not count."""
    left = iter([Spent(1, True), Spent(9, True), Spent(9.1, True)])
    still = Stillness([7], lambda pids: next(left))
    first = still.hangs()
    still.moved()
    assert [first, still.hangs(), still.hangs()] == [False, False, False]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_what_is_spent_is_what_the_system_says() -> None:
    """Of all the processes together; of one that is not there nothing is known."""
    one = spent([os.getpid()])
    assert one is not None
    assert one.wants_more
    two = spent([os.getpid()] * 2)
    assert two is not None
    assert two.cpu_s >= 2 * one.cpu_s > 0
    assert spent([os.getpid(), 0]) is None
