"""Routes whose parameters may hold a slash, which a client writes as %2F.

By the time a path is decoded nobody can tell such a slash from those between the segments. What the server was sent is
in `raw_path` (ASGI), which is optional: without it, a parameter ends at the first slash, as always.
"""

from urllib.parse import unquote

from starlette.routing import Match, Route
from starlette.types import Scope


class SegmentRoute(Route):
    """A route that takes the segments of a path apart before they are decoded."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether the request is ours, and what its endpoint is told."""
        raw = scope.get("raw_path")
        if scope["type"] != "http" or not isinstance(raw, bytes):
            return super().matches(scope)
        match, told = super().matches({**scope, "path": raw.decode("latin-1")})
        if match is Match.NONE:  # whoever escapes what needs no escape means the same
            return super().matches(scope)
        told["path_params"] = {name: unquote(value) for name, value in told["path_params"].items()}
        return match, told
