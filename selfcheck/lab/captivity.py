"""What keeps the judged service from outliving the judge, and from taking more of the machine than it needs.

The service's standard input is a pipe whose other end only the judge holds, so the end of that pipe is the end of the
judge, however it came. A thread waits for it; but a tree may stop the process or never let go of the interpreter, so
where the kernel can, it is asked to end the whole process group at that moment.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable

MOST_MEMORY = 2 << 30  # bytes; a service takes 60 MB


_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "ctypes.dlopen"}
"""What Python announces before it starts a process, or loads what may."""

_ADOPT = 36  # PR_SET_CHILD_SUBREAPER


def enter(tell: Callable[[], None] = lambda: None) -> None:
    """Bind this process, and whatever it starts, to its standard input; let it have no copies.

    `tell` is called before it starts anything, once.
    """
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
        sys.addaudithook(_keeper(tell))
    threading.Thread(target=_end_with_input, args=(leads,), daemon=True).start()


def _keeper(tell: Callable[[], None]) -> Callable[[str, tuple[object, ...]], None]:
    """Return what is called with all that Python announces, and sees that nothing that is started gets out of reach."""
    started = False

    def hear(event: str, _: tuple[object, ...]) -> None:
        nonlocal started
        if started or event not in _STARTS:
            return
        started = True
        tell()
        if sys.platform == "linux":
            with contextlib.suppress(ImportError, OSError):
                import ctypes  # which takes long, and is needed by few

                # Children whose parent ends come to us, and not to the system's first process, where nobody finds them.
                ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)

    return hear


def _end_copy() -> None:
    os._exit(0)  # a second service on the same connections, which would go on to fork, is nothing anybody asked for


def _end_with_input(leads: bool) -> None:
    while os.read(0, 4096):
        pass
    if leads:
        os.killpg(0, signal.SIGKILL)  # with whatever the tree has started
    os._exit(0)
