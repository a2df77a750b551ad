"""The doctor: what it looks at, and what it says of what is not as it should be."""

import io
import socket
from dataclasses import fields
from pathlib import Path

import pytest
from rich.console import Console

from selfcheck import texts
from selfcheck.doctor import kit, machine, showing
from selfcheck.doctor.remark import Health, bad
from selfcheck.texts import english
from shared.settings import MERGE_WINDOW, Settings
from tests.support.judging import solution_with


def test_an_old_python_is_told() -> None:
    """With what to install; ours is good."""
    (first, *_) = machine.python((3, 10, 9))
    assert (first.health, first.remedy != "") == (Health.BAD, True)
    assert [remark.health for remark in machine.python()] == [Health.GOOD, Health.GOOD]


def test_every_package_is_looked_for_once() -> None:
    """What is needed and not there is bad, what an extra brings is only missing, and other systems' are not ours."""
    remarks = [
        *machine.packages(
            [
                "typer>=0.29",
                "no-such-thing>=1",
                "no-such-extra>=2; extra == 'real'",
                "no-such-extra>=2; extra == 'test'",
                "koda-lab[real]; extra == 'test'",
                "no-such-linter; extra == 'dev'",
                "no-such-system; sys_platform == 'plan9'",
            ]
        )
    ]
    assert [(remark.what, remark.health) for remark in remarks] == [
        ("typer>=0.29", Health.GOOD),
        ("no-such-thing>=1", Health.BAD),
        ("no-such-extra>=2", Health.MISSING),
    ]
    assert "'.[real]'" in english(remarks[2].remedy)


def test_what_the_project_requires_is_here() -> None:
    """In the environment that runs the tests, nothing is missing."""
    assert {remark.health for remark in machine.packages()} == {Health.GOOD}


def test_a_taken_port_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of `serve` is no need of the checks."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(machine, "SERVE_PORT", taken.getsockname()[1])
        assert [remark.health for remark in machine.ports()] == [Health.GOOD, Health.MISSING]


def test_a_place_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file where the folder should be, say."""
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "new"))
    assert [remark.health for remark in machine.memory()] == [Health.GOOD]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SELFCHECK_HOME", str(tmp_path / "file" / "new"))
    assert [remark.health for remark in machine.memory()] == [Health.MISSING]


def test_both_trees_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file each; one that is no Python is told with its line, and how to put it back."""
    solution_with(tmp_path / "starter", delivery="\n")
    text = (tmp_path / "starter" / "lifecycle.py").read_text("utf-8")
    (tmp_path / "starter" / "lifecycle.py").write_text(text.replace("def transition(", "def transition(("), "utf-8")
    monkeypatch.chdir(tmp_path)
    remarks = [*kit.of_trees()]
    assert [(english(remark.what).split("/")[-1], remark.health) for remark in remarks][:3] == [
        ("delivery.py", Health.GOOD),
        (english(remarks[1].what).split("/")[-1], Health.BAD),
        ("starter", Health.MISSING),
    ]
    assert english(remarks[0].found).endswith(": 2, 3")
    assert english(remarks[1].what).startswith("starter/lifecycle.py:")
    assert "selfcheck reset 1 --file" in english(remarks[1].remedy)


def test_services_that_do_not_answer_are_told_without_their_secrets() -> None:
    """Each with its address; a single address is a mistake of its own; none is fine."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        urls = {
            "REDIS_URL": f"redis://:secret@127.0.0.1:{port}/0",
            "DATABASE_URL": f"postgresql://koda:secret@127.0.0.1:{port}/koda",
        }
        _, *remarks = kit.of_services(urls)
    assert [remark.health for remark in remarks] == [Health.BAD, Health.BAD]
    assert [f"127.0.0.1:{port}" in english(remark.what) for remark in remarks] == [True, True]
    assert not any("secret" in f"{english(remark.what)} {english(remark.found)}" for remark in remarks)
    assert [remark.health for remark in kit.of_services({"REDIS_URL": "redis://x"})][1:] == [Health.BAD]
    assert [remark.health for remark in kit.of_services({})][1:] == [Health.GOOD]
    assert [remark.health for remark in kit.of_services({"REDIS_URL": "nonsense", "DATABASE_URL": "non sense"})][
        1:
    ] == [
        Health.BAD,
        Health.BAD,
    ]


def test_every_setting_is_shown_with_what_it_is_for() -> None:
    """In the words of the settings themselves; what is not the default is told with the default."""
    shown = {variable: (value, default, why) for variable, value, default, why in kit.settings_in_force({})}
    whys = {f"KODA_{setting.name.upper()}": str(setting.metadata["why"]) for setting in fields(Settings)}
    assert {name: english(why) for name, (_, _, why) in shown.items() if name in whys} == whys
    assert set(shown) - set(whys) == {"KODA_MERGE_WINDOW"}
    assert shown["KODA_MERGE_WINDOW"][0] == f"{MERGE_WINDOW.total_seconds():g}s"
    assert {default for _, default, _ in shown.values()} == {""}
    changed = {each[0]: each[1:3] for each in kit.settings_in_force({"KODA_LEASE": "20s", "KODA_RETENTION": "90min"})}
    assert changed["KODA_LEASE"] == ("20s", "15s")
    assert changed["KODA_RETENTION"] == ("90min", "6h")
    assert set(texts.area_texts("zh", "settings")) == {setting.name for setting in fields(Settings)} | {"merge_window"}


def test_settings_that_cannot_be_read_are_told() -> None:
    """And the defaults are shown."""
    (wrong,) = kit.of_settings({"KODA_LEASE": "soon"})
    assert (wrong.health, "KODA_LEASE" in english(wrong.found)) == (Health.BAD, True)
    (right,) = kit.of_settings({"KODA_LEASE": "20s"})
    assert right.health is Health.GOOD
    assert [*kit.settings_in_force({"KODA_LEASE": "soon"})] == [*kit.settings_in_force({})]


@pytest.mark.parametrize(
    ("width", "found"),
    [
        (80, ["  ✗ Python                   CPython 3.11.7, /a/folder/bin/python"]),
        (50, ["  ✗ Python                   CPython 3.11.7,", f"{' ' * 29}/a/folder/bin/python"]),
        (32, ["  ✗ Python", "    CPython 3.11.7,", "    /a/folder/bin/python"]),
    ],
)
def test_nothing_of_a_remark_is_lost(width: int, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is broken where it stands, or below what it is about where there is too little room for that."""
    written = io.StringIO()
    monkeypatch.setattr(showing, "out", Console(file=written, width=width, highlight=False))
    monkeypatch.setattr(showing, "plain", lambda: False)
    showing._show(bad("Python", "CPython 3.11.7, /a/folder/bin/python", "Install Python 3.11 or newer"))
    assert written.getvalue().splitlines() == [*found, "    Install Python 3.11 or newer"]
