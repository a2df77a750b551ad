"""Where the self-check keeps what it wants to know the next time: `.selfcheck/` in the kit, or `SELFCHECK_HOME`.

Nothing there is needed: who deletes it loses the memory of earlier runs and hints, and no work. Copies that `reset`
makes of a learner's files are the one exception, so they lie under `backups/`.
"""

import hashlib
import os
from pathlib import Path

from selfcheck.trees import kit_root


def home() -> Path:
    """Return the folder. It need not exist.

    Raises:
        Misconfigured: there is no kit around us.
    """
    named = os.environ.get("SELFCHECK_HOME")
    return Path(named).absolute() if named else kit_root() / ".selfcheck"


def room(tree: Path) -> Path:
    """Return the folder for what belongs to one tree: two trees of one name in different places have two."""
    place = tree.resolve()
    return home() / f"{place.name}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:8]}"
