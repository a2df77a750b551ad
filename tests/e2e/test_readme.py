"""The README says what the program does: its screens, commands, files and numbers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.catalog import BROKEN, HOSTILE, MISTAKES, MUTANTS, VARIANTS
from tests.support.judging import HOME

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def screens() -> dict[str, str]:
    """Return the screens that the README shows, by the tree that they are of."""
    return dict(re.findall(r"<!-- screen: (\w+) -->\n```\n(.*?)```\n", README, re.DOTALL))


def selfcheck(*arguments: str) -> str:
    """Return what the command prints in a terminal of 80 columns without colour."""
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1", "SELFCHECK_HOME": HOME}
    environment = {**os.environ, "MOCK": "1", "SELFTEST": "1", **plain}
    command = [sys.executable, "-m", "selfcheck", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False)
    return done.stdout


@pytest.mark.parametrize("tree", ["starter", "solution"])
def test_the_screens_are_the_programs(tree: str) -> None:
    """What stands in the README is, line by line, the beginning of what is printed."""
    assert selfcheck("--tree", tree).startswith(screens()[tree])


def test_the_commands_are_there() -> None:
    """Every sub-command and make target that the README names exists."""
    listed = selfcheck("--help")
    named = set(re.findall(r"^selfcheck ([a-z]+)", README, re.MULTILINE))
    assert named == {"run", "watch", "hint", "diff", "serve", "chat", "experiment", "verify"}
    assert [command for command in named if f"  {command} " not in listed] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_the_paths_are_there() -> None:
    """Every file that the README sends a reader to exists."""
    named = set(re.findall(r"`((?:gateway|worker|shared|client)/[a-z_]+\.py)`", README))
    assert len(named) > 8
    assert [path for path in named if not (ROOT / "src" / path).is_file()] == []
    others = set(re.findall(r"`((?:docs|starter|tests|bench)/[a-z_./-]*)`", README))
    assert [path for path in others if not (ROOT / path).exists()] == []


def test_the_submissions_are_as_many_as_it_says() -> None:
    """Of each kind."""
    mistakes = [sum(mutant.exercise == number for mutant in MISTAKES) for number in (1, 2, 3, 4)]
    text = " ".join(README.split())
    one, two, three, four = mistakes
    assert f"{len(MUTANTS)} wrong submissions in `tests/mutants/`" in text
    assert f"{len(MISTAKES)} mistakes ({one} in exercise 1, {two} in 2, {three} in 3, {four} in 4)" in text
    assert f"{len(BROKEN)} that do not load, {len(HOSTILE)} that fight back" in text
    assert f"{len(VARIANTS)} right ones that look different" in text
