"""Wrong merge criteria. Check 5 asks every case whose answer is yes, check 6 every case whose answer is no."""

from tests.mutants.submission import CRASHED, FAILED, Mutant, States, function

PREVIOUS = "previous is not None"
STATUS = "previous.status in (RunStatus.RUNNING, RunStatus.STREAMING)"
AGE = "now - previous.created_at < MERGE_WINDOW"
ALL = f"{PREVIOUS} and {STATUS} and {AGE}"

YES, NO, BOTH = (5,), (6,), (5, 6)


def merge(
    name: str, symptom: str, caught_by: tuple[int, ...], body: str, states: States = FAILED, head: bytes = b""
) -> Mutant:
    """Make a mutant of the function."""
    source = function("should_merge(previous, now)", body)
    return Mutant(name, 4, symptom, source, head, caught_by=caught_by, states=states)


def _criteria(
    name: str,
    symptom: str,
    caught_by: tuple[int, ...],
    *,
    status: str = STATUS,
    age: str = AGE,
    states: States = FAILED,
) -> Mutant:
    head = b"from datetime import timedelta\n" if "timedelta" in age else b""
    return merge(name, symptom, caught_by, f"return {PREVIOUS} and {status} and {age}", states, head)


MERGES = (
    _criteria("at-exactly-30-s-too", "`<=` for `<`", NO, age=AGE.replace("<", "<=")),
    _criteria(
        "a-second-short", "at 29 s a new run opens", YES, age="now - previous.created_at < timedelta(seconds=29)"
    ),
    _criteria(
        "a-second-long",
        "at 30 s the run still takes messages",
        NO,
        age="now - previous.created_at < timedelta(seconds=31)",
    ),
    _criteria("a-minute", "the window is sixty seconds", NO, age=AGE.replace("MERGE", "2 * MERGE")),
    _criteria("milliseconds", "the unit is wrong: hardly anything is that young", YES, age=f"{AGE} / 1000"),
    _criteria(
        "seconds-without-days", "a run of yesterday is young", NO, age="(now - previous.created_at).seconds < 30"
    ),
    _criteria(
        "rounds-the-age",
        "29.999999 s are rounded to 30",
        YES,
        age="round((now - previous.created_at).total_seconds()) < 30",
    ),
    _criteria(
        "second-of-the-minute",
        "clock faces are compared, not ages",
        BOTH,
        age="abs(now.second - previous.created_at.second) < 30",
    ),
    _criteria("no-age", "an old run takes messages as long as it lives", NO, age="True"),
    _criteria(
        "age-turned-round",
        "the difference is negative, and always small",
        NO,
        age="previous.created_at - now < MERGE_WINDOW",
    ),
    _criteria("older-instead-of-younger", "`>` for `<`", BOTH, age=AGE.replace("<", ">")),
    _criteria(
        "age-of-the-last-change", "a run that writes is always young", NO, age=AGE.replace("created_at", "updated_at")
    ),
    _criteria(
        "clock-of-its-own",
        "asks the machine's clock instead of `now`",
        YES,
        age=AGE.replace("now", "datetime.now(now.tzinfo)"),
    ),
    _criteria(
        "naive-times",
        "drops the zones: the same moment is hours apart",
        BOTH,
        age="now.replace(tzinfo=None) - previous.created_at.replace(tzinfo=None) < MERGE_WINDOW",
    ),
    _criteria(
        "naive-against-aware",
        "drops one zone: the subtraction raises",
        BOTH,
        age=AGE.replace("now", "now.replace(tzinfo=None)"),
        states=CRASHED,
    ),
    _criteria(
        "pending-merged",
        "a run that nobody claimed counts as active",
        NO,
        status="previous.status in ('pending', 'running', 'streaming')",
    ),
    _criteria("ended-merged", "the status is not asked: nobody answers the message", NO, status="True"),
    _criteria(
        "done-merged",
        "a run just finished takes a message",
        NO,
        status="previous.status in ('running', 'streaming', 'done')",
    ),
    _criteria(
        "failed-and-cancelled-merged",
        "all but done counts as active",
        NO,
        status="previous.status not in ('pending', 'done')",
    ),
    _criteria(
        "running-only", "a run that streams takes no correction", YES, status="previous.status == RunStatus.RUNNING"
    ),
    _criteria(
        "streaming-only", "a run without a fragment takes none", YES, status="previous.status == RunStatus.STREAMING"
    ),
    _criteria(
        "shouting",
        "compares with 'RUNNING', which no status is",
        YES,
        status="previous.status in ('RUNNING', 'STREAMING')",
    ),
    merge("or-for-and", "active or young is enough", NO, f"return {PREVIOUS} and ({STATUS} or {AGE})"),
    merge("always", "every message joins the last run", NO, "return True"),
    merge("any-previous-run", "one run per session, for ever", NO, f"return {PREVIOUS}"),
    merge(
        "no-previous-run-raises", "the first message of a session is a 500", BOTH, f"return {STATUS} and {AGE}", CRASHED
    ),
    merge("none-for-no", "answers None instead of False", NO, f"if {ALL}:\n    return True"),
    merge(
        "answers-the-run", "answers the run, or None, instead of a bool", BOTH, f"return previous if {ALL} else None"
    ),
    merge("answers-in-words", "answers 'no', which is true", BOTH, f"return 'yes' if {ALL} else 'no'"),
    merge("not-implemented", "raises NotImplementedError", BOTH, "raise NotImplementedError", CRASHED),
)
