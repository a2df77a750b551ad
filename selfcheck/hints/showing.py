"""`selfcheck hint N`: show the next hint of an exercise, or the one that is asked for."""

from collections.abc import Iterator
from pathlib import Path

from rich.padding import Padding
from rich.text import Text

from selfcheck import early
from selfcheck.console import out
from selfcheck.hints import LEVELS, hint, memory
from selfcheck.hints.memory import LastRun, Seen
from selfcheck.symptoms import question
from selfcheck.texts import Message, say, text
from selfcheck.trees import kit_root
from selfcheck.wrapping import prose

MOST_WIDTH = 80


def show(tree: str, exercise: int, level: int | None, *, again: bool) -> None:
    """Show one hint and remember it. `level` shows that one; `again` forgets what was seen."""
    folder = Path(early.find_tree(tree, str(kit_root())))
    run = memory.last_run(folder, exercise)
    seen = Seen() if again else memory.seen(folder, exercise)
    if level is None and run.passed and not again:
        _tell(say("hinting.passes", exercise=exercise))
        return
    shown = level if level is not None else next_level(seen, run)
    if shown is None:
        _tell(say("hinting.all_seen", exercise=exercise))
        return
    _print(exercise, shown, run)
    kept = memory.remember(folder, exercise, Seen(max(seen.level, shown), run.symptom or seen.symptom))
    if not kept:
        _tell(say("hinting.not_kept", exercise=exercise))
    elif shown < LEVELS[-1]:
        _tell(say("hinting.next", exercise=exercise))
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
    out.print(Text(str(say("hinting.head", exercise=exercise, level=level, levels=len(LEVELS))), "bold"))
    if tailored:
        _tell(say("hinting.tailored"))
    out.print()
    for indented, paragraph in _paragraphs(words):
        block = Text(paragraph, "cyan") if indented else prose(paragraph)
        out.print(Padding(block, (0, 0, 0, 2)), width=min(out.width, MOST_WIDTH))
    out.print()


def _paragraphs(words: Message) -> Iterator[tuple[bool, str]]:
    """Yield the lines of a hint, and whether each is pseudo-code: then it is indented."""
    for line in text(words).splitlines():
        yield line.startswith(" "), line


def _tell(words: Message) -> None:
    out.print(prose(str(words), "dim"), width=min(out.width, MOST_WIDTH))
