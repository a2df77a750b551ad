"""What the main job reads before anything is loaded: the same as Typer reads, or nothing."""

import inspect
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from selfcheck import cli, early, outcome, texts
from selfcheck.commands import run as run_command
from selfcheck.early import Options, find_tree, in_memory, read_options

ROOT = Path(__file__).parents[2]


def values(options: Options | None) -> dict[str, object] | None:
    """Return options by name."""
    return None if options is None else {name: getattr(options, name) for name in Options.__slots__}


DEFAULTS = {
    "tree": "starter", "only": None, "seed": 7, "repeat": 1, "json": None, "junit": None, "lang": None, "real": False,
    "exit_zero": False,
}  # fmt: skip

PLAIN: list[tuple[str, dict[str, object]]] = [
    ("", {}),
    ("--tree mine", {"tree": "mine"}),
    ("--tree=mine", {"tree": "mine"}),
    ("--tree=a=b", {"tree": "a=b"}),
    ("--tree one --tree two", {"tree": "two"}),
    ("--only 4", {"only": 4}),
    ("--seed 0", {"seed": 0}),
    ("--seed=007", {"seed": 7}),
    ("--json out.json --exit-zero", {"json": "out.json", "exit_zero": True}),
    ("--repeat 3", {"repeat": 3}),
    ("--repeat=1000 --junit=out.xml", {"repeat": 1000, "junit": "out.xml"}),
    ("--real", {"real": True}),
    ("--lang zh", {"lang": "zh"}),
    (
        "--exit-zero --only=6 --seed 12 --tree t --json j",
        {"exit_zero": True, "only": 6, "seed": 12, "tree": "t", "json": "j"},
    ),
]


@pytest.mark.parametrize(("line", "changes"), PLAIN)
def test_plain_options_are_read(line: str, changes: dict[str, object]) -> None:
    """In both forms and any order; the last of several counts."""
    assert values(read_options(line.split())) == {**DEFAULTS, **changes}


@pytest.mark.parametrize(("line", "changes"), PLAIN)
def test_typer_reads_the_same(line: str, changes: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads them, the command does the same."""
    played: list[Options] = []

    def play_and_report(options: Options) -> int:
        played.append(options)
        return 0

    monkeypatch.setattr(run_command, "play_and_report", play_and_report)
    try:
        assert cli.run_command_line(["run", *line.split()]) == 0
    finally:
        texts.use("en")
    assert [values(options) for options in played] == [{**DEFAULTS, **changes}]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"], ["--tree"], ["--tree="], ["--tree", ""], ["--tree", "--real"], ["--only", "0"], ["--only", "7"],
        ["--only", "x"], ["--only", "²"], ["--only", "٣"], ["--only", " 4"], ["--seed", "-1"], ["--seed", "1.5"],
        ["--seed", "1_000"], ["--seed", "²"], ["--seed", "9" * 10], ["--json"], ["--json", "-"], ["--nope"], ["extra"],
        ["--repeat", "0"], ["--repeat", "1001"], ["--repeat", "-1"], ["--repeat", "²"], ["--repeat", "x"],
        ["--junit"], ["--junit", ""],
        ["--real=yes"], ["--exit-zero="], ["--seed", "7", "--"], ["-h"], ["--Tree", "x"], ["--tre", "x"],
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_typer(arguments: Sequence[str]) -> None:
    """Help, mistakes, and values that only look right."""
    assert read_options(arguments) is None


def test_every_option_of_the_command_is_known() -> None:
    """What the command takes and what is read early are the same options, with the same defaults."""
    taken = {f"--{name.replace('_', '-')}" for name in inspect.signature(run_command.command).parameters}
    assert taken == {*early._WITH_VALUE, *early._FLAGS}
    assert {name: each.default for name, each in inspect.signature(run_command.command).parameters.items()} == DEFAULTS


@pytest.mark.parametrize(
    ("line", "environment", "memory"),
    [
        ("", {}, True),
        ("", {"MOCK": "1"}, True),
        ("", {"MOCK": "1", "REDIS_URL": "r", "DATABASE_URL": "d"}, True),
        ("", {"MOCK": "0", "REDIS_URL": "r", "DATABASE_URL": "d"}, False),
        ("", {"REDIS_URL": "r"}, False),
        ("", {"DATABASE_URL": "d"}, False),
        ("", {"REDIS_URL": "", "DATABASE_URL": ""}, True),
        ("--real", {"MOCK": "1"}, False),
    ],
)
def test_the_mode_is_told_by_the_environment(line: str, environment: dict[str, str], memory: bool) -> None:
    """A service in memory is started early only where one will be wanted."""
    options = read_options(line.split())
    assert options is not None
    assert in_memory(options, environment) is memory


def test_a_tree_is_looked_for_here_and_then_in_the_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is nowhere is told as it would be here."""
    monkeypatch.chdir(tmp_path)
    assert find_tree("starter", str(ROOT)) == str(ROOT / "starter")
    assert find_tree("nowhere", str(ROOT)) == str(tmp_path / "nowhere")
    (tmp_path / "starter").mkdir()
    assert find_tree("starter", str(ROOT)) == str(tmp_path / "starter")
    assert find_tree(str(ROOT / "solution"), str(ROOT)) == str(ROOT / "solution")


def test_the_entry_imports_nothing_heavy() -> None:
    """What is loaded before the service is started is the standard library, and little of it."""
    text = (ROOT / "selfcheck" / "early.py").read_text("utf-8")
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE))
    assert imported == {"os", "subprocess", "sys", "collections", "json"}
    assert outcome.PASSED == 0
