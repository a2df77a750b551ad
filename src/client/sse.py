"""Read server-sent events. A worker reads its model's answer the same way, so the parser is in `shared/sse.py`."""

from shared.sse import EventStreamParser, ServerEvent

__all__ = ["EventStreamParser", "ServerEvent"]
