"""Following a session's line over real connections. Each test of a driver runs on the sync and on the async one."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Protocol

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from client.arrivals import (
    Disconnected,
    Ended,
    Gap,
    Reconnected,
    RunEvent,
    RunOpened,
    SessionOpened,
    Snapshot,
    Unknown,
)
from client.follow_line import AsyncLineFollower, LineFollower
from client.following import Patience
from client.line import Line, LineArrival, LineLost, LineRefused
from client.line_frames import Answered, Rejected
from client.projection import SessionView, reduce
from client.reading import BadPayload, from_page
from gateway import sessions
from gateway.doorbell import bell_of
from shared.envelope import CloseCode
from shared.errors import Unavailable
from shared.events import Event, EventKind
from shared.questions import QuestionState
from shared.run import RunStatus
from tests.support.houses import House, delta, deltas, done, house, log
from tests.support.lines import full_log
from tests.support.processes import nobody
from tests.support.serving import serving

PATIENCE_S = 60.0  # for a whole test; nothing here waits for a fraction of it

READY = '{"v":1,"type":"ready","kind":"session_opened","cursor":"","data":{"ping_every_s":9,"pong_wait_s":9}}'
FIRST = '{"v":1,"type":"event","cursor":"0-0","run_id":"r","seq":0,"kind":"delta","message":"…","data":{"text":"a"}}'


class Paused(Exception):
    """A following was to wait before it comes back."""


class Hand(Protocol):
    """Holds a follower of either kind in an event loop."""

    pauses: list[float]

    async def next(self) -> LineArrival:
        """Return the next arrival."""
        ...

    async def answer(self, question_id: str, text: str) -> None:
        """Answer a question."""
        ...

    async def leave(self) -> None:
        """Leave the line."""
        ...


@dataclass
class Sync:
    """Holds a `LineFollower`, in threads."""

    url: str
    line: Line
    comes_back: bool
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._follower = LineFollower(self.url, self.line, pause=self._pause)
        self._arrivals = self._follower.arrivals()

    def _pause(self, duration: timedelta) -> None:
        self.pauses.append(duration.total_seconds())
        if not self.comes_back:
            raise Paused

    async def next(self) -> LineArrival:
        """Return the next arrival."""
        return await asyncio.to_thread(next, self._arrivals)

    async def answer(self, question_id: str, text: str) -> None:
        """Answer a question, from a thread that is not the follower's."""
        await asyncio.to_thread(self._follower.answer, question_id, text)

    async def leave(self) -> None:
        """Leave the line."""
        await asyncio.to_thread(self._arrivals.close)


@dataclass
class Async:
    """Holds an `AsyncLineFollower`."""

    url: str
    line: Line
    comes_back: bool
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._follower = AsyncLineFollower(self.url, self.line, pause=self._pause)
        self._arrivals = self._follower.arrivals()

    async def _pause(self, duration: timedelta) -> None:
        self.pauses.append(duration.total_seconds())
        if not self.comes_back:
            raise Paused

    async def next(self) -> LineArrival:
        """Return the next arrival."""
        return await anext(self._arrivals)

    async def answer(self, question_id: str, text: str) -> None:
        """Answer a question."""
        await self._follower.answer(question_id, text)

    async def leave(self) -> None:
        """Leave the line."""
        await self._arrivals.aclose()


@pytest.fixture(params=[Sync, Async], ids=["sync", "async"])
def hand(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[Sync] | type[Async]:
    """Return each driver in turn. Whatever proxy there is, it is not for us."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    driver: type[Sync] | type[Async] = request.param
    return driver


Driver = type[Sync] | type[Async]


@asynccontextmanager
async def following(
    driver: Driver, port: int, line: Line | None = None, comes_back: bool = True
) -> AsyncIterator[Hand]:
    """Follow session "s" while the block lasts."""
    held = driver(f"http://127.0.0.1:{port}", line or Line("s", chance=lambda: 1.0), comes_back)
    try:
        yield held
    finally:
        await held.leave()


def run(main: Callable[[], Coroutine[None, None, None]]) -> None:
    """Run a test that has an end."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await main()

    asyncio.run(bounded())


async def taken(held: Hand, count: int) -> list[LineArrival]:
    """Return the next arrivals."""
    return [await held.next() for _ in range(count)]


async def until(held: Hand, last: Callable[[LineArrival], bool]) -> list[LineArrival]:
    """Return the next arrivals up to the first of which this is true."""
    arrivals = [await held.next()]
    while not last(arrivals[-1]):
        arrivals.append(await held.next())
    return arrivals


def seqs(arrivals: Sequence[LineArrival], run_id: str = "r") -> list[int]:
    """Return the seqs of a run's events."""
    return [each.seq for each in arrivals if isinstance(each, RunEvent) and each.run_id == run_id]


# --- A real gateway ---------------------------------------------------------------------------------------------------


def test_a_line_is_the_session(hand: Driver) -> None:
    """Connected before anything is there, it brings each run as it begins and what its log has, whatever the kind."""

    async def main() -> None:
        gateway, whole = house(), full_log()
        async with serving(gateway) as (_, port), following(hand, port) as held:
            assert await held.next() == SessionOpened("")
            await gateway.streaming()
            await gateway.write(*whole[:3])
            await ring(gateway)
            assert await held.next() == RunOpened("r")
            live = await taken(held, 3)
            await gateway.end(whole)
            await gateway.publish(*whole[3:])
            live += await taken(held, len(whole) - 3)
            await gateway.ended(log(2, "q"))
            await ring(gateway)
            assert await held.next() == RunOpened("q")
            assert seqs(await taken(held, 2), "q") == [0, 1]
        assert live == await paged(gateway, "r")
        assert not any(isinstance(each.change, Unknown) for each in live if isinstance(each, RunEvent))

    run(main)


def test_a_cursor_that_is_ahead_of_a_run_begins_anew(hand: Driver) -> None:
    """R4: what was shown is void, and the cursor with it: the run's own history comes, and goes on."""

    async def main() -> None:
        gateway, line = house(), Line("s", "0-50")
        await gateway.streaming()
        await gateway.write(*deltas(0, 3))
        async with serving(gateway) as (_, port), following(hand, port, line) as held:
            assert await taken(held, 3) == [
                SessionOpened("0-50"),
                Gap("r", 50),
                RunEvent("r", 2, Snapshot("0 1 2 ")),
            ]
            await gateway.write(delta(3))
            assert seqs([await held.next()]) == [3]
            assert line.cursor == "0-3"

    run(main)


async def ring(gateway: House) -> None:
    """Tell the session's lines that there is another run, as a gateway does that has taken a message."""
    await gateway.output.append([Event(bell_of("s"), 0, EventKind.RING, "{}")], attempt=0)


async def paged(gateway: House, run_id: str) -> list[RunEvent]:
    """Return a run's events as a page of the session has them."""
    page = from_page(msgspec.json.encode(await sessions.page(gateway.store, "s", "")))
    return [event for event in page.events if event.run_id == run_id]


def test_coming_back_at_every_cut_brings_each_event_once(hand: Driver) -> None:
    """Wherever a line is left, its next connection goes on there; all together is the log, and the projection of it."""

    async def main() -> None:
        gateway = house()
        await gateway.ended([*full_log()])
        await gateway.ended(log(2, "q"))
        async with serving(gateway) as (_, port):
            async with following(hand, port) as held:
                whole = (await until(held, lambda each: each == RunEvent("q", 1, Ended(RunStatus.DONE, ""))))[1:]
            for cut in range(len(whole) + 1):
                line = Line("s")
                async with following(hand, port, line) as held:
                    before = (await taken(held, 1 + cut))[1:]
                async with following(hand, port, line) as held:
                    behind = (await taken(held, 1 + len(whole) - cut))[1:]
                assert before + behind == whole
        assert seqs(whole) == list(range(len(full_log())))
        assert projected(whole) == projected([*await paged(gateway, "r"), *await paged(gateway, "q")])

    run(main)


def projected(arrivals: Sequence[LineArrival]) -> SessionView:
    """Return the session after these."""
    session = SessionView()
    for arrival in arrivals:
        if not isinstance(arrival, Answered | Rejected):
            session, _ = reduce(session, arrival)
    return session


def test_a_gateway_that_goes_away_is_come_back_to(hand: Driver) -> None:
    """What it said before it went stands; another one goes on at the cursor, and says that the run is watched again."""

    async def main() -> None:
        first, line = house(), Line("s", chance=lambda: 1.0)
        await first.streaming()
        await first.write(*deltas(0, 3))
        async with serving(first) as (server, port), following(hand, port, line, comes_back=False) as held:
            assert seqs(await taken(held, 5)) == [0, 1, 2]
            server.end()
            assert await held.next() == Disconnected("r")
            with pytest.raises(Paused):
                await held.next()
        assert (line.last_error, line.cursor) == (
            "close code 1001 (this connection has reached its end; reconnect)",
            "0-2",
        )
        await first.end([*deltas(0, 3), done(3)])
        second = house(store=lambda _: first.store, output=lambda _: first.output)
        async with serving(second) as (_, port), following(hand, port, line) as held:
            arrivals = await taken(held, 3)
            assert arrivals[:2] == [SessionOpened("0-2"), Reconnected("r")]
            assert seqs(arrivals) == [3]

    run(main)


def test_a_gateway_that_dies_is_come_back_to(hand: Driver) -> None:
    """Without a goodbye, too: each time the line is cut off it goes on behind what came."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        async with serving(gateway) as (server, port), following(hand, port) as held:
            arrivals = await taken(held, 2)
            for seq in range(3):
                await gateway.write(delta(seq))
                arrivals.append(await held.next())
                for connection in list(server.server_state.connections):
                    connection.transport.abort()
                arrivals += await taken(held, 3)
        assert seqs(arrivals) == [0, 1, 2]
        assert arrivals[3:6] == [Disconnected("r"), SessionOpened("0-0"), Reconnected("r")]
        assert held.pauses == [1.0, 1.0, 1.0]

    run(main)


def test_a_question_is_answered_on_the_line(hand: Driver) -> None:
    """The first answer counts, the second is told what did, and one to nothing is told that."""

    async def main() -> None:
        gateway = house()
        await gateway.streaming()
        await gateway.ask()
        async with serving(gateway) as (_, port), following(hand, port) as held:
            await held.answer("q", "取")
            await taken(held, 2)
            assert await held.next() == Answered("q", True, "取")
            await held.answer("q", "other")
            assert await held.next() == Answered("q", False, "取")
            await held.answer("p", "yes")
            rejected = await held.next()
            assert isinstance(rejected, Rejected)
            assert (rejected.question_id, rejected.code) == ("p", "unknown_question")
        question = await gateway.store.question("q")
        assert question is not None
        assert (question.state, question.answer) == (QuestionState.ANSWERED, "取")

    run(main)


@pytest.mark.parametrize(
    ("session_id", "cursor", "code"),
    [("s", "7-4", CloseCode.UNKNOWN_CURSOR), ("s\x01", "", CloseCode.BAD_REQUEST)],
)
def test_a_gateways_final_word_is_final(hand: Driver, session_id: str, cursor: str, code: CloseCode) -> None:
    """A cursor of another session, or no session at all: it says why, and is not asked again."""

    async def main() -> None:
        line = Line(session_id, cursor)
        async with serving(house()) as (_, port), following(hand, port, line) as held:
            with pytest.raises(LineRefused, match=f"close code {code.value} \\((cursor|session_id): "):
                await held.next()
            assert (line.tries, held.pauses) == (1, [])

    run(main)


# --- A gateway on a string --------------------------------------------------------------------------------------------


Part = Callable[[ServerConnection], None]


@dataclass
class Scripted:
    """A server: each connection has the next of its parts, and the last one has all that follow."""

    parts: list[Part | HTTPStatus]
    targets: list[str] = field(default_factory=list)
    port: int = 0

    def upgrade(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse an upgrade, where that is the part."""
        self.targets.append(request.path)
        part = self.parts[0]
        if isinstance(part, HTTPStatus):
            self._pop()
            return connection.respond(part, "no")
        return None

    def play(self, connection: ServerConnection) -> None:
        """Play the next part."""
        part = self._pop()
        assert not isinstance(part, HTTPStatus)
        with suppress(ConnectionClosed):
            part(connection)

    def _pop(self) -> Part | HTTPStatus:
        return self.parts.pop(0) if len(self.parts) > 1 else self.parts[0]


@contextmanager
def scripted(*parts: Part | HTTPStatus) -> Iterator[Scripted]:
    """Serve parts on a free port."""
    script = Scripted(list(parts))
    with serve(
        script.play, "127.0.0.1", 0, process_request=script.upgrade, compression=None, ping_interval=None
    ) as server:
        script.port = server.socket.getsockname()[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()


def sends(*frames: str | bytes, code: int = 1001) -> Part:
    """Return a connection that has these frames, and is closed."""

    def part(connection: ServerConnection) -> None:
        for frame in frames:
            connection.send(frame)
        connection.close(code, "enough")

    return part


def cuts(connection: ServerConnection) -> None:
    """End a connection without a word."""
    connection.send(READY)
    connection.socket.close()


def garbage(connection: ServerConnection) -> None:
    """Send what is no WebSocket frame."""
    connection.send(READY)
    connection.socket.sendall(b"\xff\xff\xff\xff")


@pytest.mark.parametrize("frame", ["<html>", "{}", b"\x00", '{"v":2,"type":"ready"}', FIRST.replace('"a"', "7")])
def test_a_frame_that_cannot_be_read_is_told(hand: Driver, frame: str | bytes) -> None:
    """One clear error instead of a following that goes on with half of what was said."""

    async def main() -> None:
        with scripted(sends(READY, FIRST, frame)) as server:
            async with following(hand, server.port) as held:
                assert seqs(await taken(held, 2)) == [0]
                with pytest.raises(BadPayload, match="cannot be read"):
                    await held.next()
        assert len(server.targets) == 1

    run(main)


def test_bytes_that_are_no_frames_are_a_broken_connection(hand: Driver) -> None:
    """They may come from anything on the way: it is tried again, and given up if that is all that comes."""

    async def main() -> None:
        with scripted(garbage) as server:
            async with following(hand, server.port, Line("s", patience=Patience(failures=3))) as held:
                with pytest.raises(LineLost, match=r"failures in a row: 3; .+; at last ConnectionClosedError: "):
                    await until(held, lambda _: False)
        assert len(server.targets) == 3

    run(main)


@pytest.mark.parametrize(
    "bad", [cuts, sends(READY), sends(READY, code=1011), sends(code=4408), sends(READY, code=4429)]
)
def test_what_may_pass_is_tried_again(hand: Driver, bad: Part) -> None:
    """Each of these says, or has it seem, that the next connection may be better."""

    async def main() -> None:
        with scripted(bad, sends(READY, FIRST)) as server:
            async with following(hand, server.port) as held:
                assert seqs(await until(held, lambda each: isinstance(each, RunEvent))) == [0]
                assert held.pauses == [1.0]
        assert server.targets == ["/sessions/s/socket?v=1"] * 2

    run(main)


@pytest.mark.parametrize("code", [code for code in CloseCode if code.final])
def test_what_will_not_pass_ends_it(hand: Driver, code: CloseCode) -> None:
    """With the server's reason."""

    async def main() -> None:
        with scripted(sends(READY, code=code)) as server:
            async with following(hand, server.port) as held:
                assert await held.next() == SessionOpened("")
                with pytest.raises(LineRefused, match=rf"close code {code.value} \(enough\)"):
                    await held.next()
        assert len(server.targets) == 1

    run(main)


@pytest.mark.parametrize("status", [HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.NOT_FOUND])
def test_an_upgrade_that_is_refused(hand: Driver, status: HTTPStatus) -> None:
    """A gateway that is full may be asked again; one that knows no sockets may not."""

    async def main() -> None:
        with scripted(status, sends(READY, FIRST)) as server:
            async with following(hand, server.port) as held:
                final = status is HTTPStatus.NOT_FOUND
                with pytest.raises(LineRefused, match="status 404") if final else nullcontext():
                    assert await held.next() == SessionOpened("")
                assert held.pauses == ([] if final else [1.0])

    run(main)


def test_a_gateway_that_is_not_there_is_given_up(hand: Driver) -> None:
    """It says how often it was tried, and what came of the last time."""

    async def main() -> None:
        with nobody() as address:
            port = int(address.rpartition(":")[2])
            async with following(hand, port, Line("s", patience=Patience(failures=2))) as held:
                with pytest.raises(LineLost) as lost:
                    await held.next()
        assert isinstance(lost.value, Unavailable)
        assert lost.value.tries == 2
        assert "Connect" in lost.value.last_error

    run(main)


def test_pings_go_both_ways(hand: Driver) -> None:
    """A silent server is asked whether it is there, and one that asks is told; if nothing comes, that is the end."""
    heard: list[str | bytes] = []
    left = threading.Event()

    def silent(connection: ServerConnection) -> None:
        connection.send(READY)
        connection.send('{"v":1,"type":"ping","kind":"ping"}')
        heard.append(connection.recv())
        connection.send(READY.replace('_s":9', '_s":0.05'))  # only now, so that it does not ask first
        try:
            heard.extend(connection)
        finally:
            left.set()

    async def main() -> None:
        with scripted(silent, sends(READY, FIRST)) as server:
            async with following(hand, server.port) as held:
                await until(held, lambda each: isinstance(each, RunEvent))
                await asyncio.to_thread(left.wait, PATIENCE_S)
        assert heard == ['{"type":"pong"}', '{"type":"ping"}']

    run(main)


def test_the_library_is_loaded_with_the_first_connection() -> None:
    """Who follows runs, or only decides, does without it and without an event loop."""
    program = "import sys, client.follow_line; print(*sys.modules)"
    path = {"PYTHONPATH": ":".join(sys.path)}
    answer = subprocess.run([sys.executable, "-c", program], env=path, capture_output=True, text=True)
    assert "client.line" in answer.stdout.split(), answer.stderr
    assert {"websockets", "asyncio", "httpx"}.isdisjoint(answer.stdout.split())
