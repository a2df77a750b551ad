"""The trace of a request: one id that the log lines of everything it leads to have in common.

It comes with the request in the header `traceparent` (W3C Trace Context, section 3.2) or is made up. Only the trace's
id is of use here: we report no spans, so nobody asks for the parent's.
"""

import re
import secrets
from typing import Final

from starlette.requests import Request

# Version 00 ends behind the flags; a later one may go on, and is then read as far as 00 goes. Version ff is no version.
_TRACEPARENT: Final = re.compile(
    r"(?:00-(?P<id>[0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}"
    r"|(?!00|ff)[0-9a-f]{2}-(?P<later>[0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?)"
)
_NO_ID: Final = "0" * 32
_NO_PARENT: Final = "0" * 16


def trace_of(request: Request) -> str:
    """Return the id of the request's trace: 32 hexadecimal digits, of a new trace when it brings no valid one."""
    given = request.headers.getlist("traceparent")
    match = _TRACEPARENT.fullmatch(given[0]) if len(given) == 1 else None
    if match is None or match["id"] == _NO_ID or match["later"] == _NO_ID or given[0][36:52] == _NO_PARENT:
        return secrets.token_hex(16)
    return str(match["id"] or match["later"])
