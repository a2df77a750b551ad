"""Exercise 1: what is wrong with a table of moves, or with the function that looks things up in it."""

from collections.abc import Sequence
from typing import Final

from selfcheck.checks.transitions import ALLOWED
from selfcheck.symptoms.table import Answer, Symptom, Table, kind, raised, refused, returned
from shared.run import RunStatus

PAIRS: Final = [(str(current), str(target)) for current in RunStatus for target in RunStatus]
LEGAL: Final = frozenset((str(current), str(target)) for current, targets in ALLOWED.items() for target in targets)
ENDS: Final = ("done", "failed", "cancelled")
ACTIVE: Final = ("running", "streaming")
ORDER: Final = [str(status) for status in RunStatus]


class Moves:
    """What was answered for each pair, and which moves were let pass."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.said = dict(zip(PAIRS, answers, strict=True))
        self.taken = frozenset(pair for pair, answer in self.said.items() if returned(answer, pair[1]))
        self.illegal = [answer for pair, answer in self.said.items() if pair not in LEGAL]

    def takes(self, sources: Sequence[str], targets: Sequence[str]) -> bool:
        """Whether any such move is let pass."""
        return any((source, target) in self.taken for source in sources for target in targets)

    def lacks(self, sources: Sequence[str], target: str) -> bool:
        """Whether any such move, which should be let pass, is not."""
        return any((source, target) not in self.taken for source in sources)


def _raises_always(moves: Moves) -> bool:
    return all(raised(answer) and not refused(answer) for answer in moves.said.values())


def _refuses_everything(moves: Moves) -> bool:
    return all(map(refused, moves.said.values()))


def _answers_a_bool(moves: Moves) -> bool:
    return all(type(answer.get("returned")) is bool for pair, answer in moves.said.items() if pair in LEGAL)


def _answers_where_it_was(moves: Moves) -> bool:
    return all(returned(answer, pair[0]) for pair, answer in moves.said.items() if pair in LEGAL)


def _asserts(moves: Moves) -> bool:
    return all(raised(answer) == "AssertionError" for answer in moves.illegal)


def _raises_another_kind(moves: Moves) -> bool:
    return all(raised(answer) and not refused(answer) for answer in moves.illegal)


def _lacks_rows(moves: Moves) -> bool:
    return any(raised(answer) == "KeyError" for answer in moves.said.values())


def _stays(moves: Moves) -> bool:
    return all(returned(answer, pair[0]) for pair, answer in moves.said.items() if pair not in LEGAL)


def _answers_none(moves: Moves) -> bool:
    return any(returned(answer, None) for answer in moves.illegal)


def _answers_the_error(moves: Moves) -> bool:
    kinds = {kind(answer.get("returned")) for answer in moves.illegal}
    return any(each == "IllegalTransition" or each.endswith(("Error", "Exception")) for each in kinds)


def _allows_all(moves: Moves) -> bool:
    return len(moves.taken) == len(PAIRS)


def _guards_only_ends(moves: Moves) -> bool:
    return moves.taken == {pair for pair in PAIRS if pair[0] not in ENDS}


def _goes_by_order(moves: Moves) -> bool:
    return moves.taken == {pair for pair in PAIRS if ORDER.index(pair[0]) < ORDER.index(pair[1])}


def _reads_backwards(moves: Moves) -> bool:
    return moves.taken == {(target, source) for source, target in LEGAL}


def _moves_to_itself(moves: Moves) -> bool:
    return any((status, status) in moves.taken for status in ORDER)


TABLE: Final = Table(
    [[current, target] for current, target in PAIRS],
    Moves,
    (
        Symptom("raises-always", _raises_always),
        Symptom("refuses-every-move", _refuses_everything),
        Symptom("answers-a-bool", _answers_a_bool),
        Symptom("answers-where-it-was", _answers_where_it_was),
        Symptom("refuses-by-assert", _asserts),
        Symptom("refuses-by-another-exception", _raises_another_kind),
        Symptom("rows-missing", _lacks_rows),
        Symptom("stays-instead-of-raising", _stays),
        Symptom("none-instead-of-raising", _answers_none),
        Symptom("error-returned", _answers_the_error),
        Symptom("allows-every-move", _allows_all),
        Symptom("only-ends-guarded", _guards_only_ends),
        Symptom("order-for-table", _goes_by_order),
        Symptom("table-read-backwards", _reads_backwards),
        Symptom("self-moves-allowed", _moves_to_itself),
        Symptom("done-run-revived", lambda moves: moves.takes(["done"], ["pending", *ACTIVE])),
        Symptom("failed-run-retried", lambda moves: moves.takes(["failed"], ["pending", *ACTIVE])),
        Symptom("cancelled-run-resumed", lambda moves: moves.takes(["cancelled"], ["pending", *ACTIVE])),
        Symptom("end-overwritten", lambda moves: moves.takes(ENDS, ENDS)),
        Symptom("back-to-pending", lambda moves: moves.takes(ACTIVE, ["pending"])),
        Symptom("back-to-running", lambda moves: moves.takes(["streaming"], ["running"])),
        Symptom("pending-streams", lambda moves: moves.takes(["pending"], ["streaming"])),
        Symptom("pending-done", lambda moves: moves.takes(["pending"], ["done"])),
        Symptom("no-exits-from-pending", lambda moves: any(moves.lacks(["pending"], end) for end in ENDS[1:])),
        Symptom("no-stop-while-active", lambda moves: moves.lacks(ACTIVE, "cancelled")),
        Symptom("no-failure-while-active", lambda moves: moves.lacks(ACTIVE, "failed")),
        Symptom("running-never-done", lambda moves: moves.lacks(["running"], "done")),
        Symptom("way-forward-missing", lambda moves: not moves.taken >= LEGAL),
    ),
)
