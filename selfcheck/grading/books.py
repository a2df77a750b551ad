"""The books: the folder in which grading writes, after every submission, so that it can go on where it was stopped.

`grades.csv` and `results.json` are the same, byte for byte, whenever the same submissions are graded by the same kit
with the same seed and limits. What differs each time (seconds) is in `seconds.csv`. `judged/` is for ourselves: what
has been judged, and of which contents.
"""

import contextlib
import csv
import hashlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from selfcheck.files import write_whole
from selfcheck.grading import flags
from selfcheck.grading.record import Record
from selfcheck.results import VERSION
from selfcheck.texts import say
from shared.errors import Misconfigured

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class _Kept(msgspec.Struct, frozen=True):
    key: str
    seconds: float
    record: Record


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Keep every other grading out of a folder while the block lasts: two would write over each other's books.

    A folder that is not there is made. Where files cannot be locked nobody is kept out.

    Raises:
        Misconfigured: somebody else grades into it, or it cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        with contextlib.suppress(ImportError):
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        problem = str(say("grading.in_use", folder=str(folder)))
        raise Misconfigured("--out", problem, str(say("grading.wait_or_name"))) from error
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(lock)


def _unwritable(folder: Path, error: OSError) -> Misconfigured:
    problem = str(say("grading.cannot_write", folder=str(folder), problem=error.strerror or ""))
    return Misconfigured("--out", problem, str(say("grading.name_a_folder")))


class Books:
    """What is known so far. `rest` is what else a document of results says, of all submissions alike."""

    def __init__(self, folder: Path, rest: Mapping[str, int | bool]) -> None:
        self._folder = folder
        self._rest = rest
        self._kept: dict[str, _Kept] = {}
        self._encoded: dict[str, bytes] = {}

    def open(self) -> None:
        """Make the folder.

        Raises:
            Misconfigured: it cannot be written to.
        """
        try:
            (self._folder / "judged").mkdir(parents=True, exist_ok=True)
            self._write_all()
        except OSError as error:
            raise _unwritable(self._folder, error) from error

    def recall(self, name: str, key: str) -> bool:
        """Take what is known of a submission from an earlier time; False: nothing is, or of other contents."""
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            kept = msgspec.json.decode(self._place(name).read_bytes(), type=_Kept)
            if kept.key == key and kept.record.name == name:
                self._take(kept)
                return True
        return False

    def add(self, record: Record, key: str, seconds: float) -> None:
        """Write down what became of a submission. One that could not be judged is judged anew the next time."""
        kept = _Kept(key, round(seconds, 2), record)
        self._take(kept)
        if flags.LOST not in record.flags:
            write_whole(self._place(record.name), msgspec.json.encode(kept))
        self._write_all()

    def write(self) -> None:
        """Write all that is known."""
        self._write_all()

    @property
    def records(self) -> Sequence[Record]:
        """What is known, in order of names."""
        return [self._kept[name].record for name in sorted(self._kept)]

    def _take(self, kept: _Kept) -> None:
        self._kept[kept.record.name] = kept
        self._encoded[kept.record.name] = msgspec.json.encode(kept.record)

    def _place(self, name: str) -> Path:
        return self._folder / "judged" / f"{hashlib.sha256(name.encode()).hexdigest()[:20]}.json"

    def _write_all(self) -> None:
        records = self.records
        write_whole(self._folder / "grades.csv", _csv([HEAD, *(_row(record) for record in records)]))
        write_whole(
            self._folder / "seconds.csv",
            _csv([("name", "seconds"), *((_cell(each.name), str(self._kept[each.name].seconds)) for each in records)]),
        )
        head = msgspec.json.encode({"version": VERSION, "mode": "mock", **self._rest})[:-1]
        listed = b",\n".join(self._encoded[record.name] for record in records)
        write_whole(self._folder / "results.json", head + b',"submissions":[\n' + listed + b"\n]}\n")


HEAD: Final = ("name", "passed", "total", *(f"check_{number}" for number in range(1, 7)), "flags", "symptoms")
"""The columns of `grades.csv`."""


def _row(record: Record) -> Sequence[str]:
    total = str(record.results["total"])
    flagged, symptoms = " ".join(record.flags), "; ".join(record.symptoms)
    return [_cell(record.name), str(record.passed), total, *record.states, flagged, symptoms]


def _cell(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(_FORMULA) else name


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")
