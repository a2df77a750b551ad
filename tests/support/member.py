"""A member of a fleet: one gateway or worker process, watched through what it writes on stderr, a fact a line."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress

import msgspec

from shared.events import Json
from tests.support.patience import PATIENCE_S
from tests.support.processes import Line


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
