"""What of the hints somebody has seen, and what the last run says of an exercise: both in a tree's room.

Nothing of it is needed. A file that is not there or not ours is as good as none, and what cannot be written is not.
"""

from pathlib import Path

import msgspec

from selfcheck.home import put, recalled, room
from selfcheck.symptoms import names
from shared.errors import KodaError

_UNREADABLE = (OSError, KodaError, msgspec.MsgspecError, ValueError)


class Seen(msgspec.Struct, frozen=True):
    """How far somebody has come with the hints of one exercise: the last level, 0 for none, and the last symptom."""

    level: int = 0
    symptom: str = ""


class LastRun(msgspec.Struct, frozen=True):
    """What the last run found of one exercise."""

    passed: bool = False  # every check of it
    symptom: str = ""


class _Check(msgspec.Struct):
    exercise: int | None
    status: str
    symptom: str = ""


class _Results(msgspec.Struct):
    checks: list[_Check]


_CHECKS_OF = {1: 1, 2: 1, 3: 1, 4: 2}  # how many checks judge an exercise


def seen(tree: Path, exercise: int) -> Seen:
    """Return what is remembered."""
    return _remembered(tree).get(str(exercise), Seen())


def remember(tree: Path, exercise: int, seen: Seen) -> bool:
    """Keep what was seen, and say whether that could be done."""
    try:
        put(_file(tree), msgspec.json.encode({**_remembered(tree), str(exercise): seen}))
    except (OSError, KodaError):
        return False
    return True


def last_run(tree: Path, exercise: int) -> LastRun:
    """Return what the last run found."""
    try:
        results = msgspec.json.decode(recalled(room(tree) / "runs" / "last" / "results.json"), type=_Results)
    except _UNREADABLE:
        return LastRun()
    checks = [check for check in results.checks if check.exercise == exercise]
    passed = len(checks) == _CHECKS_OF[exercise] and all(check.status == "passed" for check in checks)
    return LastRun(passed, next((each.symptom for each in checks if each.symptom in names(exercise)), ""))


def _file(tree: Path) -> Path:
    return room(tree) / "hints.json"


def _remembered(tree: Path) -> dict[str, Seen]:
    try:
        return msgspec.json.decode(recalled(_file(tree)), type=dict[str, Seen])
    except _UNREADABLE:
        return {}
