"""Where a model is and who is asking, read from the environment. The key goes into one header and nowhere else."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import httpx

from shared.errors import Misconfigured

OPENAI: Final = "https://api.openai.com/v1"

# Visible ASCII but quotes. Anything else is a slip, and what a header cannot hold comes back in a library's error text.
_KEY: Final = re.compile(r"[!#-&(-~]+")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model of a server. `url` is the whole address of its completions; `key` may be empty."""

    url: str
    model: str
    key: str = field(default="", repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Endpoint":
        """Read `OPENAI_BASE_URL` (default: OpenAI's own), `OPENAI_MODEL`, and `OPENAI_API_KEY` if the server wants one.

        Raises:
            Misconfigured: one is missing, or cannot be what it should be. The message holds neither key nor address.
        """
        base, key = environment.get("OPENAI_BASE_URL") or OPENAI, environment.get("OPENAI_API_KEY") or ""
        model = environment.get("OPENAI_MODEL")
        _check_base(base)
        if not model:
            raise _wrong("OPENAI_MODEL is not set", "set it to the name of a model that the server has")
        if not key and base == OPENAI:
            raise _wrong("OPENAI_API_KEY is not set", "set it, or OPENAI_BASE_URL to a server that wants no key")
        if key and _KEY.fullmatch(key) is None:
            raise _wrong("OPENAI_API_KEY has a character that no key has", "look for spaces, quotes and line ends")
        return cls(f"{base.rstrip('/')}/chat/completions", model, key)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request. No compression: a compressed stream comes in bursts."""
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        return headers | {"Authorization": f"Bearer {self.key}"} if self.key else headers

    def redacted(self, text: str) -> str:
        """Return a text without the key."""
        return text.replace(self.key, "[key]") if self.key else text


def _check_base(base: str) -> None:
    try:
        url = httpx.URL(base)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        problem = "OPENAI_BASE_URL is not the address of a server, without name, password or query"
        raise _wrong(problem, "change it to something like http://127.0.0.1:8000/v1")


def _wrong(problem: str, remedy: str) -> Misconfigured:
    return Misconfigured("settings", problem, remedy)
