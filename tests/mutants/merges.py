"""Wrong merge criteria. Check 5 asks every case whose answer is yes, check 6 every case whose answer is no."""

from tests.mutants.submission import CRASHED, FAILED, Mutant, States, function

PREVIOUS = "previous is not None"
STATUS = "previous.status in (RunStatus.RUNNING, RunStatus.STREAMING)"
AGE = "now - previous.created_at < MERGE_WINDOW"
ALL = f"{PREVIOUS} and {STATUS} and {AGE}"

YES, NO, BOTH = (5,), (6,), (5, 6)


def merge(
    name: str,
    symptom: str,
    caught_by: tuple[int, ...],
    body: str,
    states: States = FAILED,
    head: bytes = b"",
    recognised_as: tuple[str, ...] = (),
) -> Mutant:
    """Make a mutant of the function."""
    source = function("should_merge(previous, now)", body)
    return Mutant(name, 4, symptom, source, head, caught_by=caught_by, states=states, recognised_as=recognised_as)


def _criteria(
    name: str,
    symptom: str,
    caught_by: tuple[int, ...],
    *,
    status: str = STATUS,
    age: str = AGE,
    states: States = FAILED,
    recognised_as: tuple[str, ...],
) -> Mutant:
    head = b"from datetime import timedelta\n" if "timedelta" in age else b""
    return merge(name, symptom, caught_by, f"return {PREVIOUS} and {status} and {age}", states, head, recognised_as)


MERGES = (
    _criteria(
        "at-exactly-30-s-too", "`<=` for `<`", NO, age=AGE.replace("<", "<="), recognised_as=("exactly-the-window-too",)
    ),
    _criteria(
        "a-second-short",
        "at 29 s a new run opens",
        YES,
        age="now - previous.created_at < timedelta(seconds=29)",
        recognised_as=("window-too-short",),
    ),
    _criteria(
        "a-second-long",
        "at 30 s the run still takes messages",
        NO,
        age="now - previous.created_at < timedelta(seconds=31)",
        recognised_as=("window-too-long",),
    ),
    _criteria(
        "a-minute",
        "the window is sixty seconds",
        NO,
        age=AGE.replace("MERGE", "2 * MERGE"),
        recognised_as=("window-too-long",),
    ),
    _criteria(
        "milliseconds",
        "the unit is wrong: hardly anything is that young",
        YES,
        age=f"{AGE} / 1000",
        recognised_as=("wrong-unit",),
    ),
    _criteria(
        "seconds-without-days",
        "a run of yesterday is young",
        NO,
        age="(now - previous.created_at).seconds < 30",
        recognised_as=("days-dropped",),
    ),
    _criteria(
        "rounds-the-age",
        "29.999999 s are rounded to 30",
        YES,
        age="round((now - previous.created_at).total_seconds()) < 30",
        recognised_as=("age-rounded",),
    ),
    _criteria(
        "second-of-the-minute",
        "clock faces are compared, not ages",
        BOTH,
        age="abs(now.second - previous.created_at.second) < 30",
        recognised_as=("clock-faces-compared",),
    ),
    _criteria(
        "no-age", "an old run takes messages as long as it lives", NO, age="True", recognised_as=("age-not-asked",)
    ),
    _criteria(
        "age-turned-round",
        "the difference is negative, and always small",
        NO,
        age="previous.created_at - now < MERGE_WINDOW",
        recognised_as=("subtracted-backwards",),
    ),
    _criteria(
        "older-instead-of-younger",
        "`>` for `<`",
        BOTH,
        age=AGE.replace("<", ">"),
        recognised_as=("compared-backwards",),
    ),
    _criteria(
        "age-of-the-last-change",
        "a run that writes is always young",
        NO,
        age=AGE.replace("created_at", "updated_at"),
        recognised_as=("age-since-last-change",),
    ),
    _criteria(
        "clock-of-its-own",
        "asks the machine's clock instead of `now`",
        YES,
        age=AGE.replace("now", "datetime.now(now.tzinfo)"),
        recognised_as=("own-clock",),
    ),
    _criteria(
        "naive-times",
        "drops the zones: the same moment is hours apart",
        BOTH,
        age="now.replace(tzinfo=None) - previous.created_at.replace(tzinfo=None) < MERGE_WINDOW",
        recognised_as=("zone-dropped",),
    ),
    _criteria(
        "naive-against-aware",
        "drops one zone: the subtraction raises",
        BOTH,
        age=AGE.replace("now", "now.replace(tzinfo=None)"),
        states=CRASHED,
        recognised_as=("naive-against-aware",),
    ),
    _criteria(
        "pending-merged",
        "a run that nobody claimed counts as active",
        NO,
        status="previous.status in ('pending', 'running', 'streaming')",
        recognised_as=("pending-merged",),
    ),
    _criteria(
        "ended-merged",
        "the status is not asked: nobody answers the message",
        NO,
        status="True",
        recognised_as=("status-not-asked",),
    ),
    _criteria(
        "done-merged",
        "a run just finished takes a message",
        NO,
        status="previous.status in ('running', 'streaming', 'done')",
        recognised_as=("ended-merged",),
    ),
    _criteria(
        "failed-and-cancelled-merged",
        "all but done counts as active",
        NO,
        status="previous.status not in ('pending', 'done')",
        recognised_as=("ended-merged",),
    ),
    _criteria(
        "running-only",
        "a run that streams takes no correction",
        YES,
        status="previous.status == RunStatus.RUNNING",
        recognised_as=("streaming-not-merged",),
    ),
    _criteria(
        "streaming-only",
        "a run without a fragment takes none",
        YES,
        status="previous.status == RunStatus.STREAMING",
        recognised_as=("running-not-merged",),
    ),
    _criteria(
        "shouting",
        "compares with 'RUNNING', which no status is",
        YES,
        status="previous.status in ('RUNNING', 'STREAMING')",
        recognised_as=("merges-nothing",),
    ),
    merge(
        "or-for-and",
        "active or young is enough",
        NO,
        f"return {PREVIOUS} and ({STATUS} or {AGE})",
        recognised_as=("or-for-and",),
    ),
    merge("always", "every message joins the last run", NO, "return True", recognised_as=("merges-everything",)),
    merge(
        "any-previous-run",
        "one run per session, for ever",
        NO,
        f"return {PREVIOUS}",
        recognised_as=("merges-with-any-run",),
    ),
    merge(
        "no-previous-run-raises",
        "the first message of a session is a 500",
        BOTH,
        f"return {STATUS} and {AGE}",
        CRASHED,
        recognised_as=("first-message-raises",),
    ),
    merge(
        "none-for-no",
        "answers None instead of False",
        NO,
        f"if {ALL}:\n    return True",
        recognised_as=("none-for-false",),
    ),
    merge(
        "answers-the-run",
        "answers the run, or None, instead of a bool",
        BOTH,
        f"return previous if {ALL} else None",
        recognised_as=("answers-no-bool",),
    ),
    merge(
        "answers-in-words",
        "answers 'no', which is true",
        BOTH,
        f"return 'yes' if {ALL} else 'no'",
        recognised_as=("answers-no-bool",),
    ),
    merge(
        "not-implemented",
        "raises NotImplementedError",
        BOTH,
        "raise NotImplementedError",
        CRASHED,
        recognised_as=("raises-always",),
    ),
)
