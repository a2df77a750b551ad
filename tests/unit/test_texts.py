"""The catalogue: both languages have the same texts with the same places, and every text that is named is there."""

import ast
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import selfcheck
from selfcheck import texts
from selfcheck.texts import LANGUAGES, Message, area_texts, choose, english, say, text

PACKAGE = Path(texts.__file__).parent
SOURCES = Path(selfcheck.__file__).parent


def areas(lang: str) -> set[str]:
    """Return the areas a language has."""
    return {module.name for module in pkgutil.iter_modules([str(PACKAGE / lang)])}


def places(template: str) -> set[str]:
    """Return the names of the open places."""
    return {name.split(".")[0].split("[")[0] for _, name, _, _ in Formatter().parse(template) if name is not None}


def said() -> Iterator[tuple[str, set[str] | None]]:
    """Return the keys that the code names in calls of `say`, with the arguments given; None: not spelled out."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say" and node.args:
                key = node.args[0]
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    names = [keyword.arg for keyword in node.keywords]
                    yield key.value, None if None in names else {name for name in names if name is not None}


def test_both_languages_have_the_same_areas() -> None:
    """A module for each area in each language."""
    assert areas("en") == areas("zh")


@pytest.mark.parametrize("area", sorted(areas("en")))
def test_both_languages_have_the_same_texts(area: str) -> None:
    """The same names in the same order, none empty, with the same places to fill."""
    ours, theirs = area_texts("en", area), area_texts("zh", area)
    assert list(ours) == list(theirs)
    assert {name: places(template) for name, template in ours.items()} == {
        name: places(template) for name, template in theirs.items()
    }
    assert [name for lang in LANGUAGES for name, template in area_texts(lang, area).items() if not template] == []


def test_every_text_that_is_named_is_there() -> None:
    """With exactly the arguments that its places need."""
    for key, given in said():
        area, _, name = key.partition(".")
        assert name in area_texts("en", area), key
        assert given is None or given == places(area_texts("en", area)[name]), key


def test_a_message_is_shown_in_the_language_in_use() -> None:
    """And for programs always in English."""
    message = say("states.todo")
    assert (text(message, "en"), text(message, "zh")) == ("to do", "待完成")
    assert str(message) == english(message) == "to do"
    texts.use("zh")
    try:
        assert (str(message), english(message)) == ("待完成", "to do")
    finally:
        texts.use("en")


def test_messages_are_values() -> None:
    """The same text with the same arguments is the same message; words stay as they are."""
    assert say("a.b", x=1) == Message("a.b", {"x": 1}) != say("a.b", x=2)
    assert text("4711") == "4711"


@pytest.mark.parametrize(
    ("option", "environment", "lang"),
    [
        ("zh", {}, "zh"),
        ("en", {"LANG": "zh_CN.UTF-8"}, "en"),
        ("fr", {"LANG": "zh_CN.UTF-8"}, None),
        (None, {}, "en"),
        (None, {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, {"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        (None, {"LANG": "de_DE.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        (None, {"LANG": "", "LC_ALL": ""}, "en"),
    ],
)
def test_the_language_is_the_options_or_the_environments(
    option: str | None, environment: dict[str, str], lang: str | None
) -> None:
    """What is asked for goes first; then the environment, as the C library reads it; then English."""
    assert choose(option, environment) == lang
