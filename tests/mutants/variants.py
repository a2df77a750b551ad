"""Right submissions that look like none of ours: they must pass."""

from tests.mutants.orderers import INIT
from tests.mutants.submission import Mutant, orderer_class

VARIANTS = (
    Mutant(
        "transition-by-match",
        1,
        "no table, plain words, an error of its own",
        """
def transition(old, new):
    class Refused(ValueError):
        pass

    match old:
        case "pending":
            legal = ["running", "cancelled", "failed"]
        case "running":
            legal = ["streaming", "done", "failed", "cancelled"]
        case "streaming":
            legal = ["done", "failed", "cancelled"]
        case _:
            legal = []
    if new in legal:
        return new
    raise Refused(f"{old} to {new}")
""",
    ),
    Mutant(
        "transition-by-pairs",
        1,
        "a set of pairs, and a cache",
        """
TRANSITIONS = {
    (source, target)
    for source, targets in {
        "pending": ("running", "cancelled", "failed"),
        "running": ("streaming", "done", "failed", "cancelled"),
        "streaming": ("done", "failed", "cancelled"),
    }.items()
    for target in targets
}

@functools.cache
def transition(current, target):
    if (current, target) in TRANSITIONS:
        return RunStatus(target)
    raise IllegalTransition(current, target)
""",
        b"import functools\n",
    ),
    Mutant(
        "orderer-with-a-heap",
        2,
        "a heap of numbers beside a dict of items",
        orderer_class(
            """
            if seq < self._due or seq in self._held:
                return
            heapq.heappush(self._numbers, seq)
            self._held[seq] = item
            while self._numbers and self._numbers[0] == self._due:
                self._due = heapq.heappop(self._numbers) + 1
                self._emit(self._due - 1, self._held.pop(self._due - 1))
            """,
            INIT + "self._numbers = []\n",
        ),
        b"import heapq\n",
    ),
    Mutant(
        "orderer-a-dataclass",
        2,
        "fields instead of __init__, the contiguous run collected before it is emitted",
        """
@dataclass
class SeqOrderer(Generic[T]):
    due: int
    emit: Callable[[int, T], None]
    early: dict = field(default_factory=dict)

    def offer(self, number, thing):
        if number >= self.due:
            self.early.setdefault(number, thing)
        ready = []
        while self.due in self.early:
            ready.append((self.due, self.early.pop(self.due)))
            self.due += 1
        for pair in ready:
            self.emit(*pair)
""",
        b"from dataclasses import dataclass, field\n",
    ),
    Mutant(
        "orderer-with-a-sentinel",
        2,
        "slots, a sentinel instead of a membership test, a helper method",
        orderer_class(
            """
            if seq >= self._due:
                self._held[seq] = item
                self._drain()
            """,
            INIT,
            """
            __slots__ = ("_due", "_emit", "_held")
            NOTHING = object()

            def _drain(self):
                while (item := self._held.pop(self._due, self.NOTHING)) is not self.NOTHING:
                    self._due += 1
                    self._emit(self._due - 1, item)
            """,
        ),
    ),
    Mutant(
        "resume-from-by-pattern",
        3,
        "a pattern, another parameter name, a default",
        r"""
def resume_from(header=None):
    found = re.fullmatch(r"\d{1,18}", header or "", re.ASCII)
    return int(found.group()) + 1 if found else 0
""",
        b"import re\n",
    ),
    Mutant(
        "resume-from-by-character",
        3,
        "a loop over characters, and a print for every call",
        """
def resume_from(*arguments):
    print("resuming after", ascii(arguments))
    number = 0
    for character in arguments[0] or "x":
        if character not in "0123456789":
            return 0
        number = 10 * number + "0123456789".index(character)
    return number + 1 if len(arguments[0]) < 19 else 0
""",
    ),
    Mutant(
        "should-merge-by-guards",
        4,
        "early returns, plain words, a literal window, seconds as a number",
        """
def should_merge(run, at):
    if run is None:
        return False
    if run.status not in ["running", "streaming"]:
        return False
    return (at - run.created_at).total_seconds() < 30
""",
    ),
    Mutant(
        "should-merge-in-utc",
        4,
        "both times in one zone, the window added instead of compared",
        """
def should_merge(previous: Run | None, now: datetime) -> bool:
    active = {RunStatus.RUNNING, RunStatus.STREAMING}
    if not previous or previous.status not in active:
        return False
    return now.astimezone(timezone.utc) < previous.created_at.astimezone(timezone.utc) + timedelta(seconds=30)
""",
        b"from datetime import timedelta, timezone\n",
    ),
)
