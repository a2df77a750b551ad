"""The pinned versions: complete for every machine, nothing but names and versions, and those that are installed."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).parents[2]
_LINES = (_ROOT / "constraints.txt").read_text("utf-8").splitlines()
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]

_SYSTEMS = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"},
    "macOS": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    "Windows": {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
}
_PYTHONS = ("3.11.0", "3.11.9", "3.12.0", "3.13.0")


def _pinned() -> dict[str, str]:
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in _LINES)}


def _needs(name: str) -> list[str]:
    if canonicalize_name(name) == _PROJECT["name"]:
        extras = _PROJECT["optional-dependencies"].items()
        ours = [_in_extra(extra, each) for extra, wanted in extras for each in wanted]
        return [*_PROJECT["dependencies"], *ours]
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:  # for other machines only
        return []


def _in_extra(extra: str, requirement: str) -> str:
    return f"{requirement} {'and' if ';' in requirement else ';'} extra == '{extra}'"


def _closure(wanted: Requirement, machine: Mapping[str, str], seen: set[tuple[str, str]]) -> Iterator[str]:
    """Yield what is installed on a machine with a requirement, itself included."""
    for extra in ("", *wanted.extras):
        if (wanted.name, extra) in seen:
            continue
        seen.add((wanted.name, extra))
        yield canonicalize_name(wanted.name)
        for need in map(Requirement, _needs(wanted.name)):
            if need.marker is None or need.marker.evaluate({**machine, "extra": extra}):
                yield from _closure(need, machine, seen)


def _installed_on(system: str, python: str) -> set[str]:
    machine = {**_SYSTEMS[system], "python_full_version": python, "python_version": python.rpartition(".")[0]}
    return set(_closure(Requirement(f"{_PROJECT['name']}[dev]"), machine, set())) - {_PROJECT["name"]}


def test_every_line_is_a_name_and_a_version() -> None:
    """No address, no option, no comment; sorted, each name once."""
    assert [line for line in _LINES if not re.fullmatch(r"[A-Za-z0-9][\w.-]*==\d[\w.!+-]*", line, re.ASCII)] == []
    assert sorted(_LINES, key=lambda line: line.partition("==")[0].lower()) == _LINES
    assert len(_pinned()) == len(_LINES)


def test_every_machine_finds_all_its_packages_pinned() -> None:
    """On each system and Python that we name, nothing is installed whose version is left open."""
    missing = {
        (system, python): _installed_on(system, python) - _pinned().keys()
        for system, python in product(_SYSTEMS, _PYTHONS)
    }
    assert {machine: names for machine, names in missing.items() if names} == {}


def test_the_way_from_the_project_to_its_last_package_is_followed() -> None:
    """A package that is needed by one that is needed on one kind of machine is among those that are looked for."""
    on_windows = _installed_on("Windows", "3.12.0")
    assert {"mdurl", "pydantic-core", "colorama", "tzdata"} <= on_windows
    assert on_windows - _installed_on("linux", "3.12.0") == {"colorama", "tzdata"}
    assert _installed_on("linux", "3.11.0") - _installed_on("linux", "3.12.0") == {"async-timeout"}


def test_what_builds_the_project_is_pinned_too() -> None:
    """An installation of the checkout builds it first; that is no place for surprises either."""
    assert {"hatchling", "editables"} <= _pinned().keys()


def test_what_is_installed_is_what_is_pinned() -> None:
    """The tests run against the versions of the file."""
    installed: dict[str, str] = {}
    for name in _pinned():
        try:
            installed[name] = distribution(name).version
        except PackageNotFoundError:  # for other machines, or for building
            continue
    assert len(installed) > 40
    assert installed == {name: _pinned()[name] for name in installed}
