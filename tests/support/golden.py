"""Golden screens: what the whole command prints of three trees, in both languages, with and without colour.

`make golden` writes them anew. What changed is then seen, and judged, in the difference.
"""

import os
import re
import sys
from pathlib import Path
from typing import Final

from tests.support.judging import ROOT, SOLUTION, STARTER, started, tree_with

FOLDER: Final = ROOT / "tests" / "golden"
TREES: Final = ("starter", "half", "solution")
LANGUAGES: Final = ("en", "zh")
COLOURS: Final = ("plain", "colour")
SCREENS: Final = [(tree, lang, colour) for tree in TREES for lang in LANGUAGES for colour in COLOURS]
COLUMNS: Final = 80

_TERMINAL: Final = {
    "plain": {"NO_COLOR": "1"},
    "colour": {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLORTERM": ""},
}
_IF_FOR_WHILE: Final = ("        while self._due in self._held:", "        if self._due in self._held:")


def room(folder: Path) -> Path:
    """Lay out the trees in a folder and return it. Half of the work is done, and one mistake made in it."""
    for name, tree in (("starter", STARTER), ("solution", SOLUTION)):
        (folder / name).mkdir(parents=True)
        for file in tree.glob("*.py"):
            (folder / name / file.name).write_bytes(file.read_bytes())
    delivery = tree_with(folder / "half", (1, 2, 3)) / "delivery.py"
    text = delivery.read_text("utf-8")
    right, wrong = _IF_FOR_WHILE
    assert right in text, "the solution's orderer has a loop to be spoiled"
    delivery.write_text(text.replace(right, wrong), "utf-8")
    return folder


def printed(folder: Path, tree: str, lang: str, colour: str) -> str:
    """Return what a run prints in a terminal of 80 columns, in a folder of its own that is laid out for it.

    The name of a tree's room ends with a hash of the place where the tree lies; it reads `-00000000` here.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # as in an activated environment
    changes = {**_TERMINAL[colour], "PATH": path, "COLUMNS": str(COLUMNS), "PYTHONUTF8": "1", "SELFCHECK_HOME": "kept"}
    with started("run", "--tree", tree, "--lang", lang, changes=changes, cwd=room(folder)) as running:
        _, out, err = running.ended()
    assert err == "", err
    return re.sub(rf"kept/{tree}-[0-9a-f]{{8}}/", f"kept/{tree}-00000000/", out)


def file_of(tree: str, lang: str, colour: str) -> Path:
    """Return where a screen is kept."""
    return FOLDER / f"{tree}.{lang}.{colour}.txt"
