"""`selfcheck chat`: a conversation with a running gateway, or with a service in memory that lives as long as it."""

import ipaddress
import uuid

import httpx

from selfcheck.chat.conversation import Conversation
from selfcheck.processes.held import Service
from selfcheck.serving import serving
from shared import outbound
from shared.errors import Misconfigured, Unavailable

ANSWER_S = 10.0  # to wait for an answer that is no stream


def chat(url: str | None, session_id: str | None, tree: str) -> None:
    """Talk until there is nothing more to say; without a `session_id`, in a new session.

    Raises:
        KodaError: the gateway cannot be reached, or the service not be started; where nobody types, also whatever else
            a message comes to.
    """
    session_id = session_id or f"chat-{uuid.uuid4().hex[:8]}"
    if url is not None:
        with _client(url) as client:
            Conversation(client, session_id).talk()
        return
    with serving(tree) as service, _client(service.url("gateway")) as client:
        Conversation(client, session_id, lambda: _check(service)).talk()


def _client(url: str) -> httpx.Client:
    try:
        address = httpx.URL(url)
        if address.scheme in ("http", "https") and address.host:
            with outbound.usable():
                return httpx.Client(base_url=address, timeout=ANSWER_S, trust_env=not _is_here(address))
        problem = "it has no scheme or no host"
    except httpx.InvalidURL as error:
        problem = str(error)
    raise Misconfigured("settings", f"--url {url!r}: {problem}", "give one such as http://127.0.0.1:8000")


def _is_here(address: httpx.URL) -> bool:
    """Return whether a service is on this machine and plain HTTP: no proxy leads there, and no certificates matter."""
    try:
        here = ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        here = address.host == "localhost"
    return here and address.scheme == "http"


def _check(service: Service) -> None:
    """Say why no connection to our own service will come about any more, if it has ended."""
    if service.exit_code is not None:
        faults = service.log.all("exercise_raised", "illegal_transition")
        why = " ".join(f"{name}={value}" for name, value in faults[-1].items()) if faults else "for no known reason"
        raise Unavailable("service", f"it has ended: {why}")
