"""Files are read at once, whatever lies there, and written whole."""

import contextlib
import errno
import os
import stat
from pathlib import Path


def read_start(file: Path, most: int, *, follow: bool = True) -> bytes:
    """Return what a file begins with, at most so many bytes; without `follow`, of no link.

    Raises:
        OSError: nothing lies there, or no file. A pipe would be waited for without an end.
    """
    wanted = ("O_NONBLOCK", "O_BINARY", *([] if follow else ["O_NOFOLLOW"]))  # not every system has them all
    opened = os.open(file, os.O_RDONLY | sum(getattr(os, name, 0) for name in wanted))
    if not stat.S_ISREG(os.fstat(opened).st_mode):  # a folder cannot even be had as a stream
        os.close(opened)
        raise OSError(errno.EINVAL, "is not a file", str(file))
    with os.fdopen(opened, "rb") as stream:
        return stream.read(most)


def write_whole(file: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file beside its place, and then put it there: a kill at any moment leaves the old content or the new one.

    Its folder has to exist. `mode` says who may do what with it.

    Raises:
        OSError: it cannot be written; what was there is there still, and nothing beside it.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        if mode is not None:
            beside.chmod(mode)
        beside.replace(file)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
