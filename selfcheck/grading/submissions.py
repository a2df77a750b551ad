"""Submissions: found in folders and archives, and read with care, for neither is ours.

A submission is a folder or a `.zip` with `lifecycle.py` and `delivery.py` in it: at its top, in `starter/`, or in one
folder of it (and there, too, at the top or in `starter/`). Only these two files are ever read, up to a size; links are
not followed, and nothing is unpacked anywhere else than into memory.
"""

import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from selfcheck.files import read_start
from selfcheck.grading.flags import FILES, LINK, MISSING, UNREADABLE
from selfcheck.texts import say
from shared.errors import Misconfigured
from shared.foreign import MAX_SOURCE

LARGEST_ARCHIVE: Final = 200 << 20
MOST_ENTRIES: Final = 20_000
_HERE: Final = ("", "starter")
_NO_SUBMISSION: Final = {"__pycache__", "__MACOSX", "solution"}


@dataclass(frozen=True, slots=True)
class Contents:
    """What was read of a submission: its files as far as they are there, and what is odd about them."""

    files: Mapping[str, bytes]
    flags: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Tells contents apart."""
        digest = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            digest.update(b"%s %d\n%s" % (name.encode(), len(content), content))
        return digest.hexdigest()

    def write(self, folder: Path) -> None:
        """Write the files into a folder that is not there yet."""
        folder.mkdir()
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


@dataclass(frozen=True, slots=True, order=True)
class Submission:
    """One submission: what it is called in results, and where it lies."""

    name: str
    path: Path = field(compare=False)

    def read(self) -> Contents:
        """Read its two files. What cannot be read is left out, and flagged."""
        try:
            return _read_archive(self.path) if self.path.is_file() else _read_folder(self.path)
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError, EOFError, zlib.error):
            return Contents({}, (UNREADABLE,))


def find(places: Sequence[str]) -> list[Submission]:
    """Return the submissions in these places, each under a name of its own, in order of their names.

    Raises:
        Misconfigured: a place is not there, or there is no submission in any of them.
    """
    found: list[Submission] = []
    for place in map(Path, places):
        if not place.exists():
            raise Misconfigured("DIR", str(say("grading.no_place", place=str(place))), str(say("grading.name_one")))
        found += _in(place)
    if not found:
        where = ", ".join(places)
        raise Misconfigured("DIR", str(say("grading.nothing", places=where)), str(say("grading.what_is_one")))
    return sorted(_told_apart(found))


def _in(place: Path) -> Iterator[Submission]:
    path = place.absolute()
    if path.is_file():
        if path.suffix.lower() == ".zip":
            yield Submission(path.stem, path)
        return
    if any((path / here / file).is_file() for here in _HERE for file in FILES):
        yield Submission(path.name or "submission", path)
        return
    for entry in os.scandir(path):
        if entry.name.startswith(".") or entry.name in _NO_SUBMISSION:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield Submission(entry.name, Path(entry.path))
        elif entry.name.lower().endswith(".zip") and entry.is_file(follow_symlinks=False):
            yield Submission(entry.name[:-4], Path(entry.path))


def _told_apart(found: Sequence[Submission]) -> Iterator[Submission]:
    """Yield them with a number behind a name that another one has already; a place that is given twice counts once."""
    taken: set[str] = set()
    for path, name in sorted({each.path: _printable(each.name) for each in found}.items()):
        free, number = name, 2
        while free.casefold() in taken:  # on some disks, two names that differ in case are one file
            free, number = f"{name} ({number})", number + 1
        taken.add(free.casefold())
        yield Submission(free, path)


def _printable(name: str) -> str:
    return "".join(c if c.isprintable() and c not in "/\\" else "_" for c in name)[:80] or "_"


# folders


def _read_folder(folder: Path) -> Contents:
    inner = sorted(
        entry.name
        for entry in os.scandir(folder)
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".") and entry.name not in _NO_SUBMISSION
    )
    places = [*_HERE, *(f"{name}/{here}".rstrip("/") for name in inner if name != "starter" for here in _HERE)]
    for place in places:
        if any(os.path.lexists(folder / place / file) for file in FILES):
            return _collected({file: _read_file(folder / place, file) for file in FILES})
    return _collected({})


def _read_file(folder: Path, file: str) -> bytes | str:
    """Return a file's bytes, at most one more than it may have, or the flag that says why not."""
    if folder.is_symlink() or (folder / file).is_symlink():
        return LINK
    try:
        return read_start(folder / file, MAX_SOURCE + 1, follow=False)  # the loader says that it is too large
    except FileNotFoundError:
        return MISSING
    except OSError:
        return UNREADABLE


def _collected(read: Mapping[str, bytes | str]) -> Contents:
    files = {file: content for file, content in read.items() if isinstance(content, bytes)}
    flags = {flag for file in FILES if isinstance(flag := read.get(file, MISSING), str)}
    return Contents(files, tuple(sorted(flags)))


# archives


def _read_archive(path: Path) -> Contents:
    if path.stat().st_size > LARGEST_ARCHIVE:
        return Contents({}, (UNREADABLE,))
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_ENTRIES:
            return Contents({}, (UNREADABLE,))
        by_name = {entry.filename.replace("\\", "/"): entry for entry in entries}
        folders = {name.rpartition("/")[0] for name in by_name if name.rpartition("/")[2] in FILES}
        for folder in sorted(filter(_is_place, folders), key=_nearness):
            prefix = f"{folder}/" if folder else ""
            return _collected({file: _read_entry(archive, by_name.get(prefix + file)) for file in FILES})
    return _collected({})


def _is_place(folder: str) -> bool:
    parts = folder.split("/") if folder else []
    outside = any(part in {"", ".", ".."} or part.startswith(".") or part in _NO_SUBMISSION for part in parts)
    return not outside and (len(parts) <= 1 or (len(parts) == 2 and parts[1] == "starter"))


def _nearness(folder: str) -> tuple[int, int, str]:
    """Order places as in a folder: the top, `starter/`, then each folder by name and `starter/` in it."""
    first, _, second = folder.partition("/")
    return (0 if not folder else 1 if folder == "starter" else 2, len(second), first)


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo | None) -> bytes | str:
    if entry is None:
        return MISSING
    if stat.S_ISLNK(entry.external_attr >> 16):
        return LINK
    with archive.open(entry) as stream:
        return stream.read(MAX_SOURCE + 1)
