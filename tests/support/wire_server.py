"""A local HTTP server that sends given chunks, each as one chunk of a chunked body, and can break off after them."""

import socketserver
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from socket import IPPROTO_TCP, TCP_NODELAY

from gateway.sse import HEADERS


@dataclass(frozen=True, slots=True)
class Answer:
    """A stream as the gateway sends it.

    `broken` leaves out the end of the body, as a lost connection does; `silent` says nothing more until the client
    leaves.
    """

    chunks: Sequence[bytes] = ()
    status: HTTPStatus = HTTPStatus.OK
    broken: bool = False
    silent: bool = False


@contextmanager
def serve(answer: Callable[[str | None], Answer]) -> Iterator[str]:
    """Serve `answer`, which takes the header `Last-Event-ID` (None where it is absent); yield the base URL."""

    class Handler(socketserver.StreamRequestHandler):
        timeout = 60.0

        def handle(self) -> None:
            try:
                while (request := self._request()) is not None:
                    if not self._send(answer(request.get("last-event-id"))):
                        return
            except ConnectionError:  # the client has what it wanted and left
                return

        def _request(self) -> dict[str, str] | None:
            """Read a request's headers; None when the client has no further one."""
            if not self.rfile.readline():
                return None
            headers: dict[str, str] = {}
            while line := self.rfile.readline().strip():
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.lower()] = value.strip()
            return headers

        def _send(self, what: Answer) -> bool:
            """Send an answer; return whether the connection can take another."""
            head = f"HTTP/1.1 {what.status} {what.status.phrase}\r\n".encode()
            if what.status == HTTPStatus.NO_CONTENT:
                self.wfile.write(head + b"\r\n")
                return True
            fields = b"".join(b"%s: %s\r\n" % pair for pair in HEADERS)
            self.wfile.write(head + fields + b"transfer-encoding: chunked\r\n\r\n")
            for chunk in what.chunks:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            if what.silent:
                self.rfile.read(1)
            elif not what.broken:
                self.wfile.write(b"0\r\n\r\n")
            return not (what.broken or what.silent)

        def setup(self) -> None:
            self.request.setsockopt(IPPROTO_TCP, TCP_NODELAY, True)  # a chunk is a packet, as far as it can be said
            super().setup()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=True) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
