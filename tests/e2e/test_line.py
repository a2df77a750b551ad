"""A session's line from end to end: a service with a worker in it, and a front end that only follows."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import httpx
import pytest

from client.arrivals import Arrival, SessionOpened
from client.effects import Effect, ShowEnd, ShowQuestion
from client.follow import follow
from client.follow_line import LineFollower
from client.line_frames import Answered, Rejected
from client.projection import SessionView, reduce
from client.reading import from_page, from_stream
from selfcheck.serving import serving

LIFE_S = 120.0


@pytest.fixture(scope="module")
def gateway() -> Iterator[str]:
    """A service in memory, as `selfcheck serve` starts it."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("KODA_FRAGMENT_PACE", "0s")
        environment.setenv("NO_PROXY", "127.0.0.1")
        with serving("solution") as service:
            watchdog = threading.Timer(LIFE_S, service.kill)  # whoever waits for what never comes gives up then
            watchdog.start()
            yield service.url("gateway")
            watchdog.cancel()


def reduced(arrivals: Sequence[Arrival]) -> SessionView:
    """Return the session after these."""
    session = SessionView()
    for arrival in arrivals:
        session, _ = reduce(session, arrival)
    return session


def streamed(client: httpx.Client, run_ids: Sequence[str]) -> SessionView:
    """Return the session as the streams of its runs have it."""
    events = ((run_id, event) for run_id in run_ids for event in follow(client, run_id))
    return reduced([arrival for run_id, event in events if (arrival := from_stream(run_id, event)) is not None])


def paged(client: httpx.Client) -> SessionView:
    """Return the session as its pages have it."""
    return reduced(from_page(client.get("/sessions/s/events").content).events)


class FrontEnd:
    """Follows a session, and reduces what arrives."""

    def __init__(self, url: str, session_id: str) -> None:
        self.follower = LineFollower(url, session_id)
        self.arrivals = self.follower.arrivals()
        self.session = SessionView()
        self.replies: list[Answered | Rejected] = []  # to our answers
        self.seen: list[tuple[str, str]] = []  # each effect's name, and the phase then

    def until(self, last: type[Effect]) -> Effect:
        """Follow up to the next effect of this kind; return it."""
        while True:
            found = [effect for effect in self._take() if isinstance(effect, last)]
            if found:
                return found[0]

    def replied(self) -> Answered | Rejected:
        """Follow until there is a reply to an answer; return it. It and the event come in no order."""
        while not self.replies:
            self._take()
        return self.replies[0]

    def _take(self) -> Sequence[Effect]:
        arrival = next(self.arrivals)
        if isinstance(arrival, Answered | Rejected):
            self.replies.append(arrival)
            return ()
        self.session, effects = reduce(self.session, arrival)
        self.seen += [(type(effect).__name__, self.session.phase.value) for effect in effects]
        return effects

    def answer(self, text: str) -> None:
        """Wait for a question, and answer it."""
        asked = self.until(ShowQuestion)
        assert isinstance(asked, ShowQuestion)
        self.follower.answer(asked.question.question_id, text)


@contextmanager
def front_end(url: str, session_id: str) -> Iterator[FrontEnd]:
    """Follow a session while the block lasts."""
    front = FrontEnd(url, session_id)
    with closing(front.arrivals):
        yield front


def send(client: httpx.Client, session_id: str, text: str) -> None:
    """Send a message."""
    client.post("/chat", json={"session_id": session_id, "text": text}).raise_for_status()


def test_a_line_carries_an_agent_and_what_comes_next(gateway: str) -> None:
    """Connected first: thoughts, tools, sub-runs, a question answered on the line, the end, and another run behind it.

    What the front end has then is what streams and pages lead to.
    """
    with front_end(gateway, "s") as front, httpx.Client(base_url=gateway, trust_env=False, timeout=LIFE_S) as client:
        assert next(front.arrivals) == SessionOpened("")
        send(client, "s", "#agent")
        front.answer("the same lamp")
        front.until(ShowEnd)
        send(client, "s", "hello")
        front.until(ShowEnd)
        agent, plain = front.session.runs.values()
        (reply,) = front.replies
        assert isinstance(reply, Answered)
        assert (reply.counted, reply.text) == (True, "the same lamp")
        assert {("ShowQuestion", "interrupted"), ("ShowAnswer", "streaming")} <= set(front.seen)
        assert (agent.phase.value, plain.phase.value) == ("completed", "completed")
        assert str(agent.text).endswith("You would like the same lamp: it is on its way.")
        assert [(tool.name, tool.result) for tool in agent.tools.values()] == [
            ("order_status", '"delivered on Monday"'),
            ("stock", '"three left"'),
        ]
        assert [fork.title for fork in agent.forks.values()] == ["The courier", "The warehouse", "The insurance"]
        assert front.session == streamed(client, list(front.session.runs)) == paged(client)


def test_all_who_watch_are_asked(gateway: str) -> None:
    """A question that is open when a line begins is on it; the first answer is seen by all, and who is late told so."""
    with (
        front_end(gateway, "t") as first,
        front_end(gateway, "t") as second,
        httpx.Client(base_url=gateway, trust_env=False, timeout=LIFE_S) as client,
    ):
        send(client, "t", "#ask")
        asked = first.until(ShowQuestion)
        assert isinstance(asked, ShowQuestion)
        question_id = asked.question.question_id
        second.answer("money")
        assert second.replied() == Answered(question_id, True, "money")
        first.follower.answer(question_id, "a lamp")
        assert first.replied() == Answered(question_id, False, "money")
        for front in (first, second):
            while front.session.phase.value != "completed":
                front.until(ShowEnd)
        assert first.session == second.session
