"""Landlock: a process gives up, for itself and all that it starts, whatever it does not name. Linux, no root needed.

Asked of the kernel directly: https://docs.kernel.org/userspace-api/landlock.html. What a kernel cannot refuse yet
(version 1 knows files, 4 the network, 6 signals) stays allowed there.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on all machines
_VERSION = 1  # flag: say which version you are
_PATH_BENEATH, _NET_PORT = 1, 2
_NO_NEW_PRIVILEGES = 38

_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}  # how many there are, from this version on
_BIND, _CONNECT = 1 << 0, 1 << 1
_SOCKETS_AND_SIGNALS = 0b11


def version() -> int:
    """Return the version that the kernel has; 0: none."""
    return max(_call(_CREATE_RULESET, None, 0, _VERSION), 0) if sys.platform == "linux" else 0


def keep_to(readable: Iterable[str], devices: Iterable[str]) -> None:
    """Read what lies in `readable`, read and write `devices`, listen on any free port: nothing else from now on.

    No other file is opened, none is written, made or executed, no TCP connection is opened, and no signal is sent to a
    process that was not started by this one. It cannot be undone. Paths that do not exist are left out.

    Raises:
        OSError: the kernel refuses.
    """
    has = version()
    rights = (1 << max(count for since, count in _FILE_RIGHTS.items() if since <= has)) - 1
    attributes = [rights, _BIND | _CONNECT, _SOCKETS_AND_SIGNALS][: 1 + (has >= 4) + (has >= 6)]
    packed = struct.pack(f"{len(attributes)}Q", *attributes)
    ruleset = _done(_call(_CREATE_RULESET, packed, len(packed), 0))
    for path in readable:
        _allow(ruleset, path, _READ_FILE | _READ_DIR)
    for path in devices:
        _allow(ruleset, path, _READ_FILE | 1 << 1)
    if has >= 4:
        _done(_call(_ADD_RULE, ruleset, _NET_PORT, struct.pack("QQ", _BIND, 0), 0))
    _done(ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _done(_call(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):  # noqa: PTH112  # no pathlib for what starts so often
        access &= ~_READ_DIR
    _done(_call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", access, beneath), 0))
    os.close(beneath)


def _call(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer: int = libc.syscall(ctypes.c_long(number), *given)
    return answer


def _done(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"landlock: {os.strerror(ctypes.get_errno())}")
    return answer
