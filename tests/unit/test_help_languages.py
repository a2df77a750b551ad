"""Help and mistakes on the command line, in Chinese: all of it, and no wider than the terminal."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.cells import cell_len

from selfcheck import cli
from selfcheck.wrapping import has_chinese

ROOT = Path(__file__).parents[2]
COMMANDS = [str(command.name) for command in cli.app.registered_commands]
RANGE = re.compile(r" +\[[\dx<>=]+\]")
MISTAKES = (
    "run --foo",
    "run --onl 3",
    "rn",
    "foo",
    "run --only",
    "run --only 9",
    "run --seed -1",
    "run --only x",
    "run a b",
    "run --real=3",
    "run --lang fr",
    "diff 9",
    "--lang fr",
)

# Typer reads help when it is imported, so each language needs a process of its own; one is enough for all lines.
PROGRAM = """
import contextlib, io, json, sys
from selfcheck import outcome
outcome.speak(sys.argv[1])
from selfcheck.cli import run_command_line
said = {}
for line in json.loads(sys.argv[2]):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run_command_line(line.split())
    said[line] = [code, out.getvalue()]
print(json.dumps(said))
"""


def told(lang: str) -> Mapping[str, tuple[int, str]]:
    """Return the exit code and what is said, for each command line."""
    lines = ["", "--help", *(f"{name} --help" for name in COMMANDS), *MISTAKES]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, lang, json.dumps(lines)],
        cwd=ROOT, env={**os.environ, "COLUMNS": "80", "PYTHONUTF8": "1"},
        capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    said: dict[str, tuple[int, str]] = {line: (code, text) for line, (code, text) in json.loads(done.stdout).items()}
    return said


@pytest.fixture(scope="module")
def chinese() -> Mapping[str, tuple[int, str]]:
    """What is said in Chinese."""
    return told("zh")


def test_every_line_is_chinese(chinese: Mapping[str, tuple[int, str]]) -> None:
    """Of help, and of each mistake. A range on a line of its own has no words."""
    lines = {line for _, said in chinese.values() for line in said.splitlines() if line.strip()}
    assert {line for line in lines if not has_chinese(line) and not RANGE.fullmatch(line)} == set()
    assert len(lines) > len(MISTAKES) + len(COMMANDS)


def test_no_line_is_wider_than_the_terminal(chinese: Mapping[str, tuple[int, str]]) -> None:
    """A Chinese character is two cells wide."""
    lines = {line for _, said in chinese.values() for line in said.splitlines()}
    assert {line for line in lines if cell_len(line) > 80} == set()


def test_mistakes_have_the_code_of_mistakes(chinese: Mapping[str, tuple[int, str]]) -> None:
    """Help has that of success, unless nobody asked for it."""
    assert {line: code for line, (code, _) in chinese.items()} == {
        "": 2, "--help": 0, **{f"{name} --help": 0 for name in COMMANDS}, **dict.fromkeys(MISTAKES, 2),
    }  # fmt: skip


def test_english_is_as_typer_says_it() -> None:
    """Nothing is done to it."""
    said = told("en")
    assert said["run --foo"] == (
        2,
        "Usage: selfcheck run [OPTIONS]\nTry 'selfcheck run --help' for help.\n\nError: No such option: --foo\n",
    )
    assert "  --help" in said["diff --help"][1]
    assert not any(has_chinese(text) for _, text in said.values())


def test_no_line_breaks_off(chinese: Mapping[str, tuple[int, str]]) -> None:
    """What stands beside a sub-command's name is its whole sentence, in either language."""
    for said in (chinese, told("en")):
        assert "..." not in said["--help"][1].replace("[ARGS]...", "")
