"""The conversation, where no terminal is needed to see what it does. With one: `tests/e2e/test_chat.py`."""

import httpx
import msgspec
import pytest

from selfcheck.chat import conversation
from selfcheck.chat.conversation import Conversation
from selfcheck.keyboard import Lines


class Interrupted(Lines):
    """Ctrl-C at the prompt."""

    def line(self) -> str | None:
        """Be interrupted."""
        raise KeyboardInterrupt


def talk(monkeypatch: pytest.MonkeyPatch, lines: Lines) -> None:
    """Have a conversation with a gateway on which nothing has happened."""
    monkeypatch.setattr(conversation, "keyboard", lambda: lines)
    empty = httpx.MockTransport(lambda _: httpx.Response(200, content=b'{"runs":[],"cursor":""}'))
    with httpx.Client(base_url="http://gateway", transport=empty) as client:
        Conversation(client, "s").talk()


def test_ctrl_c_at_the_prompt_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """For whoever types it is a way to leave, like any other."""
    talk(monkeypatch, Interrupted(interactive=True))


def test_ctrl_c_interrupts_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where messages come from a file, there is somebody who has to learn that not all of them were sent."""
    with pytest.raises(KeyboardInterrupt):
        talk(monkeypatch, Interrupted(interactive=False))


class Typed(Lines):
    """Lines that somebody types in a terminal whose keys cannot be watched."""

    def __init__(self, *lines: str) -> None:
        super().__init__(interactive=True)
        self.left = list(lines)

    def line(self) -> str | None:
        """Return the next line."""
        return self.left.pop(0) if self.left else None


class Gateway:
    """Answers a message with a run that asks twice, and keeps what was posted."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request: this is what a mock transport calls."""
        path = request.url.path
        if request.method == "POST":
            self.posted.append((path, msgspec.json.decode(request.content, type=dict[str, str])["text"]))
            return httpx.Response(200, content=b'{"run_id":"r","merged":false}')
        if path == "/sessions/s":
            return httpx.Response(200, content=b'{"runs":[],"cursor":""}')
        kinds = [("question", "q"), ("question", "p"), ("answer", "q"), ("answer", "p"), ("done", "")]
        return httpx.Response(
            200,
            headers={"content-type": "text/event-stream"},
            content="".join(
                f"id: {seq}\nevent: {kind}\ndata: "
                f'{{"question_id":"{question_id}","question":"{question_id}?","text":"yes"}}\n\n'
                for seq, (kind, question_id) in enumerate(kinds)
            ).encode(),
        )


@pytest.mark.parametrize(
    ("typed", "answers"),
    [
        (["one", "two"], [("/runs/r/answers", "one"), ("/runs/r/answers", "two")]),
        (["/skip", "two"], [("/runs/r/answers", "two")]),
        (["", " "], []),
        (["/skip it", "/say"], [("/runs/r/answers", "/skip it"), ("/runs/r/answers", "/say")]),
        (["one"], [("/runs/r/answers", "one")]),
    ],
)
def test_where_keys_cannot_be_watched_each_question_has_a_line(
    monkeypatch: pytest.MonkeyPatch, typed: list[str], answers: list[tuple[str, str]]
) -> None:
    """Nobody could begin one otherwise. An end of the input leaves, as at any prompt."""
    lines, gateway = Typed("hi", *typed), Gateway()
    monkeypatch.setattr(conversation, "keyboard", lambda: lines)
    with httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(gateway)) as client:
        Conversation(client, "s").talk()
    assert gateway.posted == [("/chat", "hi"), *answers]
    assert lines.left == []
