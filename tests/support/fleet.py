"""A fleet: gateways and workers as real processes on real services, watched through what they write on stderr.

    async with open_fleet(services, KODA_LEASE="1500ms") as fleet:
        await fleet.hire("gateway"), await fleet.hire("worker")

A process may be killed, paused, asked to end; none outlives the block, nor this process, should that be killed.
"""

import asyncio
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import httpx

from selfcheck.local.process import Guard
from selfcheck.local.services import LocalServices
from shared.adapters.postgres import drop_schema
from shared.adapters.redis import delete_prefix
from shared.addresses import Urls
from shared.bootstrap import Ports, open_ports
from shared.settings import Settings
from tests.support.balanced import Balanced
from tests.support.member import Member
from tests.support.patience import PATIENCE_S, lapse, until
from tests.support.processes import ROOT, environment
from tests.support.real import own_name

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

TRY_EVERY_S: Final = 0.2

BEGUN: Final = {"gateway": "listening", "worker": "working"}


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
        gateways = Balanced(lambda: [gateway.address for gateway in self.gateways])
        self.client = httpx.AsyncClient(transport=gateways, base_url="http://fleet", timeout=PATIENCE_S)

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

    async def ask(self, path: str, body: Mapping[str, str] | None, final: set[int]) -> httpx.Response:
        """Post until the answer's status is one of these, however long no gateway or no service is there."""
        while True:
            with suppress(httpx.TransportError):  # whether it was taken is not known: asking again does no harm
                answer = await self.client.post(path, json=body)
                if answer.status_code in final:
                    return answer
                assert answer.status_code == 503, f"{path} was answered by {answer.status_code} {answer.text}"
            await lapse(TRY_EVERY_S)

    async def owner(self, run_id: str) -> Member:
        """Return the worker that was the last to claim the run, waiting until one has."""

        async def found() -> Member | None:
            claims = {
                int(str(line["attempt"])): worker
                for worker in self.workers
                for line in worker.find("run_moved", run_id=run_id) + worker.find("run_taken_over", run_id=run_id)
            }
            return claims[max(claims)] if claims else None

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
