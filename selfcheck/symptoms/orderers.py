"""Exercise 2: what is wrong with an orderer, by what came out of it and by which offer."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from selfcheck.checks.ordering import MANY, MOST_CPU_S, Offers, cases
from selfcheck.symptoms.table import Answer, Symptom, Table, kind, raised
from shared.events import Json


def _one(start: int, *seqs: int) -> Offers:
    return Offers("", (start,), [(0, seq, f"item {seq}") for seq in seqs])


def _empty(*seqs: int) -> Offers:
    return Offers("", (0,), [(0, seq, "") for seq in seqs])


# The two orderers come first: what they share, others would leave behind for them.
TABLE_OF_OFFERS: Final[Mapping[str, Offers]] = {
    "two": Offers("", (0, 0), [(0, 1, "a1"), (1, 0, "b0"), (0, 0, "a0"), (1, 2, "b2"), (1, 1, "b1"), (0, 2, "a2")]),
    "in order": _one(0, 0, 1, 2),
    "gap": _one(0, 0, 2, 1),
    "gap and on": _one(0, 0, 2, 1, 3, 4),
    "two wait": _one(0, 0, 2, 3, 1),
    "two gaps": _one(0, 0, 4, 2, 1, 3),
    "repeated": _one(0, 0, 1, 1, 0, 2),
    "copies wait": _one(0, 2, 2, 0, 1, 2),
    "from 3": _one(3, 2, 4, 3, 5),
    "no beginning": _one(0, 1, 2, 3),
    "empty": _empty(0, 1, 2),
    "empty, gap": _empty(0, 2, 1),
    "shuffled": cases()[-1],
}


class Delivery:
    """What came of the offers of one case: `out` is (orderer, seq, item) in order, `brought` how many by each offer."""

    def __init__(self, offers: Offers, answer: Answer) -> None:
        came = answer.get("returned")
        got = came if isinstance(came, dict) else {}
        emitted, brought = got.get("emitted"), got.get("brought")
        self.raised = raised(answer)
        self.message = str(answer.get("message", ""))
        self.out = _triples(emitted)
        self.brought = brought if isinstance(brought, list) else []
        self.handed_back = "handed_back" in got
        self.seqs: list[Json] = [each[1] for each in self.out]
        self.offers = offers.offers
        due, due_by_offer = offers.expected()
        self.right = (self.out, self.brought) == (due, due_by_offer)
        self.belated = self.out == due and not self.right

    def has(self, *seqs: int) -> bool:
        """Whether exactly these came out, in this order."""
        return self.seqs == [*seqs]


def _triples(emitted: Json) -> list[list[Json]]:
    """Return what has the form of an emission; whoever answers may answer anything."""
    each_of = emitted if isinstance(emitted, list) else []
    return [each for each in each_of if isinstance(each, list) and len(each) == 3]


class Deliveries:
    """What came of every case; `backwards` is that of very many offers, each below the one before."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        *some, last = answers
        told = zip(TABLE_OF_OFFERS.items(), some, strict=True)
        self.of = {name: Delivery(offers, answer) for (name, offers), answer in told}
        self.backwards = last
        many = last.get("returned")
        emitted = many.get("emitted") if isinstance(many, dict) else None
        self.too_slow = isinstance(many, dict) and many.get("too_slow") is True
        self.many: list[Json] = emitted if isinstance(emitted, list) else []

    def __getitem__(self, name: str) -> Delivery:
        """Return what came of a case."""
        return self.of[name]

    @property
    def all(self) -> list[Delivery]:
        """What came of every case but the last."""
        return [*self.of.values()]


def _right(seen: Deliveries) -> bool:
    """Whether every case is right but that of very many."""
    return all(each.right for each in seen.all)


def _gives_up(seen: Deliveries) -> bool:
    few = all(each.right for name, each in seen.of.items() if name != "shuffled")
    return few and seen.many[:1] not in ([], [0])


def _raises_always(seen: Deliveries) -> bool:
    return all(each.raised for each in seen.all)


def _emits(kind_of: Callable[[Json, Json], bool]) -> Callable[[Deliveries], bool]:
    """Return what tells whether in any case something of this kind, of a number and an item, came out."""
    return lambda seen: any(kind_of(number, item) for each in seen.all for _, number, item in each.out)


def _is_swapped(number: Json, item: Json) -> bool:
    return kind(number) in ("Item", "str")


def _is_misnumbered(number: Json, item: Json) -> bool:
    return isinstance(item, str) and item.startswith("item ") and item != f"item {number}"


def _emits_nothing(seen: Deliveries) -> bool:
    return not any(each.out or each.raised for each in seen.all)


def _starts_early(seen: Deliveries) -> bool:
    return seen["in order"].has() and seen["from 3"].seqs[:1] == [2]


def _shares(seen: Deliveries) -> bool:
    two = seen["two"]
    own = [(which, item) for which, _, item in two.offers]
    foreign = any(isinstance(item, str) and (which, item) not in own for which, _, item in two.out)
    return foreign or (not two.right and all(seen[name].right for name in ("in order", "gap", "from 3")))


def _compares_items(seen: Deliveries) -> bool:
    return any(each.raised == "TypeError" and "not supported between" in each.message for each in seen.all)


def _raises_on_copies(seen: Deliveries) -> bool:
    return seen["gap"].right and bool(seen["repeated"].raised or seen["copies wait"].raised)


def _is_one_offer_late(seen: Deliveries) -> bool:
    return seen["in order"].has(0, 1) and seen["in order"].brought == [0, 1, 1]


def _emits_outside(seen: Deliveries) -> bool:
    return any(each.belated for each in seen.all)


def _ignores_start(seen: Deliveries) -> bool:
    return seen["gap"].right and seen["from 3"].has() and not seen["from 3"].raised


def _delivers_twice(seen: Deliveries) -> bool:
    return any(len({str(pair) for pair in _pairs(each)}) < len(each.out) for each in seen.all)


def _pairs(delivery: Delivery) -> list[tuple[Json, Json]]:
    return [(which, number) for which, number, _ in delivery.out]


def _delivers_out_of_order(seen: Deliveries) -> bool:
    for each in seen.all:
        for which in (0, 1):
            numbers = [number for who, number, _ in each.out if who == which and isinstance(number, int)]
            if any(later < earlier for earlier, later in pairwise(numbers)):
                return True
    return False


def _asked(case: Offers) -> Json:
    return {"starts": [*case.starts], "offers": [[*offer] for offer in case.offers]}


TABLE: Final = Table(
    [*map(_asked, TABLE_OF_OFFERS.values()), {"backwards": MANY, "most_cpu_s": MOST_CPU_S}],
    Deliveries,
    (
        Symptom("raises-always", _raises_always),
        Symptom("emit-arguments-swapped", _emits(_is_swapped)),
        Symptom("number-for-item", _emits(lambda number, item: kind(item) == "int")),
        Symptom(
            "returned-for-emitted", lambda seen: _emits_nothing(seen) and any(each.handed_back for each in seen.all)
        ),
        Symptom("starts-one-early", _starts_early),
        Symptom("nothing-comes-out", _emits_nothing),
        Symptom("shared-between-orderers", _shares),
        Symptom("items-compared", _compares_items),
        Symptom("copy-raises", _raises_on_copies),
        Symptom("one-offer-late", _is_one_offer_late),
        Symptom("starts-one-late", lambda seen: seen["in order"].has(1, 2)),
        Symptom("start-ignored", _ignores_start),
        Symptom("empty-text-is-nothing", lambda seen: seen["in order"].right and not seen["empty"].right),
        Symptom("copies-known-by-text", lambda seen: seen["gap"].right and not seen["empty, gap"].right),
        Symptom("as-it-comes", lambda seen: seen["gap"].has(0, 2, 1) and seen["gap"].brought == [1, 1, 1]),
        Symptom("overtaken-dropped", lambda seen: seen["gap"].has(0, 2)),
        Symptom("first-arrival-is-start", lambda seen: seen["gap"].right and seen["no beginning"].has(1, 2, 3)),
        Symptom("held-under-wrong-number", _emits(_is_misnumbered)),
        Symptom(
            "if-for-while",
            lambda seen: (
                seen["gap"].has(0, 1) and seen["gap"].brought == [1, 0, 1] and seen["gap and on"].has(0, 1, 2, 3)
            ),
        ),
        Symptom("early-dropped", lambda seen: seen["gap"].has(0, 1) and seen["gap and on"].has(0, 1)),
        Symptom("every-copy-held", lambda seen: seen["repeated"].right and seen["copies wait"].has(0, 1, 2, 2)),
        Symptom("old-delivered-again", lambda seen: seen["repeated"].has(0, 1, 1, 0, 2)),
        Symptom("newest-first", lambda seen: seen["two wait"].has(0, 3, 2, 1)),
        Symptom("held-in-order-of-arrival", lambda seen: seen["two wait"].has(0, 2, 3, 1)),
        Symptom(
            "next-gap-ignored", lambda seen: seen["two gaps"].has(0, 1, 2, 4) or seen["two gaps"].has(0, 1, 2, 4, 3)
        ),
        Symptom("emitted-outside-of-offer", _emits_outside),
        Symptom("recursion", lambda seen: raised(seen.backwards) == "RecursionError"),
        Symptom("cost-grows", lambda seen: seen.too_slow),
        Symptom("gives-a-gap-up", _gives_up),
        Symptom("held-is-limited", lambda seen: _right(seen) and len(seen.many) < MANY),
        Symptom("offer-raises", lambda seen: any(each.raised for each in seen.all)),
        Symptom("delivered-twice", _delivers_twice),
        Symptom("out-of-order", _delivers_out_of_order),
        Symptom("held-never-released", lambda seen: not _right(seen)),
    ),
)
