"""Every number of the system, once, and how an environment changes it."""

from dataclasses import Field, fields
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import settings as module
from shared.errors import Misconfigured
from shared.settings import MERGE_WINDOW, Settings, parse_duration, variable_of
from tests.support.calm import calm

ALL = {setting.name: setting for setting in fields(Settings)}
NUMBERS = {name: setting for name, setting in ALL.items() if not isinstance(setting.default, str)}

# One more reading of the design's list (section 6), kept apart from the code on purpose.
DESIGNED = {
    "prefix": "koda",
    "schema": "koda",
    "heartbeat": timedelta(seconds=15),
    "retry": timedelta(seconds=1),
    "reorder_limit": 64,
    "reorder_wait": timedelta(seconds=2),
    "flush_rows": 32,
    "flush_every": timedelta(milliseconds=200),
    "replay_cap": 2000,
    "retention": timedelta(hours=6),
    "out_stream_ttl": timedelta(minutes=15),
    "lease": timedelta(seconds=15),
    "renew_every": timedelta(seconds=5),
    "max_attempts": 3,
    "backoff_cap": timedelta(seconds=10),
    "drain": timedelta(seconds=10),
    "max_connection_age": timedelta(minutes=10),
    "send_timeout": timedelta(seconds=10),
    "max_text": 8000,
    "max_body": 65536,
}


def _refusal(environment: dict[str, str]) -> str:
    with pytest.raises(Misconfigured) as refused:
        Settings.from_environment(environment)
    return str(refused.value)


def test_without_an_environment_the_numbers_are_the_designed_ones() -> None:
    """What nobody overrides has the value that the design gives, and the merge window is 30 s."""
    settings = Settings.from_environment({"LEASE": "99s", "HOME": "/"})
    assert settings == Settings()
    assert {name: getattr(settings, name) for name in DESIGNED} == DESIGNED
    assert timedelta(seconds=30) == MERGE_WINDOW


@pytest.mark.parametrize("setting", ALL.values(), ids=ALL)
def test_every_setting_can_be_overridden_alone(setting: "Field[object]") -> None:
    """The variable of a setting's own name changes that setting and no other."""
    value, expected = {
        timedelta: ("7s", timedelta(seconds=7)),
        int: ("7", 7),
        str: ("seven_7", "seven_7"),
    }[type(setting.default)]
    variable = f"KODA_{setting.name.upper()}"
    assert variable_of(setting) == variable
    changed = Settings.from_environment({variable: value})
    assert changed == Settings(**{setting.name: expected})  # type: ignore[arg-type]
    assert changed != Settings()


@pytest.mark.parametrize("setting", ALL.values(), ids=ALL)
def test_every_setting_says_what_it_is_for(setting: "Field[object]") -> None:
    """A person who looks at a setting finds a reason beside it."""
    assert len(setting.metadata["why"]) > 20


NO_NUMBERS = ["", " ", "nan", "-1", "1.5.2", "٣", "1e3", "9" * 13, "15 s", "s", "ms15", "1_0"]
EXPECTED = {int: "a whole number", timedelta: "a duration such as 200ms, 15s, 10min or 6h"}


@pytest.mark.parametrize(
    ("variable", "value", "kind"),
    [
        *((variable_of(setting), "some", type(setting.default)) for setting in NUMBERS.values()),
        *(("KODA_LEASE", value, timedelta) for value in [*NO_NUMBERS, "15", "15S"]),
        *(("KODA_MAX_TEXT", value, int) for value in [*NO_NUMBERS, "8000s", "1.0"]),
    ],
)
def test_a_bad_number_names_the_variable(variable: str, value: str, kind: type) -> None:
    """What cannot be read is shown with its variable, what was expected, and the next thing to do."""
    expected = f"settings: {variable}={value!r} is not {EXPECTED[kind]}; change {variable} or unset it"
    assert _refusal({variable: value}) == expected


@pytest.mark.parametrize("value", ["", "1a", "a-b", "ä", 'a"b', "a" * 42, "a\n"])
@pytest.mark.parametrize("variable", ["KODA_PREFIX", "KODA_SCHEMA"])
def test_a_bad_name_names_the_variable(variable: str, value: str) -> None:
    """Names go into keys and into SQL, so they are letters, digits and underscores only."""
    assert _refusal({variable: value}) == (
        f"settings: {variable}={value!r} is not a name of letters, digits and underscores (at most 41);"
        f" change {variable} or unset it"
    )


MAY_BE_ZERO = {
    "retry", "reorder_limit", "reorder_wait", "replay_cap", "flush_every", "backoff_cap", "drain", "fragment_pace",
    "retention", "out_stream_ttl",
}  # fmt: skip


@pytest.mark.parametrize("setting", NUMBERS.values(), ids=NUMBERS)
def test_zero_is_refused_where_nothing_would_work_with_it(setting: "Field[object]") -> None:
    """A worker for zero runs, or a period of no time, is a mistake that is told at the start and not found at night."""
    variable, value = variable_of(setting), "0" if isinstance(setting.default, int) else "0.0001ms"
    if setting.name in MAY_BE_ZERO:
        assert not getattr(Settings.from_environment({variable: value}), setting.name)
    else:
        problem = f"settings: {variable}={value!r} is not more than zero; change {variable} or unset it"
        assert _refusal({variable: value}) == problem


@pytest.mark.parametrize("environment", [{"KODA_LEASE": "5s"}, {"KODA_LEASE": "60s", "KODA_RENEW_EVERY": "1min"}])
def test_a_lease_outlives_its_renewal(environment: dict[str, str]) -> None:
    """Where a lease would run out before it is renewed, every run would be taken from its owner again and again."""
    refusal = _refusal(environment)
    assert "KODA_RENEW_EVERY" in refusal and "KODA_LEASE" in refusal
    assert Settings.from_environment({"KODA_LEASE": "5001ms"}).lease == timedelta(milliseconds=5001)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("200ms", timedelta(milliseconds=200)),
        ("0ms", timedelta(0)),
        ("15s", timedelta(seconds=15)),
        ("0.25s", timedelta(milliseconds=250)),
        ("10min", timedelta(minutes=10)),
        ("1.5h", timedelta(minutes=90)),
        ("999999999h", timedelta(hours=999999999)),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str, duration: timedelta) -> None:
    """Each unit is read, fractions too."""
    assert parse_duration("KODA_X", text) == duration


@calm
@given(st.text(max_size=12))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Whatever stands in a variable, the answer is a duration or a refusal that names the variable."""
    try:
        assert parse_duration("KODA_X", text) >= timedelta(0)
    except Misconfigured as refusal:
        assert "KODA_X" in str(refusal)


def test_the_merge_window_is_read_from_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one number that exercises import is a constant of the process, and overridden like the others.

    A value that cannot be read does not keep anybody from importing; it is told with the settings, by its variable.
    """
    monkeypatch.setenv("KODA_MERGE_WINDOW", "45s")
    assert module._merge_window_at_import() == timedelta(seconds=45)
    monkeypatch.setenv("KODA_MERGE_WINDOW", "soon")
    assert module._merge_window_at_import() == timedelta(seconds=30)
    with pytest.raises(Misconfigured, match="KODA_MERGE_WINDOW='soon'"):
        Settings.from_environment({"KODA_MERGE_WINDOW": "soon"})
