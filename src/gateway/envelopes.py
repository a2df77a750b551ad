"""The frames of a session's line, written. A feed's events come out in the same order as on a stream; see `LineForm`.

All of these lack their last member's value and what is behind it: the time of sending, which `stamp` returns
(`framing.completed` puts it there). So an event is encoded once for all sockets, whenever each of them is sent it.
"""

from datetime import datetime
from typing import Final

import msgspec

from gateway import captions
from gateway.captions import caption, one_line
from gateway.frames import Frame
from gateway.framing import begun
from gateway.sessions import encode_place
from gateway.standing import Standing
from shared.envelope import Envelope
from shared.events import EventKind, Json, decode_data, encode_data
from shared.ports import StoredRun
from shared.shortening import LONGEST_TEXT, shortened

_END: Final = len('"}')
_STAMP: Final = len('2026-01-01T00:00:00.000+00:00"}')
_NOTHING: Final = msgspec.Raw(b"{}")
_AS_IT_IS: Final = ("text", "tools")  # of a snapshot

Data = dict[str, Json]


def stamp(now: datetime) -> bytes:
    """Return what completes a frame that is sent now."""
    stamped = f'{now.isoformat(timespec="milliseconds")}"}}'.encode()
    assert len(stamped) == _STAMP, "every frame says how long it is before it is stamped"
    return stamped


def ready(cursor: str, data: Data) -> bytes:
    """Return the first frame of a connection. `cursor` is where the line stands."""
    return _written(
        Envelope(type="ready", kind="session_opened", cursor=cursor, message=captions.OPENED, data=_raw(data))
    )


def ping() -> bytes:
    """Return the frame that wants to be answered."""
    return _written(Envelope(type="ping", kind="ping", message=captions.PING, data=_NOTHING))


def pong() -> bytes:
    """Return the reply to a ping."""
    return _written(Envelope(type="pong", kind="pong", message=captions.PONG, data=_NOTHING))


def answered(question_id: str, counted: bool, text: str, message: str) -> bytes:
    """Return the reply to an answer."""
    data: Data = {"question_id": question_id, "counted": counted, "text": text}
    return _written(Envelope(type="answered", kind="answered", message=one_line(message), data=_raw(data)))


def error(code: str, message: str, **more: str) -> bytes:
    """Return what a client is told of a frame that was not taken."""
    data: Data = {"code": code, **more}
    return _written(Envelope(type="error", kind="error", message=one_line(message), data=_raw(data)))


class LineForm:
    """Writes the events of one run for its session's line (`frames.Form`)."""

    __slots__ = ("_ordinal", "_run_id")

    def __init__(self, run_id: str, ordinal: int) -> None:
        self._run_id = run_id
        self._ordinal = ordinal

    def started(self, stored: StoredRun) -> bytes:
        """Write that the run is next."""
        data: Data = {"ordinal": self._ordinal, "created_at": stored.run.created_at.isoformat()}
        return self._event("run_started", None, captions.STARTED, _raw(data))

    def event(self, frame: Frame) -> bytes:
        """Write an event of the log."""
        if not frame.as_line:
            frame.as_line = self._logged(frame)
        return frame.as_line

    def snapshot(self, seq: int, standing: Standing) -> bytes:
        """Write what replaces all events up to and including `seq`. Its tools are cut already, its text never is."""
        data = {name: each if name in _AS_IT_IS else shortened(each) for name, each in standing.data().items()}
        return self._event("snapshot", seq, captions.SNAPSHOT, _raw(data))

    def gap(self, requested: int, earliest: int | None, latest: int | None) -> bytes:
        """Write that a cursor is not in the run's history. The line stands before the run's first event again."""
        data: Data = {"requested": requested, "earliest": earliest, "latest": latest}
        return self._event("gap", None, captions.GAP, _raw(data))

    def _logged(self, frame: Frame) -> bytes:
        if frame.kind is EventKind.DELTA:  # most of all; and its text is never cut, for it is to be appended
            return self._event(frame.kind, frame.seq, captions.DELTA, msgspec.Raw(frame.data.encode()))
        data = decode_data(frame.data)
        text = frame.data if len(frame.data) <= LONGEST_TEXT else encode_data(_shortened(data))
        return self._event(frame.kind, frame.seq, caption(frame.kind, data), msgspec.Raw(text.encode()))

    def _event(self, kind: str, seq: int | None, message: str, data: msgspec.Raw) -> bytes:
        cursor = encode_place(self._ordinal, -1 if seq is None else seq)
        return _written(
            Envelope(type="event", cursor=cursor, run_id=self._run_id, seq=seq, kind=kind, message=message, data=data)
        )


def _shortened(data: Data) -> Data:
    return {name: shortened(value) for name, value in data.items()}


def _raw(data: Data) -> msgspec.Raw:
    return msgspec.Raw(encode_data(data).encode())


def _written(envelope: Envelope) -> bytes:
    return begun(msgspec.json.encode(envelope)[:-_END], _STAMP)
