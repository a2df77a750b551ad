"""`selfcheck reset`: put one exercise back as it came, and lose nothing.

The file as it stood goes into a dated copy first; then the file is replaced in one step, so that a full disk or a kill
leaves the old one or the new one. All other exercises in the file stay as they are.
"""

import difflib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from rich.text import Text

from selfcheck import trees
from selfcheck.console import out
from selfcheck.differing import STYLES
from selfcheck.files import write_whole
from selfcheck.home import room
from selfcheck.keyboard import YES
from selfcheck.texts import say
from selfcheck.wrapping import prose
from shared.errors import Misconfigured
from shared.foreign import Unusable, shown

BACKUPS = "backups"


def reset(tree_name: str, number: int, *, whole_file: bool, confirm: Callable[[], str | None] | None) -> None:
    """Put an exercise of a tree back, after asking. `confirm` gives the answer; without it nobody is asked.

    With `whole_file` everything in its file is put back, whatever is in it.

    Raises:
        Misconfigured: there is no such tree; the file is not Python, so that one exercise cannot be found in it; or it
            cannot be written.
    """
    tree = trees.folder_of(tree_name)
    path = tree / trees.EXERCISES[number].file
    before, after = _texts(tree, number, path, whole_file=whole_file)
    if before == after or (not whole_file and trees.is_untouched(tree, number)):
        out.print(prose(str(say("resetting.nothing_to_do", number=number, file=shown(path)))))
        return
    _show_change(before or "", after, shown(path))
    if confirm is not None:
        out.print(prose(str(say("resetting.ask", number=number, file=shown(path)))), style="cyan")
        if (confirm() or "").strip().lower() not in YES:
            out.print(prose(str(say("resetting.left", file=shown(path)))))
            return
    copy = _put_back(tree, path, after)
    out.print(prose(str(say("resetting.done", number=number, file=shown(path)))))
    if copy is not None:
        out.print(Text(str(say("resetting.copy", copy=shown(copy)))), soft_wrap=True)


def _texts(tree: Path, number: int, path: Path, *, whole_file: bool) -> tuple[str | None, str]:
    """Return the file's text as it is (None: it is not there, or no text) and as it shall be."""
    before: str | None = None
    try:
        if path.is_file():  # a pipe is not read: it would never end
            before = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        pass
    if whole_file:
        return before, trees.restored(
            tree.parent / f"{tree.name}.none", number
        )  # of a tree without files: the starter's
    try:
        return before, trees.restored(tree, number)
    except Unusable as unusable:
        where = shown(path) if unusable.line is None else f"{shown(path)}:{unusable.line}"
        remedy = f"mend that line, or put all of it back: selfcheck reset {number} --file"
        raise Misconfigured("settings", f"{where} {unusable.problem}", remedy) from None


def _show_change(before: str, after: str, name: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="", n=1)
    for line in list(lines)[2:]:
        style = STYLES.get(line[:1], "dim")
        out.print(Text("".join(c if c.isprintable() else " " for c in line), style), soft_wrap=True)


def _put_back(tree: Path, path: Path, text: str) -> Path | None:
    """Keep a copy of the file, if there is one, and write the text in its place."""
    place = path.resolve()
    try:
        content = place.read_bytes() if place.is_file() else None
        copy = None if content is None else _keep(tree, place.name, content)
        line_end = "\r\n" if content is not None and b"\r\n" in content else "\n"
        mode = None if content is None else place.stat().st_mode
        write_whole(place, text.replace("\n", line_end).encode(), mode)
    except OSError as error:
        problem = f"cannot write {shown(path)}: {error.strerror}"
        raise Misconfigured("settings", problem, "see that you may write to it and to the folder for copies") from error
    return copy


def _keep(tree: Path, name: str, content: bytes) -> Path:
    """Write a dated copy that replaces none, and return where."""
    folder = room(tree) / BACKUPS
    folder.mkdir(parents=True, exist_ok=True)
    date = datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
    number = 1
    while True:
        stem, suffix = name.removesuffix(".py"), "" if number == 1 else f"-{number}"
        copy = folder / f"{stem}-{date}{suffix}.py"
        try:
            with copy.open("xb") as file:
                file.write(content)
        except FileExistsError:
            number += 1
        else:
            return copy
