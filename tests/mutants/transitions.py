"""Wrong transition tables, and wrong ways to use a right one."""

from tests.mutants.submission import FAILED, FAILED_OR_CRASHED, Mutant, States, function

ROWS = {
    "pending": "running cancelled failed",
    "running": "streaming done failed cancelled",
    "streaming": "done failed cancelled",
    "done": "",
    "failed": "",
    "cancelled": "",
}


def table(rows: dict[str, str]) -> str:
    """Return the table's text."""
    lines = ["TRANSITIONS = {"]
    for status, targets in rows.items():
        members = ", ".join(f"RunStatus.{target.upper()}" for target in targets.split())
        lines.append(f"    RunStatus.{status.upper()}: frozenset([{members}]),")
    return "\n".join([*lines, "}", ""])


def _rows(name: str, symptom: str, **changed: str) -> Mutant:
    return Mutant(name, 1, symptom, table(ROWS | changed), caught_by=(1,), states=FAILED)


def transition(name: str, symptom: str, body: str, states: States = FAILED, head: bytes = b"") -> Mutant:
    """Make a mutant of the function, with the right table."""
    source = function("transition(current, target)", body)
    return Mutant(name, 1, symptom, source, head, caught_by=(1,), states=states)


TRANSITIONS = (
    _rows("pending-cannot-be-cancelled", "stop does nothing before a worker comes", pending="running failed"),
    _rows("pending-cannot-fail", "a run that nobody can begin waits for ever", pending="running cancelled"),
    _rows("pending-may-stream", "fragments of an unclaimed run", pending="running streaming cancelled failed"),
    _rows("pending-may-be-done", "a run ends that never ran", pending="running done cancelled failed"),
    _rows("running-cannot-be-done", "a reply without a fragment never ends", running="streaming failed cancelled"),
    _rows("running-cannot-be-cancelled", "no stop before the first fragment", running="streaming done failed"),
    _rows("running-back-to-pending", "a retry queues again", running="pending streaming done failed cancelled"),
    _rows("streaming-back-to-running", "a rerun forgets what is out", streaming="running done failed cancelled"),
    _rows("streaming-cannot-fail", "an error in mid-sentence leaves the run open", streaming="done cancelled"),
    _rows("streaming-cannot-be-cancelled", "the stop button is dead while it matters", streaming="done failed"),
    _rows("done-may-stream-again", "a worker that wakes late revives a finished run", done="streaming"),
    _rows("done-may-be-cancelled", "a stop that comes too late rewrites history", done="cancelled"),
    _rows("failed-may-be-retried", "a run that was given up starts again", failed="pending running"),
    _rows("cancelled-may-resume", "what the user stopped goes on", cancelled="running"),
    _rows("failed-may-be-done", "an ended run ends a second time", failed="done cancelled"),
    Mutant(
        "no-rows-for-the-ends",
        1,
        "a late write raises KeyError, which is no refusal",
        table({status: targets for status, targets in ROWS.items() if targets})
        + function(
            "transition(current, target)",
            """
            if target not in TRANSITIONS[current]:
                raise IllegalTransition(current, target)
            return target
            """,
        ),
        caught_by=(1,),
        states=FAILED_OR_CRASHED,
    ),
    transition(
        "table-read-the-wrong-way-round",
        "looks up the target instead of the current status",
        """
        if current not in TRANSITIONS[target]:
            raise IllegalTransition(current, target)
        return target
        """,
    ),
    transition(
        "self-loops-allowed",
        "writing the status a run has already counts as a move",
        """
        if target != current and target not in TRANSITIONS[current]:
            raise IllegalTransition(current, target)
        return target
        """,
    ),
    transition(
        "forward-is-good-enough",
        "orders the statuses: pending may stream, done may fail",
        """
        order = list(RunStatus)
        if order.index(target) <= order.index(current):
            raise IllegalTransition(current, target)
        return target
        """,
    ),
    transition(
        "only-ends-are-guarded",
        "refuses to leave an end and allows all else",
        """
        if current in (RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED):
            raise IllegalTransition(current, target)
        return target
        """,
    ),
    transition(
        "returns-the-current-status",
        "a legal move answers where the run was",
        """
        if target not in TRANSITIONS[current]:
            raise IllegalTransition(current, target)
        return current
        """,
    ),
    transition(
        "stays-instead-of-raising",
        "an illegal move answers the current status, and the caller takes it for a yes",
        "return target if target in TRANSITIONS[current] else current",
    ),
    transition(
        "swallows-illegal-moves",
        "an illegal move answers None",
        """
        if target in TRANSITIONS[current]:
            return target
        """,
    ),
    transition("returns-a-bool", "answers whether instead of where", "return target in TRANSITIONS[current]"),
    transition(
        "returns-the-error",
        "the error is handed back instead of raised",
        "return target if target in TRANSITIONS[current] else IllegalTransition(current, target)",
    ),
    transition(
        "catches-its-own-error",
        "raises, catches and goes on",
        """
        try:
            if target not in TRANSITIONS[current]:
                raise IllegalTransition(current, target)
        except ValueError:
            pass
        return target
        """,
    ),
    transition("refuses-everything", "no run ever starts", "raise IllegalTransition(current, target)"),
    transition(
        "asserts",
        "refuses with AssertionError, and not at all under python -O",
        """
        assert target in TRANSITIONS[current]
        return target
        """,
        FAILED_OR_CRASHED,
    ),
    transition(
        "raises-the-wrong-error",
        "refuses with RuntimeError, which no caller expects",
        """
        if target not in TRANSITIONS[current]:
            raise RuntimeError("illegal")
        return target
        """,
        FAILED_OR_CRASHED,
    ),
)
