"""Processes that a submission started and moved out of reach: they left the service's process group, and live on.

What they still have in common with it is that they came of it, as long as it runs; a mark in their environment; and
the pipe that they print to.
"""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

MOST_ROUNDS = 50
BECOMING_S = 1.0  # a process becomes another program within this, or ends; it takes a thousandth of that

_PROC = Path("/proc")
_NO_PROGRAM = 0x00200000  # PF_KTHREAD: a thread of the kernel, which never has an environment


def end_below(leader: int) -> None:
    """End every process that came of this one, however far it went, but not itself.

    Those whose parent ends have to come to it, which is its own affair. Where there is no /proc none is found.
    """
    for _ in range(MOST_ROUNDS):  # each may have started another meanwhile
        found = _below(leader)
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def end_marked(name: str, mark: str) -> None:
    """End every process that has this in its environment. Where there is no /proc it cannot be found."""
    sought, until = f"{name}={mark}".encode(), time.monotonic() + BECOMING_S
    while _end_found(sought) and time.monotonic() < until:
        time.sleep(BECOMING_S / 1000)


def _end_found(sought: bytes) -> bool:
    """End what has this in its environment now; return whether it has to be looked again."""
    again = False
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            environment = (folder / "environ").read_bytes()
            if sought in environment.split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
                again = True  # it may have started another meanwhile
            elif not environment:
                again = again or _is_becoming(folder)
    return again


def _is_becoming(folder: Path) -> bool:
    """Tell whether a process whose environment was empty may yet have one of ours.

    In the middle of an exec it lies nowhere. Who was given an empty one has a place for it, where nothing is.
    """
    fields = _standing(folder)
    state, flags, begins, ends = fields[0], int(fields[6]), fields[47], fields[48]
    return state not in (b"Z", b"X") and not flags & _NO_PROGRAM and (ends == b"0" or begins != ends)


def _standing(folder: Path) -> list[bytes]:
    """Return what /proc says of a process from the third field (its state) on."""
    return (folder / "stat").read_bytes().rpartition(b")")[2].split()


def _below(leader: int) -> list[int]:
    children: dict[int, list[int]] = {}
    ended: set[int] = set()
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = _standing(folder)
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            if fields[0] == b"Z":
                ended.add(int(folder.name))
    found = [leader]
    for pid in found:
        found += children.get(pid, [])
    return [pid for pid in found[1:] if pid not in ended]


def end_writers(pipes: Sequence[IO[bytes]]) -> None:
    """End every other process that holds one of these pipes open. Where there is no /proc it cannot be found."""
    sought = {_identity(pipe.fileno()) for pipe in pipes}
    for folder in _PROC.glob("[0-9]*"):
        if int(folder.name) != os.getpid() and sought & _open_in(folder):
            with contextlib.suppress(OSError):
                os.kill(int(folder.name), signal.SIGKILL)


def _open_in(folder: Path) -> set[tuple[int, int]]:
    found = set()
    with contextlib.suppress(OSError):  # it has ended, or is somebody else's
        for descriptor in (folder / "fd").iterdir():
            with contextlib.suppress(OSError):
                found.add(_identity(descriptor))
    return found


def _identity(file: int | Path) -> tuple[int, int]:
    status = os.stat(file)  # noqa: PTH116  # of an open file, by its number
    return status.st_dev, status.st_ino
