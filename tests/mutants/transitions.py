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


def _rows(name: str, symptom: str, *, recognised_as: tuple[str, ...], **changed: str) -> Mutant:
    source = table(ROWS | changed)
    return Mutant(name, 1, symptom, source, caught_by=(1,), states=FAILED, recognised_as=recognised_as)


def transition(
    name: str, symptom: str, body: str, states: States = FAILED, head: bytes = b"", recognised_as: tuple[str, ...] = ()
) -> Mutant:
    """Make a mutant of the function, with the right table."""
    source = function("transition(current, target)", body)
    return Mutant(name, 1, symptom, source, head, caught_by=(1,), states=states, recognised_as=recognised_as)


TRANSITIONS = (
    _rows(
        "pending-cannot-be-cancelled",
        "stop does nothing before a worker comes",
        pending="running failed",
        recognised_as=("no-exits-from-pending",),
    ),
    _rows(
        "pending-cannot-fail",
        "a run that nobody can begin waits for ever",
        pending="running cancelled",
        recognised_as=("no-exits-from-pending",),
    ),
    _rows(
        "pending-may-stream",
        "fragments of an unclaimed run",
        pending="running streaming cancelled failed",
        recognised_as=("pending-streams",),
    ),
    _rows(
        "pending-may-be-done",
        "a run ends that never ran",
        pending="running done cancelled failed",
        recognised_as=("pending-done",),
    ),
    _rows(
        "running-cannot-be-done",
        "a reply without a fragment never ends",
        running="streaming failed cancelled",
        recognised_as=("running-never-done",),
    ),
    _rows(
        "running-cannot-be-cancelled",
        "no stop before the first fragment",
        running="streaming done failed",
        recognised_as=("no-stop-while-active",),
    ),
    _rows(
        "running-back-to-pending",
        "a retry queues again",
        running="pending streaming done failed cancelled",
        recognised_as=("back-to-pending",),
    ),
    _rows(
        "streaming-back-to-running",
        "a rerun forgets what is out",
        streaming="running done failed cancelled",
        recognised_as=("back-to-running",),
    ),
    _rows(
        "streaming-cannot-fail",
        "an error in mid-sentence leaves the run open",
        streaming="done cancelled",
        recognised_as=("no-failure-while-active",),
    ),
    _rows(
        "streaming-cannot-be-cancelled",
        "the stop button is dead while it matters",
        streaming="done failed",
        recognised_as=("no-stop-while-active",),
    ),
    _rows(
        "done-may-stream-again",
        "a worker that wakes late revives a finished run",
        done="streaming",
        recognised_as=("done-run-revived",),
    ),
    _rows(
        "done-may-be-cancelled",
        "a stop that comes too late rewrites history",
        done="cancelled",
        recognised_as=("end-overwritten",),
    ),
    _rows(
        "failed-may-be-retried",
        "a run that was given up starts again",
        failed="pending running",
        recognised_as=("failed-run-retried",),
    ),
    _rows(
        "cancelled-may-resume",
        "what the user stopped goes on",
        cancelled="running",
        recognised_as=("cancelled-run-resumed",),
    ),
    _rows(
        "failed-may-be-done",
        "an ended run ends a second time",
        failed="done cancelled",
        recognised_as=("end-overwritten",),
    ),
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
        recognised_as=("rows-missing",),
    ),
    transition(
        "table-read-the-wrong-way-round",
        "looks up the target instead of the current status",
        """
        if current not in TRANSITIONS[target]:
            raise IllegalTransition(current, target)
        return target
        """,
        recognised_as=("table-read-backwards",),
    ),
    transition(
        "self-loops-allowed",
        "writing the status a run has already counts as a move",
        """
        if target != current and target not in TRANSITIONS[current]:
            raise IllegalTransition(current, target)
        return target
        """,
        recognised_as=("self-moves-allowed",),
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
        recognised_as=("order-for-table",),
    ),
    transition(
        "only-ends-are-guarded",
        "refuses to leave an end and allows all else",
        """
        if current in (RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED):
            raise IllegalTransition(current, target)
        return target
        """,
        recognised_as=("only-ends-guarded",),
    ),
    transition(
        "returns-the-current-status",
        "a legal move answers where the run was",
        """
        if target not in TRANSITIONS[current]:
            raise IllegalTransition(current, target)
        return current
        """,
        recognised_as=("answers-where-it-was",),
    ),
    transition(
        "stays-instead-of-raising",
        "an illegal move answers the current status, and the caller takes it for a yes",
        "return target if target in TRANSITIONS[current] else current",
        recognised_as=("stays-instead-of-raising",),
    ),
    transition(
        "swallows-illegal-moves",
        "an illegal move answers None",
        """
        if target in TRANSITIONS[current]:
            return target
        """,
        recognised_as=("none-instead-of-raising",),
    ),
    transition(
        "returns-a-bool",
        "answers whether instead of where",
        "return target in TRANSITIONS[current]",
        recognised_as=("answers-a-bool",),
    ),
    transition(
        "returns-the-error",
        "the error is handed back instead of raised",
        "return target if target in TRANSITIONS[current] else IllegalTransition(current, target)",
        recognised_as=("error-returned",),
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
        recognised_as=("allows-every-move",),
    ),
    transition(
        "refuses-everything",
        "no run ever starts",
        "raise IllegalTransition(current, target)",
        recognised_as=("refuses-every-move",),
    ),
    transition(
        "asserts",
        "refuses with AssertionError, and not at all under python -O",
        """
        assert target in TRANSITIONS[current]
        return target
        """,
        FAILED_OR_CRASHED,
        recognised_as=("refuses-by-assert",),
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
        recognised_as=("refuses-by-another-exception",),
    ),
)
