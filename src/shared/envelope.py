"""The envelope of a session's line: what every frame of it has, in either direction, and how a line is closed.

The whole contract, kind by kind, is in `shared/contract`; `docs/line.schema.json` is generated from it. Whoever
reads a frame ignores members and kinds that it does not know.
"""

from enum import IntEnum
from typing import Final

import msgspec

VERSION: Final = 1

LONGEST_MESSAGE: Final = 200
"""Characters of a `message`: it is one line."""

LONGEST_REASON: Final = 123
"""Bytes of the reason in a close frame (RFC 6455, section 5.5)."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """A frame from the server, of whatever kind.

    `type` says what a program does with it: `ready`, `event`, `answered`, `error`, `ping`, `pong`. `cursor` is where
    the line stands behind it, None when it is not of the session's history; `run_id` and `seq` are None when it is not
    of a run's. `message` is for a person. `at` is when it was sent, ISO 8601 with offset. The order of the members is
    part of the gateway's encoding: `at` comes last.
    """

    v: int = VERSION
    type: str
    cursor: str | None = None
    run_id: str | None = None
    seq: int | None = None
    kind: str
    message: str
    data: msgspec.Raw
    at: str = ""


class CloseCode(IntEnum):
    """Why a line was closed (RFC 6455, section 7.4; ours begin at 4000)."""

    GOING_AWAY = 1001  # this connection, or its gateway, has reached its end
    BINARY = 1003
    NO_TEXT = 1007  # a text that is not UTF-8
    TOO_BIG = 1009
    FAULT = 1011  # a feed that cannot go on, or a fault of ours; the reason says which
    BAD_REQUEST = 4400  # the reason names the field
    UNKNOWN_CURSOR = 4404  # not of this session's history
    UNKNOWN_VERSION = 4406
    TOO_SLOW = 4408  # no pong in time
    TOO_MANY = 4429  # the session has as many sockets as it may; later

    @property
    def final(self) -> bool:
        """Whether coming back with the same cursor and the same frames would end the same way."""
        return self in _FINAL


_FINAL: Final = frozenset(
    {
        *(CloseCode.BINARY, CloseCode.NO_TEXT, CloseCode.TOO_BIG, CloseCode.BAD_REQUEST),
        *(CloseCode.UNKNOWN_CURSOR, CloseCode.UNKNOWN_VERSION),
    }
)


def fitting(reason: str) -> str:
    """Return as much of a reason as a close frame holds."""
    return reason.encode()[:LONGEST_REASON].decode(errors="ignore")
