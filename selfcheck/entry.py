"""The command's first steps: start the service, then load the rest. Both take about as long, on two cores at once."""

import json
import os
import sys

from selfcheck import early

# Asking for these is no wish for the checks, `SELFTEST=1` or not.
_OWN_OPTIONS = {"--help", "--version"}


def main() -> None:
    """Run the command line, and leave without the interpreter's farewell: nothing is left to be tidied up."""
    arguments = sys.argv[1:]
    if os.environ.get("SELFTEST") == "1" and _is_bare(arguments):
        arguments = ["run", *arguments]
    started = _start_early(arguments[1:]) if arguments[:1] == ["run"] else None

    from selfcheck.cli import run_command_line

    code = run_command_line(arguments, started)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _is_bare(arguments: list[str]) -> bool:
    return not arguments or (arguments[0].startswith("-") and arguments[0] not in _OWN_OPTIONS)


def _start_early(arguments: list[str]) -> "early.Started | None":
    tree = early.guess_tree(arguments)
    if tree is None:
        return None
    root = early.guess_root()
    spec = early.plain_spec(early.find_tree(tree, root), early.find_tree("solution", root))
    return early.Started(spec, early.launch(json.dumps(spec)))
