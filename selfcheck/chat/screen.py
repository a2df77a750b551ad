"""What a conversation looks like in a terminal, a dumb one too, or in a file: effects in, text out.

Replies go to standard output, everything about them to standard error. Nothing that was printed is taken back: what is
void is said to be.
"""

import re

from rich.console import Console
from rich.status import Status

from client.arrivals import Answer, Question, Tool
from client.effects import (
    AppendText,
    Effect,
    ReplaceText,
    ShowAnswer,
    ShowEnd,
    ShowFork,
    ShowInterrupted,
    ShowQuestion,
    ShowThought,
    ShowTool,
    StartSpinner,
    StopSpinner,
)
from client.run_view import RunView
from selfcheck.console import plain
from selfcheck.texts import Words, say, text
from shared.run import RunStatus

# A reply is somebody else's text, and a terminal obeys these.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_WHY = {"merge", "retry", "takeover", "snapshot", "gap"}  # a reply is replaced; each has a text


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
        self.aside(say("chat.merge"))
        self.voided = True

    def show(self, effect: Effect) -> None:
        """Carry out what is to be done about the run that is shown."""
        match effect:
            case StartSpinner():
                self.spin()
            case StopSpinner() if not self.voided:
                self.rest()
            case AppendText(_, fragment) if not self.voided:
                self._write(fragment)
            case ReplaceText(_, reply, why):
                self._replace(reply, why)
            case ShowTool() | ShowThought() | ShowFork() | ShowQuestion() | ShowAnswer() if not self.voided:
                self._work(effect)
            case ShowInterrupted():
                self.aside(say("chat.reconnecting"))
            case ShowEnd(_, status, message):
                self._end(status, message)

    def _work(self, effect: ShowTool | ShowThought | ShowFork | ShowQuestion | ShowAnswer) -> None:
        """Show what a run does besides replying: what it says itself on its console, what is told of it beside that."""
        match effect:
            case ShowTool(_, tool):
                self.fresh_line()
                self._write(f"[{tool.name}: {text(_outcome(tool))}]\n")
            case ShowThought(_, thought):
                self.aside(say("chat.thinking", thought=thought.message))
            case ShowFork(_, fork):
                self.aside(say("chat.forked", number=fork.number + 1, title=fork.title))
            case ShowQuestion(_, question):
                self._ask(question)
            case ShowAnswer(_, answer):
                self.aside(_goes_on(answer))

    def _ask(self, question: Question) -> None:
        self.fresh_line()
        self._write(f"? {question.text}\n")
        self.aside(say("chat.question_keys", default=question.default))

    def aside(self, words: Words, style: str = "dim") -> None:
        """Say something about the conversation. In a file of replies it leaves no trace."""
        spins = self._spinner is not None
        self.rest()
        if self._out.is_terminal:
            self.fresh_line()
        self._err.print(f"({_harmless(text(words))})", style=style, markup=False, emoji=False, soft_wrap=True)
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

    def _write(self, shown: str) -> None:
        if shown:
            self.rest()
            self._out.file.write(_harmless(shown))  # as it is: a console would expand its tabs
            self._out.file.flush()
            self._mid_line = not shown.endswith("\n")

    def _replace(self, reply: str, why: str) -> None:
        self.fresh_line()
        if not (self.voided and why == "merge"):
            self.aside(say(f"chat.{why}") if why in _WHY else say("chat.void", why=why))
        self.voided = False
        self._write(reply)

    def _end(self, status: RunStatus, message: str) -> None:
        self.rest()
        self.fresh_line()
        if status is RunStatus.FAILED:
            self.aside(say("chat.failed_with", message=message) if message else say("chat.failed"), "red")
        elif status is RunStatus.CANCELLED:
            self.aside(say("chat.stopped"))


def _outcome(tool: Tool) -> Words:
    if tool.result is None:
        return say("chat.asked")
    if not tool.ok:
        return say("chat.failed_with", message=tool.message) if tool.message else say("chat.failed")
    return tool.message or say("chat.answered")


def _goes_on(answer: Answer) -> Words:
    taken, default = say("chat.answer_taken", answer=answer.text), say("chat.default_taken", answer=answer.text)
    return taken if answer.answered else default


def _harmless(shown: str) -> str:
    return _CONTROL.sub("\ufffd", shown.replace("\r\n", "\n"))
