"""The texts: every message, hint and symptom is there in both languages, with the same places to fill."""

import runpy
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import TypeAlias, cast

from selfcheck import hints, symptoms
from selfcheck.texts import LANGUAGES, Lang, Message, Words, say
from selfcheck.verifying.kit import Kit
from selfcheck.verifying.proof import Fault, Proof

Area: TypeAlias = Mapping[str, str]
Texts: TypeAlias = Mapping[Lang, Mapping[str, Area]]

_NO_AREA = "__init__"


def words(kit: Kit) -> Iterator[Proof]:
    """Look at all texts."""
    texts = read(kit.texts)
    count = sum(len(area) for area in texts["en"].values())
    yield Proof(say("verifying.texts", areas=len(texts["en"])), count, [*compare(texts)])
    for what, named in (
        (say("verifying.hints"), hints.all_hints()),
        (say("verifying.symptoms"), [symptoms.question(name) for name in symptoms.names()]),
    ):
        yield Proof(what, len(named), [*lacking(texts, named)])


def read(folder: Path) -> Texts:
    """Return all texts below a folder, by language and area."""
    return {lang: {path.stem: _area(path) for path in _areas(folder / lang)} for lang in LANGUAGES}


def _areas(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.py") if path.stem != _NO_AREA)


def _area(path: Path) -> Area:
    return cast("Area", runpy.run_path(str(path))["TEXTS"])  # ours, and held to by the type checker


def compare(texts: Texts) -> Iterator[Fault]:
    """Yield what one language has and the other has not, what is empty, and places that are not the same."""
    ours, theirs = texts["en"], texts["zh"]
    for area in sorted({*ours, *theirs}):
        for name in dict.fromkeys((*ours.get(area, {}), *theirs.get(area, {}))):
            yield from _one(area, name, ours.get(area, {}), theirs.get(area, {}))


def _one(area: str, name: str, ours: Area, theirs: Area) -> Iterator[Fault]:
    absent = [lang for lang, has in (("en", ours), ("zh", theirs)) if not has.get(name)]
    if absent:
        yield from (_absent(f"{area}.{name}", lang) for lang in absent)
        return
    expected, actual = _places(ours[name]), _places(theirs[name])
    if expected != actual:
        what, remedy = say("verifying.places", name=f"{area}.{name}"), say("verifying.same_places")
        yield Fault(what, _file("zh", area), _shown(expected), _shown(actual), remedy)


def lacking(texts: Texts, named: Iterable[Message]) -> Iterator[Fault]:
    """Yield what is named and lacks its text in a language."""
    for message in named:
        area, _, name = message.key.partition(".")
        for lang in LANGUAGES:
            if not texts[lang].get(area, {}).get(name):
                yield _absent(message.key, lang)


def _absent(key: str, lang: str) -> Fault:
    expected, remedy = say("verifying.a_text"), say("verifying.write_text", name=key, lang=lang)
    what = say("verifying.text", name=key, lang=lang)
    return Fault(what, _file(lang, key.partition(".")[0]), expected, say("verifying.nothing"), remedy)


def _file(lang: str, area: str) -> str:
    return f"selfcheck/texts/{lang}/{area}.py"


def _places(template: str) -> set[str]:
    return {name.split(".")[0].split("[")[0] for _, name, _, _ in Formatter().parse(template) if name is not None}


def _shown(places: set[str]) -> Words:
    return " ".join(f"{{{place}}}" for place in sorted(places)) or say("verifying.nothing")
