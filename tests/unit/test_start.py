"""What a process of its own is made from: addresses, settings, and one tree of exercises."""

from datetime import timedelta
from pathlib import Path

import pytest

from shared.addresses import Urls
from shared.errors import InvalidField, Misconfigured
from shared.run import RunStatus
from shared.settings import Settings
from shared.start import start_from

_ROOT = Path(__file__).parents[2]
_URLS = {"REDIS_URL": "redis://r", "DATABASE_URL": "postgresql://d"}


def test_a_process_starts_with_the_solution_of_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word about the tree it is `solution`; an empty word is none."""
    monkeypatch.chdir(_ROOT)
    start = start_from({**_URLS, "KODA_LEASE": "20s", "KODA_TREE": ""})
    assert start.urls == Urls("redis://r", "postgresql://d")
    assert start.settings == Settings(lease=timedelta(seconds=20))
    with pytest.raises(ValueError, match="illegal"):
        start.exercises.transition(RunStatus.DONE, RunStatus.PENDING)


def test_the_tree_can_be_chosen() -> None:
    """The starter's table allows every move."""
    start = start_from({**_URLS, "KODA_TREE": str(_ROOT / "starter")})
    assert start.exercises.transition(RunStatus.DONE, RunStatus.PENDING) is RunStatus.PENDING


@pytest.mark.parametrize(
    ("environment", "field"),
    [
        ({}, "REDIS_URL and DATABASE_URL"),
        ({"REDIS_URL": "", "DATABASE_URL": ""}, "REDIS_URL and DATABASE_URL"),
        ({"REDIS_URL": "redis://r"}, "DATABASE_URL"),
        ({"DATABASE_URL": "postgresql://d"}, "REDIS_URL"),
    ],
)
def test_both_addresses_must_be_given(environment: dict[str, str], field: str) -> None:
    """What is missing is named, and why it is needed."""
    with pytest.raises(InvalidField) as refusal:
        start_from(environment)
    assert (refusal.value.field, refusal.value.problem) == (
        field,
        "not set; gateway and worker meet in Redis and PostgreSQL, and need the addresses of both",
    )


def test_memory_is_refused_even_beside_addresses() -> None:
    """`MOCK=1` asks for something that two processes cannot have, so nothing real is touched."""
    with pytest.raises(InvalidField) as refusal:
        start_from({**_URLS, "MOCK": "1"})
    assert str(refusal.value) == "MOCK: processes cannot share a memory; unset it, and set REDIS_URL and DATABASE_URL"


def test_a_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Outside the kit's folder there is no solution, and the message says what to set."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misconfigured) as refusal:
        start_from(_URLS)
    assert str(refusal.value) == (
        "exercises: there is no folder solution; set KODA_TREE to a folder that holds lifecycle.py and delivery.py"
    )


def test_nobody_stands_in_for_a_tree_that_does_not_load(tmp_path: Path) -> None:
    """One broken file stops the process; the judge alone fills gaps from the solution."""
    (tmp_path / "lifecycle.py").write_bytes((_ROOT / "solution" / "lifecycle.py").read_bytes())
    (tmp_path / "delivery.py").write_text("def resume_from(:\n")
    with pytest.raises(Misconfigured, match=r"delivery\.py:1 is not Python"):
        start_from({**_URLS, "KODA_TREE": str(tmp_path)})


def test_a_setting_that_cannot_be_read_stops_the_process() -> None:
    """The settings are read before the tree, and their own words go through."""
    with pytest.raises(Misconfigured, match="KODA_LEASE='soon' is not a duration"):
        start_from({**_URLS, "KODA_LEASE": "soon", "KODA_TREE": "nowhere"})
