"""The cell: where the service with a submission's code in it runs, and what it cannot do there.

Started as the first thing in the process, before a line of the submission is executed; it gives everything up and then
becomes `selfcheck.service`.

**What keeps a submission from the solution**, from the strongest to the weakest:

1. *No verdict can profit.* Whether a check passes is settled before the solution's body of that exercise has been in
   any process of the submission (`verdict.py`). Later the solution stands in for other exercises, to find out whose
   fault it is; whoever digs it out of the memory then learns it too late.
2. *The kernel refuses* (Linux with Landlock, 5.13 or newer; as any user): the process reads Python's own library, the
   shared libraries, the house, and its two files. It writes nothing, executes nothing, opens no TCP connection (6.7),
   reaches no process outside (`/proc` is closed; signals since 6.12). Root besides becomes a user of its own, each
   place another one, and keeps of its powers the one to read what Landlock allows.
3. *Nothing points there* (everywhere): the interpreter is the one below the virtual environment, started without it;
   `selfcheck` and the rest are a copy (`house.py`) that holds what a service needs, so that neither `__file__`,
   `sys.path`, `sys.prefix`, the arguments, the environment nor the current directory leads to the kit.

**The limit.** Without Landlock (macOS, an old kernel, a container that forbids it) a submission runs as the user who
grades, and whatever that user can read it can read too, if it searches the disk or looks at other processes: then only
1 and 3 hold, and grading says so in its first line. As root it refuses to begin. In no case is this a sandbox against
flaws of the kernel; UDP, and the names and sizes of files, are not hidden.
"""

import os
import sys

import msgspec

from selfcheck.grading import landlock

DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo"),
)
"""What an interpreter reads besides its own library: shared libraries, and what time it is where."""

SPARE_ADDRESSES = 1 << 30  # libraries, stacks of threads and what is reserved take addresses, and hardly any memory
MOST_OPEN = 256
_KEEP_POWERS = 8
_READ_ANYWHERE = 1 << 2  # CAP_DAC_READ_SEARCH
_POWERS_VERSION = 0x20080522


class Cell(msgspec.Struct, frozen=True):
    """What one service may take. Crosses the border as JSON, before the spec."""

    readable: tuple[str, ...]  # besides Python and the system: the house, the tree, what stands in
    memory: int  # bytes
    cpu_s: int
    processes: int  # of this user, threads counted
    user: int  # 0: stay who you are


def main() -> None:
    """Enter the cell that the first argument describes, and be the service that the second one does."""
    enter(msgspec.json.decode(sys.argv.pop(1), type=Cell))
    from selfcheck.service import main as serve

    serve()


def enter(cell: Cell) -> None:
    """Give up whatever the cell does not allow, for good.

    Raises:
        OSError: the system does not let us; nothing foreign may be executed then.
    """
    import resource

    limits = {
        resource.RLIMIT_DATA: cell.memory,
        resource.RLIMIT_AS: cell.memory + SPARE_ADDRESSES,
        resource.RLIMIT_CPU: cell.cpu_s,
        resource.RLIMIT_NPROC: cell.processes,
        resource.RLIMIT_FSIZE: 0,  # nothing is written: no disk is filled, and nothing is kept for another time
        resource.RLIMIT_NOFILE: MOST_OPEN,
        resource.RLIMIT_CORE: 0,
    }
    for limit, most in limits.items():
        _, hard = resource.getrlimit(limit)
        least = most if hard < 0 else min(most, hard)
        resource.setrlimit(limit, (least, least))
    if landlock.version():
        python = tuple(path for path in sys.path if path)
        landlock.keep_to((*python, *SYSTEM, *cell.readable), DEVICES)
    if cell.user:
        _become(cell.user)


def _become(user: int) -> None:
    """Become this user in no group, with one power left: to read what Landlock lets us, whosever it is."""
    import ctypes
    import struct

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_KEEP_POWERS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    kept = struct.pack("6I", _READ_ANYWHERE, _READ_ANYWHERE, 0, 0, 0, 0)
    if libc.capset(struct.pack("Ii", _POWERS_VERSION, 0), kept) != 0:
        raise OSError(ctypes.get_errno(), "capset")
