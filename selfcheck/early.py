"""What has to be known before anything heavy is imported: how the service is started, so that it loads beside us.

The command line is parsed properly later. Here it is only guessed at; a wrong guess costs a process that is ended.
"""

import os
import subprocess
import sys
from typing import TypeAlias

Plain: TypeAlias = "dict[str, str | int | list[str] | list[int] | dict[str, str]]"

LAB_SETTINGS = {
    "KODA_FRAGMENT_PACE": "0s",
    "KODA_FLUSH_EVERY": "1ms",  # what the store has is waited for, and need not be waited for long
    "KODA_LOOK_EVERY": "1h",  # the mark comes back with a write and no other way, so each run of a scenario is the same
    "KODA_SWEEP_EVERY": "1h",
    "KODA_LEASE": "10min",  # a machine that sleeps in between must not hand runs over
    "KODA_RENEW_EVERY": "1min",
}
"""How the judged service differs from one in production: in its numbers, and in nothing else."""

BOTH = ("gateway", "worker")


def plain_spec(tree: str, stand_in: str) -> Plain:
    """Return the spec of a judged service in memory, as plain data (`ServiceSpec` says what it means)."""
    return {
        "tree": tree,
        "stand_in": stand_in,
        "replaced": [],
        "token": os.urandom(16).hex(),
        "roles": [*BOTH],
        "settings": {**LAB_SETTINGS},
    }


def launch(spec: str) -> "subprocess.Popen[bytes]":
    """Start the process for a spec in JSON. It ends when its standard input is closed: with us, whatever becomes of us.

    In a process group of its own, so that Ctrl-C reaches the judge alone, and so that whatever a submission starts is
    ended with it.
    """
    program = "from selfcheck.service import main; main()"
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", program, spec],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def find_tree(name: str, root: str) -> str:
    """Return the folder that `--tree` names: from the current directory, else from the kit's."""
    here = os.path.abspath(name)  # noqa: PTH100  # pathlib is not loaded yet
    there = os.path.join(root, name)  # noqa: PTH118
    return here if os.path.isdir(here) or not os.path.isdir(there) else there  # noqa: PTH112


def guess_root() -> str:
    """Return the folder that holds this package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120


def guess_tree(arguments: list[str]) -> str | None:
    """Return what `--tree` says in the arguments of `run`; None when no service in memory will be wanted."""
    if {"--help", "--real"} & {*arguments}:
        return None
    in_memory = os.environ.get("MOCK") == "1" or not (os.environ.get("REDIS_URL") or os.environ.get("DATABASE_URL"))
    if not in_memory:
        return None
    tree = "starter"
    for at, argument in enumerate(arguments):
        if argument == "--tree" and at + 1 < len(arguments):
            tree = arguments[at + 1]
        elif argument.startswith("--tree="):
            tree = argument.removeprefix("--tree=")
    return tree


class Started:
    """A service that was started on a guess."""

    def __init__(self, spec: Plain, process: "subprocess.Popen[bytes]") -> None:
        self.spec = spec
        self.process = process

    def end(self) -> None:
        """End it: the guess was wrong."""
        self.process.kill()
        self.process.communicate()
