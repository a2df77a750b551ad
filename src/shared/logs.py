"""Log lines: one event a line, fields instead of sentences, so that people and programs read the same line.

`note(log, "run_moved", run_id=…, source=…, target=…)` is the only way lines are written. A process decides at its start
whether they come out as JSON or readable.
"""

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from json import dumps
from types import MappingProxyType
from typing import Final, TextIO

from shared.events import Json, decode_data, encode_data
from shared.text import clean

ROOT = "koda"


def logger(room: str) -> logging.Logger:
    """Return the logger of a room of the house, for example `logger("worker")`."""
    return logging.getLogger(f"{ROOT}.{room}")


_carried: Final[ContextVar[Mapping[str, Json]]] = ContextVar("carried", default=MappingProxyType({}))


@contextmanager
def carrying(**fields: str) -> Iterator[None]:
    """Have every line that is written in the block, and in tasks begun there, carry these fields; not empty ones."""
    token = _carried.set({**_carried.get(), **{name: value for name, value in fields.items() if value}})
    try:
        yield
    finally:
        _carried.reset(token)


def note(log: logging.Logger, event: str, level: int = logging.INFO, **fields: Json) -> None:
    """Write one line: what happened (a past fact, snake_case) and its fields."""
    if log.isEnabledFor(level):
        log.log(level, event, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """One JSON object a line: `at`, `level`, `room`, `event`, then the fields in the order they were given."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of JSON."""
        line: dict[str, Json] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "room": record.name.removeprefix(f"{ROOT}."),
            "event": record.getMessage(),
        }
        line.update(_fields(record))
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _encode(line)


class Readable(logging.Formatter):
    """The same line for a terminal: `12:00:01.250 worker run_moved run_id=… target=done`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line to be read by a person."""
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        level = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()} "
        fields = " ".join(f"{name}={_shown(value)}" for name, value in _fields(record).items())
        line = f"{at} {level}{record.name.removeprefix(f'{ROOT}.')} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def configure(*, json: bool, stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Send this process's lines to `stream` (default: stderr). Called once, by the process's entry point."""
    handler = logging.StreamHandler(stream if stream is not None else sys.stderr)
    handler.setFormatter(JsonLines() if json else Readable())
    root = logging.getLogger(ROOT)
    root.handlers = [handler]
    root.setLevel(level)
    root.propagate = False


def _fields(record: logging.LogRecord) -> dict[str, Json]:
    fields: dict[str, Json] = getattr(record, "fields", {})
    return {**fields, **_carried.get()}


def _encode(line: dict[str, Json]) -> str:
    try:
        return encode_data(line)
    except UnicodeEncodeError:
        # A text that UTF-8 cannot hold must not cost the line it stands in.
        return encode_data(decode_data(clean(dumps(line, ensure_ascii=False))))


def _shown(value: Json) -> str:
    text = str(value)
    return text if text.isprintable() else repr(text)
