"""The processes that came of this one, however far they went: counted, measured, ended.

Linux hands the children of a process that ended to the nearest ancestor that asked for them, so none gets away by
leaving its group. Where there is no /proc they cannot be listed; there a service's end is that of its process group.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

_END_WITH_PARENT, _ADOPT = 1, 36
_ENDING_S = 10.0


def adopt() -> None:
    """Become the one to whom the children of ended descendants are handed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)


def end_with_parent() -> None:
    """Be ended by the kernel when the parent is. For a parent with one thread: the end of a thread counts."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)


def descendants() -> dict[int, int]:
    """Return the processes below this one that have not ended, each with the memory that it holds, in bytes."""
    children: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            pid = int(folder.name)
            children.setdefault(int(fields[1]), []).append(pid)
            pages[pid] = -1 if fields[0] == b"Z" else int(fields[21])
    found: dict[int, int] = {}
    below = [*children.get(os.getpid(), [])]
    while below:
        pid = below.pop()
        below += children.get(pid, [])
        if pages[pid] >= 0:
            found[pid] = pages[pid] * os.sysconf("SC_PAGE_SIZE")
    return found


def end_all(leader: int | None = None) -> None:
    """End every process below this one, and the group of `leader`, and take the ends of those that are ours."""
    if leader is not None:
        with contextlib.suppress(OSError):
            os.killpg(leader, signal.SIGKILL)
    until = time.monotonic() + _ENDING_S
    while time.monotonic() < until:
        for pid in descendants():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:  # all have ended
            return
        time.sleep(0.002)


def allowance(processes: int) -> int:
    """Return how many processes a user may have so that a submission may start so many: the others' count, too."""
    if os.geteuid() == 0:
        return processes
    running = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == os.geteuid():
                running += sum(1 for _ in (folder / "task").iterdir())
    return running + processes
