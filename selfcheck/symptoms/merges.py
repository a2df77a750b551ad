"""Exercise 4: which of the three criteria is not asked, or asked of the wrong thing."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from selfcheck.symptoms.table import Answer, Symptom, Table, kind, raised, returned
from shared.events import Json
from shared.run import RunStatus

YEARS: Final = (2001, 2999)
"""Of which neither is now: who asks the machine's clock answers by the year."""
DAY_S: Final = 86_400
YOUNG: Final = (0.0, 10.0, 29.0, 29.4, 29.6, 29.999_999)
OLD: Final = (30.0, 30.000_001, 31.0, 59.0, 61.0, DAY_S + 1.0)
ACTIVE: Final = ("running", "streaming")
ENDED: Final = ("done", "failed", "cancelled")
EAST, WEST = timezone(timedelta(hours=8)), timezone(-timedelta(hours=5, minutes=30))


def _case(
    status: str | None,
    age_s: float,
    year: int = 2001,
    second: int = 0,
    zone: timezone = UTC,
    changed_s: float | None = None,
) -> dict[str, Json]:
    """Return a case: a run of this status and age, asked about at this second of a minute, changed so long ago."""
    now = datetime(year, 6, 1, 12, 30, second, tzinfo=UTC)
    created_at = now - timedelta(seconds=age_s)
    updated_at = now - timedelta(seconds=age_s if changed_s is None else changed_s)
    return {
        "status": status,
        "created_at": created_at.astimezone(zone).isoformat(),
        "updated_at": updated_at.astimezone(zone).isoformat(),
        "now": now.isoformat(),
    }


def _cases() -> Iterable[tuple[str, dict[str, Json]]]:
    for status in RunStatus:
        for age_s in (*YOUNG, *OLD):
            yield f"{status} {age_s:f}", _case(status, age_s, second=59)
    for active in ACTIVE:
        for year in YEARS:
            yield f"{active} young in {year}", _case(active, 10, year)
            yield f"{active} old in {year}", _case(active, 31, year)
        yield f"{active} young, over the minute", _case(active, 20, second=10)
        yield f"{active} old, nearly a minute", _case(active, 59, second=10)
        yield f"{active} young, east", _case(active, 10, zone=EAST)
        yield f"{active} young, west", _case(active, 10, zone=WEST)
        yield f"{active} old, east", _case(active, 31, zone=EAST)
        yield f"{active} old, changed just now", _case(active, 31, changed_s=0)
        yield f"{active} from the future", _case(active, -DAY_S)
    yield "none", _case(None, 0)


TABLE_OF_RUNS: Final[Mapping[str, dict[str, Json]]] = dict(_cases())


class Merges:
    """What was answered for each run."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.said = dict(zip(TABLE_OF_RUNS, answers, strict=True))

    def yes(self, statuses: Sequence[str], *ages_s: float) -> bool:
        """Whether all runs of these statuses and ages are merged."""
        return all(self.merges(f"{status} {age_s:f}") for status in statuses for age_s in ages_s)

    def no(self, statuses: Sequence[str], *ages_s: float) -> bool:
        """Whether no run of these statuses and ages is merged."""
        return not any(self.merges(f"{status} {age_s:f}") for status in statuses for age_s in ages_s)

    def merges(self, name: str) -> bool:
        """Whether this run is merged."""
        return returned(self.said[name], value=True)

    def active(self, words: str) -> bool:
        """Whether both an active run of each status is merged, as these words say."""
        return all(self.merges(f"{status} {words}") for status in ACTIVE)

    def neither(self, words: str) -> bool:
        """Whether an active run of neither status is merged, as these words say."""
        return not any(self.merges(f"{status} {words}") for status in ACTIVE)

    @property
    def answers(self) -> list[Answer]:
        """All answers."""
        return [*self.said.values()]


def _mixes_zones(seen: Merges) -> bool:
    return any("offset-naive" in str(answer.get("message", "")) for answer in seen.answers)


def _answers_none(seen: Merges) -> bool:
    return any(returned(answer, None) for answer in seen.answers) and seen.yes(ACTIVE, 10)


def _answers_no_bool(seen: Merges) -> bool:
    return any("returned" in answer and kind(answer["returned"]) != "bool" for answer in seen.answers)


def _merges_all(seen: Merges) -> bool:
    return all(seen.merges(name) for name in seen.said)


def _merges_any_run(seen: Merges) -> bool:
    return all(seen.merges(name) for name in seen.said if name != "none")


def _asks_its_own_clock(seen: Merges) -> bool:
    long_ago = seen.neither("young in 2001") and seen.neither("old in 2001")
    return long_ago and seen.active("young in 2999") and seen.active("old in 2999")


def _or_for_and(seen: Merges) -> bool:
    return seen.yes(ACTIVE, *YOUNG, *OLD) and seen.yes(ENDED, *YOUNG) and seen.no(ENDED, *OLD)


def _goes_by_clock_faces(seen: Merges) -> bool:
    return seen.yes(ACTIVE, 10) and seen.neither("young, over the minute") and seen.active("old, nearly a minute")


def _drops_zones(seen: Merges) -> bool:
    return seen.yes(ACTIVE, 10) and seen.no(ACTIVE, 31) and (seen.neither("young, west") or seen.active("old, east"))


def _drops_days(seen: Merges) -> bool:
    return seen.no(ACTIVE, 31) and seen.yes(ACTIVE, 10, DAY_S + 1.0)


def _goes_by_last_change(seen: Merges) -> bool:
    return seen.no(ACTIVE, 31) and seen.active("old, changed just now")


def _subtracts_backwards(seen: Merges) -> bool:
    return seen.yes(ACTIVE, *YOUNG, *OLD) and seen.neither("from the future")


def _rounds(seen: Merges) -> bool:
    return seen.yes(ACTIVE, 29.4) and seen.no(ACTIVE, 29.6)


def _merges_ended(seen: Merges) -> bool:
    return any(seen.merges(f"{status} {10:f}") for status in ENDED)


TABLE: Final = Table(
    [*TABLE_OF_RUNS.values()],
    Merges,
    (
        Symptom("raises-always", lambda seen: all(map(raised, seen.answers))),
        Symptom("first-message-raises", lambda seen: bool(raised(seen.said["none"]))),
        Symptom("naive-against-aware", _mixes_zones),
        Symptom("none-for-false", _answers_none),
        Symptom("answers-no-bool", _answers_no_bool),
        Symptom("merges-everything", _merges_all),
        Symptom("merges-with-any-run", _merges_any_run),
        Symptom("merge-raises", lambda seen: any(map(raised, seen.answers))),
        Symptom("own-clock", _asks_its_own_clock),
        Symptom("merges-nothing", lambda seen: seen.no([*RunStatus], *YOUNG, *OLD)),
        Symptom("or-for-and", _or_for_and),
        Symptom("clock-faces-compared", _goes_by_clock_faces),
        Symptom("zone-dropped", _drops_zones),
        Symptom("days-dropped", _drops_days),
        Symptom("age-since-last-change", _goes_by_last_change),
        Symptom("subtracted-backwards", _subtracts_backwards),
        Symptom("age-not-asked", lambda seen: seen.yes(ACTIVE, *YOUNG, *OLD)),
        Symptom("compared-backwards", lambda seen: seen.no(ACTIVE, 10) and seen.yes(ACTIVE, 31)),
        Symptom("status-not-asked", lambda seen: seen.yes([*RunStatus], 10)),
        Symptom("pending-merged", lambda seen: seen.merges(f"pending {10:f}")),
        Symptom("ended-merged", _merges_ended),
        Symptom("streaming-not-merged", lambda seen: seen.yes(["running"], 10) and seen.no(["streaming"], 10)),
        Symptom("running-not-merged", lambda seen: seen.yes(["streaming"], 10) and seen.no(["running"], 10)),
        Symptom("exactly-the-window-too", lambda seen: seen.yes(ACTIVE, 30) and seen.no(ACTIVE, 30.000_001)),
        Symptom("age-rounded", _rounds),
        Symptom("wrong-unit", lambda seen: seen.yes(ACTIVE, 0) and seen.no(ACTIVE, 10)),
        Symptom("window-too-short", lambda seen: not seen.yes(ACTIVE, *YOUNG)),
        Symptom("window-too-long", lambda seen: not seen.no(ACTIVE, *OLD)),
        Symptom("criteria-mixed-up", lambda seen: not seen.no([*RunStatus], *OLD) or seen.merges("none")),
    ),
)
