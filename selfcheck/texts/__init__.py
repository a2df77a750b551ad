"""Texts: everything a person reads, in English and Chinese, from one catalogue.

A text is named where it is needed and written where its language is: `say("report.passed", count=2)` is a `Message`,
and `selfcheck/texts/en/report.py` has the words, with `{count}` in them. So what was found can be carried around and
shown in whatever language is wanted, while results for programs are always in English: two runs of one tree write the
same bytes, whoever reads them.

A number may choose a word: `{count:message|messages}` is the first for one, the second for any other number. So may
a list: `{numbers:exercise&exercises}` is the first for one thing, the second for several.

A language is a package with one module for each area, each with a mapping `TEXTS`. They are loaded when they are first
needed: nobody who runs the checks waits for what an interview asks.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Lang: TypeAlias = Literal["en", "zh"]

LANGUAGES: Final[tuple[Lang, ...]] = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Message:
    """A text of the catalogue with what goes into its places, in no language yet. `str()` of it is in the one in use.

    `key` is `area.name`. An argument may be a message itself.
    """

    key: str
    arguments: "Mapping[str, Argument]" = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the text in the language in use."""
        return text(self)


class _Filling(str):
    """What stands in a place of a text."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        """Return it as it is, or the one of two words that goes with it: as a number, or as a list of things."""
        for mark, is_one in (("|", self == "1"), ("&", " " not in self)):
            one, either, more = spec.partition(mark)
            if either:
                return one if is_one else more
        return str(self)


Argument: TypeAlias = "str | int | float | Message"
Words: TypeAlias = "str | Message"
"""What can be shown: a message, or words that are the same in every language (a value, a path, what a tree printed)."""

_in_use: Lang = "en"
_loaded: dict[tuple[Lang, str], Mapping[str, str]] = {}


def say(key: str, **arguments: Argument) -> Message:
    """Name a text and fill its places."""
    return Message(key, arguments)


def use(lang: Lang) -> None:
    """Make this the language in which messages are shown from now on."""
    global _in_use
    _in_use = lang


def in_use() -> Lang:
    """Return the language in which messages are shown."""
    return _in_use


def text(words: Words, lang: Lang | None = None) -> str:
    """Return a message's text, or words as they are.

    Raises:
        LookupError: the catalogue lacks the text, or the message lacks an argument. A test holds that this cannot be.
    """
    if isinstance(words, str):
        return words
    chosen = lang or _in_use
    area, _, name = words.key.partition(".")
    filled = {
        place: _Filling(text(value, chosen) if isinstance(value, Message) else value)
        for place, value in words.arguments.items()
    }
    return area_texts(chosen, area)[name].format_map(filled)


def english(words: Words) -> str:
    """Return the text for programs."""
    return text(words, "en")


def area_texts(lang: Lang, area: str) -> Mapping[str, str]:
    """Return all texts of an area, by name, with their places open."""
    if (lang, area) not in _loaded:
        module = importlib.import_module(f"selfcheck.texts.{lang}.{area}")
        texts: Mapping[str, str] = module.TEXTS
        _loaded[lang, area] = texts
    return _loaded[lang, area]


def named(arguments: Sequence[str]) -> str | None:
    """Return what a command line gives for `--lang`, before anything can read it: its help has a language, too."""
    given: str | None = None
    for at, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if option == "--lang":
            given = value if equals else next(iter(arguments[at + 1 :]), None)
    return given


def choose(option: str | None, environment: Mapping[str, str]) -> Lang | None:
    """Return the language that `--lang` names, else the one of the first of LC_ALL, LC_MESSAGES and LANG that is set.

    None: the option names none of ours. What the environment names and we have not is English.
    """
    if option is not None:
        return next((lang for lang in LANGUAGES if lang == option), None)
    named = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "")
    return "zh" if named.lower().startswith("zh") else "en"
