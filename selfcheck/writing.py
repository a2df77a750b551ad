"""Files are written whole: a kill at any moment leaves the old content or the new one."""

import contextlib
import os
from pathlib import Path


def write_whole(file: Path, content: bytes) -> None:
    """Write a file beside its place, and then put it there. Its folder has to exist.

    Raises:
        OSError: it cannot be written; what was there is there still, and nothing beside it.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(file)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
