"""The conversation, where no terminal is needed to see what it does. With one: `tests/e2e/test_chat.py`."""

import httpx
import pytest

from selfcheck import conversation
from selfcheck.conversation import Conversation
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
