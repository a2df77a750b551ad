"""Check 2: ordered delivery. A bus that shuffles and re-delivers, and a reply that has to come out whole."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from selfcheck.checks.check import Check, refuse_raised, show, show_seqs
from selfcheck.stage import Broken, Stage
from selfcheck.watcher import Watcher
from shared.events import Json

RULE = (
    "Deliver every number once and in order: drop what is below the pointer, hold what is beyond a gap, and when the"
    " missing number comes deliver the whole contiguous run."
)
SHOWN = 12  # seqs that evidence shows
MANY = 10_000
MOST_CPU_S = 0.3  # for 10,000 items; a linear orderer takes some hundredths


@dataclass(frozen=True, slots=True)
class Offers:
    """One case of the probe: numbers offered to orderers (each made at its start), and what has to come out."""

    given: str
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

    def one(given: str, start: int, *seqs: int) -> Offers:
        return Offers(given, (start,), [(0, seq, f"item {seq}") for seq in seqs])

    mixed = list(range(200)) * 2
    random.Random(0).shuffle(mixed)  # noqa: S311
    return [
        one("0, 1, 2", 0, 0, 1, 2),
        one("0, 2, 1 (a gap that closes)", 0, 0, 2, 1),
        one("0, 3, 2, 1, 4 (the missing number frees the whole run)", 0, 0, 3, 2, 1, 4),
        one("0, 1, 1, 0, 2 (re-delivered below the pointer)", 0, 0, 1, 1, 0, 2),
        one("2, 2, 0, 1, 2 (re-delivered while held, and after)", 0, 2, 2, 0, 1, 2),
        one("2, 4, 3, 5 to an orderer that starts at 3", 3, 2, 4, 3, 5),
        one("1, 2, 3 (0 never comes)", 0, 1, 2, 3),
        Offers("0, 2, 1 with empty texts", (0,), [(0, 0, ""), (0, 2, ""), (0, 1, "")]),
        Offers(
            "two orderers, offers interleaved",
            (0, 0),
            [(0, 1, "a1"), (1, 0, "b0"), (0, 0, "a0"), (1, 2, "b2"), (1, 1, "b1"), (0, 2, "a2")],
        ),
        one("200 numbers, each twice, in random order", 0, *mixed),
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
    raise Broken(
        RULE,
        f"the bus delivers {show_seqs([int(str(seq)) for seq in arrived], SHOWN)}",
        f"{show_seqs(range(events), SHOWN)}; each once, then the end",
        f"{show_seqs(seqs, SHOWN)}; "
        + (f"the first wrong one is at place {wrong}" if wrong < len(seqs) else f"{events - len(seqs)} never came"),
    )


def probe(stage: Stage) -> None:
    """Raise for the first case that comes out wrong."""
    table = cases()
    answers = stage.probe(2, [{"starts": [*c.starts], "offers": [[*offer] for offer in c.offers]} for c in table])
    for case, answer in zip(table, answers, strict=True):
        given = f"offers {case.given}"
        refuse_raised(given, answer)
        came = answer["returned"]
        assert isinstance(came, dict), "the probe gives an object"
        emitted, brought = case.expected()
        if came["emitted"] != emitted or came["brought"] != brought:
            raise Broken(
                RULE, given, f"emits {_shown(emitted)}", f"emitted {_shown(came['emitted'])}{_when(came, emitted)}"
            )
    backwards(stage)
    stage.evidence["probe"] = f"{len(table) + 1} of {len(table) + 1} cases right"


def backwards(stage: Stage) -> None:
    """Raise when very many held items overwhelm an orderer: by recursion, a limit of its own, or growing cost."""
    given = f"offers {MANY - 1:,} down to 0"
    (answer,) = stage.probe(2, [{"backwards": MANY, "most_cpu_s": MOST_CPU_S}])
    refuse_raised(given, answer)
    came = answer["returned"]
    assert isinstance(came, dict), "the probe gives an object"
    if came["too_slow"] is True:
        raise Broken(
            "What one offer costs does not grow with how many are held.",
            given,
            "some hundredths of a second of computing",
            "a third of a second and no end: is everything that is held looked through for each offer?",
        )
    emitted = came["emitted"]
    assert isinstance(emitted, list), "emitted is a list"
    if emitted != list(range(MANY)):
        actual = f"emitted {len(emitted):,}, or not in order"
        raise Broken(RULE, given, f"emits all {MANY:,} in order with the last offer", actual)


def _shown(emitted: Json) -> str:
    assert isinstance(emitted, list), "emitted is a list"
    items = [each for each in emitted if isinstance(each, list)]
    many = len({str(each[0]) for each in items}) > 1
    texts = [f"{'AB'[int(str(each[0]))] if many else ''}{show(each[1])}" for each in items]
    cut = f", … ({len(texts)} in all)" if len(texts) > SHOWN else ""
    return (", ".join(texts[:SHOWN]) + cut) or "nothing"


def _when(came: dict[str, Json], emitted: list[Json]) -> str:
    return " (the right ones, but not inside the offer that makes them due)" if came["emitted"] == emitted else ""


CHECK = Check(2, "ordered delivery", 2, play)
