"""Commands and replies as the protocol has them, second version (RESP2)."""

from datetime import timedelta
from typing import TypeAlias

Argument: TypeAlias = "bytes | str | int"
Reply: TypeAlias = "bytes | int | list[Reply] | None"


def pack(*command: Argument) -> bytes:
    """Pack a command: an array of bulk strings."""
    return b"*%d\r\n" % len(command) + b"".join([pack_argument(argument) for argument in command])


def pack_argument(argument: Argument) -> bytes:
    """Pack one argument of a command."""
    value = argument if isinstance(argument, bytes) else str(argument).encode()
    return b"$%d\r\n%b\r\n" % (len(value), value)


def milliseconds(span: timedelta) -> int:
    """Return a span in whole milliseconds, rounded up: a wait that was asked for is never none."""
    return -(span // timedelta(milliseconds=-1))
