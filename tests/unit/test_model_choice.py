"""Which model answers, and what one behind a server needs to be told."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared.errors import Misconfigured
from shared.settings import Settings
from worker.models.choice import open_model
from worker.models.endpoint import Endpoint
from worker.models.openai import OpenAIModel
from worker.models.port import Model
from worker.models.scripted import ScriptedModel

KEY = "sk-Secret_0123/+=:|"
LOCAL = "http://127.0.0.1:1/v1"


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nobody's proxies and certificates looked for: a client reads them when it is made."""
    for name in [*os.environ]:
        if name.lower().endswith("_proxy") or name.startswith("SSL_CERT_"):
            monkeypatch.delenv(name)


def chosen(**environment: str) -> type[Model]:
    """Return what kind of model an environment chooses."""

    async def choose() -> type[Model]:
        async with open_model(environment, Settings.from_environment(environment)) as model:
            return type(model)

    return asyncio.run(choose())


def refusal(**environment: str) -> str:
    """Return what is said to an environment that chooses nothing that works."""
    with pytest.raises(Misconfigured) as refused:
        chosen(**environment)
    return str(refused.value)


def test_the_scripted_model_answers_unless_another_is_chosen() -> None:
    """No variable of OpenAI's alone changes who answers."""
    assert chosen() is chosen(KODA_MODEL="scripted", OPENAI_API_KEY=KEY, OPENAI_MODEL="m") is ScriptedModel


def test_a_model_behind_a_server_is_chosen_by_name() -> None:
    """With a key at OpenAI, without one at a server that wants none."""
    assert chosen(KODA_MODEL="openai", OPENAI_API_KEY=KEY, OPENAI_MODEL="m") is OpenAIModel
    assert chosen(KODA_MODEL="openai", OPENAI_BASE_URL=LOCAL, OPENAI_MODEL="m") is OpenAIModel


@pytest.mark.parametrize(
    "name, value", [("ALL_PROXY", "ftp://user:secret@127.0.0.1"), ("SSL_CERT_FILE", "/nowhere/secret.pem")]
)
def test_an_environment_of_no_use_to_a_client_is_refused(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first run, and without an address, which may hold a password."""
    monkeypatch.setenv(name, value)
    said = refusal(KODA_MODEL="openai", OPENAI_BASE_URL=LOCAL, OPENAI_MODEL="m")
    assert said.startswith("settings: the environment's proxies or certificates cannot be used: ")
    assert "secret" not in said


def test_an_unknown_model_is_refused() -> None:
    """The two that there are are named."""
    assert refusal(KODA_MODEL="gpt") == (
        "settings: KODA_MODEL='gpt' is neither scripted nor openai; change KODA_MODEL or unset it"
    )


@pytest.mark.parametrize("empty", [{}, {"OPENAI_MODEL": ""}])
def test_what_to_ask_for_has_no_default(empty: dict[str, str]) -> None:
    """Names of models come and go, and a price hangs on each."""
    assert refusal(KODA_MODEL="openai", OPENAI_API_KEY=KEY, **empty) == (
        "settings: OPENAI_MODEL is not set; set it to the name of a model that the server has"
    )


@pytest.mark.parametrize("empty", [{}, {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}])
def test_openai_wants_a_key(empty: dict[str, str]) -> None:
    """That is known before the first message, and told at the start."""
    assert refusal(KODA_MODEL="openai", OPENAI_MODEL="m", **empty) == (
        "settings: OPENAI_API_KEY is not set; set it, or OPENAI_BASE_URL to a server that wants no key"
    )


@pytest.mark.parametrize("key", [f"{KEY}\n", f" {KEY}", f'"{KEY}"', f"'{KEY}'", f"{KEY}é", f"{KEY}\x00", "a b"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(key: str) -> None:
    """A line end from a file, or quotes from a script: a library would quote all of it in its own error."""
    assert refusal(KODA_MODEL="openai", OPENAI_MODEL="m", OPENAI_API_KEY=key) == (
        "settings: OPENAI_API_KEY has a character that no key has; look for spaces, quotes and line ends"
    )


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8000/v1",
        "ftp://127.0.0.1/v1",
        "http://",
        "http:///v1",
        "http://user:secret@127.0.0.1/v1",
        "http://secret@127.0.0.1/v1",
        "http://127.0.0.1/v1?key=secret",
        "http://127.0.0.1/v1#here",
        "http://127.0.0.1:port/v1",
        "http://127.0.0.1/\n",
        "/v1",
        "v1",
    ],
)
def test_an_address_that_cannot_be_one_is_refused_and_not_shown(address: str) -> None:
    """It may hold a password, which would go into the log with every request."""
    assert refusal(KODA_MODEL="openai", OPENAI_MODEL="m", OPENAI_BASE_URL=address) == (
        "settings: OPENAI_BASE_URL is not the address of a server, without name, password or query;"
        " change it to something like http://127.0.0.1:8000/v1"
    )


@pytest.mark.parametrize("base", [LOCAL, f"{LOCAL}/", f"{LOCAL}//"])
def test_completions_are_below_the_base(base: str) -> None:
    """With or without a slash at its end."""
    environment = {"OPENAI_BASE_URL": base, "OPENAI_MODEL": "m"}
    assert Endpoint.from_environment(environment) == Endpoint(f"{LOCAL}/chat/completions", "m")


def test_an_endpoint_does_not_show_its_key() -> None:
    """However it is printed; and it takes the key out of whatever is to be printed."""
    endpoint = Endpoint("http://127.0.0.1:1", "m", KEY)
    assert f"{endpoint}" == repr(endpoint) == "Endpoint(url='http://127.0.0.1:1', model='m')"
    assert endpoint.redacted(f"no {KEY}, no {KEY}!") == "no [key], no [key]!"
    assert Endpoint("http://127.0.0.1:1", "m").redacted("all of it") == "all of it"


def test_only_who_has_a_key_says_so() -> None:
    """A server that wants none gets no header for it."""
    assert Endpoint("u", "m", KEY).headers["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in Endpoint("u", "m").headers


SCRIPT = """
import asyncio, sys
from shared.settings import Settings
from worker.models.choice import open_model

async def look() -> None:
    async with open_model({}, Settings()):
        print(sorted({"httpx", "httpcore", "anyio"} & sys.modules.keys()))

asyncio.run(look())
"""


def test_the_scripted_model_needs_no_http_client() -> None:
    """Who does not choose a model behind a server does not wait for what it is made of."""
    src = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={"PYTHONPATH": src}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
