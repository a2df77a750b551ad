"""A gateway on a string: it answers what the test says, when the test says it, and tells what it was asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue

import msgspec

from gateway import sse
from gateway.frames import frame
from shared.events import Event, EventKind, Json, encode_data

WAIT_S = 60.0  # for what is bound to come; only a failing test waits that long

CUT = b""


@dataclass(slots=True)
class Puppet:
    """The strings. `asked` has each POST (path, document), `cursors` the cursor of each connection to a stream.

    The streams of runs that are `gone` are refused.
    """

    url: str
    gone: set[str] = field(default_factory=set)
    session: dict[str, Json] = field(default_factory=lambda: {"runs": [], "cursor": ""})
    asked: "SimpleQueue[tuple[str, Json]]" = field(default_factory=SimpleQueue)
    cursors: "SimpleQueue[tuple[str, str | None]]" = field(default_factory=SimpleQueue)
    answers: "SimpleQueue[tuple[int, Json]]" = field(default_factory=SimpleQueue)
    _streams: "dict[str, SimpleQueue[bytes]]" = field(default_factory=dict)

    def accept(self, run_id: str, *, merged: bool = False) -> None:
        """Answer the next POST: a message was taken by this run."""
        self.answers.put((202, {"run_id": run_id, "merged": merged}))

    def write(self, run_id: str, seq: int, kind: EventKind, data: dict[str, Json]) -> None:
        """Send an event on the run's stream."""
        self.stream(run_id).put(sse.event(frame(Event(run_id, seq, kind, encode_data(data)))))

    def say(self, run_id: str, seq: int, text: str) -> None:
        """Send a fragment on the run's stream."""
        self.write(run_id, seq, EventKind.DELTA, {"text": text})

    def ask(self, run_id: str, seq: int) -> None:
        """Ask "Red?" on the run's stream; "red" is the default."""
        question: dict[str, Json] = {"question_id": "q", "question": "Red?", "default": "red"}
        self.write(run_id, seq, EventKind.QUESTION, question)

    def told(self, run_id: str, seq: int, text: str, *, answered: bool = True) -> None:
        """Say on the run's stream what it goes on with."""
        self.write(run_id, seq, EventKind.ANSWER, {"question_id": "q", "text": text, "answered": answered})

    def end(self, run_id: str, seq: int, kind: EventKind = EventKind.DONE, **data: Json) -> None:
        """End the run, and with it its stream."""
        self.write(run_id, seq, kind, data)
        self.cut(run_id)

    def cut(self, run_id: str) -> None:
        """End the connection to the run's stream; the next one gets what is sent after that."""
        self.stream(run_id).put(CUT)

    def stream(self, run_id: str) -> "SimpleQueue[bytes]":
        """Return what is to be sent on the run's stream."""
        return self._streams.setdefault(run_id, SimpleQueue())


@contextmanager
def puppet_gateway() -> Iterator[Puppet]:
    """Serve on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path.startswith("/sessions/"):
                self._answer(200, puppet.session)
                return
            run_id = self.path.split("/")[2]
            puppet.cursors.put((run_id, self.headers["last-event-id"]))
            if run_id in puppet.gone:
                self._answer(404, {"title": "Not Found"})
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"retry: 0\n")
            stream = puppet.stream(run_id)
            while chunk := stream.get():
                self.wfile.write(chunk)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            puppet.asked.put((self.path, msgspec.json.decode(body) if body else None))
            self._answer(*puppet.answers.get(timeout=WAIT_S))

        def _answer(self, status: int, document: Json) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(msgspec.json.encode(document))

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        puppet = Puppet(f"http://127.0.0.1:{server.server_address[1]}")
        server.daemon_threads = True
        server.block_on_close = False  # a stream may wait for what nobody will send
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield puppet
        finally:
            server.shutdown()
            thread.join()
