"""The table of open sockets: by identity, bounded, and held by nobody."""

import pytest

from gateway.connections import Connections
from gateway.problems import Refused


class Told:
    """A socket that counts how often it is told to look. All of them are equal, as far as they are asked."""

    def __init__(self) -> None:
        self.looks = 0

    def look_again(self) -> None:
        """Count."""
        self.looks += 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Told)

    __hash__ = None  # type: ignore[assignment]


def test_a_late_goodbye_removes_its_own_socket() -> None:
    """The new socket of a page comes before the old one's end, which removes the old one and nothing else."""
    connections, old, new = Connections(9, 9), Told(), Told()
    assert connections.add("s", old) and connections.add("s", new)
    connections.remove("s", old)
    assert [each is new for each in connections.of("s")] == [True]
    connections.remove("s", old)
    assert [each is new for each in connections.of("s")] == [True]


def test_a_session_without_sockets_is_forgotten() -> None:
    """The table has no row for a session whose last socket has left, nor for one that never had any."""
    connections, socket = Connections(9, 9), Told()
    connections.add("s", socket)
    connections.remove("s", socket)
    connections.remove("t", socket)
    assert (connections.of("s"), connections.sessions) == ([], 0)


def test_a_session_has_only_so_many() -> None:
    """One more is not added; another session has its own bound, and who leaves makes room."""
    connections, first = Connections(9, 2), Told()
    assert [connections.add("s", each) for each in (first, Told(), Told())] == [True, True, False]
    assert connections.add("t", Told())
    connections.remove("s", first)
    assert connections.add("s", Told())


def test_a_process_has_only_so_many() -> None:
    """One more is refused with 503; whoever leaves makes room, however it leaves."""
    connections = Connections(1, 9)
    with connections.room():
        assert connections.open == 1
        with pytest.raises(Refused) as refused, connections.room():
            pass
        assert (refused.value.status, refused.value.retry_after_s) == (503, 1)
    with pytest.raises(ZeroDivisionError), connections.room():
        raise ZeroDivisionError
    assert connections.open == 0


def test_only_the_sockets_of_a_session_are_told() -> None:
    """Each of them once; one that leaves while they are told disturbs nobody."""

    class Leaving(Told):
        def look_again(self) -> None:
            """Leave, and take another along."""
            super().look_again()
            connections.remove("s", self)
            connections.remove("s", other)

    connections, leaving, other, stranger = Connections(9, 9), Leaving(), Told(), Told()
    for session_id, each in (("s", leaving), ("s", other), ("t", stranger)):
        connections.add(session_id, each)
    connections.look_again("s")
    connections.look_again("nobody's")
    assert (leaving.looks, other.looks, stranger.looks) == (1, 1, 0)
