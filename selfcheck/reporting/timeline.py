"""The timeline: one order for what a check saw and what the service said, with the place where the two part.

No clock is in it, and nothing that depends on which thread was faster. A line of the service's log is taken in only
when a waiter received what comes after it, and stands just before that receipt: its effect proves it.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from selfcheck.playing.recorder import TERMINAL, Arrivals, Lane, Opened, Probed, Receipt, Recorder, Seen, Step
from selfcheck.processes.logbook import Line, Logbook
from selfcheck.results import Finding
from selfcheck.texts import Words, say

MOST_SHOWN = 17  # steps in the report; the run folder has them all
BEHIND = 4  # of them behind the divergence
MOST_SEQS = 10

_LANES = {1: Lane.WORKER, 2: Lane.GATEWAY, 3: Lane.GATEWAY, 4: Lane.GATEWAY}
"""Where an exercise is at work. The first one is in both; nearly every move is a worker's."""


def arranged(record: Recorder, log: Logbook, finding: Finding, accused: int | None) -> tuple[Step, ...]:
    """Return the steps of a play that did not pass, one of them diverging.

    When it was not the check that saw what the finding says (an exercise raised inside the service, or nothing came any
    more), that is the last step, told by whom it was: `accused`, else the service, or the client who waits in vain.
    """
    steps = [*_Merger(record, log).merged()]
    if not record.parted:
        steps = [replace(step, diverges=False) for step in steps]
        return (*steps, _end(finding, accused))
    if not any(step.diverges for step in steps):
        steps = _marked(steps, finding)
    return tuple(_first_only(steps))


def window(steps: Sequence[Step]) -> tuple[int, Sequence[Step], int]:
    """Return the steps around the divergence, with how many are left out before and behind them."""
    if len(steps) <= MOST_SHOWN:
        return 0, steps, 0
    at = next((at for at, step in enumerate(steps) if step.diverges), len(steps) - 1)
    end = min(len(steps), at + 1 + BEHIND)
    begin = max(0, end - MOST_SHOWN)
    end = min(len(steps), begin + MOST_SHOWN)
    return begin, steps[begin:end], len(steps) - end


class _Merger:
    def __init__(self, record: Recorder, log: Logbook) -> None:
        # How far a stream came that broke off when its service was ended is chance.
        self._seen = [each for each in record.seen if record.parted or not _breaks_off(each)]
        receipts = [each for each in self._seen if isinstance(each, Receipt) and each.seqs]
        self._started = {each.run_id for each in receipts}
        self._lines = log.all("run_moved", "run_rerun") if receipts else []
        self._arrivals = {each.run_id: each.seqs for each in record.seen if isinstance(each, Arrivals)}
        self._behind: dict[str, Opened] = {}  # runs that begin when another has ended
        self._streams: set[str] = set()  # runs whose first event was received

    def merged(self) -> Iterator[Step]:
        for each in self._seen:
            match each:
                case Step():
                    yield each
                case Opened(behind=""):
                    yield from self._claimed(each)
                case Opened():
                    self._behind[each.run_id] = each
                case Receipt():
                    yield from self._proved_by(each)
                    yield from self._received(each)
                case Probed():
                    yield Step(Lane.GATEWAY, say("timeline.probed", exercise=each.exercise, count=each.cases))

    # what the service said

    def _claimed(self, opened: Opened) -> Iterator[Step]:
        if opened.run_id in self._started and self._said("run_moved", opened.run_id, "running"):
            yield Step(Lane.BUS, say("timeline.handed_out", run=opened.name))
            yield _move(opened.name, "pending", "running")

    def _proved_by(self, receipt: Receipt) -> Iterator[Step]:
        """Yield what has to have happened before these events could be received."""
        run_id, name = receipt.run_id, receipt.name
        if receipt.seqs and run_id not in self._streams:
            self._streams.add(run_id)
            if run_id in self._behind:
                yield from self._claimed(self._behind.pop(run_id))
            if self._said("run_moved", run_id, "streaming"):
                yield _move(name, "running", "streaming")
        if (
            receipt.due is not None
            and "rerun" in receipt.kinds
            and (line := self._said("run_rerun", run_id)) is not None
        ):
            yield Step(Lane.BUS, say("timeline.marked", run=name))
            yield Step(Lane.WORKER, say("timeline.reruns", messages=str(line["messages"]), seq=str(line["seq"])))
        if _is_over(receipt):
            line = self._said("run_moved", run_id, receipt.kinds[-1])
            if line is not None:
                yield _move(name, str(line["source"]), receipt.kinds[-1])

    def _said(self, event: str, run_id: str, target: str | None = None) -> Line | None:
        for line in self._lines:
            if line["event"] == event and line.get("run_id") == run_id and target in (None, line.get("target")):
                return line
        return None

    # what was received

    def _received(self, receipt: Receipt) -> Iterator[Step]:
        """Yield the events up to the first wrong one, that one, and the rest; before each, how the bus brought it."""
        seqs, waiter, due = receipt.seqs, receipt.waiter, receipt.due
        if due is None:
            yield from self._ended(receipt)
            return
        at = _first_wrong(seqs, receipt.kinds, due)
        before, wrong, after = seqs[:at], seqs[at : at + 1], seqs[at + 1 :]
        brought, bringing, rest = _split(self._arrivals.pop(receipt.run_id, ()), before, wrong)
        yield from self._brought(brought)
        if before:
            yield _seqs_step(Lane.CLIENT, "timeline.received", before, waiter)
        if wrong:
            yield from self._brought(bringing)
            words = say("timeline.received_wrong", waiter=waiter, seq=wrong[0], due=due + at)
            yield Step(Lane.CLIENT, words, diverges=True)
            yield from self._brought(rest)
            if after:
                yield _seqs_step(Lane.CLIENT, "timeline.received", after, waiter)
        elif _breaks_off(receipt):
            words = say("timeline.no_end", waiter=waiter, due=due + len(seqs))
            yield Step(Lane.CLIENT, words, diverges=True)
        else:
            yield from self._ended(receipt)

    def _ended(self, receipt: Receipt) -> Iterator[Step]:
        if receipt.to_the_end and _is_over(receipt):
            yield Step(Lane.CLIENT, say("timeline.ended", waiter=receipt.waiter, kind=receipt.kinds[-1]))

    def _brought(self, seqs: Sequence[int]) -> Iterator[Step]:
        if seqs:
            yield _seqs_step(Lane.BUS, "timeline.brought", seqs, "")


def _is_over(receipt: Receipt) -> bool:
    return bool(receipt.kinds) and receipt.kinds[-1] in TERMINAL


def _breaks_off(seen: Seen) -> bool:
    return isinstance(seen, Receipt) and seen.to_the_end and not _is_over(seen)


def _first_wrong(seqs: Sequence[int], kinds: Sequence[str], due: int) -> int:
    """Return the place of the first event that was not due; of a snapshot's stream, none: it may jump."""
    if "snapshot" in kinds:
        return len(seqs)
    return next((at for at, seq in enumerate(seqs) if seq != due + at), len(seqs))


def _split(
    arrived: Sequence[int], before: Sequence[int], wrong: Sequence[int]
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Part what the bus delivered where the waiter's events part: at the delivery of the wrong one."""
    if not wrong:
        return arrived, (), ()
    again = before.count(wrong[0])  # so many deliveries of it were in order
    places = [at for at, seq in enumerate(arrived) if seq == wrong[0]]
    if not places:
        return arrived, (), ()
    at = places[min(again, len(places) - 1)]
    return arrived[:at], arrived[at : at + 1], arrived[at + 1 :]


def _seqs_step(lane: Lane, key: str, seqs: Sequence[int], waiter: str) -> Step:
    cut = len(seqs) > MOST_SEQS and not _is_row(seqs)
    words = say(key, waiter=waiter, seqs=_shown(seqs)) if waiter else say(key, seqs=_shown(seqs))
    return Step(lane, words, full=", ".join(map(str, seqs)) if cut else "")


def _shown(seqs: Sequence[int]) -> Words:
    if len(seqs) > 2 and _is_row(seqs):
        return say("timeline.row", first=seqs[0], last=seqs[-1])
    if len(seqs) <= MOST_SEQS:
        return ", ".join(map(str, seqs))
    return say("timeline.cut", seqs=", ".join(map(str, seqs[:MOST_SEQS])), count=len(seqs))


def _is_row(seqs: Sequence[int]) -> bool:
    return list(seqs) == list(range(seqs[0], seqs[0] + len(seqs)))


def _move(name: str, source: str, target: str) -> Step:
    return Step(Lane.WORKER, say("timeline.moved", run=name, source=source, target=target))


def _end(finding: Finding, accused: int | None) -> Step:
    if finding.actual == say("playing.did_not_come"):
        return Step(Lane.CLIENT, _told(finding.expected, finding.actual), diverges=True)
    lane = Lane.GATEWAY if accused is None else _LANES[accused]
    return Step(lane, _told(finding.given, finding.actual), diverges=True)


def _told(given: Words, actual: Words) -> Words:
    return say("timeline.told", given=given, actual=actual) if given else actual


def _marked(steps: list[Step], finding: Finding) -> list[Step]:
    """Mark what the check's words are about when no step shows it by itself: the probe, else what was seen last."""
    probes = [at for at, step in enumerate(steps) if _is_probe(step)]
    if probes:
        at = probes[-1]
        words = say("timeline.told", given=steps[at].words, actual=_told(finding.given, finding.actual))
        shown = Step(steps[at].lane, words, diverges=True)
        return [*steps[:at], shown, *steps[at + 1 :]]
    return [*steps, Step(Lane.CLIENT, finding.actual, diverges=True)]


def _is_probe(step: Step) -> bool:
    return not isinstance(step.words, str) and step.words.key == "timeline.probed"


def _first_only(steps: Sequence[Step]) -> Iterator[Step]:
    found = False
    for step in steps:
        yield replace(step, diverges=False) if found and step.diverges else step
        found = found or step.diverges
