"""`selfcheck chat`: a conversation, from a pipe and in a terminal."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest

from shared.events import EventKind, Json
from tests.support.puppet_gateway import WAIT_S, Puppet, puppet_gateway

if sys.platform == "win32":
    pytest.skip("a terminal of its own needs a POSIX system", allow_module_level=True)

from tests.support.terminal import CTRL_C, CTRL_D, Terminal, terminal

REFUND = (
    "Thank you for writing in. I am sorry that the lamp arrived with a broken shade. I have opened a refund for your"
    " order 4711; the full amount will be back on your card within three working days."
)
EXCHANGE = (
    "Of course, no refund then. I have set up an exchange for your order 4711 instead: a new lamp leaves our"
    " warehouse tomorrow, and the courier takes the broken one back when it is delivered. There is nothing to pay."
)
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": os.pathsep.join(sys.path),
    "PYTHONIOENCODING": "utf-8",
    "KODA_FRAGMENT_PACE": "0s",
    "INPUTRC": os.devnull,
    "TERM": "dumb",
}
NOTHING: Mapping[str, str] = {}
HEAD = "(session s, replies so far: 0)\n(type while it answers to correct yourself; Ctrl-C stops it, Ctrl-D leaves)\n"


@pytest.fixture
def puppet() -> Iterator[Puppet]:
    """A gateway that does as it is told."""
    with puppet_gateway() as gateway:
        yield gateway


def piped(messages: Sequence[str], *options: str, changes: Mapping[str, str] = NOTHING) -> tuple[str, str, int]:
    """Return what a conversation from a pipe prints, on both streams, and its exit code."""
    command = [sys.executable, "-m", "selfcheck", "chat", *options]
    given = "".join(f"{message}\n" for message in messages).encode()
    answer = subprocess.run(
        command, input=given, capture_output=True, env={**ENVIRONMENT, **changes}, timeout=3 * WAIT_S
    )
    return answer.stdout.decode(), answer.stderr.decode(), answer.returncode


@pytest.fixture
def typing(puppet: Puppet) -> Iterator[Terminal]:
    """A conversation with the puppet in a dumb terminal, at its first prompt."""
    with terminal("selfcheck", ["chat", "--url", puppet.url, "--session", "s"], ENVIRONMENT) as screen:
        screen.until(HEAD + "> ")
        yield screen


def asked(puppet: Puppet) -> tuple[str, Json]:
    """Return the next POST, without the message's id, which is a new one each time."""
    path, document = puppet.asked.get(timeout=WAIT_S)
    if path == "/chat":
        assert isinstance(document, dict)
        assert document.pop("message_id")
    return path, document


def chat(text: str) -> tuple[str, Json]:
    """Return the POST that a message makes."""
    return "/chat", {"session_id": "s", "text": text}


# --- From a pipe ------------------------------------------------------------------------------------------------------


def test_messages_are_answered_one_after_the_other() -> None:
    """R11: a line is a message, each waits for the end of its run, and of two runs that count from 0 both are shown."""
    messages = ["My lamp is broken", " ", "An exchange, please"]
    assert piped(messages) == (
        f"> My lamp is broken\n{REFUND}\n>\n> An exchange, please\n{EXCHANGE}\n",
        "",
        0,
    )


PROXIES = {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "socks5://127.0.0.1:9", "SSL_CERT_FILE": "/nowhere"}


def test_no_proxy_comes_between_a_conversation_and_this_machine(puppet: Puppet) -> None:
    """Whatever the environment says of proxies and certificates: ours, or one that is named."""
    assert piped(["hello"], changes=PROXIES) == (f"> hello\n{REFUND}\n", "", 0)
    puppet.accept("r")
    puppet.say("r", 0, "It works")
    puppet.end("r", 1)
    assert piped(["hello"], "--url", puppet.url, changes=PROXIES) == ("> hello\nIt works\n", "", 0)


def test_a_proxy_that_cannot_be_used_is_a_wrong_setting() -> None:
    """For a gateway that is elsewhere it matters."""
    said, problem, code = piped(["hello"], "--url", "http://gateway.invalid", changes=PROXIES)
    assert (said, code) == ("", 2)
    assert problem.startswith("selfcheck: settings: the environment's proxies or certificates cannot be used: ")


def test_a_lost_connection_is_mended(puppet: Puppet) -> None:
    """The reply is whole, the next connection asks for what comes after the last event, and stderr says so."""
    puppet.accept("r")
    puppet.say("r", 0, "It ")
    puppet.cut("r")
    puppet.say("r", 1, "works")
    puppet.end("r", 2)
    assert piped(["hi"], "--url", puppet.url) == (
        "> hi\nIt works\n",
        "(the connection is lost; reconnecting)\n",
        0,
    )
    assert [puppet.cursors.get(timeout=WAIT_S) for _ in range(2)] == [("r", None), ("r", "0")]


def test_a_reply_that_begins_anew_begins_a_line(puppet: Puppet) -> None:
    """What is void stays in the file, on a line of its own; stderr says that it is."""
    puppet.accept("r")
    puppet.say("r", 0, "half")
    puppet.write("r", 1, EventKind.RERUN, {"reason": "takeover"})
    puppet.say("r", 2, "whole")
    puppet.end("r", 3)
    assert piped(["hi"], "--url", puppet.url) == (
        "> hi\nhalf\nwhole\n",
        "(a worker was lost; the reply so far is void, another one goes on)\n",
        0,
    )


def test_a_run_that_fails_is_told(puppet: Puppet) -> None:
    """Its text stays, stderr has the error, and the next message is another run's."""
    puppet.accept("r")
    puppet.say("r", 0, "half")
    puppet.end("r", 1, EventKind.FAILED, error="no answer")
    puppet.accept("q")
    puppet.say("q", 0, "whole")
    puppet.end("q", 1)
    assert piped(["hi", "again"], "--url", puppet.url) == ("> hi\nhalf\n> again\nwhole\n", "(failed: no answer)\n", 0)


def test_a_message_that_is_refused_ends_a_script(puppet: Puppet) -> None:
    """Nobody is there to mend it, so the exit code says it."""
    puppet.answers.put((422, {"title": "Unprocessable", "detail": "text: is longer than 8000 characters"}))
    assert piped(["long", "next"], "--url", puppet.url) == (
        "> long\n",
        "selfcheck: refused with 422: text: is longer than 8000 characters\n",
        3,
    )


def test_an_address_that_is_none() -> None:
    """A mistake in the command is told as one."""
    assert piped([], "--url", "nonsense") == (
        "",
        "selfcheck: settings: --url 'nonsense': it has no scheme or no host; give one such as http://127.0.0.1:8000\n",
        2,
    )


def test_a_reply_cannot_command_the_terminal(puppet: Puppet) -> None:
    """Control characters of a reply are shown as what they are not: text."""
    puppet.accept("r")
    puppet.say("r", 0, "a\x1b]0;title\x07\tb\r\nc")
    puppet.end("r", 1)
    assert piped(["hi"], "--url", puppet.url)[0] == "> hi\na\ufffd]0;title\ufffd\tb\nc\n"


def test_a_run_that_is_going_on_is_shown_first(puppet: Puppet) -> None:
    """A session that is taken up again shows it whole, with what it asks: its text alone would not say that."""
    runs: list[Json] = [
        {"run_id": "q", "status": "done", "text": "old"},
        {"run_id": "r", "status": "streaming", "text": "It "},
    ]
    puppet.session.update(runs=runs, cursor="1-1")
    puppet.say("r", 0, "It ")
    puppet.ask("r", 1)
    puppet.answers.put((200, {"counted": True}))
    puppet.say("r", 2, "works")
    puppet.end("r", 3)
    assert piped(["blue"], "--url", puppet.url, "--session", "s") == ("It \n? Red?\n> blue\nworks\n", KEYS, 0)
    assert puppet.cursors.get(timeout=WAIT_S) == ("r", None)


# --- From a pipe: a run that asks -------------------------------------------------------------------------------------


KEYS = "(type the answer, or /say and a message; /skip or an empty line leaves it at: red)\n"


def answer(text: str) -> tuple[str, Json]:
    """Return the POST that an answer makes."""
    return "/runs/r/answers", {"question_id": "q", "text": text}


def test_the_line_behind_a_question_is_its_answer(puppet: Puppet) -> None:
    """It goes to the run that asks; what the run goes on with is told, and the line after that is a message again."""
    puppet.accept("r")
    puppet.ask("r", 0)
    puppet.answers.put((200, {"counted": True}))
    puppet.told("r", 1, "blue")
    puppet.say("r", 2, "Blue it is.")
    puppet.end("r", 3)
    puppet.accept("p")
    puppet.say("p", 0, "Bye.")
    puppet.end("p", 1)
    assert piped(["hi", "blue", "bye"], "--url", puppet.url, "--session", "s") == (
        "> hi\n? Red?\n> blue\nBlue it is.\n> bye\nBye.\n",
        f"{KEYS}(answered: blue)\n",
        0,
    )
    assert [asked(puppet) for _ in range(3)] == [chat("hi"), answer("blue"), chat("bye")]


@pytest.mark.parametrize(("lines", "echo"), [(["/skip"], "> /skip\n"), ([" "], ">\n"), ([], "")])
def test_a_question_may_run_out_of_time(puppet: Puppet, lines: list[str], echo: str) -> None:
    """Nothing is sent for it, whether a script says so or has ended; the run is shown to its end all the same."""
    puppet.accept("r")
    puppet.ask("r", 0)
    puppet.told("r", 1, "red", answered=False)
    puppet.say("r", 2, "Red it is.")
    puppet.end("r", 3)
    assert piped(["hi", *lines], "--url", puppet.url, "--session", "s") == (
        f"> hi\n? Red?\n{echo}Red it is.\n",
        f"{KEYS}(not answered; in time it goes on with: red)\n(nobody answered in time; it goes on with: red)\n",
        0,
    )
    assert asked(puppet) == chat("hi")
    assert puppet.asked.empty()


def test_an_answer_that_is_late_ends_no_script(puppet: Puppet) -> None:
    """Somebody else was faster: what counts comes with the run."""
    puppet.accept("r")
    puppet.ask("r", 0)
    puppet.answers.put((409, {"title": "Conflict", "answer": "green"}))
    puppet.told("r", 1, "green")
    puppet.end("r", 2)
    assert piped(["hi", "blue"], "--url", puppet.url, "--session", "s") == (
        "> hi\n? Red?\n> blue\n",
        f"{KEYS}(too late: it takes no more answers)\n(answered: green)\n",
        0,
    )


def test_a_message_can_be_sent_to_a_run_that_asks(puppet: Puppet) -> None:
    """Merged, it voids the question; what is asked again under the same id waits for an answer of its own."""
    puppet.accept("r")
    puppet.ask("r", 0)
    puppet.accept("r", merged=True)
    puppet.write("r", 1, EventKind.RERUN, {"reason": "merge"})
    puppet.ask("r", 2)
    puppet.answers.put((200, {"counted": True}))
    puppet.told("r", 3, "blue")
    puppet.end("r", 4)
    assert piped(["hi", "/say to a friend", "blue"], "--url", puppet.url, "--session", "s") == (
        "> hi\n? Red?\n> /say to a friend\n? Red?\n> blue\n",
        f"{KEYS}(merged; the reply so far is void)\n{KEYS}(answered: blue)\n",
        0,
    )
    assert [asked(puppet) for _ in range(3)] == [chat("hi"), chat("to a friend"), answer("blue")]


def test_what_a_run_does_is_shown() -> None:
    """A service of our own, and a run that does all that a run can: it thinks, uses tools, splits off, asks."""
    out, err, code = piped(["#agent", "the same lamp"])
    assert (out, err, code) == (
        "> #agent\n"
        "[order_status: asked]\n[order_status: delivered on Monday]\n[stock: asked]\n[stock: three left]\n"
        "Thank you for writing in. I am having this looked into.\n"
        "? Would you like your money back, or the same lamp again?\n"
        "> the same lamp\n"
        " The courier: All is well. The warehouse: All is well. The insurance: All is well."
        " You would like the same lamp: it is on its way.\n",
        "(thinking: A lamp that came broken: I look at the order first, and then at what can be done.)\n"
        "(sub-run 1: The courier)\n(sub-run 2: The warehouse)\n(sub-run 3: The insurance)\n"
        f"{KEYS.replace('red', 'your money back')}(answered: the same lamp)\n",
        0,
    )


# --- In a terminal ----------------------------------------------------------------------------------------------------


def test_a_correction_is_merged(puppet: Puppet, typing: Terminal) -> None:
    """What comes while a line is typed waits for it; once merged, what is left of the void reply is not shown."""
    puppet.accept("r")
    puppet.say("r", 0, "A refund")
    typing.type("hi\n")
    typing.until("A refund")
    typing.type("an ex")
    typing.until("\n> an ex")
    puppet.say("r", 1, " is coming")
    puppet.accept("r", merged=True)
    typing.type("change\n")
    typing.until("(merged; the reply so far is void)\n")
    puppet.say("r", 2, " soon")
    puppet.write("r", 3, EventKind.RERUN, {"reason": "merge"})
    puppet.say("r", 4, "An exchange")
    puppet.end("r", 5)
    typing.until("An exchange\n> ")
    typing.type(CTRL_D)
    assert typing.left() == 0
    assert typing.screen == (
        f"{HEAD}> hi\nA refund\n> an exchange\n(merged; the reply so far is void)\nAn exchange\n> \n"
    )
    assert [asked(puppet), asked(puppet)] == [chat("hi"), chat("an exchange")]
    assert "\x1b" not in typing.printed.decode()


def test_a_message_that_is_not_merged_is_answered_next(puppet: Puppet, typing: Terminal) -> None:
    """Two runs of a session are shown in the order in which they were opened, and never interleave."""
    puppet.accept("a")
    puppet.say("a", 0, "one")
    typing.type("first\n")
    typing.until("one")
    puppet.accept("b")
    puppet.say("b", 0, "two")
    puppet.end("b", 1)
    typing.type("second\n")
    typing.until("(not merged; it is answered after this)\n")
    puppet.say("a", 1, " more")
    puppet.end("a", 2)
    typing.until("> ")
    assert typing.screen == (f"{HEAD}> first\none\n> second\n(not merged; it is answered after this)\n more\ntwo\n> ")


def test_a_key_that_leads_to_no_message_changes_nothing(puppet: Puppet, typing: Terminal) -> None:
    """An arrow key holds the reply back until Enter, and an empty line sends nothing."""
    puppet.accept("r")
    puppet.say("r", 0, "It ")
    typing.type("hi\n")
    typing.until("It ")
    typing.type("\x1b[A")
    typing.until("\n> ")
    puppet.say("r", 1, "works")
    puppet.end("r", 2)
    typing.type("\n")
    typing.until("works\n> ")
    assert typing.screen == f"{HEAD}> hi\nIt \n> \nworks\n> "
    assert asked(puppet) == chat("hi")
    assert puppet.asked.empty()


def test_lines_that_are_pasted_are_messages_each(puppet: Puppet, typing: Terminal) -> None:
    """What comes faster than anybody types is taken line by line, in its order."""
    puppet.accept("r")
    puppet.say("r", 0, "It ")
    typing.type("hi\n")
    typing.until("It ")
    puppet.accept("r", merged=True)
    puppet.accept("r", merged=True)
    typing.type("one\ntwo\n")
    typing.until("\n> one\n(merged; the reply so far is void)\n> two\n(merged; the reply so far is void)\n")
    assert [asked(puppet) for _ in range(3)] == [chat("hi"), chat("one"), chat("two")]


def test_ctrl_d_leaves_while_a_reply_comes(puppet: Puppet, typing: Terminal) -> None:
    """Leaving stops nothing: the run goes on, and the session can be taken up again."""
    puppet.accept("r")
    puppet.say("r", 0, "half")
    typing.type("hi\n")
    typing.until("half")
    typing.type(CTRL_D)
    assert typing.left() == 0
    assert typing.screen == f"{HEAD}> hi\nhalf\n"
    assert asked(puppet) == chat("hi")
    assert puppet.asked.empty()


def test_ctrl_c_stops_the_run_and_not_the_conversation(puppet: Puppet, typing: Terminal) -> None:
    """It asks the gateway to cancel, the run ends when the stream says so, and at the prompt Ctrl-C leaves."""
    puppet.accept("r")
    puppet.say("r", 0, "half")
    typing.type("hi\n")
    typing.until("half")
    puppet.answers.put((202, {"run_id": "r", "status": "streaming"}))
    typing.type(CTRL_C)
    assert [asked(puppet), asked(puppet)] == [chat("hi"), ("/runs/r/cancel", None)]
    puppet.end("r", 1, EventKind.CANCELLED, reason="cancelled by the user")
    typing.until("\n(stopped)\n> ")
    typing.type(CTRL_C)
    assert typing.left(again=CTRL_C) == 0


def test_what_is_typed_is_the_answer_to_a_question(puppet: Puppet, typing: Terminal) -> None:
    """It need not be the first thing that is typed: an empty line leaves the question open, a message goes past it."""
    puppet.accept("r")
    puppet.ask("r", 0)
    typing.type("hi\n")
    typing.until(f"? Red?\n{KEYS}")
    typing.type("\n")
    typing.until("(not answered; in time it goes on with: red)\n")
    puppet.accept("p")
    typing.type("/say and another thing\n")
    typing.until("(not merged; it is answered after this)\n")
    puppet.answers.put((200, {"counted": True}))
    typing.type("blue\n")
    assert [asked(puppet) for _ in range(3)] == [chat("hi"), chat("and another thing"), answer("blue")]
    puppet.told("r", 1, "blue")
    puppet.say("r", 2, "Blue it is.")
    puppet.end("r", 3)
    puppet.end("p", 0)
    typing.until("> blue\n(answered: blue)\nBlue it is.\n> ")


def test_ctrl_c_stops_a_run_that_asks(puppet: Puppet, typing: Terminal) -> None:
    """A question that is open does not stand in its way."""
    puppet.accept("r")
    puppet.ask("r", 0)
    typing.type("hi\n")
    typing.until(KEYS)
    puppet.answers.put((202, {"run_id": "r", "status": "running"}))
    typing.type(CTRL_C)
    assert [asked(puppet), asked(puppet)] == [chat("hi"), ("/runs/r/cancel", None)]
    puppet.end("r", 1, EventKind.CANCELLED, reason="cancelled by the user")
    typing.until("(stopped)\n> ")


def test_ctrl_c_twice_leaves_a_run_that_does_not_stop(puppet: Puppet, typing: Terminal) -> None:
    """Who has asked for the stop once need not wait for it."""
    puppet.accept("r")
    puppet.say("r", 0, "half")
    typing.type("hi\n")
    typing.until("half")
    puppet.answers.put((409, {"title": "Conflict"}))
    typing.type(CTRL_C)
    assert [asked(puppet), asked(puppet)] == [chat("hi"), ("/runs/r/cancel", None)]
    puppet.say("r", 1, " more")
    typing.until("more")
    typing.type(CTRL_C)
    assert typing.left() == 0
    assert typing.screen == f"{HEAD}> hi\nhalf more\n"


def test_a_problem_is_told_and_the_conversation_goes_on(puppet: Puppet, typing: Terminal) -> None:
    """A gateway that cannot now may later: who types can try again."""
    puppet.answers.put((503, {"title": "Service Unavailable", "detail": "the bus is away: no answer"}))
    typing.type("hi\n")
    typing.until("(the gateway is away: it answers 503: the bus is away: no answer)\n> ")
    puppet.accept("r")
    puppet.say("r", 0, "works")
    puppet.end("r", 1)
    typing.type("hi\n")
    typing.until("hi\nworks\n> ")


def test_a_run_that_cannot_be_shown_stands_before_no_other(puppet: Puppet, typing: Terminal) -> None:
    """A gateway that has lost a run answers the next message all the same."""
    puppet.gone.add("r")
    puppet.accept("r")
    typing.type("hi\n")
    typing.until("(the stream of run 'r' was refused with status 404 and content type none;")
    typing.until("> ")
    puppet.accept("q")
    puppet.say("q", 0, "works")
    puppet.end("q", 1)
    typing.type("hi\n")
    typing.until("hi\nworks\n> ")


def test_a_spinner_turns_until_there_is_something_to_show(puppet: Puppet) -> None:
    """A terminal that can move its cursor shows that a reply is waited for, and takes that back."""
    capable = ENVIRONMENT | {"TERM": "xterm", "NO_COLOR": "1"}
    with terminal("selfcheck", ["chat", "--url", puppet.url, "--session", "s"], capable) as screen:
        screen.until("> ")
        puppet.accept("r")
        screen.type("hi\n")
        screen.until("⠙")
        puppet.say("r", 0, "works")
        puppet.end("r", 1)
        screen.until("works\n> ")
        screen.type(CTRL_D)
        assert screen.left() == 0


def test_a_service_of_our_own_ends_with_the_conversation() -> None:
    """Without an address there is a service in memory, for this conversation alone."""
    with terminal("selfcheck", ["chat"], ENVIRONMENT) as screen:
        screen.until("> ")
        screen.type("My lamp is broken\n")
        screen.until(f"{REFUND}\n> ")
        screen.type(CTRL_D)
        assert screen.left() == 0
