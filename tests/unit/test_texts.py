"""The catalogue: both languages have the same texts with the same places, and every text that is named is there."""

import ast
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import TypeGuard

import pytest

import selfcheck
from selfcheck import texts
from selfcheck.texts import LANGUAGES, Message, area_texts, choose, english, named, say, text
from tests.support.sources import sources

PACKAGE = Path(texts.__file__).parent
SOURCES = Path(selfcheck.__file__).parent


HAN = re.compile("[\u4e00-\u9fff]")

FOREIGN = {"faults", "usage"}
"""What these have is said elsewhere, and recognised."""

TYPED = {"src/worker/models/scripted.py", "selfcheck/interview/interviewer.py", "selfcheck/keyboard.py"}
"""Files that know what people type."""


class Text(ast.Constant):
    """A string in a syntax tree."""

    value: str


def texts_of_code(*folders: str) -> Iterator[str]:
    """Yield all strings that stand in code, the catalogue aside."""
    for file in sources(*folders):
        if not file.path.startswith("selfcheck/texts/"):
            yield from (node.value for node in ast.walk(file.tree) if is_text(node))


def is_text(node: ast.AST) -> TypeGuard[Text]:
    """Whether a node is a string."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def words_of_code() -> tuple[set[str], "re.Pattern[str]"]:
    """Return all words that stand alone in code, and a pattern of all keys that it names, in full or made up."""
    spoken = {word.strip(".-") for word in texts_of_code("selfcheck")}
    keys = {re.escape(word) for word in spoken if re.fullmatch(r"[a-z_]+\.[\w.-]+", word)}
    for file in sources("selfcheck"):
        for node in ast.walk(file.tree):
            if isinstance(node, ast.JoinedStr):
                pieces = [re.escape(part.value) if is_text(part) else r"[\w-]+" for part in node.values]
                if re.match(r"[a-z_]+\\\.", pieces[0]):
                    keys.add("".join(pieces))
    return spoken, re.compile("|".join(keys))


def parts(name: str) -> Iterator[str]:
    """Yield what a name is made up of: `question.point-1` of a question and its points."""
    yield from (re.sub(r"-\d+$", "", part) for part in name.split("."))


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


def test_every_text_is_of_use() -> None:
    """It is named in the code, or made up of words that are, or it is what an error says, or Typer."""
    spoken, patterns = words_of_code()
    unused = [
        f"{area}.{name}"
        for area in sorted(areas("en") - FOREIGN)
        for name in area_texts("en", area)
        if not (patterns.fullmatch(f"{area}.{name}") or all(part in spoken for part in parts(name)))
    ]
    assert unused == []


def test_every_template_of_an_error_is_an_errors() -> None:
    """Whatever it says besides its places stands in the code that raises it."""
    code = " ".join(texts_of_code("src", "selfcheck"))
    said = {name: re.split(r"\{\w+\}", template) for name, template in area_texts("en", "faults").items()}
    assert {name: piece for name, pieces in said.items() for piece in pieces if piece.strip(" :s") not in code} == {}


def test_chinese_is_written_in_the_catalogue_alone() -> None:
    """Except for what people may type."""
    found = {file.path for file in sources("src", "selfcheck", "starter", "solution") if HAN.search(file.text)}
    assert {path for path in found if not path.startswith("selfcheck/texts/zh/")} == TYPED


def test_chinese_is_chinese() -> None:
    """A text without a Chinese character is a value, the same in both languages."""
    same: dict[str, str] = {}
    for area in areas("zh"):
        for name, template in area_texts("zh", area).items():
            if not HAN.search(template) and template != area_texts("en", area)[name]:
                same[f"{area}.{name}"] = template
    assert {key for key, template in same.items() if re.search("[A-Za-z]{2,} [A-Za-z]{2,}", template)} == set()


def test_marks_are_as_wide_as_what_they_stand_in() -> None:
    """No comma or colon of English between two Chinese characters, no full-width digits or letters."""
    odd = re.compile(rf"{HAN.pattern} ?[,;:!?] ?{HAN.pattern}|[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
    texts_ = {f"{area}.{name}": template for area in areas("zh") for name, template in area_texts("zh", area).items()}
    assert {key: template for key, template in texts_.items() if odd.search(template)} == {}


def test_there_is_one_chinese_word_for_each_idea() -> None:
    """As the glossary says: what has a Chinese word is not called by another, nor by its English one."""
    english_ = re.compile(r"(?<![\w./{`-])(?<!selfcheck )(runs?|worker|waiter|gateway|store|bus|cursor)(?![\w:`}./-])")
    others = re.compile("重新运行|消费者组|序列号|光标|订阅者|迁移|落库|从库里|标准答案|起始文件夹|回归")
    texts_ = {f"{area}.{name}": template for area in areas("zh") for name, template in area_texts("zh", area).items()}
    assert {key: template for key, template in texts_.items() if english_.search(template)} == {}
    assert {key: template for key, template in texts_.items() if others.search(template)} == {}


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


@pytest.mark.parametrize("number", [0, 1, 2, 11, "1", "2"])
def test_a_word_goes_with_its_number(number: "int | str") -> None:
    """One submission passes, two pass; Chinese needs no such thing."""
    words = say("grading.sum", total=number, full=number)
    one = str(number) == "1"
    assert english(words) == (
        "1 submission; 1 passes all six checks" if one else f"{number} submissions; {number} pass all six checks"
    )
    assert text(words, "zh") == f"共 {number} 份作业，{number} 份通过全部 6 项检查"


def test_no_word_leaves_its_number_open() -> None:
    """`message(s)` is for forms; whatever counts has the word for one and the word for more."""
    texts_ = {f"{area}.{name}": template for area in areas("en") for name, template in area_texts("en", area).items()}
    assert {key for key, template in texts_.items() if "(s)" in template} == {"usage.extra"}  # which is Typer's


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


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("", None),
        ("run --lang zh", "zh"),
        ("--lang=zh run --only 3", "zh"),
        ("run --lang en --lang zh", "zh"),
        ("run --lang", None),
    ],
)
def test_the_option_is_read_before_anything_else_is(line: str, option: str | None) -> None:
    """The help of every option has a language."""
    assert named(line.split()) == option
