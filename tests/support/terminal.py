"""A terminal with a program in it: keys go in, and what is on the screen comes out, character by character."""

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.puppet_gateway import WAIT_S

CTRL_C, CTRL_D = "\x03", "\x04"
AGAIN_S = 0.5  # until a key is pressed again that seems to have done nothing

# Takes the terminal over, so that Ctrl-C reaches it, and has Ctrl-C be what it is in a shell.
_LAUNCH = """
import fcntl, runpy, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module(sys.argv.pop(1), run_name="__main__")
"""
_SEQUENCE = re.compile(r"\x1b[\[(][0-?]*[ -/]*[@-~]")


class Terminal:
    """A program's terminal. `screen` is everything that was printed, without what only moves or colours."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self._master = master
        self._process = process
        self.printed = b""
        self._waited_for = 0

    @property
    def screen(self) -> str:
        """What has been printed so far."""
        return _SEQUENCE.sub("", self.printed.decode("utf-8", "ignore")).replace("\r\n", "\n")

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def until_true(self, condition: Callable[[str], bool]) -> None:
        """Wait until this holds of all that was printed, what moves and colours included."""
        while not condition(self.printed.decode("utf-8", "ignore")):
            readable = select.select([self._master], [], [], WAIT_S)[0]
            assert readable, f"nothing more comes, and there is {self.screen!r}"
            self.printed += os.read(self._master, 65536)

    def until(self, text: str) -> None:
        """Wait until this is on the screen, behind what was waited for before."""
        deadline = time.monotonic() + WAIT_S
        while (at := self.screen.find(text, self._waited_for)) < 0:
            left = deadline - time.monotonic()
            readable = select.select([self._master], [], [], max(left, 0))[0]
            assert readable, f"waited for {text!r}, and there is {self.screen!r}"
            self.printed += os.read(self._master, 65536)
        self._waited_for = at + len(text)

    def left(self, again: str = "") -> int:
        """Read on until the program has ended; return its exit code.

        While nothing comes, press `again`, as a person would: a line editor that has just shown its prompt hears a
        signal only with the next key.
        """
        deadline = time.monotonic() + WAIT_S
        try:
            while chunk := self._read(again):
                self.printed += chunk
                assert time.monotonic() < deadline, f"it does not end, and there is {self.screen!r}"
        except OSError:  # nobody has the other side open any more
            pass
        return self._process.wait(WAIT_S)

    def _read(self, again: str) -> bytes:
        presses = int(WAIT_S / AGAIN_S) if again else 0
        for _ in range(presses):
            if select.select([self._master], [], [], AGAIN_S)[0]:
                break
            self.type(again)
        readable = select.select([self._master], [], [], 0 if presses else WAIT_S)[0]
        assert readable, f"it does not end, and there is {self.screen!r}"
        return os.read(self._master, 65536)


@contextmanager
def terminal(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None
) -> Iterator[Terminal]:
    """Run a module in a terminal of its own, in this folder or in the current one."""
    master, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, module, *arguments],
        stdin=slave, stdout=slave, stderr=slave, env=dict(environment), cwd=cwd, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    try:
        yield Terminal(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)
