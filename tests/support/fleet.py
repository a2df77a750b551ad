"""A fleet: gateways and workers as real processes on real services, watched through what they write on stderr.

    async with open_fleet(services, KODA_LEASE="1500ms") as fleet:
        await fleet.hire("gateway"), await fleet.hire("worker")

A process may be killed, paused, asked to end; none outlives the block, nor this process, should that be killed.
"""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

import httpx
import msgspec

from selfcheck.local_process import Guard
from selfcheck.local_services import LocalServices
from shared.adapters.postgres import drop_schema
from shared.adapters.redis import delete_prefix
from shared.addresses import Urls
from shared.bootstrap import Ports, open_ports
from shared.errors import Unavailable
from shared.events import Json
from shared.settings import Settings
from tests.support.processes import ROOT, Line, environment
from tests.support.real import own_name

PATIENCE_S: Final = 30.0
"""How long anything may take before a test fails; nothing takes a fraction of it."""

LIVELY: Final = {
    "KODA_LEASE": "1500ms",
    "KODA_RENEW_EVERY": "300ms",
    "KODA_SWEEP_EVERY": "300ms",
    "KODA_HEARTBEAT": "1s",
    "KODA_FRAGMENT_PACE": "20ms",
    "KODA_RETRY": "100ms",
    "KODA_MAX_ATTEMPTS": "30",
}
"""The settings of a fleet in which waiting is short."""

ASK_EVERY_S: Final = 0.02

T = TypeVar("T")

BEGUN: Final = {"gateway": "listening", "worker": "working"}


class Member:
    """One process: a gateway or a worker, and the lines it has written."""

    def __init__(self, room: str, process: Process) -> None:
        self.room = room
        self.lines: list[Line] = []
        self.paused = False
        self.told = False  # to end
        self._process = process
        self._changed = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        """Its process id; a worker's name for itself holds it."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended, as far as is known."""
        return self._process.returncode is None

    @property
    def address(self) -> str:
        """Host and port, of a gateway that listens."""
        (line,) = self.find("listening")
        return f"127.0.0.1:{line['port']}"

    def find(self, event: str, **fields: Json) -> list[Line]:
        """Return what it has said so far of an event with these fields."""
        return [line for line in self.lines if line["event"] == event and line.items() >= fields.items()]

    async def said(self, event: str, **fields: Json) -> Line:
        """Return the first line of an event with these fields, waiting for it."""
        return await self.said_any(event, **fields)

    async def said_any(self, *events: str, **fields: Json) -> Line:
        """Return the first line of one of these events with these fields, waiting for it."""
        async with asyncio.timeout(PATIENCE_S):
            while not (found := [line for event in events for line in self.find(event, **fields)]):
                assert not self._reader.done(), f"the {self.room} ended without saying {events}: {self.lines}"
                self._changed.clear()
                await self._changed.wait()
        return found[0]

    def pause(self) -> None:
        """Stop its clock, as a machine does that is suspended."""
        self.paused = True
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self.paused = False
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        """Ask it to end."""
        self.told = True
        self._signal(signal.SIGTERM)

    async def kill(self) -> None:
        """End it on the spot, also a paused one, and wait until it has ended."""
        self._signal(signal.SIGKILL)
        await self.ended()

    async def ended(self) -> int:
        """Read its log to the end and return the exit code, negative when a signal ended it."""
        await asyncio.wait((self._reader,), timeout=PATIENCE_S)
        assert self._reader.done(), f"the {self.room} {self.pid} does not end: {self.lines[-12:]}"
        return await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        # Not `Process.send_signal`: it reaps one that has ended, and asyncio then never hears of its exit code.
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def _read(self) -> None:
        assert self._process.stderr is not None
        async for text in self._process.stderr:
            try:
                line: Line = msgspec.json.decode(text)
            except msgspec.DecodeError:  # the interpreter's own words, before there is a log or after it
                line = {"event": "", "text": text.decode(errors="replace")}
            self.lines.append(line)
            self._changed.set()
        self._changed.set()


class Fleet:
    """All processes of one installation. Make it with `open_fleet`.

    `client` speaks to the gateways in turn, as a load balancer does; `ports` are this process's own doors to the
    services.
    """

    def __init__(self, services: LocalServices, prefix: str, given: dict[str, str], ports: Ports, guard: Guard) -> None:
        self.services = services
        self.prefix = prefix
        self.ports = ports
        self.members: list[Member] = []
        self._given = given
        self._guard = guard
        unbounded = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self.client = httpx.AsyncClient(
            transport=_Balanced(self, httpx.AsyncHTTPTransport(limits=unbounded)), base_url="http://fleet", timeout=5
        )

    @property
    def gateways(self) -> list[Member]:
        """The gateways that have not ended."""
        return [member for member in self.members if member.room == "gateway" and member.alive]

    @property
    def workers(self) -> list[Member]:
        """The workers that have not ended."""
        return [member for member in self.members if member.room == "worker" and member.alive]

    async def hire(self, room: str, **given: str) -> Member:
        """Start a gateway or a worker, with settings of its own beside the fleet's, and return when it does its work.

        One whose services are away ends at once, and is started again, as its keeper would.
        """
        while True:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", room),
                cwd=ROOT,
                env=environment(**{**self._given, **given}, **({"PORT": "0"} if room == "gateway" else {})),
                stdin=DEVNULL,
                stdout=DEVNULL,
                stderr=PIPE,
                limit=1 << 20,
            )
            self._guard.started(process.pid, signal.SIGKILL)
            member = Member(room, process)
            try:
                await member.said(BEGUN[room])
            except AssertionError:
                if not member.find("not_started"):
                    raise
                await self.dismiss(member)
            except BaseException:
                await self.dismiss(member)
                raise
            else:
                self.members.append(member)
                return member

    async def restore(self) -> None:
        """Have two gateways and two workers at work, at least, none of them paused, and both services."""
        await asyncio.to_thread(_mended, self.services)
        for member in self.members:
            if member.alive and member.paused:
                member.resume()
        missing = ["gateway"] * (2 - len(self.gateways)) + ["worker"] * (2 - len(self.workers))
        await asyncio.gather(*(self.hire(room) for room in missing))

    async def dismiss(self, member: Member) -> None:
        """Kill a member."""
        await member.kill()
        self._guard.gone(member.pid)

    async def owner(self, run_id: str, attempt: int = 1) -> Member:
        """Return the worker that has claimed the run with this attempt, waiting until one has."""

        async def found() -> Member | None:
            event = "run_moved" if attempt == 1 else "run_taken_over"
            return next((each for each in self.workers if each.find(event, run_id=run_id, attempt=attempt)), None)

        return await until("a worker claims the run", found)

    async def close(self) -> None:
        """Kill all members."""
        await self.client.aclose()
        await asyncio.gather(*map(self.dismiss, self.members))


@asynccontextmanager
async def open_fleet(services: LocalServices, **given: str) -> AsyncIterator[Fleet]:
    """Open a fleet without members, under a prefix and a schema of its own; on leaving nothing of it stays."""
    name = own_name()
    urls = Urls(services.redis_url, services.database_url)
    addresses = {"REDIS_URL": urls.redis, "DATABASE_URL": urls.database, "KODA_PREFIX": name, "KODA_SCHEMA": name}
    folder = Path(tempfile.mkdtemp(prefix="koda-"))
    guard = Guard(folder)
    try:
        async with open_ports(urls, Settings(prefix=name, schema=name)) as ports:
            fleet = Fleet(services, name, {**LIVELY, **addresses, **given}, ports, guard)
            try:
                yield fleet
            finally:
                await fleet.close()
                await asyncio.to_thread(_mended, services)
        await delete_prefix(urls.redis, name)
        await drop_schema(urls.database, name)
    finally:
        guard.close()
        shutil.rmtree(folder, ignore_errors=True)


def _mended(services: LocalServices) -> None:
    for service in (services.redis, services.postgres):
        service.resume()
        service.start()


class _Balanced(httpx.AsyncBaseTransport):
    """Sends each request to the next gateway; one that takes no connections is passed over."""

    def __init__(self, fleet: Fleet, inner: httpx.AsyncBaseTransport) -> None:
        self._fleet = fleet
        self._inner = inner
        self._turn = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        gateways: Sequence[Member] = self._fleet.gateways
        for _ in gateways:
            self._turn += 1
            host, _, port = gateways[self._turn % len(gateways)].address.partition(":")
            request.url = request.url.copy_with(host=host, port=int(port))
            with suppress(httpx.ConnectError):
                return await self._inner.handle_async_request(request)
        raise httpx.ConnectError("no gateway takes connections", request=request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


async def until(what: str, ask: Callable[[], Awaitable[T | None]]) -> T:
    """Ask for a state of other processes until there is one: an answer that is not None.

    Raises:
        AssertionError: there was none within `PATIENCE_S`.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE_S
    while True:
        with suppress(Unavailable):  # a service that was restarted: our own connections were lost, too
            answer = await ask()
            if answer is not None:
                return answer
        assert loop.time() < deadline, f"waited for {PATIENCE_S:g} s, in vain: {what}"
        await lapse(ASK_EVERY_S)


async def lapse(seconds: float) -> None:
    """Let other processes have this much time: for what is a matter of time, or a state that nobody tells us."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    timer = loop.call_later(seconds, over.set_result, None)
    try:
        await over
    finally:
        timer.cancel()
