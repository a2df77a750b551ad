"""The sockets that are open: how many there may be, and which are of a session.

Everything here happens between two turns of the event loop: the table is not held while anything is waited for, and
nobody writes to a socket from here. To tell one something is to wake its own task, so a slow one delays nobody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Protocol

from gateway.problems import RETRY_AFTER_S, Refused


class Connection(Protocol):
    """What is known here of a socket. Two are the same only if they are one object."""

    def look_again(self) -> None:
        """Look for another run of the session. Returns at once, and does not raise."""
        ...


class Connections:
    """The open sockets of one gateway."""

    def __init__(self, most: int, most_per_session: int) -> None:
        self._most = most
        self._most_per_session = most_per_session
        self._of: dict[str, dict[int, Connection]] = {}  # by identity: equality is nobody's business here
        self.open = 0

    @contextmanager
    def room(self) -> Iterator[None]:
        """Count one more socket while the block lasts.

        Raises:
            Refused: 503, this process has as many as it may (another may not).
        """
        if self.open >= self._most:
            detail = f"this gateway has {self._most} sockets open, as many as it may"
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, retry_after_s=RETRY_AFTER_S)
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1

    def add(self, session_id: str, connection: Connection) -> bool:
        """Add a socket to its session's; False when that has as many as it may, and nothing was added."""
        there = self._of.setdefault(session_id, {})
        if len(there) >= self._most_per_session:
            return False
        there[id(connection)] = connection
        return True

    def remove(self, session_id: str, connection: Connection) -> None:
        """Remove this socket, whatever others its session has by now; removing it twice is fine."""
        there = self._of.get(session_id, {})
        if there.get(id(connection)) is connection:
            del there[id(connection)]
            if not there:
                del self._of[session_id]

    @property
    def sessions(self) -> int:
        """How many sessions have a socket."""
        return len(self._of)

    def of(self, session_id: str) -> list[Connection]:
        """Return the sockets of a session."""
        return list(self._of.get(session_id, {}).values())

    def look_again(self, session_id: str) -> None:
        """Have every socket of a session look for another run."""
        for connection in self.of(session_id):
            connection.look_again()
