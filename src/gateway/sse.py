"""Bytes of the stream: frames as the HTML standard's "server-sent events" reads them.

Every line that is no event (`retry`, the heartbeat) comes without a blank line behind it and so becomes part of the
next frame. Common clients dispatch an empty event for a block that holds nothing but a comment or a `retry`.
"""

from datetime import timedelta

from gateway.frames import Frame
from gateway.standing import Standing
from shared.events import Json, encode_data

HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),  # nginx: hand on every chunk as it comes
)

PING = b": ping\n"


def event(frame: Frame) -> bytes:
    """Return an event's frame. Its data is one line already, so nothing in it can end the frame."""
    if not frame.as_sse:
        frame.as_sse = f"id: {frame.seq}\nevent: {frame.kind}\ndata: {frame.data}\n\n".encode()
    return frame.as_sse


def retry(delay: timedelta) -> bytes:
    """Return the line that says how long to wait before reconnecting: the first bytes of every stream."""
    return b"retry: %d\n" % (delay // timedelta(milliseconds=1))


def snapshot(seq: int, standing: Standing) -> bytes:
    """Return the frame that replaces all events up to and including `seq`."""
    return b"id: %d\n" % seq + _named("snapshot", standing.data())


def gap(requested: int, earliest: int | None, latest: int | None) -> bytes:
    """Return the frame that says: this cursor is not in the run's history, which is `earliest` to `latest`."""
    return _named("gap", {"requested": requested, "earliest": earliest, "latest": latest})


def error(code: str, message: str) -> bytes:
    """Return the frame that says: this connection cannot go on, reconnect."""
    return _named("error", {"code": code, "message": message})


def _named(name: str, data: dict[str, Json]) -> bytes:
    return f"event: {name}\ndata: {encode_data(data)}\n\n".encode()
