"""The six checks, a file each, in the order of the lesson. `check.py` says what they have in common."""

from selfcheck.checks import merging, ordering, outside, reconnecting, transitions, waiting
from selfcheck.checks.check import Check

CHECKS: tuple[Check, ...] = (
    transitions.CHECK,
    ordering.CHECK,
    waiting.CHECK,
    reconnecting.CHECK,
    merging.CHECK,
    outside.CHECK,
)
