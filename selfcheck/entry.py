"""The command's first steps: start the service, then load the rest. Both take about as long, on two cores at once."""

from selfcheck import interrupts

interrupts.end_at_once()

import os  # noqa: E402
import sys  # noqa: E402

from selfcheck import early  # noqa: E402

# Asking for these is no wish for the checks, `SELFTEST=1` or not.
_OWN_OPTIONS = {"--help", "--version"}


def main() -> None:
    """Run the command line, and leave without the interpreter's farewell: nothing is left to be tidied up."""
    _stand_on_streams()
    arguments = _language_last(sys.argv[1:])
    if os.environ.get("SELFTEST") == "1" and _is_bare(arguments):
        arguments = ["run", *arguments]
    options = early.read_options(arguments[1:]) if arguments[:1] == ["run"] else None
    if options is None:
        from selfcheck import outcome, texts

        outcome.speak(texts.choose(texts.named(arguments), os.environ) or texts.choose(None, os.environ) or "en")
        from selfcheck.cli import run_command_line

        code = run_command_line(arguments)
    else:
        started = early.Started(options.tree) if early.in_memory(options, os.environ) else None
        from selfcheck.outcome import play_and_report

        code = play_and_report(options, started)
    _leave(code)


def _language_last(arguments: "list[str]") -> "list[str]":
    """Return the arguments with a `--lang` from before the sub-command behind it, where all of them take it."""
    count = 2 if arguments[:1] == ["--lang"] else 1 if arguments and arguments[0].startswith("--lang=") else 0
    return [*arguments[count:], *arguments[:count]]


def _is_bare(arguments: list[str]) -> bool:
    return not arguments or (arguments[0].startswith("-") and arguments[0] not in _OWN_OPTIONS)


def _stand_on_streams() -> None:
    """Have all three standard streams: what is opened in the place of one that is closed would be taken for it."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(opened)
        sys.stdout = sys.stdout or os.fdopen(1, "w")
        sys.stderr = sys.stderr or os.fdopen(2, "w")


def _leave(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # whoever read has left: `selfcheck | head`
            code = code or 1
    os._exit(code)
