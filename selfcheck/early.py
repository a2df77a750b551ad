"""What the main job needs before anything heavy is imported: its options, and the service, to load beside us.

`run` is what a learner types all day, and reading its few options with Typer costs more than playing the checks. So
its plain forms are read here; whatever is not plain (help, a mistake, another command) is Typer's to read.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

# The values of options of `run` that take one; the rest are flags. A test holds them against the command's own.
_WITH_VALUE = {"--tree", "--only", "--seed", "--repeat", "--json", "--junit", "--lang"}
_FLAGS = {"--real", "--exit-zero"}

DEFAULT_TREE = "starter"
DEFAULT_SEED = 7
MOST_REPEATED = 1_000

LAB_SETTINGS = {
    "KODA_FRAGMENT_PACE": "0s",
    "KODA_FLUSH_EVERY": "1ms",  # what the store has is waited for, and need not be waited for long
    "KODA_LOOK_EVERY": "1h",  # the mark comes back with a write and no other way, so each run of a scenario is the same
    "KODA_SWEEP_EVERY": "1h",
    "KODA_LEASE": "10min",  # a machine that sleeps in between must not hand runs over
    "KODA_RENEW_EVERY": "1min",
}
"""How the judged service differs from one in production: in its numbers, and in nothing else."""


class Options:
    """What to check, where, and where to say so: the options of `run`."""

    __slots__ = ("exit_zero", "json", "junit", "lang", "only", "real", "repeat", "seed", "tree")

    def __init__(
        self, tree: str = DEFAULT_TREE, only: int | None = None, seed: int = DEFAULT_SEED, repeat: int = 1,
        json: str | None = None, junit: str | None = None, lang: str | None = None,
        *, real: bool = False, exit_zero: bool = False,
    ) -> None:  # fmt: skip
        self.tree = tree
        self.only = only
        self.seed = seed
        self.repeat = repeat
        self.json = json
        self.junit = junit
        self.lang = lang
        self.real = real
        self.exit_zero = exit_zero


def read_options(arguments: Sequence[str]) -> Options | None:
    """Read the options of `run`; None when they are not plain, or wrong."""
    values: dict[str, str] = {}
    flags: set[str] = set()
    left = iter(arguments)
    for argument in left:
        name, equals, value = argument.partition("=")
        if name in _WITH_VALUE:
            values[name] = value if equals else next(left, "-")
            if values[name].startswith("-") or not values[name]:
                return None
        elif argument in _FLAGS:
            flags.add(argument)
        else:
            return None
    only, lang = values.get("--only"), values.get("--lang")
    seed, repeat = values.get("--seed", str(DEFAULT_SEED)), values.get("--repeat", "1")
    if only not in (None, "1", "2", "3", "4", "5", "6") or lang not in (None, "en", "zh"):
        return None
    if not all(number.isascii() and number.isdigit() and len(number) <= 9 for number in (seed, repeat)):
        return None
    if not 1 <= int(repeat) <= MOST_REPEATED:
        return None
    return Options(
        values.get("--tree", DEFAULT_TREE), None if only is None else int(only), int(seed), int(repeat),
        values.get("--json"), values.get("--junit"), lang, real="--real" in flags, exit_zero="--exit-zero" in flags,
    )  # fmt: skip


def in_memory(options: Options, environment: Mapping[str, str]) -> bool:
    """Whether the checks will be played in memory, as far as can be told without reading the settings."""
    named = environment.get("REDIS_URL") or environment.get("DATABASE_URL")
    return not options.real and (environment.get("MOCK") == "1" or not named)


class Started:
    """A service that was started before anybody could say exactly what is wanted of it."""

    def __init__(self, tree: str) -> None:
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120  # no pathlib yet
        self.tree = find_tree(tree, root)
        self.stand_in = find_tree("solution", root)
        self.token = os.urandom(16).hex()
        import json

        spec = {
            "tree": self.tree,
            "stand_in": self.stand_in,
            "replaced": [],
            "token": self.token,
            "roles": ["gateway", "worker"],
            "settings": LAB_SETTINGS,
        }
        self.process = launch(json.dumps(spec), judged=True)

    def end(self) -> None:
        """End it, unless whoever took it has done so."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def find_tree(name: str, root: str) -> str:
    """Return the folder that `--tree` names: from the current directory, else from the kit's."""
    here = os.path.abspath(name)  # noqa: PTH100
    there = os.path.join(root, name)  # noqa: PTH118
    return here if os.path.isdir(here) or not os.path.isdir(there) else there  # noqa: PTH112


MARK = "SELFCHECK_SERVICE"
marks: dict[int, str] = {}
"""What each process that was launched, and whatever it starts, has in its environment under that name."""

SERVICE = "from selfcheck.service import main; main()"


def launch(spec: str, *, judged: bool, program: str = SERVICE) -> "subprocess.Popen[bytes]":
    """Start the process for a spec in JSON. It ends when its standard input is closed: with us, whatever becomes of us.

    In a process group of its own, so that Ctrl-C reaches the judge alone, and so that whatever a submission starts is
    ended with it. One that is `judged` has our numbers, and none that somebody has set for a service of theirs.
    """
    environment = {name: value for name, value in os.environ.items() if not (judged and name.startswith("KODA_"))}
    mark = os.urandom(8).hex()
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-u", "-c", program, spec],  # -u: what a tree prints before a kill is read, too
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment, MARK: mark},
        start_new_session=True,
    )
    marks[process.pid] = mark
    return process
