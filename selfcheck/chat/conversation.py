"""A small front end, made of what a front end is made of: messages by POST, `client.follow`, and the projection.

One thread follows the run that is shown and does nothing else; all that is kept or printed is the main thread's. While
a reply comes, the first key that is pressed holds the printing back until its line is typed. What is typed while the
run asks something is the answer. Where keys cannot be watched, the next line is; without one the question runs out of
time.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty

import httpx

from client.arrivals import Arrival, Question, ReadRun, RunOpened, SessionRead
from client.effects import ShowQuestion
from client.projection import SessionView, reduce
from client.run_view import RunView
from selfcheck.chat.asking import Asking
from selfcheck.chat.screen import Screen
from selfcheck.chat.watching import Inbox, watch
from selfcheck.console import err, out
from selfcheck.keyboard import keyboard
from selfcheck.recognising import explained
from selfcheck.texts import say
from shared.errors import KodaError, Unavailable
from shared.text import clean

LOOK_S = 0.05  # how often the keyboard is looked at while nothing arrives

SAY, SKIP = "/say ", "/skip"  # what a line begins with, or is, that is no answer to an open question


class Conversation:
    """The conversation of one session. `check` raises when there is no point in connecting again."""

    def __init__(self, client: httpx.Client, session_id: str, check: Callable[[], None] = lambda: None) -> None:
        self._client = client
        self._gateway = Asking(client)
        self._session_id = session_id
        self._check = check
        self._keyboard = keyboard()
        self._screen = Screen(out, err)
        self._session = SessionView()
        self._shown = ""  # the run on the screen
        self._due: set[str] = set()  # questions that have had no line yet

    def talk(self) -> None:
        """Take messages and show the replies, until there are no more messages. Whoever types may end it by Ctrl-C.

        Raises:
            KodaError: the session cannot be read; where nobody types, also whatever else goes wrong.
        """
        try:
            with suppress(EOFError):
                self._begin()
                while True:
                    line = self._line()
                    with self._problems_told():
                        self._send(line)
                        self._answer()
        except KeyboardInterrupt:
            if not self._keyboard.interactive:
                raise
        finally:
            self._screen.rest()
            self._screen.fresh_line()

    def _begin(self) -> None:
        """Read the session, and show first what is going on in it."""
        self._take(_to_be_followed(self._gateway.session(self._session_id)))
        if self._keyboard.interactive:
            self._screen.aside(say("chat.session", session=self._session_id, replies=len(self._session.runs)))
            self._screen.aside(say("chat.keys"))
        with self._problems_told():
            self._answer()

    def _line(self) -> str:
        self._screen.rest()
        self._screen.fresh_line()
        line = self._keyboard.line()
        if line is None:
            raise EOFError
        return clean(line)

    def _send(self, line: str) -> None:
        if not line.strip():
            return
        accepted = self._gateway.send(self._session_id, line)
        self._take(RunOpened(accepted.run_id))
        if not self._is_going_on(self._shown):
            return
        if accepted.merged and accepted.run_id == self._shown:
            self._screen.void()
        else:
            self._screen.aside(say("chat.not_merged"))

    def _take(self, arrival: Arrival) -> None:
        self._session, effects = reduce(self._session, arrival)
        for effect in effects:
            if effect.run_id == self._shown:
                self._screen.show(effect)
                if isinstance(effect, ShowQuestion):
                    self._due.add(effect.question.question_id)

    def _is_going_on(self, run_id: str) -> bool:
        run = self._session.runs.get(run_id)
        return run is not None and run.end is None

    # while a reply comes

    def _answer(self) -> None:
        """Show the runs that are not over, one after the other."""
        try:
            while (run := self._session.current) is not None and run.end is None:
                self._show(run)
        except KodaError:
            self._session = SessionView()  # what cannot be shown is not to stand before what comes next
            raise

    def _show(self, run: RunView) -> None:
        """Show a run to its end. Ctrl-C stops it; when that has been asked for, Ctrl-C leaves."""
        inbox = watch(self._client, run.run_id, run.cursor, self._check)
        self._shown = run.run_id
        self._screen.begin(run)
        stopping = False
        while self._is_going_on(run.run_id):
            try:
                self._look(inbox)
                if self._is_going_on(run.run_id):
                    self._speak()
            except KeyboardInterrupt:
                if stopping:
                    raise
                stopping = True
                with self._problems_told():
                    self._gateway.cancel(run.run_id)

    def _look(self, inbox: Inbox) -> None:
        """Show what arrives, until the run is over, a key is pressed, or a line is wanted."""
        if self._session.runs[self._shown].waiting or self._screen.voided:
            self._screen.spin()
        with self._keyboard.watched(), _interrupts() as interrupted:
            while self._is_going_on(self._shown) and not self._keyboard.pressed() and not self._wants_line():
                if interrupted.is_set():
                    break
                self._receive(inbox)
        if interrupted.is_set():
            raise KeyboardInterrupt

    def _receive(self, inbox: Inbox) -> None:
        try:
            arrival = inbox.get(timeout=LOOK_S)
        except Empty:
            return
        if arrival is None:
            raise Unavailable("gateway", "the stream has ended, and the run's end was not in it")
        if isinstance(arrival, Exception):
            raise arrival
        self._take(arrival)

    def _wants_line(self) -> bool:
        """Whether to wait for a line, where nobody can press a key to begin one."""
        return not self._keyboard.watchable and self._asked() is not None

    def _asked(self) -> Question | None:
        """Return what the run on the screen asks: nothing of a void reply, and without keys nothing a second time."""
        run = self._session.runs.get(self._shown)
        if run is None or self._screen.voided:
            return None
        asked = (each for id_, each in run.questions.items() if self._keyboard.watchable or id_ in self._due)
        return next(asked, None)

    def _speak(self) -> None:
        """Take a line while a reply comes: the answer to what is asked, or a correction."""
        question = self._asked()
        try:
            line = self._line()
        except EOFError:
            if question is None or self._keyboard.interactive:
                raise
            line = SKIP  # a script that has ended still wants to see what it began
        with self._problems_told():
            if question is None:
                self._send(line)
            else:
                self._reply(question, line)

    def _reply(self, question: Question, line: str) -> None:
        if line.startswith(SAY):
            self._send(line.removeprefix(SAY))
            return
        self._due.discard(question.question_id)
        if line.strip() in ("", SKIP):
            self._screen.aside(say("chat.skipped", default=question.default))
        elif not self._gateway.answer(self._shown, question.question_id, line):
            self._screen.aside(say("chat.too_late"))

    @contextmanager
    def _problems_told(self) -> Iterator[None]:
        """Tell somebody who types what went wrong, and go on; a script has to learn of it by our end."""
        try:
            yield
        except KodaError as problem:
            if not self._keyboard.interactive:
                raise
            self._screen.aside(explained(problem), "red")


def _to_be_followed(session: SessionRead) -> SessionRead:
    """Return a session of which all that goes on is still to come: what a run does is shown as it comes."""
    return SessionRead(
        tuple(each if each.ended is not None else ReadRun(each.run_id, "", None, None) for each in session.runs)
    )


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Note Ctrl-C instead of raising it: between an arrival and the screen, an exception would lose a fragment."""
    seen = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: seen.set())
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
