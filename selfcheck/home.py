"""Where the self-check keeps what it wants to know the next time: `.selfcheck/` in the kit, or `SELFCHECK_HOME`.

Nothing there is needed: who deletes it loses the memory of earlier runs and hints, and no work. Copies that `reset`
makes of a learner's files are the one exception, so they lie under `backups/`.
"""

import hashlib
import os
from pathlib import Path

from selfcheck.files import read_start, write_whole
from selfcheck.trees import kit_root

MOST_BYTES = 1_000_000  # of a file; the largest of ours, the results of a run, has some ten thousand


def home() -> Path:
    """Return the folder. It need not exist.

    Raises:
        Misconfigured: there is no kit around us.
    """
    named = os.environ.get("SELFCHECK_HOME")
    return Path(named).absolute() if named else kit_root() / ".selfcheck"


def recalled(file: Path) -> bytes:
    """Return what was written into a file of ours: at most so much, and at once, whatever lies there now.

    Raises:
        OSError: nothing does, or no file. A pipe would be waited for without an end.
    """
    return read_start(file, MOST_BYTES)


def put(file: Path, content: bytes) -> None:
    """Write a file of ours whole, its folder made if need be.

    Raises:
        OSError: it cannot be written; what was there is there still.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, content)


def room(tree: Path) -> Path:
    """Return the folder for what belongs to one tree: two trees of one name in different places have two."""
    place = tree.resolve()
    return home() / f"{place.name}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:8]}"
