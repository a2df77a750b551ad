"""What the judge asks for when it starts a service. Crosses the border between the two processes as JSON."""

import os

import msgspec

LAB_PATH = "/lab"
BOTH = ("gateway", "worker")
TOKEN_HEADER = "x-lab-token"  # noqa: S105  # the header's name


class ServiceSpec(msgspec.Struct, frozen=True):
    """One process of the service."""

    tree: str  # the folder whose exercises are judged
    stand_in: str  # the solution's folder, for what is replaced or does not load
    replaced: tuple[int, ...]  # exercises to take from the stand-in
    token: str  # what the lab answers to; empty: there is no lab
    roles: tuple[str, ...]  # "gateway", "worker"
    settings: dict[str, str]  # overrides, as environment variables
    port: int = 0  # 0: any free one
    redis_url: str = ""  # both empty: in memory
    database_url: str = ""
    experiment: str = ""  # composed by this one's module; empty: as it is judged
    broken: bool = False  # what the experiment breaks is broken


def new_token() -> str:
    """Return a token for a lab."""
    return os.urandom(16).hex()
