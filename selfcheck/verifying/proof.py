"""What a part of the kit's proof says: what was proved, how often, and what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from selfcheck.texts import Words, english
from shared.events import Json


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it should be, where, and what to do."""

    what: Words
    where: str
    expected: Words
    actual: Words
    remedy: Words

    def to_json(self) -> dict[str, Json]:
        """Return it for programs."""
        return {
            "what": english(self.what),
            "where": self.where,
            "expected": english(self.expected),
            "actual": english(self.actual),
            "remedy": english(self.remedy),
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """One line: `what` was tried, `count` times. It holds without faults; `skipped` says why it was not tried."""

    what: Words
    count: int
    faults: Sequence[Fault] = ()
    skipped: Words = ""

    def to_json(self) -> dict[str, Json]:
        """Return it for programs."""
        return {
            "what": english(self.what),
            "count": self.count,
            "skipped": english(self.skipped),
            "faults": [fault.to_json() for fault in self.faults],
        }


def skipped(what: Words, reason: Words) -> Proof:
    """Say why something was not tried."""
    return Proof(what, 0, skipped=reason)
