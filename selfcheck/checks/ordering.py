"""Check 2: ordered delivery. A bus that shuffles and re-delivers, and a reply that has to come out whole."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from selfcheck.checks.check import Check, listed, refuse_raised, show, show_seqs
from selfcheck.playing.stage import Broken, Stage
from selfcheck.playing.watcher import Watcher
from selfcheck.texts import Message, Words, say
from shared.events import Json

RULE = say("checks.ordering_rule")
SHOWN = 12  # seqs that evidence shows
MANY = 10_000
_NAMES = "AB"  # of two orderers
MOST_CPU_S = 0.3  # for 10,000 items; a linear orderer takes some hundredths


@dataclass(frozen=True, slots=True)
class Offers:
    """One case of the probe: numbers offered to orderers (each made at its start), and what has to come out."""

    given: Words
    starts: tuple[int, ...]
    offers: Sequence[tuple[int, int, str]]  # orderer, seq, item

    def expected(self) -> tuple[list[Json], list[int]]:
        """Return what is emitted, and how many by each offer: the rule, said once more and simply."""
        pointers = list(self.starts)
        held: list[dict[int, str]] = [{} for _ in self.starts]
        emitted: list[Json] = []
        brought: list[int] = []
        for which, seq, item in self.offers:
            before = len(emitted)
            if seq >= pointers[which]:
                held[which].setdefault(seq, item)
            while pointers[which] in held[which]:
                emitted.append([which, pointers[which], held[which].pop(pointers[which])])
                pointers[which] += 1
            brought.append(len(emitted) - before)
        return emitted, brought


def cases() -> list[Offers]:
    """Return the probe's table."""

    def one(given: Words, start: int, *seqs: int) -> Offers:
        return Offers(given, (start,), [(0, seq, f"item {seq}") for seq in seqs])

    mixed = list(range(200)) * 2
    random.Random(0).shuffle(mixed)  # noqa: S311
    return [
        one("0, 1, 2", 0, 0, 1, 2),
        one(say("cases.gap_closes", seqs="0, 2, 1"), 0, 0, 2, 1),
        one(say("cases.frees_all", seqs="0, 3, 2, 1, 4"), 0, 0, 3, 2, 1, 4),
        one(say("cases.again_below", seqs="0, 1, 1, 0, 2"), 0, 0, 1, 1, 0, 2),
        one(say("cases.again_held", seqs="2, 2, 0, 1, 2"), 0, 2, 2, 0, 1, 2),
        one(say("cases.starts_at", seqs="2, 4, 3, 5", start=3), 3, 2, 4, 3, 5),
        one(say("cases.never_begins", seqs="1, 2, 3"), 0, 1, 2, 3),
        Offers(say("cases.empty_texts", seqs="0, 2, 1"), (0,), [(0, 0, ""), (0, 2, ""), (0, 1, "")]),
        Offers(
            say("cases.interleaved"),
            (0, 0),
            [(0, 1, "a1"), (1, 0, "b0"), (0, 0, "a0"), (1, 2, "b2"), (1, 1, "b1"), (0, 2, "a2")],
        ),
        one(say("cases.random_order"), 0, *mixed),
    ]


def play(stage: Stage) -> None:
    """Watch a run over a bus that shuffles, then probe."""
    watch_shuffled(stage)
    probe(stage)


def watch_shuffled(stage: Stage) -> None:
    """Play the scenario: what the waiter has is compared with what the store has."""
    stage.control(("gate", [0]), ("shuffle", [stage.seed]))
    try:
        session = stage.new_session()
        run = stage.say(session, "My lamp arrived broken, I would like a refund.").run_id
        with stage.watch(run) as waiter:
            stage.gate(None)
            waiter.rest()
            (arrived,) = stage.control(("arrivals", [run]))
    finally:
        stage.control(("shuffle", [None]))
    assert isinstance(arrived, list), "arrivals are a list"
    stage.evidence |= {"arrived": arrived[:SHOWN], "delivered": [*waiter.seqs[:SHOWN]], "reply": waiter.reply}
    compare(stage, waiter, len(stage.history(session)))


def compare(stage: Stage, waiter: Watcher, events: int) -> None:
    """Raise when the delivered seqs are not exactly 0 … last."""
    seqs = waiter.seqs
    if seqs == list(range(events)) and waiter.ended_with == "done":
        return
    wrong = next((at for at, seq in enumerate(seqs) if seq != at), len(seqs))
    arrived = stage.evidence["arrived"]
    assert isinstance(arrived, list), "made so above"
    shown = show_seqs(seqs, SHOWN)
    raise Broken(
        RULE,
        say("checks.bus_delivers", seqs=show_seqs([int(str(seq)) for seq in arrived], SHOWN)),
        say("checks.each_once", seqs=show_seqs(range(events), SHOWN)),
        say("checks.first_wrong", seqs=shown, place=wrong)
        if wrong < len(seqs)
        else say("checks.never_came", seqs=shown, count=events - len(seqs)),
    )


def probe(stage: Stage) -> None:
    """Raise for the first case that comes out wrong."""
    table = cases()
    answers = stage.probe(2, [{"starts": [*c.starts], "offers": [[*offer] for offer in c.offers]} for c in table])
    for case, answer in zip(table, answers, strict=True):
        given = say("cases.offers", offers=case.given)
        refuse_raised(given, answer)
        came = answer["returned"]
        assert isinstance(came, dict), "the probe gives an object"
        emitted, brought = case.expected()
        if came["emitted"] != emitted or came["brought"] != brought:
            raise Broken(RULE, given, say("checks.emits", items=_shown(emitted)), _did(came, emitted))
    backwards(stage)
    stage.evidence["probe"] = say("evidence.cases_right", right=len(table) + 1, cases=len(table) + 1)


def backwards(stage: Stage) -> None:
    """Raise when very many held items overwhelm an orderer: by recursion, a limit of its own, or growing cost."""
    given = say("cases.backwards", first=f"{MANY - 1:,}")
    (answer,) = stage.probe(2, [{"backwards": MANY, "most_cpu_s": MOST_CPU_S}])
    refuse_raised(given, answer)
    came = answer["returned"]
    assert isinstance(came, dict), "the probe gives an object"
    if came["too_slow"] is True:
        raise Broken(say("checks.cost_rule"), given, say("checks.cost"), say("checks.cost_seen"))
    emitted = came["emitted"]
    assert isinstance(emitted, list), "emitted is a list"
    if emitted != list(range(MANY)):
        actual = say("checks.emitted_wrong", count=f"{len(emitted):,}")
        raise Broken(RULE, given, say("checks.emits_all", count=f"{MANY:,}"), actual)


def _shown(emitted: Json) -> Words:
    assert isinstance(emitted, list), "emitted is a list"
    items = [each for each in emitted if isinstance(each, list)]
    many = len({str(each[0]) for each in items}) > 1
    return listed([_item(each, named=many) for each in items[:SHOWN]], len(items))


def _item(emitted: list[Json], *, named: bool) -> Words:
    seq = show(emitted[1])
    if isinstance(seq, str) or not named:
        return f"{_NAMES[int(str(emitted[0]))]}{seq}" if named else seq
    return say("checks.of", orderer=_NAMES[int(str(emitted[0]))], seq=seq)


def _did(came: dict[str, Json], emitted: list[Json]) -> Message:
    items = _shown(came["emitted"])
    late = came["emitted"] == emitted
    return say("checks.emitted_late", items=items) if late else say("checks.emitted", items=items)


CHECK = Check(2, say("checks.ordering"), 2, play)
