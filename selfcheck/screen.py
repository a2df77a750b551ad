"""What a conversation looks like in a terminal, a dumb one too, or in a file: effects in, text out.

Replies go to standard output, everything about them to standard error. Nothing that was printed is taken back: what is
void is said to be.
"""

import re

from rich.console import Console
from rich.status import Status

from client.effects import (
    AppendText,
    Effect,
    ReplaceText,
    ShowEnd,
    ShowInterrupted,
    ShowTool,
    StartSpinner,
    StopSpinner,
)
from client.run_view import RunView
from selfcheck.console import plain
from shared.run import RunStatus

# A reply is somebody else's text, and a terminal obeys these.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_WHY = {
    "merge": "merged; the reply so far is void",
    "retry": "an error; the reply so far is void, it is tried again",
    "takeover": "a worker was lost; the reply so far is void, another one goes on",
    "snapshot": "the reply so far, at once",
    "gap": "the run has another history; the reply so far is void",
}


class Screen:
    """One run at a time on two consoles. `show` takes effects, `aside` whatever else is to be said.

    `voided` is whether the reply is known to be void before the run says so: what comes of it is not shown any more.
    """

    def __init__(self, out: Console, err: Console) -> None:
        self._out = out
        self._err = err
        self._spinner: Status | None = None
        self._mid_line = False
        self.voided = False

    def begin(self, run: RunView) -> None:
        """Turn to this run, as far as it has come."""
        self.voided = False
        self._write(str(run.text))

    def void(self) -> None:
        """Say that a correction was taken in."""
        self.aside(_WHY["merge"])
        self.voided = True

    def show(self, effect: Effect) -> None:
        """Carry out what is to be done about the run that is shown."""
        match effect:
            case StartSpinner():
                self.spin()
            case StopSpinner() if not self.voided:
                self.rest()
            case AppendText(_, text) if not self.voided:
                self._write(text)
            case ReplaceText(_, text, why):
                self._replace(text, why)
            case ShowTool(_, tool) if not self.voided:
                self.fresh_line()
                self._write(f"[{tool.name}: {'asked' if tool.result is None else 'answered'}]\n")
            case ShowInterrupted():
                self.aside("the connection is lost; reconnecting")
            case ShowEnd(_, status, message):
                self._end(status, message)

    def aside(self, text: str, style: str = "dim") -> None:
        """Say something about the conversation. In a file of replies it leaves no trace."""
        spins = self._spinner is not None
        self.rest()
        if self._out.is_terminal:
            self.fresh_line()
        self._err.print(f"({_harmless(text)})", style=style, markup=False, emoji=False, soft_wrap=True)
        if spins:
            self.spin()

    def fresh_line(self) -> None:
        """End the line that was begun."""
        if self._mid_line:
            self._write("\n")

    def spin(self) -> None:
        """Show that a reply is waited for."""
        if self._spinner is None:
            self.fresh_line()
            self._spinner = self._out.status("", spinner="line" if plain() else "dots")
            self._spinner.start()

    def rest(self) -> None:
        """Stop whatever moves."""
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def _write(self, text: str) -> None:
        if text:
            self.rest()
            self._out.file.write(_harmless(text))  # as it is: a console would expand its tabs
            self._out.file.flush()
            self._mid_line = not text.endswith("\n")

    def _replace(self, text: str, why: str) -> None:
        self.fresh_line()
        if not (self.voided and why == "merge"):
            self.aside(_WHY.get(why, f"{why}; the reply so far is void"))
        self.voided = False
        self._write(text)

    def _end(self, status: RunStatus, message: str) -> None:
        self.rest()
        self.fresh_line()
        if status is RunStatus.FAILED:
            self.aside(f"failed: {message}" if message else "failed", "red")
        elif status is RunStatus.CANCELLED:
            self.aside("stopped")


def _harmless(text: str) -> str:
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))
