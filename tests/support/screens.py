"""The screens that the READMEs and `docs/screens` show: scenes that the program plays, in both languages.

What differs from one time to the next (times of day, durations, the place of a tree) reads the same here each time;
everything else is as it was printed. `make screens` writes them anew.
"""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from selfcheck.texts import LANGUAGES, Lang, say, text
from tests.support import golden
from tests.support.judging import LONGEST_S, PROGRAM, ROOT, environment, tree_with
from tests.support.svg import drawn
from tests.support.terminal import terminal

FOLDER: Final = ROOT / "docs" / "screens"
READMES: Final[dict[Lang, Path]] = {"en": ROOT / "README.md", "zh": ROOT / "README.zh-CN.md"}

_SEQUENCE: Final = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")
_COLOURLESS: Final = re.compile(r"\x1b\[(?![\d;]*m)[\d;?]*[A-Za-z]|\r")  # what only moves
_TERMINAL: Final = {"TERM": "xterm-256color", "COLUMNS": str(golden.COLUMNS), "PYTHONUTF8": "1"}
_ROOM: Final = re.compile(r"(\.selfcheck/\w+)-[0-9a-f]{8}")  # a tree's room ends with a hash of the tree's place
_BLOCK: Final = re.compile(r"(<!-- screen: (\w+) (\d+)-(\d+) -->\n```text\n).*?(```\n)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Scene:
    """A screen. `play` is given an empty folder and a language; it returns what is to be seen, colours included."""

    command: str
    play: Callable[[Path, Lang], str]


@dataclass(frozen=True, slots=True)
class Screen:
    """A scene as it was played: without colour, and as a picture with it."""

    text: str
    svg: str


def _run(tree: str) -> Scene:
    """Return what is kept for the tests, and compared there."""

    def play(_: Path, lang: Lang) -> str:
        return golden.file_of(tree, lang, "colour").read_text("utf-8").replace("kept/", ".selfcheck/")

    return Scene(f"selfcheck run --tree {tree}", play)


def _said(folder: Path, lang: Lang, *arguments: str, keys: str = "") -> str:
    """Return what a sub-command prints on a terminal that shows colours."""
    changes = {**_TERMINAL, "FORCE_COLOR": "1", "SELFCHECK_HOME": ".selfcheck"}
    done = subprocess.run(
        [*PROGRAM, *arguments, "--lang", lang], cwd=golden.room(folder), env=environment("screens", changes),
        input=keys, capture_output=True, encoding="utf-8", timeout=LONGEST_S, check=False,
    )  # fmt: skip
    assert done.stderr == "", done.stderr
    return done.stdout


def _hint(folder: Path, lang: Lang) -> str:
    return _said(folder, lang, "hint", "2")


def _interview(folder: Path, lang: Lang) -> str:
    """Somebody has thought of two points in three."""
    return _said(folder, lang, "interview", "merging", keys="\n\n" + "y\ny\n\n" * 4)


def _experiment(folder: Path, lang: Lang) -> str:
    """Two gateways share one stream. As it is, it takes hundredths of a second, or the time of a busy machine: 0.01.

    What the guard ended reads 1.00, as long as it may have taken.
    """
    said = _said(folder, lang, "experiment", "consumer-group", "--no-wait")
    as_it_is, broken = re.findall(r"\d+\.\d\d(?= s\b| 秒)", said)
    assert float(broken) >= 1, "the guard has to lose its patience"
    return said.replace(as_it_is, "0.01", 1).replace(broken, "1.00", 1)


def _grade(folder: Path, lang: Lang) -> str:
    """Five submissions, one of them the solution, one that does not load. What was live has gone from the terminal."""
    handed_in = folder / "class"
    solved = {"ada": (1, 3, 4), "bo": (), "cy": (1, 2, 3, 4), "dee": (1, 2), "eve": (2, 3)}
    for name, exercises in solved.items():
        tree_with(handed_in / name, exercises)
    with (handed_in / "eve" / "lifecycle.py").open("a", encoding="utf-8") as file:
        file.write("\n\ndef helper()\n")
    said = _said(folder, lang, "grade", "class", "--jobs", "2", "--seed", "7")
    return said[said.rfind("\x1b[2K") :].replace(f"{folder}/", "")


def _watch(folder: Path, lang: Lang) -> str:
    """A learner saves the transition table, and it is right. All of it happens at noon."""
    golden.room(folder)
    solved = (tree_with(folder / "solved", (1,)) / "lifecycle.py").read_bytes()
    changes = {**_TERMINAL, "LINES": "32", "SELFCHECK_HOME": ".selfcheck"}
    with terminal("selfcheck", ("watch", "--lang", lang), environment("screens", changes), folder) as screen:
        screen.until_true(lambda printed: len(_over(printed, lang, 2)) == 2)
        (folder / "starter" / "lifecycle.py").write_bytes(solved)
        screen.until_true(lambda printed: len(_over(printed, lang, 3)) == 2)
        screen.type("q")
        screen.left()
        board = _over(screen.printed.decode("utf-8"), lang, 3)[1]
    return re.sub(r"\d\d:\d\d:\d\d", "12:00:00", board)


def _over(printed: str, lang: Lang, passing: int) -> list[str]:
    """Return the boards on which all is judged and so many pass: one by the last verdict, one by the end."""
    score, due = (text(each, lang) for each in (say("report.score", passed=passing, total=6), say("watch.due")))
    boards = [board.partition("\x1b[J")[0] for board in printed.split("\x1b[H") if "\x1b[J" in board]
    return [each for each in boards if score in each and not re.search(rf":\d\d {due}$", _plain(each), re.MULTILINE)]


SCENES: Final = {
    "starter": _run("starter"),
    "half": _run("half"),
    "solution": _run("solution"),
    "watch": Scene("selfcheck watch", _watch),
    "hint": Scene("selfcheck hint 2", _hint),
    "experiment": Scene("selfcheck experiment consumer-group", _experiment),
    "interview": Scene("selfcheck interview merging", _interview),
    "grade": Scene("selfcheck grade class", _grade),
}
ALL: Final = [(name, lang) for name in SCENES for lang in LANGUAGES]


def screen(name: str, lang: Lang, folder: Path) -> Screen:
    """Play a scene in an empty folder."""
    seen = _ROOM.sub(r"\1-00000000", _COLOURLESS.sub("", SCENES[name].play(folder, lang)))
    seen = "\n".join(line.rstrip() for line in seen.splitlines()).strip("\n")
    return Screen(_plain(seen), drawn(seen, SCENES[name].command))


def file_of(name: str, lang: str, suffix: str) -> Path:
    """Return where a screen is kept."""
    return FOLDER / f"{name}.{lang}.{suffix}"


def with_screens(readme: str, lang: Lang) -> str:
    """Return a README with its blocks filled: each is marked with a screen's name and the lines that it shows."""

    def filled(block: re.Match[str]) -> str:
        begin, name, first, last, end = block.groups()
        lines = file_of(name, lang, "txt").read_text("utf-8").splitlines(keepends=True)
        return begin + "".join(islice(lines, int(first) - 1, int(last))) + end

    return _BLOCK.sub(filled, readme)


def _plain(seen: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in _SEQUENCE.sub("", seen).splitlines())
