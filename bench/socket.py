"""What a session's socket costs beside a run's stream: one gateway, the same runs, side by side, in one run.

    python bench/socket.py [--quick]

The gateway is the production one, `python -m gateway`, on a Valkey and a PostgreSQL of its own; its CPU time and memory
are read from outside. One process writes the runs, one reads them over bare connections, by SSE and by WebSocket in
turn, and what the reading costs is told beside what is measured. Everything is on 127.0.0.1 and ends with this process.

Ratios travel; absolute numbers do not. It takes three to five minutes, `--quick` one to two.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path


def give_way() -> None:
    """Let the standard library's `socket` be what `import socket` finds.

    Python looks for modules in the folder of a script first, so to every script in this one, this file is `socket`.
    """
    spec = PathFinder.find_spec("socket", [str(Path(os.__file__).parent)])
    assert spec is not None and spec.loader is not None, "the standard library is where `os` is"
    sys.modules["socket"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "socket":
    give_way()

if __name__ == "__main__":
    from bench.socketing.comparing import main

    main(__doc__)
