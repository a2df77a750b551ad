"""What the doctor says of one thing."""

from dataclasses import dataclass
from enum import Enum, auto

from selfcheck.texts import Words


class Health(Enum):
    """How bad it is."""

    GOOD = auto()
    MISSING = auto()  # something that is not needed for the main job
    BAD = auto()  # the main job will not come out right


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing, how it is, and what to do when that is not good."""

    health: Health
    what: Words
    found: Words
    remedy: Words = ""


def good(what: Words, found: Words) -> Remark:
    """Say that something is as it should be."""
    return Remark(Health.GOOD, what, found)


def missing(what: Words, found: Words, remedy: Words) -> Remark:
    """Say that something optional is not there."""
    return Remark(Health.MISSING, what, found, remedy)


def bad(what: Words, found: Words, remedy: Words) -> Remark:
    """Say that something is wrong."""
    return Remark(Health.BAD, what, found, remedy)
