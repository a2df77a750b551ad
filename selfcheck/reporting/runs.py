"""What a run leaves behind for whoever wants to look closer, and what is remembered of it for the next one.

`runs/last/` in a tree's room has the newest run, `runs/1/`, `runs/2/` … the few before it. A run's folder is written
beside its place and then moved there whole, so that two runs at once leave two folders and no mixture. None of this is
needed: where nothing can be written, nothing is, and a run is not told so.
"""

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from selfcheck.home import put, recalled, room
from selfcheck.results import Report, State
from shared.errors import KodaError

KEPT = 5  # runs before the last one
LARGEST = 256 * 1024  # bytes of a file; of a longer one the end is kept, where the newest is
STALE_S = 3600  # a folder that is begun and not in its place after this long was left by a run that was killed
TRIES = 20


def keep(tree: Path, files: Iterable[tuple[str, bytes]]) -> Path | None:
    """Write a run's files and return their folder; None when that cannot be done here."""
    try:
        folder = room(tree) / "runs"
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f".new-{os.getpid()}-{os.urandom(4).hex()}"
        new.mkdir()
        try:
            for name, content in files:
                (new / name).write_bytes(content[-LARGEST:])
            placed = _put_in_place(new, folder / "last")
        finally:
            _remove(new)  # unless it has been moved
        _prune(folder)
    except (OSError, KodaError):
        return None
    return folder / "last" if placed else None


def _put_in_place(new: Path, last: Path) -> bool:
    """Move a folder to where the last run's is, and that one away. Others may be at it, too."""
    for _ in range(TRIES):
        try:
            new.rename(last)
        except OSError:  # there is one already
            with contextlib.suppress(OSError):  # somebody else has just moved it
                last.rename(last.with_name(str(max(_numbered(last.parent), default=0) + 1)))
        else:
            return True
    return False


def _numbered(folder: Path) -> list[int]:
    return sorted(int(each.name) for each in folder.iterdir() if each.name.isascii() and each.name.isdigit())


def _prune(folder: Path) -> None:
    for number in _numbered(folder)[:-KEPT]:
        _remove(folder / str(number))
    for begun in folder.glob(".new-*"):
        with contextlib.suppress(OSError):
            if time.time() - begun.stat().st_mtime > STALE_S:
                _remove(begun)


def _remove(folder: Path) -> None:
    if folder.exists():
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def remember(tree: Path, report: Report) -> None:
    """Keep how each check came out, for `passed_before`. What the surroundings are to blame for says nothing."""
    with contextlib.suppress(OSError, KodaError):
        states = _remembered(tree)
        mine = {str(each.id): str(each.status) for each in report.checks if each.status is not State.ENVIRONMENT}
        if not mine or states.get(report.mode, {}).items() >= mine.items():
            return
        states[report.mode] = {**states.get(report.mode, {}), **mine}
        put(room(tree) / "states.json", msgspec.json.encode(states))


def passed_before(tree: Path, mode: str) -> frozenset[int]:
    """Return the checks that passed when they were last played with this tree in this mode."""
    try:
        states = _remembered(tree).get(mode, {})
    except (OSError, KodaError):
        return frozenset()
    return frozenset(number for number in range(1, 7) if states.get(str(number)) == "passed")


def _remembered(tree: Path) -> dict[str, Mapping[str, str]]:
    try:
        return msgspec.json.decode(recalled(room(tree) / "states.json"), type=dict[str, Mapping[str, str]])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}
