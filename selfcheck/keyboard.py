"""Where messages come from: a terminal whose keyboard can be watched while something else goes on, or lines alone."""

import os
import re
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from selfcheck.console import out

try:
    import readline
    import termios
except ImportError:  # not on every system; there, lines alone are read
    WATCHABLE = False
else:
    WATCHABLE = True

PROMPT = "> "
YES = frozenset({"y", "yes", "是"})  # in lower case: what is typed for it
END_OF_INPUT = b"\x04"  # Ctrl-D, while keys come as they are

_LINE_END = re.compile(rb"\r\n?|\n")
_SEQUENCE = re.compile(r"\x1b(?:[\[O][0-?]*[ -/]*[@-~]|.)?")  # what a key without a character sends


class Lines:
    """Lines from a pipe, shown as they are read, or from a terminal that is not watched."""

    watchable = False

    def __init__(self, *, interactive: bool) -> None:
        self.interactive = interactive

    def line(self) -> str | None:
        """Return the next line; None when there will be none."""
        try:
            line = input(PROMPT if self.interactive else "")
        except EOFError:
            self._break_off()
            return None
        except KeyboardInterrupt:
            self._break_off()
            raise
        if not self.interactive:
            out.out(PROMPT + line)
        return line

    def _break_off(self) -> None:
        if self.interactive:
            out.out()  # what is printed next does not go behind the prompt

    def pressed(self) -> bool:
        """Whether a key was pressed since the last line; looked at while the keyboard is watched."""
        return False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Have keys come at once and unseen, instead of line by line."""
        yield


class Keyboard(Lines):
    """A terminal. What was pressed while it was watched begins the next line, which is then edited as any other."""

    watchable = True

    def __init__(self) -> None:
        super().__init__(interactive=True)
        self._descriptor = sys.stdin.fileno()
        self._typed = b""

    def line(self) -> str | None:
        """Return the next line; None when there will be none."""
        if END_OF_INPUT in self._typed:
            return None
        match = _LINE_END.search(self._typed)
        if match is not None:  # pasted, or typed by something faster than we look
            line, self._typed = _readable(self._typed[: match.start()]), self._typed[match.end() :]
            out.out(PROMPT + line)
            return line
        begun, self._typed = _readable(self._typed), b""
        with _begun_with(begun):
            return super().line()

    def pressed(self) -> bool:
        """Whether a key was pressed since the last line; looked at while the keyboard is watched."""
        if select.select([self._descriptor], [], [], 0)[0]:
            self._typed += os.read(self._descriptor, 1024) or END_OF_INPUT  # nothing: the terminal is gone
        return bool(self._typed)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Have keys come at once and unseen, instead of line by line. Ctrl-C interrupts all the same."""
        before = termios.tcgetattr(self._descriptor)
        modes = [*before]
        modes[3] = before[3] & ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)
        try:
            yield
        finally:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)


def keyboard() -> Lines:
    """Return the best that there is: keys need a terminal, on both sides."""
    interactive = sys.stdin.isatty() and out.is_terminal
    return Keyboard() if interactive and WATCHABLE else Lines(interactive=interactive)


@contextmanager
def _begun_with(text: str) -> Iterator[None]:
    insert: Callable[[], None] = lambda: readline.insert_text(text)  # noqa: E731
    readline.set_startup_hook(insert)
    try:
        yield
    finally:
        readline.set_startup_hook(None)


def _readable(typed: bytes) -> str:
    text = _SEQUENCE.sub("", typed.decode("utf-8", "ignore"))
    return "".join(character for character in text if character.isprintable())
