"""The compose file and the image against the code that they start: nobody runs these here, so they are read."""

import re
from dataclasses import fields
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

import pytest
import yaml  # type: ignore[import-untyped]

from gateway.__main__ import PORT
from shared.metrics import Metrics
from shared.settings import Settings, parse_duration, variable_of
from shared.start import TREE
from tests.support.houses import house
from worker.health import health_app

Yaml: TypeAlias = "dict[str, Yaml] | list[Yaml] | str | int | bool | None"

_ROOT: Final = Path(__file__).parents[2]
_DOCKERFILE: Final = (_ROOT / "Dockerfile").read_text("utf-8")
_COMPOSE: Yaml = yaml.safe_load((_ROOT / "docker-compose.yml").read_text("utf-8"))

OURS: Final = ("gateway", "worker")
READ: Final = {"REDIS_URL", "DATABASE_URL", "HOST", "PORT", "KODA_TREE"} | {
    variable_of(each) for each in fields(Settings)
}


def _at(*path: str) -> Yaml:
    """Return what stands at a path of names."""
    node = _COMPOSE
    for name in path:
        assert isinstance(node, dict), path
        node = node[name]
    return node


def _names(*path: str) -> set[str]:
    node = _at(*path)
    assert isinstance(node, dict), path
    return set(node)


def _words(*path: str) -> list[str]:
    node = _at(*path)
    assert isinstance(node, list), path
    return [str(word) for word in node]


def _variables(service: str) -> dict[str, str]:
    return {
        name: str(_at("services", service, "environment", name)) for name in _names("services", service, "environment")
    }


def test_the_system_is_four_services() -> None:
    """Redis, PostgreSQL, a gateway, and workers of which there may be more."""
    assert _names("services") == {"redis", "postgres", *OURS}
    assert not {"container_name", "ports"} & _names("services", "worker")


@pytest.mark.parametrize("service", OURS)
def test_a_service_runs_a_package_that_can_be_run(service: str) -> None:
    """`python -m` finds its entry point."""
    assert _words("services", service, "command") == ["python", "-m", service]
    assert find_spec(f"{service}.__main__") is not None


@pytest.mark.parametrize("service", OURS)
def test_a_service_is_given_variables_that_it_reads(service: str) -> None:
    """A misspelt one would be ignored without a word."""
    assert {"REDIS_URL", "DATABASE_URL"} <= _variables(service).keys() <= READ


@pytest.mark.parametrize("service", OURS)
def test_addresses_lead_to_services_of_the_file(service: str) -> None:
    """Their hosts are service names, and who is connected to is waited for."""
    urls = [urlsplit(_variables(service)[name]) for name in ("REDIS_URL", "DATABASE_URL")]
    assert [(url.scheme, url.hostname, url.port) for url in urls] == [
        ("redis", "redis", 6379),
        ("postgresql", "postgres", 5432),
    ]
    waited_for = {name: _at("services", service, "depends_on", name, "condition") for name in ("redis", "postgres")}
    assert set(waited_for.values()) == {"service_healthy"}
    assert _names("services", service, "depends_on") == {"redis", "postgres"}


def test_the_database_is_the_one_that_is_made() -> None:
    """User, password and database of the address are those that the server is told to make."""
    made = _variables("postgres")
    url = f"postgresql://{made['POSTGRES_USER']}:{made['POSTGRES_PASSWORD']}@postgres:5432/{made['POSTGRES_DB']}"
    assert {_variables(service)["DATABASE_URL"] for service in OURS} == {url}
    assert made["POSTGRES_USER"] in _words("services", "postgres", "healthcheck", "test")


def test_the_gateway_can_be_reached_from_outside() -> None:
    """It listens on every address of its container, at the port that is published and that is the code's own."""
    variables = _variables("gateway")
    assert (variables["HOST"], variables["PORT"]) == ("0.0.0.0", str(PORT))
    assert _words("services", "gateway", "ports") == [f"{PORT}:{PORT}"]


@pytest.mark.parametrize("service", OURS)
def test_health_is_asked_where_it_is_answered(service: str) -> None:
    """The port is the one that the process is given, and the path is one of its routes."""
    (_, *command) = _words("services", service, "healthcheck", "test")
    (url,) = re.findall(r"http://[^']+", command[-1])
    asked = urlsplit(url)
    app = house().app if service == "gateway" else health_app(Metrics())
    assert (asked.hostname, str(asked.port)) == ("127.0.0.1", _variables(service)["PORT"])
    assert asked.path in {getattr(route, "path", None) for route in app.routes}
    compile(command[-1], "health check", "exec")


@pytest.mark.parametrize("service", OURS)
def test_nobody_is_killed_while_draining(service: str) -> None:
    """A process has longer to end than it takes at most."""
    grace = parse_duration("stop_grace_period", str(_at("services", service, "stop_grace_period")))
    assert grace >= Settings().drain + timedelta(seconds=3)


def test_versions_are_pinned_and_nothing_of_the_machine_is_used() -> None:
    """Images have tags, volumes have names."""
    images = [str(_at("services", service, "image")) for service in ("redis", "postgres")]
    images += re.findall(r"^FROM (\S+)", _DOCKERFILE, re.MULTILINE)
    assert [image for image in images if not re.search(r":\d+(\.\d+)?-(alpine|slim)$", image)] == []
    volumes = {
        volume.partition(":")[0]
        for service in ("redis", "postgres")
        for volume in _words("services", service, "volumes")
    }
    assert volumes == _names("volumes")


def test_the_image_holds_what_its_processes_need() -> None:
    """All that is copied gets past the ignore file, the tree that runs by default included; nobody is root."""
    copied = re.findall(r"^COPY (.*) \S+$", _DOCKERFILE, re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    admitted = {
        line.removeprefix("!") for line in (_ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"
    }
    assert set(names) == admitted
    assert [name for name in names if not (_ROOT / name).exists()] == []
    assert TREE in names
    assert _DOCKERFILE.index("USER koda") < _DOCKERFILE.index("CMD")
