"""A client of several gateways that come and go, as behind a load balancer."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import httpx


class Balanced(httpx.AsyncBaseTransport):
    """Sends each request to the next of some addresses (`host:port`); one that takes no connections is passed over."""

    def __init__(self, addresses: Callable[[], Sequence[str]]) -> None:
        self._addresses = addresses
        # Every request has a connection of its own: none is sent into one that is about to be closed.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._inner = httpx.AsyncHTTPTransport(limits=limits)
        self._turn = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        addresses = self._addresses()
        for _ in addresses:
            self._turn += 1
            host, _, port = addresses[self._turn % len(addresses)].partition(":")
            request.url = request.url.copy_with(host=host, port=int(port))
            with suppress(httpx.ConnectError):
                return await self._inner.handle_async_request(request)
        raise httpx.ConnectError("nobody takes connections", request=request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()
