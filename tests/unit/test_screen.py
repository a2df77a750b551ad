"""The screen: effects in, text out; replies on one console, what is said about them on the other."""

from collections.abc import Callable, Sequence
from io import StringIO

import pytest
from rich.console import Console

from client.arrivals import Answer, Fork, Question, Thought, Tool
from client.effects import (
    AppendText,
    Effect,
    Refetch,
    ReplaceText,
    ShowAnswer,
    ShowEnd,
    ShowFork,
    ShowInterrupted,
    ShowQuestion,
    ShowReconnected,
    ShowThought,
    ShowTool,
    StartSpinner,
    StopSpinner,
)
from client.fragments import Fragments
from client.run_view import RunView
from selfcheck.chat.screen import Screen
from shared.run import RunStatus

DONE = ShowEnd("r", RunStatus.DONE, "")
ASKED = Question("q", "Red?", "red", "2026-01-01T00:02:00+00:00")
KEYS = "(type the answer, or /say and a message; /skip or an empty line leaves it at: red)\n"


def printed(*steps: Effect | Callable[[Screen], None], terminal: bool = False) -> tuple[str, str]:
    """Return what is on both consoles after these."""
    out, err = StringIO(), StringIO()
    # A dumb terminal: nothing moves in it, so what is printed can be compared.
    dumb = {"TERM": "dumb", "COLUMNS": "20"}
    screen = Screen(
        Console(file=out, force_terminal=terminal, _environ=dumb), Console(file=err, no_color=True, _environ=dumb)
    )
    for step in steps:
        if callable(step):
            step(screen)
        else:
            screen.show(step)
    screen.rest()
    return out.getvalue(), err.getvalue()


def said(*texts: str) -> list[Effect]:
    """Return the effects of fragments."""
    return [AppendText("r", text) for text in texts]


@pytest.mark.parametrize(
    ("effects", "out", "err"),
    [
        ([StartSpinner("r"), StopSpinner("r"), *said("It ", "works"), DONE], "It works\n", ""),
        ([*said("line\n"), DONE], "line\n", ""),
        ([DONE], "", ""),
        ([*said("half"), ShowEnd("r", RunStatus.FAILED, "no answer")], "half\n", "(failed: no answer)\n"),
        ([ShowEnd("r", RunStatus.FAILED, "")], "", "(failed)\n"),
        ([*said("half"), ShowEnd("r", RunStatus.CANCELLED, "by the user")], "half\n", "(stopped)\n"),
        ([*said("a"), ReplaceText("r", "", "merge"), *said("b")], "a\nb", "(merged; the reply so far is void)\n"),
        ([*said("a"), ReplaceText("r", "abc", "snapshot")], "a\nabc", "(the reply so far, at once)\n"),
        ([ReplaceText("r", "b", "whim")], "b", "(whim; the reply so far is void)\n"),
        ([*said("a"), ShowTool("r", Tool("k", "look", "{}", None))], "a\n[look: asked]\n", ""),
        ([ShowTool("r", Tool("k", "look", "{}", "null"))], "[look: answered]\n", ""),
        ([ShowTool("r", Tool("k", "look", "{}", '"it"', "seen"))], "[look: seen]\n", ""),
        ([ShowTool("r", Tool("k", "look", "{}", "null", "gone", ok=False))], "[look: failed: gone]\n", ""),
        ([ShowTool("r", Tool("k", "look", "{}", "null", ok=False))], "[look: failed]\n", ""),
        ([*said("a"), ShowThought("r", Thought("I look", "I look at it"))], "a", "(thinking: I look)\n"),
        ([*said("a"), ShowFork("r", Fork("sub", 0, "courier"))], "a", "(sub-run 1: courier)\n"),
        ([*said("a"), ShowQuestion("r", ASKED)], "a\n? Red?\n", KEYS),
        ([ShowAnswer("r", Answer("q", "blue", True))], "", "(answered: blue)\n"),
        (
            [ShowAnswer("r", Answer("q", "red", False))],
            "",
            "(nobody answered in time; it goes on with: red)\n",
        ),
        (
            [*said("a"), ShowInterrupted("r"), ShowReconnected("r"), *said("b"), Refetch("r", 0)],
            "ab",
            "(the connection is lost; reconnecting)\n",
        ),
    ],
)  # fmt: skip
def test_an_effect_is_text(effects: Sequence[Effect], out: str, err: str) -> None:
    """Replies are whole lines, and in a file of them nothing but a new beginning shows what happened on the way."""
    assert printed(*effects) == (out, err)


def test_a_terminal_gets_asides_on_lines_of_their_own() -> None:
    """Where both consoles are one screen, an aside ends the line that was begun."""
    assert printed(*said("It "), ShowInterrupted("r"), *said("works"), DONE, terminal=True) == (
        "It \nworks\n",
        "(the connection is lost; reconnecting)\n",
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x07\x9b\x7f\x00", "\ufffd[2J\ufffd\ufffd\ufffd\ufffd"),
        ("a\tb\r\nc\rd ", "a\tb\nc\ufffdd "),
        ("[bold]:smile: {} 取消 🙂", "[bold]:smile: {} 取消 🙂"),
        ("a line that is wider than the screen " * 3, "a line that is wider than the screen " * 3),
    ],
)
def test_a_reply_is_text_and_nothing_else(text: str, shown: str) -> None:
    """What would move a cursor or clear a screen is replaced, markup is not read, and nothing is cut or wrapped."""
    assert printed(*said(text)) == (shown, "")
    error = printed(ShowEnd("r", RunStatus.FAILED, text))[1]
    assert error.split() == f"(failed: {shown})\n".split()


def test_what_comes_of_a_void_reply_is_not_shown() -> None:
    """Between the answer that says merged and the rerun, the old reply goes on, and nobody wants to see it."""
    tool = ShowTool("r", Tool("k", "look", "{}", None))
    work: list[Effect] = [
        tool,
        ShowThought("r", Thought("a", "a")),
        ShowFork("r", Fork("sub", 0, "b")),
        ShowQuestion("r", ASKED),
    ]
    rerun = ReplaceText("r", "", "merge")
    assert printed(*said("refund"), Screen.void, *said(" soon"), StopSpinner("r"), *work, rerun, *said("exchange")) == (
        "refund\nexchange",
        "(merged; the reply so far is void)\n",
    )


def test_another_reason_to_begin_anew_is_told_all_the_same() -> None:
    """A worker that is lost meanwhile is news, the merge is not; from then on the reply is shown."""
    assert printed(Screen.void, ReplaceText("r", "", "takeover"), *said("exchange")) == (
        "exchange",
        "(merged; the reply so far is void)\n(a worker was lost; the reply so far is void, another one goes on)\n",
    )


def test_a_run_that_comes_next_is_shown_from_its_start() -> None:
    """What was void in one run is nothing to the next one; its text so far comes first."""
    begin = RunView("q", Fragments().plus("so far"))
    assert printed(Screen.void, lambda screen: screen.begin(begin), AppendText("q", " good")) == (
        "so far good",
        "(merged; the reply so far is void)\n",
    )
