"""The stage: what a check plays on. Two doors of the service, HTTP and SSE, its log, and the lab's controls.

A check sees nothing else. Whatever goes wrong underneath (the service ended, stands still, does not answer) comes out
as `Silent` or `Gone`; a check itself raises only `Broken`.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from types import TracebackType

import httpx
import msgspec

from client.follow import open_stream
from client.sse import ServerEvent
from selfcheck.playing.recorder import Recorder
from selfcheck.playing.watcher import PATIENCE_S, Gone, Silent, Watcher, guarded
from selfcheck.processes.held import Service
from selfcheck.results import Finding, Seen
from selfcheck.spec import LAB_PATH, TOKEN_HEADER
from selfcheck.texts import Words, english, say
from shared.events import Json

# The controls that are not the gateway's alone. It has to know that the gate is open before anything comes through.
_SIDES = {"gate": ("gateway", "worker"), "mark": ("gateway", "worker"), "late_write": ("worker",)}


class Broken(Exception):
    """What must hold does not. The evidence gathered so far goes with it."""

    def __init__(self, rule: Words, given: Words, expected: Words, actual: Words) -> None:
        self.finding = Finding(rule, given, expected, actual)
        super().__init__(english(actual))


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a message."""

    run_id: str
    merged: bool
    status: str


class Stage:
    """One check's use of a service. Names runs `run-1`, `run-2` … in the order in which they were opened."""

    def __init__(self, service: Service, seed: int) -> None:
        self.seed = seed
        self.evidence: dict[str, Seen] = {}
        self.settled: dict[str, Seen] = {}  # evidence of what was over when the part at hand began
        self.record = Recorder()
        self.log = service.log
        self._service = service
        self._client = httpx.Client(
            base_url=service.url("gateway"),
            timeout=httpx.Timeout(PATIENCE_S),
            trust_env=False,  # a proxy has no business between us
            transport=httpx.HTTPTransport(verify=False, retries=0),  # it is plain HTTP; loads no certificates
            headers={TOKEN_HEADER: service.spec.token},
        )
        self._open = contextlib.ExitStack()
        self._names: dict[str, str] = {}

    def __enter__(self) -> "Stage":
        """Open the stage."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close every connection. The service stays as the check left it; the next check sets what it needs."""
        self._open.close()
        self._client.close()

    # what a user does

    def new_session(self) -> str:
        """Return a session that nobody has used."""
        self.settled.update(self.evidence)
        return os.urandom(8).hex()

    def say(self, session_id: str, text: str, *, merges: bool | None = None) -> Answer:
        """Send a message. `merges` is what must become of it, for the record; None: that is not the point."""
        body = msgspec.json.encode({"session_id": session_id, "text": text, "user_id": "learner"})
        answer = self._request("POST", "/chat", body)
        run_id = str(answer["run_id"])
        self._names.setdefault(run_id, f"run-{len(self._names) + 1}")
        merged = answer["merged"] is True
        self.record.said(session_id, text, run_id, self.name(run_id), merged, merges)
        return Answer(run_id, merged, str(answer["status"]))

    def watch(self, run_id: str, cursor: int | None = None) -> "contextlib.AbstractContextManager[Watcher]":
        """Open a waiter: when this is entered it is attached, and whatever is written from now on reaches it live."""
        return self._watch(run_id, cursor)

    @contextmanager
    def _watch(self, run_id: str, cursor: int | None) -> Iterator[Watcher]:
        idle = timedelta(seconds=PATIENCE_S)
        stack = contextlib.ExitStack()
        with guarded(say("playing.stream", run=self.name(run_id))):
            stream = stack.enter_context(open_stream(self._client, run_id, cursor, idle=idle))
            if stream.status != httpx.codes.OK:
                raise Silent(say("playing.stream_answered", run=self.name(run_id), status=stream.status))
        name, first = self.name(run_id), 0 if cursor is None else cursor + 1
        waiter = self.record.watched(name, cursor)

        def note(taken: Sequence[ServerEvent], to_the_end: bool) -> None:
            due = first + len(watcher.events)
            self.record.received(waiter, run_id, name, due, taken, to_the_end=to_the_end)

        watcher = Watcher(name, stream, note)
        with stack:
            yield watcher
            self.record.left(waiter)

    def standing(self, run_id: str) -> dict[str, Json]:
        """Return where a run stands."""
        answer = self._request("GET", f"/runs/{run_id}")
        self.record.stood(self.name(run_id), answer["status"])
        return answer

    def history(self, session_id: str) -> list[dict[str, Json]]:
        """Return all events that the store has of a session."""
        page = self._request("GET", f"/sessions/{session_id}/events")
        events = page["events"]
        assert isinstance(events, list), "a page has a list of events"
        self.record.counted(session_id, len(events))
        return [event for event in events if isinstance(event, dict)]

    def until_stored(self, run_id: str, seq: int) -> None:
        """Return when the store has the run's events up to `seq`."""
        for _ in range(10_000):
            last_seq = self._request("GET", f"/runs/{run_id}")["last_seq"]
            if isinstance(last_seq, int) and last_seq >= seq:
                self.record.stored(self.name(run_id), seq)
                return
        raise Silent(say("playing.stored", seq=seq, run=self.name(run_id)))

    # what the lab does

    def control(self, *calls: tuple[str, list[Json]]) -> list[Json]:
        """Move controls of the lab, in this order, and return what each gives back."""
        sent = [(url, at) for at, call in enumerate(calls) for url in self._doors(call[0])]
        answers: dict[int, Json] = {}
        for url, part in groupby(sent, key=itemgetter(0)):
            places = [at for _, at in part]
            answers.update(zip(places, self._move(url, [calls[at] for at in places]), strict=True))
        for at, (control, arguments) in enumerate(calls):
            run_id = str(arguments[0]) if arguments else ""
            self.record.moved(control, arguments, answers[at], self._names.get(run_id, ""))
        return [answers[at] for at in range(len(calls))]

    def hear(self) -> None:
        """Return when all is read that the service has said by now: its lines are read beside us."""
        for url in self._doors("mark"):
            mark = os.urandom(8).hex()
            with contextlib.suppress(msgspec.MsgspecError, ValueError):  # what it answers is nothing to us
                self._move(url, [("mark", [mark])])
            self.log.wait("marked", PATIENCE_S, mark=mark)

    def _move(self, url: str, calls: Sequence[tuple[str, list[Json]]]) -> list[Json]:
        with guarded(say("playing.lab")):
            response = self._client.post(f"{url}{LAB_PATH}", content=msgspec.json.encode(calls))
        answers: list[Json] = msgspec.json.decode(response.content)
        return answers

    def _doors(self, control: str) -> list[str]:
        """Return where a control is moved: on one side of the house, or on both, one after the other."""
        return [*dict.fromkeys(self._service.url(role) for role in _SIDES.get(control, ("gateway",)))]

    def gate(self, fragments: int | None) -> None:
        """Let the model say so many fragments of each run; None: all."""
        self.control(("gate", [fragments]))

    def probe(self, number: int, cases: Sequence[Json], *, quietly: bool = False) -> list[dict[str, Json]]:
        """Ask an exercise a table of cases; one answer each: {"returned"} or {"raised", "value_error", …}.

        `quietly`: what it prints meanwhile is not the answer to anything a learner would ask, and is lost.
        """
        self.settled.update(self.evidence)
        (answers,) = self.control(("probe", [number, [*cases], quietly]))
        assert isinstance(answers, list), "a probe gives a list"
        return [answer for answer in answers if isinstance(answer, dict)]

    def awaited_line(self, event: str, **fields: Json) -> dict[str, Json]:
        """Return the newest log line of this event with these fields, waiting for it.

        Raises:
            Silent: it does not come.
        """
        line = self.log.wait(event, PATIENCE_S, **fields)
        if line is None:
            if self._service.exit_code is not None:
                raise Gone
            raise Silent(say("playing.log_line", event=event))
        return dict(line)

    def expect_refusals(self) -> None:
        """Let the service go on when a move is refused: this check is about that."""
        self._service.refusals_expected = True

    def name(self, run_id: str) -> str:
        """Return the name of a run for reports."""
        return self._names.get(run_id, "a run")

    def _request(self, method: str, path: str, body: bytes | None = None) -> dict[str, Json]:
        route = path.split("/")[1]
        with guarded(say("playing.answer", method=method, route=route)):
            response = self._client.request(method, path, content=body)
        answer: Json = msgspec.json.decode(response.content)
        assert isinstance(answer, dict), "every answer is an object"
        if response.is_error:
            status, detail = response.status_code, str(answer["detail"])
            raise Silent(say("playing.answered", method=method, route=route, status=status, detail=detail))
        return answer
