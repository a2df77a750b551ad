"""What grading says to a warden, and what comes back: JSON, one line each."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Reason: TypeAlias = Literal["done", "time", "memory", "processes", "died"]
"""How the judging of a submission ended: by itself, or because it took too much, or because its judge was lost."""

MIB = 1 << 20


class Limits(msgspec.Struct, frozen=True):
    """What one submission may take."""

    seconds: float = 60.0  # from beginning to end
    cpu_s: int = 20  # of each service
    memory: int = 768 * MIB  # bytes, of each service; and of all processes together, beside the judge
    output: int = 16 * MIB  # bytes that a service may print
    processes: int = 64  # threads counted


class Place(msgspec.Struct, frozen=True):
    """What stays the same for one warden: its place among the others, and what they share."""

    number: int
    base: str  # the folder of this grading, removed by whoever is last
    house: str
    user: int  # whom submissions run as; 0: whoever grades
    limits: Limits
    seed: int


class Order(msgspec.Struct, frozen=True):
    """Judge the tree in this folder: `room` holds `tree/`, and nothing else yet."""

    room: str


class Said(msgspec.Struct, frozen=True):
    """One line that comes back.

    `flags`: what is to be said of the submission. `played`: how a check came out, before anybody asks whose fault it
    is. `judged`: the same check's final result. `trouble`: the judge cannot go on. `left`: what
    outlived its judge. `end`: the last line.
    """

    kind: Literal["flags", "played", "judged", "trouble", "left", "end"]
    flags: tuple[str, ...] = ()
    same: tuple[int, ...] = ()  # with flags: the exercises that are as the solution has them
    check: Mapping[str, object] | None = None
    problem: str = ""
    reason: Reason = "done"
