"""Stop the local services of a process that ended without stopping them itself.

Run as a script of its own session: `python -I guard.py FOLDER`. Its standard input is a pipe that only the parent
holds, so the end of that pipe is the end of the parent, however it came (SIGKILL included). Until then it is told,
a line each, which processes there are: `+ PID SIGNAL` (started; SIGNAL ends it) and `- PID` (gone).

It imports nothing of ours: it must start in milliseconds and outlive a broken installation.
"""

import os
import shutil
import signal
import sys
import time

GRACE_S = 3.0
"""How long a service may take to end after its own signal before it is killed."""


def end(services: dict[int, int]) -> None:
    """End processes that are no children of ours: the signal of each, a pause of at most `GRACE_S`, then SIGKILL."""
    deadline = time.monotonic() + GRACE_S
    for pid, number in services.items():
        tell(pid, number)
        tell(pid, signal.SIGCONT)  # a paused process takes no other signal
    while any(tell(pid, 0) for pid in services) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in services:
        tell(pid, signal.SIGKILL)


def tell(pid: int, number: int) -> bool:
    """Send a signal; False when there is no such process."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def main(folder: str) -> None:
    """Note what is started and gone until the parent ends, then end what is left and remove `folder`."""
    left: dict[int, int] = {}  # by process id: the signal that ends it
    for line in sys.stdin:
        word, pid, *number = line.split()
        if word == "+":
            left[int(pid)] = int(number[0])
        else:
            left.pop(int(pid), None)
    end(left)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
