"""The READMEs say what the program does: its screens, commands, files and numbers, the same in both languages."""

import re
from pathlib import Path
from typing import Final

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from scripts import symptoms
from selfcheck import cli
from selfcheck.experiments import NAMES
from selfcheck.interview.questions import QUESTIONS
from selfcheck.reporting.symbols import SYMBOLS
from selfcheck.results import State
from selfcheck.symptoms import names
from selfcheck.texts import LANGUAGES, Lang, say, text
from tests.mutants.catalog import BROKEN, HOSTILE, MISTAKES, MUTANTS, VARIANTS
from tests.support.screens import READMES, SCENES, with_screens

ROOT: Final = Path(__file__).parents[2]
BOTH: Final = {lang: readme.read_text("utf-8") for lang, readme in READMES.items()}
COMMANDS: Final = {str(command.name) for command in cli.app.registered_commands}
each_readme = pytest.mark.parametrize("lang", LANGUAGES)


def blocks(readme: str) -> list[list[str]]:
    """Return the lines of all blocks that somebody copies, without comments and the room before them."""
    found = re.findall(r"```(?:sh|powershell)\n(.*?)```", readme, re.DOTALL)
    return [[re.sub(r"\s+# .*", "", line) for line in block.splitlines()] for block in found]


def links(readme: str) -> list[str]:
    """Return the targets of all links and pictures."""
    return re.findall(r"\]\(([^)]+)\)", readme)


def shape(readme: str) -> list[str]:
    """Return what both READMEs have in the same order: levels of headings, tables, lists, blocks, screens."""
    found = re.findall(r"^(?:#+ |\|(?=---)|- |\d\. |```\w+|<!-- screen: \w+)", readme, re.MULTILINE)
    return [each.strip() for each in found]


@each_readme
def test_the_screens_are_the_programs(lang: Lang) -> None:
    """What stands here is, line by line, in the screens that are kept, and those are compared with the program."""
    assert with_screens(BOTH[lang], lang) == BOTH[lang], "make screens"
    shown = re.findall(r"<!-- screen: (\w+) \d+-\d+ -->\n```text\n..", BOTH[lang])
    pictures = re.findall(r"docs/screens/(\w+)\.(\w+)\.svg", BOTH[lang])
    assert set(shown) | {"half", "hint"} == SCENES.keys()
    assert {(name, lang) for name in SCENES} == set(pictures)


@each_readme
def test_every_command_is_named_and_there(lang: Lang) -> None:
    """Each sub-command with an example or in a sentence, and no other; each target of make exists."""
    named = set(re.findall(r"(?:^|`)(?:\w+=\S+ )*selfcheck ([a-z]+)", BOTH[lang], re.MULTILINE))
    assert named == COMMANDS
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?:^|`)make ([a-z]+)", BOTH[lang], re.MULTILINE))
    assert {"selfcheck", "test", "check"} <= targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


@each_readme
def test_every_option_is_there(lang: Lang) -> None:
    """An option that is named belongs to a sub-command."""
    lines = "".join(line for line in BOTH[lang].splitlines(keepends=True) if "pip install" not in line)
    named = set(re.findall(r"selfcheck [a-z]+ .*?(--[a-z-]+)", lines)) | set(re.findall(r"`(--[a-z-]+)", lines))
    assert len(named) > 8
    assert named - {option for command in COMMANDS for option in cli_options(command)} == set()


def cli_options(command: str) -> set[str]:
    """Return the options of a sub-command."""
    group = get_command(cli.app)
    assert isinstance(group, TyperGroup)
    return {option for parameter in group.commands[command].params for option in parameter.opts}


@each_readme
def test_every_path_is_there(lang: Lang) -> None:
    """Every file that a reader is sent to exists, and so does what a link leads to."""
    named = set(re.findall(r"`((?:gateway|worker|shared|client)/[a-z_]+\.py)`", BOTH[lang]))
    assert len(named) > 25
    assert [path for path in named if not (ROOT / "src" / path).is_file()] == []
    others = set(re.findall(r"`((?:docs|starter|tests|bench)/[a-z_./-]*)`", BOTH[lang]))
    assert [path for path in [*others, *links(BOTH[lang])] if not (ROOT / path).exists()] == []
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").iterdir()}
    assert pages <= set(links(BOTH[lang]))


@each_readme
def test_every_state_is_named(lang: Lang) -> None:
    """As the report shows it: its symbol, and its word."""
    rows = re.findall(r"^\| (\S) ([^|]+) \|", BOTH[lang], re.MULTILINE)
    states = {(SYMBOLS[state][0], text(say(f"states.{state}"), lang)) for state in State}
    assert states <= {(symbol, word.strip()) for symbol, word in rows}


def test_its_numbers_are_right() -> None:
    """Over a hundred symptoms, six experiments, four and four questions."""
    assert len(names()) > 100
    assert len(NAMES) == 6
    assert len(QUESTIONS) == 8


@each_readme
def test_it_counts_the_submissions(lang: Lang) -> None:
    """All wrong ones, the mistakes, those of each exercise, what is broken, what is hostile, and what is right."""
    (paragraph,) = (each for each in BOTH[lang].split("\n\n") if each.startswith("`verify` "))
    numbers = [int(number) for number in re.findall(r"(?<![-\w])\d{2,}", paragraph)]
    mistakes = [sum(mutant.exercise == number for mutant in MISTAKES) for number in (1, 2, 3, 4)]
    assert numbers == [len(MUTANTS), len(MISTAKES), *mistakes, len(BROKEN), len(HOSTILE)]
    assert re.search(rf"(?<!\d){len(VARIANTS)} (right|份写法不同但正确)", paragraph)


def test_both_languages_say_the_same() -> None:
    """The same headings, tables and blocks in the same order, the same commands and links; each leads to the other."""
    english, chinese = BOTH["en"], BOTH["zh"]
    assert shape(chinese) == shape(english)
    assert blocks(chinese) == blocks(english)
    assert {re.sub(r"\.zh\.", ".en.", link) for link in links(chinese)} - {"README.md"} == {*links(english)} - {
        "README.zh-CN.md"
    }
    assert ("README.zh-CN.md" in links(english), "README.md" in links(chinese)) == (True, True)
    code = re.compile(r"`((?:gateway|worker|shared|client|docs|starter|tests)/[^`]+)`")
    assert code.findall(chinese) == code.findall(english)


def test_the_page_of_symptoms_is_current() -> None:
    """It is written from the catalogue."""
    assert symptoms.TARGET.read_text("utf-8") == symptoms.page(), "make symptoms"
