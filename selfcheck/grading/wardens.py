"""The wardens, as whoever grades holds them: a process for each place, orders in, lines out."""

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from selfcheck.grading.orders import Order, Place, Said
from selfcheck.texts import say
from selfcheck.trees import kit_root
from shared.errors import Misconfigured

_NOBODYS: Final = range(60_600, 61_100)  # where the conventions of the common distributions have nobody
_GRACE_S: Final = 15.0  # a warden ends what it started within this, or is taken for lost
_LONGEST: Final = 8 << 20
_PROGRAM: Final = "from selfcheck.grading.warden import main; main()"


class Held:
    """One warden: started by `start`, and again when it was lost and there is something to do."""

    def __init__(self, place: Place, program: str = _PROGRAM) -> None:
        self._place = place
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._reading = threading.Lock()
        self.is_closed = False

    @property
    def seed(self) -> int:
        """What it judges with."""
        return self._place.seed

    def carry_out(self, order: Order) -> Iterator[Said]:
        """Have an order carried out, and yield what is said; the last is the end."""
        with self._reading:
            process = self.start()
            if process is not None:
                assert process.stdin is not None, "it was asked for"
                with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
                    process.stdin.write(msgspec.json.encode(order) + b"\n")
                    process.stdin.flush()
                    for said in self._lines(process):
                        yield said
                        if said.kind == "end":
                            return
                self._end(process)
                assert process.stdout is not None, "it was asked for"
                process.stdout.close()
            yield Said("end", reason="died")

    def close(self) -> None:
        """End it for good, and with it all that it has started. May be called in the middle of an order."""
        with self._starting:
            self.is_closed = True
            process = self._process
        if process is not None:
            self._end(process)
            with self._reading:  # whoever reads has come to the end by now
                assert process.stdout is not None, "it was asked for"
                process.stdout.close()

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        """End it: it takes the end of its orders for the end, and tidies up."""
        assert process.stdin is not None, "it was asked for"
        with contextlib.suppress(OSError, ValueError):
            process.stdin.close()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def start(self) -> "subprocess.Popen[bytes] | None":
        """Start it, unless it runs, or is closed. From then on whatever lies in its base is removed when we end."""
        with self._starting:
            return None if self.is_closed else self._running()

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            program = [sys.executable, "-c", self._program, msgspec.json.encode(self._place).decode()]
            self._process = subprocess.Popen(  # noqa: S603
                program,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=kit_root(),
                env={name: value for name, value in os.environ.items() if not name.startswith("KODA_")},
                start_new_session=True,
            )
        return self._process

    def _lines(self, process: "subprocess.Popen[bytes]") -> Iterator[Said]:
        """Yield what it says, until it ends, or has said nothing for longer than an order may take."""
        assert process.stdout is not None, "it was asked for"
        until = time.monotonic() + self._place.limits.seconds + _GRACE_S
        read = b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while selector.select(max(until - time.monotonic(), 0)):
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part or len(read) > _LONGEST:
                    return
                *lines, read = (read + part).split(b"\n")
                for line in lines:
                    yield msgspec.json.decode(line, type=Said)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def users(places: int, among: Iterable[int] = _NOBODYS) -> Iterator[list[int]]:
    """Give whom submissions run as, place by place: for root somebody who owns nothing, else whoever grades (0).

    What a user may start is counted over the whole machine, so nobody else's grading has one of them meanwhile: each is
    held by a name that the system takes back when we end, however that comes.
    """
    if os.geteuid() != 0:
        yield [0] * places
        return
    with contextlib.ExitStack() as held:
        found: list[int] = []
        for user in among:
            if len(found) == places:
                break
            claim = held.enter_context(socket.socket(socket.AF_UNIX))
            with contextlib.suppress(OSError):  # another grading's
                claim.bind(f"\0koda-grade-{user}")
                found.append(user)
        if len(found) < places:
            raise Misconfigured("grade", str(say("grading.no_users", places=places)), str(say("grading.fewer_places")))
        yield found
