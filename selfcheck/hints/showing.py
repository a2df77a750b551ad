"""`selfcheck hint N`: show the next hint of an exercise, or the one that is asked for."""

import shlex

from rich.text import Text

from selfcheck import early
from selfcheck.console import out
from selfcheck.hints import LEVELS, hint, memory
from selfcheck.hints.memory import LastRun, Seen
from selfcheck.symptoms import question
from selfcheck.texts import Message, say, text
from selfcheck.trees import folder_of
from selfcheck.wrapping import wrapped

MOST_WIDTH = 80
INDENT = "  "


def show(tree: str, exercise: int, level: int | None, *, again: bool) -> None:
    """Show one hint and remember it. `level` shows that one; `again` forgets what was seen.

    Raises:
        Misconfigured: there is no such tree.
    """
    folder = folder_of(tree)
    run = memory.last_run(folder, exercise)
    seen = Seen() if again else memory.seen(folder, exercise)
    options = "" if tree == early.DEFAULT_TREE else f" --tree {shlex.quote(tree)}"
    more = f"selfcheck hint {exercise}{options}"
    if level is None and run.passed and not again:
        _tell(say("hinting.passes", exercise=exercise, more=more))
        return
    shown = level if level is not None else next_level(seen, run)
    if shown is None:
        _tell(say("hinting.all_seen", exercise=exercise, options=options, more=more))
        return
    _print(exercise, shown, run)
    if not memory.remember(folder, exercise, Seen(max(seen.level, shown), run.symptom or seen.symptom)):
        _tell(say("hinting.not_kept", more=more))
    elif shown < LEVELS[-1]:
        _tell(say("hinting.next", more=more))
    else:
        _tell(say("hinting.last", exercise=exercise))


def next_level(seen: Seen, run: LastRun) -> int | None:
    """Return which hint comes next, None when there is none. What the last run has newly shown is asked first."""
    if run.symptom and run.symptom != seen.symptom:
        return LEVELS[0]
    return next((level for level in LEVELS if level > seen.level), None)


def _print(exercise: int, level: int, run: LastRun) -> None:
    tailored = level == LEVELS[0] and run.symptom != ""
    words = question(run.symptom) if tailored else hint(exercise, level)
    _lines(say("hinting.head", exercise=exercise, level=level, levels=len(LEVELS)), "bold")
    if tailored:
        _tell(say("hinting.tailored"))
    out.print()
    _lines(words, indent=INDENT)
    out.print()


def _tell(words: Message) -> None:
    _lines(words, "dim")


def _lines(words: Message, style: str = "", indent: str = "") -> None:
    """Print a text line by line. What is indented is pseudo-code or a command, and is not broken."""
    width = min(out.width, MOST_WIDTH) - len(indent)
    for paragraph in text(words).splitlines():
        code = paragraph.startswith(INDENT)
        for line in [paragraph] if code else wrapped(paragraph, width) or [""]:
            out.print(Text(f"{indent}{line}".rstrip(), "cyan" if code else style), soft_wrap=True)
