"""What keeps the judged service from outliving the judge, and from taking more of the machine than it needs.

The service's standard input is a pipe whose other end only the judge holds, so the end of that pipe is the end of the
judge, however it came. A thread waits for it; but a tree may stop the process or never let go of the interpreter, so
where the kernel can, it is asked to end the whole process group at that moment.
"""

import os
import signal
import sys
import threading

MOST_MEMORY = 2 << 30  # bytes; a service takes 60 MB


def enter() -> None:
    """Bind this process, and whatever it starts, to its standard input; let it have no copies."""
    leads = sys.platform != "win32" and os.getpgrp() == os.getpid()
    if sys.platform == "linux" and leads:
        import fcntl

        fcntl.fcntl(0, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY if most < 0 else min(MOST_MEMORY, most), most))
        os.register_at_fork(after_in_child=_end_copy)
    threading.Thread(target=_end_with_input, args=(leads,), daemon=True).start()


def _end_copy() -> None:
    os._exit(0)  # a second service on the same connections, which would go on to fork, is nothing anybody asked for


def _end_with_input(leads: bool) -> None:
    while os.read(0, 4096):
        pass
    if leads:
        os.killpg(0, signal.SIGKILL)  # with whatever the tree has started
    os._exit(0)
